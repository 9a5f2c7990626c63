#include "cli/option_table.h"

#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "base/strbuf.h"
#include "cli/verb.h"

#define SCREEN_LINES   24
#define SCREEN_COLUMNS 80
#define WORDS_AT_MOST  32 /* the column at which words begin, unless a head is longer */
#define PACKED_AT_MOST 26 /* the same where options share lines */
#define BESIDE_AT      44 /* the column of a second option on a line, if the first is shorter */
#define ROWS_MAX       80

static const struct option_row help_row = {'h', "help", NULL, "print this", NULL},
                               short_help_row = {'h', "help", NULL, NULL, NULL};

/* ---- Reading ---- */

/* What getopt_long takes, while it is made. */
struct getopt_words {
    struct option options[ROWS_MAX + 2];
    char letters[2 * ROWS_MAX + 8];
    size_t n, n_letters;
};

static void add_row(struct getopt_words *w, const struct option_row *row)
{
    if (w->n > ROWS_MAX)
        return;
    w->options[w->n++] =
        (struct option){row->name, row->argument ? required_argument : no_argument, NULL, row->key};
    if (row->key >= OPTION_LONG(0))
        return;
    w->letters[w->n_letters++] = (char)row->key;
    if (row->argument)
        w->letters[w->n_letters++] = ':';
}

int option_read(const struct option_table *table, int argc, char **argv)
{
    struct getopt_words w = {.n = 0};

    if (table->leading)
        w.letters[w.n_letters++] = '+';
    w.letters[w.n_letters++] = ':';
    for (const struct option_row *row = table->rows; row && row->name; row++)
        add_row(&w, row);
    for (const struct option_row *row = table->more ? table->more->rows : NULL; row && row->name;
         row++)
        add_row(&w, row);
    add_row(&w, &help_row);
    opterr = 0;
    return cli_getopt(argc, argv, w.letters, w.options);
}

const char *option_meant(const struct option_table *table, const char *word)
{
    const char *names[2 * ROWS_MAX];
    char name[32];
    size_t n = 0;

    for (; table; table = table->more)
        for (const struct option_row *row = table->rows; row && row->name && n < 2 * ROWS_MAX;
             row++)
            names[n++] = row->name;
    if (strncmp(word, "--", 2) != 0)
        return NULL;
    snprintf(name, sizeof(name), "%.*s", (int)strcspn(word + 2, "="), word + 2);
    return nearest_name(&(struct nearest_names){names, sizeof(*names), n}, name);
}

static void say_wrong(const struct option_table *table, int c, const char *word)
{
    const char *hint = table->hint ? table->hint(word) : NULL;
    if (c == '?' && hint)
        cli_usage(table->verb, "unknown option '%.60s' (%s)", word, hint);
    else if (c == ':')
        cli_usage(table->verb, "'%.60s' takes a value", word);
    else if (optopt && strncmp(word, "--", 2) == 0)
        cli_usage(table->verb, "--%s takes no argument", option_name(table, optopt));
    else if (optopt)
        cli_usage(table->verb, "unknown option '-%c'", optopt);
    else if (option_meant(table, word))
        cli_usage(table->verb, "unknown option '%.60s' (did you mean '--%s'?)", word,
                  option_meant(table, word));
    else
        cli_usage(table->verb, "unknown option '%.60s'", word);
}

int option_next(const struct option_table *table, int argc, char **argv)
{
    int c = option_read(table, argc, argv);
    if (c != ':' && c != '?')
        return c;
    say_wrong(table, c, argv[optind > 1 ? optind - 1 : 1]);
    return '?';
}

bool option_none(const struct option_table *table, int argc, char **argv, int *status)
{
    int c = option_next(table, argc, argv);
    if (c == -1)
        return false;
    *status = c == 'h' ? option_help(table) : CLI_USAGE;
    return true;
}

static const struct option_row *find_option_key(const struct option_table *table, int key)
{
    for (const struct option_row *row = table ? table->rows : NULL; row && row->name; row++)
        if (row->key == key)
            return row;
    return NULL;
}

const char *option_name(const struct option_table *table, int key)
{
    const struct option_row *row = find_option_key(table, key);
    if (!row)
        row = find_option_key(table->more, key);
    return row ? row->name : key == 'h' ? "help" : "?";
}

/* ---- The help ---- */

/* The help while it is made. */
struct page {
    struct strbuf text;
    size_t line;  /* where its last line begins */
    size_t words; /* the column at which words begin */
};

static size_t column(const struct page *p)
{
    return p->text.len - p->line;
}

static void put_blanks(struct page *p, size_t to)
{
    if (column(p) < to)
        strbuf_fill(&p->text, ' ', to - column(p));
}

static void end_line(struct page *p)
{
    if (column(p) == 0)
        return;
    strbuf_puts(&p->text, "\n");
    p->line = p->text.len;
}

/* "-n, --ntasks N" */
static size_t head_length(const struct option_row *row, bool first)
{
    size_t letter = first || row->key < OPTION_LONG(0) ? 4 : 0;
    return letter + 2 + strlen(row->name) + (row->argument ? 1 + strlen(row->argument) : 0);
}

static void put_head(struct page *p, const struct option_row *row, bool first)
{
    const char letter[] = {'-', (char)row->key, ',', ' ', '\0'};
    if (row->key < OPTION_LONG(0))
        strbuf_puts(&p->text, letter);
    else if (first)
        strbuf_puts(&p->text, "    ");
    strbuf_puts(&p->text, "--");
    strbuf_puts(&p->text, row->name);
    if (row->argument) {
        strbuf_puts(&p->text, " ");
        strbuf_puts(&p->text, row->argument);
    }
}

/* Words, on as many lines as they need. */
static void put_words(struct page *p, const char *words, size_t margin)
{
    for (size_t n; *words; words += n) {
        n = strcspn(words, " ");
        if (column(p) > margin && column(p) + 1 + n > SCREEN_COLUMNS) {
            end_line(p);
            put_blanks(p, margin);
        } else if (column(p) > margin) {
            strbuf_puts(&p->text, " ");
        }
        strbuf_put(&p->text, words, n);
        n += strspn(words + n, " ");
    }
}

static void put_option_row(struct page *p, const struct option_row *row)
{
    end_line(p);
    put_blanks(p, 2);
    put_head(p, row, true);
    if (!row->words)
        return;
    put_blanks(p, column(p) + 2);
    put_blanks(p, p->words);
    put_words(p, row->words, column(p) > p->words ? column(p) : p->words);
}

/* Put it on the same line as the one before it, if there is room. */
static bool put_beside(struct page *p, const struct option_row *row,
                       const struct option_row *before)
{
    size_t at = column(p) + 2;
    size_t length = head_length(row, false) + (row->words ? 2 + strlen(row->words) : 0);
    if (before->words && row->words && at < BESIDE_AT && BESIDE_AT + length <= SCREEN_COLUMNS)
        at = BESIDE_AT;
    if (column(p) == 0 || at + length > SCREEN_COLUMNS)
        return false;
    put_blanks(p, at);
    put_head(p, row, false);
    if (row->words) {
        strbuf_puts(&p->text, "  ");
        strbuf_puts(&p->text, row->words);
    }
    return true;
}

/* All options: one on a line, or as many on a line as there is room for. */
static void put_rows(struct page *p, const struct option_table *table, bool packed)
{
    for (const struct option_row *row = table->rows; row && row->name; row++)
        if (!(packed && row > table->rows && put_beside(p, row, row - 1)))
            put_option_row(p, row);
    if (!(packed && put_beside(p, &short_help_row, &short_help_row)))
        put_option_row(p, &help_row);
    end_line(p);
}

static size_t count_lines(const char *text)
{
    size_t n = 0;
    for (; (text = strchr(text, '\n')); text++)
        n++;
    return n;
}

static size_t words_column(const struct option_table *table, size_t most)
{
    size_t widest = head_length(&help_row, true);
    for (const struct option_row *row = table->rows; row && row->name; row++) {
        size_t length = head_length(row, true);
        if (row->words && length > widest && 2 + length + 2 <= most)
            widest = length;
    }
    return 2 + widest + 2;
}

int option_help(const struct option_table *table)
{
    size_t others = count_lines(table->usage) + count_lines(table->notes);
    struct page p = {.words = words_column(table, WORDS_AT_MOST)};

    put_rows(&p, table, false);
    if (others + count_lines(strbuf_text(&p.text)) > SCREEN_LINES) {
        strbuf_clear(&p.text);
        p = (struct page){.words = words_column(table, PACKED_AT_MOST)};
        put_rows(&p, table, true);
    }
    bool written = !p.text.failed && fputs(table->usage, stdout) >= 0 &&
                   fputs(strbuf_text(&p.text), stdout) >= 0 && fputs(table->notes, stdout) >= 0;
    strbuf_clear(&p.text);
    return written ? CLI_OK : CLI_FAILED;
}

/* ---- For programs ---- */

/* of: whose option it is, if it is another verb's; else NULL. */
static void list_row(const struct option_row *row, const struct option_table *of)
{
    if (row->key < OPTION_LONG(0))
        putchar(row->key);
    printf("\t%s\t%s\t%s\t%s\n", row->name, row->argument ? row->argument : "",
           row->complete ? row->complete : "", of ? of->verb : "");
}

static bool words_have_word(const char *words, const char *word)
{
    size_t n = strlen(word);
    for (const char *at = words; at && (at = strstr(at, word)); at += n)
        if ((at == words || at[-1] == ' ') && (!at[n] || at[n] == ' '))
            return true;
    return false;
}

static bool table_has_name(const struct option_table *table, const char *name)
{
    for (const struct option_row *row = table ? table->rows : NULL; row && row->name; row++)
        if (strcmp(row->name, name) == 0)
            return true;
    return false;
}

int option_list(const struct option_table *table)
{
    const struct option_table *more = table->more;

    printf("\t\t\t%s\t\n", table->complete ? table->complete : "");
    for (const struct option_row *row = table->rows; row && row->name; row++)
        list_row(row, table_has_name(more, row->name) && !words_have_word(table->without, row->name)
                          ? more
                          : NULL);
    for (const struct option_row *row = more ? more->rows : NULL; row && row->name; row++)
        if (!table_has_name(table, row->name) && !words_have_word(table->without, row->name))
            list_row(row, more);
    list_row(&help_row, NULL);
    return ferror(stdout) ? CLI_FAILED : CLI_OK;
}
