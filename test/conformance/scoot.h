/* Cases of Scoot's scheduler, played through the classes of the core: what scoot_*.c share. */
#ifndef CONFORMANCE_SCOOT_H
#define CONFORMANCE_SCOOT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "share/classes.h"

enum outcome {
    PASSED,
    PASSED_EQUAL, /* the case records an arbitrary choice among equals, and Berth's is another of them */
    FAILED,
    LEFT_OUT
};

/* The file: its cases, and the default settings that they name. */
struct cases {
    json_t *percents, *requestors;
};

/* Say what is wrong with the case at hand. Returns FAILED. */
enum outcome wrong(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* scoot_shape.c: whether a case is as what plays it expects, and has these members, of which the last is NULL. If not,
 * `why` says what is wrong.
 */
bool check_shape(json_t *c, const char *const *members, char *why, size_t room);

/* An integer member of an object, brought into the range of those that a double has exactly, or what it is without. */
int64_t number_of(json_t *object, const char *key, int64_t otherwise);

/* A time in seconds, of an object or as it stands, in ticks of a thousandth of a second; `otherwise` without. */
int64_t ticks_of(json_t *object, const char *key, int64_t otherwise);
int64_t to_ticks(json_t *seconds);
enum { TICKS = 1000 }; /* of a second */

/* A text member of an object; "" without. */
const char *text_of(json_t *object, const char *key);

/* True if a list of texts has this one. */
bool has_text(json_t *list, const char *text);

/* Settings with the classes of an object, name to percentage, in the order of a list of names or, if that is
 * NULL, of the object. NULL if they are refused.
 */
classes_t *settings_of(json_t *percents, json_t *order, berth_error_t *err);

/* Settings as members of a case say, "default" being those of the file: percentages, and patterns as an
 * object, regular expression to class. The class with the smallest percentage is the default class, as in
 * Scoot. Patterns that are refused are named and left out. NULL, after saying why, if percentages are.
 */
classes_t *all_settings(const struct cases *cases, json_t *percents, json_t *requestors);

/* What plays a case of one kind. */
typedef enum outcome (*play_t)(const struct cases *, json_t *);
enum outcome play_class_counts(const struct cases *cases, json_t *c);
enum outcome play_normalize(const struct cases *cases, json_t *c);
enum outcome play_targets(const struct cases *cases, json_t *c);
enum outcome play_spread(const struct cases *cases, json_t *c);
enum outcome play_rebalance_timer(const struct cases *cases, json_t *c);
enum outcome play_requestor_map(const struct cases *cases, json_t *c);
enum outcome play_task_selection(const struct cases *cases, json_t *c);
enum outcome play_stop_selection(const struct cases *cases, json_t *c);
enum outcome play_task_order(const struct cases *cases, json_t *c);
enum outcome play_end_to_end(const struct cases *cases, json_t *c);
enum outcome play_property(const struct cases *cases, json_t *c);

/* A property of the whole core, which needs its machine. */
enum outcome play_spread_evenly(json_t *c);

#endif
