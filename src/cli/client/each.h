/* Verbs that do the same to many jobs, by one request: these are named, or have something in common, or both. */
#ifndef CLI_CLIENT_EACH_H
#define CLI_CLIENT_EACH_H

#include <jansson.h>
#include <stdbool.h>

struct each_verb {
    const char *name;    /* also that of its path, /v1/jobs/NAME */
    const char *help;    /* what it does */
    const char *states;  /* what --state is good for */
    const char *done;    /* it has done that */
    const char *failed;  /* what some could not be */
    const char *example; /* a command line */
    bool signals;        /* it takes -s SIGNAL; else -s is short for --state */
};

/* Run such a verb. Returns the exit status. */
int each_verb(int argc, char **argv, const struct each_verb *verb);

/* Ask for it: for the jobs of n words of the command line, of those that `filter` tells (NULL: none is asked for), with the
 * keys of `more` (NULL: none). Each that is refused is told in a line. Returns the exit status: CLI_USAGE for wrong words.
 */
int each_ask(const char *verb, char **words, int n, json_t *filter, json_t *more);

#endif
