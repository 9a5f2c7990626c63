/* What is told of a job, by the letters of squeue --format and the names of squeue --Format and of sacct --format. */
#ifndef CLI_SHIM_FIELDS_H
#define CLI_SHIM_FIELDS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/strbuf.h"

struct shim_field {
    char letter;      /* of squeue; 0: it has none */
    const char *head; /* there */
    const char *name; /* of sacct, as its head is written; NULL: it has none */
    int width;        /* there; negative: at the left */
    void (*put)(const json_t *job, struct strbuf *out);
    const char *long_name; /* of squeue --Format; NULL: it has none */
};

/* NULL: there is none. */
const struct shim_field *shim_field_letter(char letter);

/* A field of sacct by its name or the beginning of that, whatever the case. False: there is none. */
bool shim_field_name(const char *name, size_t length, struct shim_field *field);

/* A member of an array that stands for several says which, "1-3,7". */
#define SHIM_MEMBERS "members_folded"

/* A step of a job says which, ".batch". */
#define SHIM_STEP "step"

/* The unit in which a job tells of memory: a letter, or SHIM_AS_IT_IS, megabytes that are asked for and kilobytes that
 * were used. Without one, that which suits the size.
 */
#define SHIM_UNIT     "unit"
#define SHIM_AS_IT_IS "-"

/* A field of squeue by its name of --Format, whatever the case. False: there is none. */
bool shim_field_long(const char *name, size_t length, struct shim_field *field);

/* Names of sacct's that tell nothing here; ended by one without a name. */
struct shim_unknown {
    const char *name;
    int width;
};
extern const struct shim_unknown shim_unknown_fields[];

/* The same of squeue --Format. */
struct shim_unknown_long {
    const char *name, *head;
};
extern const struct shim_unknown_long shim_unknown_long_fields[];

/* Replace the waiting members of each array, which stand together, by the first, which is told which they are. NULL with
 * ENOMEM.
 */
json_t *shim_fold(json_t *jobs);

/* Where a text of squeue --sort, such as "P,-M", is wrong; NULL: it is right. */
const char *shim_sort_wrong(const char *text);

/* Put jobs in the order of such a text; equals stay as they are. 0, or -1 with ENOMEM. O(n log n). */
int shim_sort(json_t *jobs, const char *text);

/* What several commands tell of a job. */
void shim_put_id(const json_t *job, struct strbuf *out);
void shim_put_members(const json_t *job,
                      struct strbuf *out); /* of an array: "3", "5-9%2"; "N/A": it is none */
void shim_put_state(const json_t *job, struct strbuf *out);
void shim_put_letters(const json_t *job, struct strbuf *out);
void shim_put_exit(const json_t *job, struct strbuf *out);
void shim_put_nodes(const json_t *job, struct strbuf *out);
void shim_put_reason(const json_t *job, struct strbuf *out);
void shim_put_time(double at, const char *otherwise, struct strbuf *out);
void shim_put_span(double seconds, struct strbuf *out);
int shim_state_number(const json_t *job); /* in the order in which Slurm lists states */
double shim_elapsed(const json_t *job);
double
shim_end(const json_t *job); /* since 1970: when it has ended, or its limit ends it; 0: not known */

#endif
