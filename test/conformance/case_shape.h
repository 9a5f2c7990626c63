/* What the cases of a file look like, so that what plays them can go by it. */
#ifndef CONFORMANCE_CASE_SHAPE_H
#define CONFORMANCE_CASE_SHAPE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum shape_kind {
    SHAPE_TEXT,
    SHAPE_NUMBER,
    SHAPE_COUNT, /* whole, from 0 to SHAPE_COUNT_MAX */
    SHAPE_TIME,  /* from 0 to SHAPE_COUNT_MAX, also between whole ones */
    SHAPE_AMOUNTS, /* an object of numbers or "inf", by resource; those of "scalars" are one more of these */
    SHAPE_OBJECT,
    SHAPE_LIST,
    SHAPE_BOOLEAN,
    SHAPE_ANY
};

#define SHAPE_COUNT_MAX 1000000000000

/* A value by its path: "jobs[].name" is the member of each object in a list, "map{}" each member of an object. One that
 * is null, or not there, has every kind, unless its path ends with "!": then it is needed where what it is part of is.
 */
struct shape {
    const char *path;
    enum shape_kind kind;
};

/* Whether a case has these shapes. If not, `why` says what is wrong, as "jobs[3].name: expected a text". */
bool shape_check(json_t *c, const struct shape *shapes, size_t n, char *why, size_t room);

/* Whether a case has all these members, of which the last is NULL; "a.b" is one of an object. */
bool shape_has(json_t *c, const char *const *members, char *why, size_t room);

#endif
