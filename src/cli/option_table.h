/* The options of a verb: one table, from which getopt reads them, and of which come the help, what a shell completes
 * (`berth help --options VERB`) and the heads of OPTIONS in the manual page (man/options.awk).
 */
#ifndef CLI_OPTION_TABLE_H
#define CLI_OPTION_TABLE_H

#include <getopt.h>
#include <stdbool.h>

/* The key of an option without a letter. */
#define OPTION_LONG(c) (256 + (c))

struct option_row {
    int key;              /* what option_next returns: the letter, or OPTION_LONG() of anything */
    const char *name;     /* without "--" */
    const char *argument; /* as the help has it: "FILE", "NAME[=TEXT]", "table|csv"; NULL: none */
    const char *words;    /* for the help; NULL: the name says enough */
    /* What the argument may be, apart by blanks: words, and what a shell finds itself: @file, @folder, @queue,
     * @user, @job, @job:STATE, @block, @verb, @command. NULL: nothing is known. */
    const char *complete;
};

struct option_table {
    const char *verb;
    const char *usage; /* the help before the options: lines */
    const struct option_row
        *rows;            /* up to one without a name; --help is of every verb, and not there */
    const char *notes;    /* the help after them */
    const char *complete; /* what the words may be that are no options */
    const struct option_table
        *more; /* a table whose options are this verb's too, but not in its help */
    const char *
        without; /* names, apart by blanks: options of `more` that are not taken, or that mean something else here */
    const char *(*hint)(const char *word); /* a sentence about an option that is none here; NULL */
    bool leading; /* options come before all other words; else also between them */
};

/* The option, without "--", that may have been meant by `word`, such as "--tme=3", which is none; NULL. */
const char *option_meant(const struct option_table *table, const char *word);

/* The next option, its argument in optarg: the key of a row; 'h' for help; ':' if the argument is missing; '?' if
 * there is no such option; -1 at the end, with optind at the first other word. No name may be shortened.
 */
int option_read(const struct option_table *table, int argc, char **argv);

/* The same, but that what is wrong is printed: '?' in both cases, for which a verb returns CLI_USAGE. */
int option_next(const struct option_table *table, int argc, char **argv);

/* Print the help: 24 lines of 80 columns at most, if its texts are short enough. Returns an enum cli_exit. */
int option_help(const struct option_table *table);

/* Of a verb that has only --help: false to continue with the words from optind on; or true with the exit status. */
bool option_none(const struct option_table *table, int argc, char **argv, int *status);

/* Print the rows for programs: letter, name, argument, what completes that, and the verb whose option it is, if that
 * is another one, apart by tabs. The first has neither letter nor name: it is of the other words. Returns an enum
 * cli_exit.
 */
int option_list(const struct option_table *table);

/* The name of the option with that key, or "?". */
const char *option_name(const struct option_table *table, int key);

#endif
