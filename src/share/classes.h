/* The settings of classes (berth/classes.h), within the core. */
#ifndef SHARE_CLASSES_H
#define SHARE_CLASSES_H

#include "berth/classes.h"
#include "share/class_counts.h"
#include "share/class_patterns.h"

#define CLASSES_DURATION_DEFAULT 240 /* seconds */
#define CLASSES_THRESHOLD_MAX    200 /* percent */

struct classes {
    struct classes_percent
        *percents; /* the largest first; what the names are is in the same memory */
    size_t npercents;
    struct classes_requestor *requestors; /* their names are those of percents */
    size_t nrequestors;
    struct class_patterns *patterns;
    const char *fallback; /* the default class, a name of percents */
    struct class_rule rule;
};

/* Set the percentages of loads, one for each class, in the order of classes_get_percents; all else is 0. */
void share_class_loads(const classes_t *c, struct class_load *loads);

/* True if the settings are what they should be. For tests. O(n * patterns). */
bool share_classes_check(const classes_t *c);

#endif
