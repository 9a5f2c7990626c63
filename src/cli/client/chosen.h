/* Columns of a list that its reader chooses, `-o id,name,state`, as a table or as CSV (RFC 4180). */
#ifndef CLI_CLIENT_CHOSEN_H
#define CLI_CLIENT_CHOSEN_H

#include <stdbool.h>
#include <stddef.h>

#include "berth/error.h"
#include "cli/client/objects.h"
#include "cli/client/terminal.h"

struct chosen_key;

struct chosen {
    const struct chosen_key *key[TABLE_COLUMNS_MAX];
    struct table_column column[TABLE_COLUMNS_MAX + 1]; /* ended by one without a heading */
    size_t n;                                          /* 0: the list's own columns */
    bool csv;
};

/* Read names of keys, separated by commas. 0, or -1 with EINVAL and a text. */
int chosen_read(struct chosen *c, const char *list, berth_error_t *err);

/* Read a word for --format: table, json, csv. CSV without columns has those that most want. 0, or -1 with EINVAL and a
 * text.
 */
int chosen_format(struct chosen *c, const char *word, bool *json, berth_error_t *err);

/* A column's value of a job: a number, -1 if it has none (false: the column is of text); whether -1 and less can be one;
 * and a text as the API has it, "" if there is none, valid until the room changes.
 */
bool chosen_number(const struct chosen_key *key, const struct fields *job, double *number);
bool chosen_may_be_negative(const struct chosen_key *key);
const char *chosen_raw(const struct chosen_key *key, const struct fields *job, struct strbuf *room);

/* The first line of CSV, and a line for a job; numbers and times as the API has them. `states` as in listing_row. */
void chosen_put_heads(const struct chosen *c);
void chosen_put_line(const struct chosen *c, const struct fields *job, const char *states);

/* Add a row to a table, for people. */
void chosen_put_row(const struct chosen *c, struct table *t, const struct fields *job,
                    const char *states);

#endif
