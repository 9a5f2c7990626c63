/* Lists of jobs: which of them, and as what. */
#ifndef CLI_CLIENT_LISTING_H
#define CLI_CLIENT_LISTING_H

#include <stdbool.h>

#include "cli/client/chosen.h"
#include "cli/client/connection.h"
#include "cli/client/objects.h"
#include "cli/client/sorted.h"
#include "cli/client/terminal.h"
#include "config/ids.h"

/* states: of the request; NULL: it names none. */
typedef void (*listing_row)(struct table *table, const struct fields *job, const char *states,
                            double now);

struct listing_style {
    bool json;                          /* as an array, as it arrives; else as a table */
    bool headless;                      /* without a header line */
    const char *states;                 /* NULL, or those that were asked for */
    const struct table_column *columns; /* of the table */
    const char *leave;                  /* as of a table, NULL; not where columns were chosen */
    listing_row row;                    /* adds a row for an object */
    const struct chosen *chosen;        /* columns in place of these; NULL: none */
    const struct ids *only;             /* NULL, or the wanted jobs: finding none is a failure */
    struct sorted *sorted;              /* NULL, or the order */
    const char *queue;                  /* NULL, or the only one: that there is none is a failure */
};

/* Request a list by its path and print it. Returns the exit status. */
int listing_print(struct connection *connection, const char *path,
                  const struct listing_style *style);

/* Add the largest number of rows to a query; "0" means all. False: the text is not a number. */
bool listing_limit(struct strbuf *path, const char *text);

/* Append a reason of the server's, for people. */
void listing_put_reason(struct strbuf *out, const char *text);

/* The next cell: why a job waits, or why it failed, for people. */
void listing_reason(struct table *table, const struct fields *job);

/* "95 pending, 3 running, 1 failed" for the counts of an array, by their words in order; the word alone where
 * all members are in one state.
 */
#define LISTING_STATE_SIZE 160
char *listing_counts(const int64_t *counts, char text[LISTING_STATE_SIZE]);
#define LISTING_STATES 7
#define LISTING_ENDED  3 /* from this one on a job has ended */
extern const char *const listing_states[LISTING_STATES];

/* Whether "done,failed" names states, each from one on and before another. */
bool listing_states_are(const char *list, int from, int to);

/* The state of a row; of an array, as above. False: of an array whose members don't wait. */
bool listing_state(struct table *table, const struct fields *job);

/* The counts of an array's states; false: it is no array as a whole. */
bool listing_summary(const struct fields *job, char text[LISTING_STATE_SIZE]);

/* What listing_id puts into a cell. */
void listing_put_id(struct strbuf *out, const struct fields *job, const char *states);

/* Ask for the caller's own jobs. */
void listing_own(struct strbuf *path);

/* The next cell: the job's id, of an array with the members in these states, or else that wait, or else that
 * run, or else all; a text; a number, or empty if there is none.
 */
void listing_id(struct table *table, const struct fields *job, const char *states);
void listing_text(struct table *table, const struct fields *job, const char *key);
void listing_count(struct table *table, const struct fields *job, const char *key);

/* How many GPUs it has or asks for; if it has parts of GPUs, how much of each: "8G". */
void listing_gpus(struct table *table, const struct fields *job);

#endif
