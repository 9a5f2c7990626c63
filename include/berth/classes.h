/* Classes of requestors: how many percent of the workers each class is meant to have, and which requestor
 * belongs to which class.
 *
 * A worker is a unit of what a queue schedules: a core, a node, a slot. A class is entitled to its percentage
 * of the workers; what one class does not use is lent to others. A requestor, usually a user, is put into a
 * class by a list of regular expressions: the first one that matches decides, and who matches none is in the
 * default class. If classes have been too far from their percentages for too long, rebalancing stops the
 * tasks that started last on borrowed workers.
 *
 * These are the settings. They take effect with the next pass of the scheduler that they are given to.
 *
 * Calls return 0 or a value, or -1 (NULL for pointers) with errno; where a person will read the reason, the
 * last argument takes an error text. A call that fails leaves the settings as they were. A setter replaces
 * the whole of its list, and copies what it is given. What a getter returns belongs to the settings and is
 * valid until the next setter or classes_destroy. Getters never fail. Any call that sets, loads or saves may
 * fail with ENOMEM. Calls that only read may run at the same time.
 */
#ifndef BERTH_CLASSES_H
#define BERTH_CLASSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "berth/error.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CLASSES_MAX           256        /* classes */
#define CLASSES_PERCENT_MAX   1000000000 /* of one class, as given to the setter */
#define CLASSES_NAME_MAX      64         /* bytes of a name */
#define CLASSES_REQUESTORS    256        /* patterns */
#define CLASSES_PATTERN_MAX   512        /* bytes of a pattern */
#define CLASSES_REQUESTOR_MAX 256        /* bytes of a requestor that is looked for */
#define CLASSES_DURATION_MAX  1000000000 /* seconds */

typedef struct classes classes_t;

/* Make settings, which the caller destroys: one class, `default`, with 100 percent; no patterns; rebalancing
 * off (threshold 0, minimum duration 240 seconds).
 */
classes_t *classes_create(void);

/* Destroy settings; NULL is allowed. */
void classes_destroy(classes_t *c);

/* ---- Percentages ---- */

struct classes_percent {
    const char *name;
    int64_t percent;
};

/* Get the classes, the largest percentage first; the percentages add up to 100. Returns how many there are.
 */
size_t classes_get_percents(const classes_t *c, const struct classes_percent **list);

/* Replace the classes: 1 to CLASSES_MAX, each percentage 0 to CLASSES_PERCENT_MAX, not all 0. A name has 1 to
 * CLASSES_NAME_MAX letters, digits, '_', '-' and '.'. Of equal percentages the first in the list goes first.
 * Percentages that don't add up to 100 are scaled, each rounded down, and the largest takes what is missing.
 * A class with 0 percent starts nothing. The class of each pattern and the default class must be among them;
 * but if there are no patterns and the default class is not among them, the one with the smallest percentage
 * above 0 becomes it. EINVAL. O(n log n + patterns * n).
 */
int classes_set_percents(classes_t *c, const struct classes_percent *list, size_t n,
                         berth_error_t *err);

/* ---- Requestors ---- */

struct classes_requestor {
    const char *pattern; /* a regular expression of PCRE2 */
    const char *name;    /* of a class */
};

/* Get the patterns in the order in which they are tried, and the default class (where that is not NULL).
 * Returns how many there are.
 */
size_t classes_get_requestors(const classes_t *c, const struct classes_requestor **list,
                              const char **default_class);

/* Replace the patterns, at most CLASSES_REQUESTORS, and the default class; NULL leaves the default class as
 * it is. A pattern is UTF-8 without control characters, 1 to CLASSES_PATTERN_MAX bytes. It matches a requestor
 * if it matches any part of it: write ^ and $ for all of it. EINVAL: not a pattern, too long or too
 * complicated, with the place and the reason; or no such class. O(n * classes) and the compilation.
 */
int classes_set_requestors(classes_t *c, const struct classes_requestor *list, size_t n,
                           const char *default_class, berth_error_t *err);

struct classes_match {
    const char *name; /* of the class */
    size_t index;     /* of the class, in classes_get_percents */
    size_t
        pattern; /* that matched, in classes_get_requestors; their number: none, so the default class */
    bool
        gave_up; /* a pattern before took too many steps or too much memory, and counts as no match */
};

/* Find the class of a requestor. What is longer than CLASSES_REQUESTOR_MAX bytes matches no pattern; of bytes
 * that are not UTF-8 only what lies between them can match. The steps and the memory of each pattern are
 * bounded. Returns 0, or -1 with ENOMEM.
 */
int classes_find(const classes_t *c, const char *requestor, size_t length,
                 struct classes_match *match);

/* ---- Rebalancing ---- */

/* The spread between the class most above and the one most below its percentage, in percent of the workers,
 * 0 to 200. Above it, for longer than the minimum duration, rebalancing begins. 0: never, the default. Set:
 * EINVAL outside 0 to 200.
 */
int64_t classes_get_rebalance_threshold(const classes_t *c);
int classes_set_rebalance_threshold(classes_t *c, int64_t percent, berth_error_t *err);

/* For how many seconds without a break the spread must have been above the threshold. 0: rebalancing is off.
 * Set: EINVAL outside 0 to CLASSES_DURATION_MAX.
 */
int64_t classes_get_rebalance_minimum_duration(const classes_t *c);
int classes_set_rebalance_minimum_duration(classes_t *c, int64_t seconds, berth_error_t *err);

/* ---- Kept ---- */

/* Write all settings as an object in JSON. Loaded, it gives the same settings, which are saved as the same
 * bytes. The caller frees the text. NULL with ENOMEM.
 */
char *classes_save(const classes_t *c);

/* Read settings, which the caller destroys. What is not in the object stays as classes_create has it; other
 * members are refused. NULL with EINVAL and the reason.
 */
classes_t *classes_load(const char *text, size_t length, berth_error_t *err);

#ifdef __cplusplus
}
#endif

#endif
