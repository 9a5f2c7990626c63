/* What jobs have used, summed by user, account, queue and period. */
#ifndef CLI_REPORT_SUM_H
#define CLI_REPORT_SUM_H

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include "base/intern.h"
#include "base/strbuf.h"

enum report_key {
    REPORT_USER,
    REPORT_ACCOUNT,
    REPORT_QUEUE,
    REPORT_DAY,
    REPORT_WEEK,
    REPORT_MONTH,
    REPORT_KEYS
};
extern const char *const report_keys[REPORT_KEYS]; /* their words */

enum { REPORT_KEYS_MAX = 3 };

struct report_row {
    const char *text[REPORT_KEYS_MAX];    /* the keys' values; "" where a job has none */
    double core_time, gpu_time, cpu_time; /* seconds */
    double measured; /* of core_time, what belongs to jobs whose CPU time is known */
    double jobs,
        failed; /* members; one that runs in several periods counts in the one of its end */
};

struct report_sum {
    enum report_key keys[REPORT_KEYS_MAX];
    size_t n_keys;
    double since, until; /* seconds since 1970: only what was used between them counts */
    double now;          /* the end so far of what still runs */
    /* All zeroes at first. */
    struct report_row *rows;
    size_t n;
    struct intern texts; /* of rows: their keys, each ended by a zero byte */
    struct strbuf text, value;
};

/* Read a list of keys, "user,week": at most one of them a period. False: it is none. */
bool report_sum_by(struct report_sum *sum, const char *list);

/* Add a member of a list as JSON: what it used from its start to its end, divided among periods. Returns 0; or -1
 * with EPROTO: not an object, or ENOMEM.
 */
int report_sum_add(void *sum, const char *text, size_t length);

/* Put the rows in order: of periods the first, else those that have used most. */
void report_sum_order(struct report_sum *sum);

void report_sum_clear(struct report_sum *sum);

#endif
