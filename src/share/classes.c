/* The settings of classes: percentages, patterns, rebalancing. */
#include "share/classes.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"
#include "share/class_counts.h"

/* ---- Names, kept in one piece of memory with their list ---- */

static bool is_class_name(const char *name)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
    size_t length = strlen(name);
    return length > 0 && length <= CLASSES_NAME_MAX && strspn(name, allowed) == length;
}

/* The index of a class in a list; their number if it is not there. O(n). */
static size_t share_class_index(const struct classes_percent *list, size_t n, const char *name)
{
    size_t i = 0;
    while (i < n && strcmp(list[i].name, name) != 0)
        i++;
    return i;
}

/* Copy a text to *room and move on. */
static const char *copy_to_room(char **room, const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = memcpy(*room, text, size);
    *room += size;
    return copy;
}

/* ---- Making ---- */

classes_t *classes_create(void)
{
    static const struct classes_percent all = {"default", 100};
    classes_t *c = calloc(1, sizeof(*c));
    if (!c)
        return NULL;
    c->rule.duration = CLASSES_DURATION_DEFAULT;
    if (classes_set_percents(c, &all, 1, NULL) == 0 &&
        classes_set_requestors(c, NULL, 0, NULL, NULL) == 0)
        return c;
    classes_destroy(c);
    errno = ENOMEM;
    return NULL;
}

void classes_destroy(classes_t *c)
{
    if (!c)
        return;
    free(c->percents);
    free(c->requestors);
    class_patterns_destroy(c->patterns);
    free(c);
}

/* ---- Percentages ---- */

static int check_percents(const struct classes_percent *list, size_t n, berth_error_t *err)
{
    int64_t sum = 0;
    if (n == 0 || n > CLASSES_MAX)
        return errtext_set(err, EINVAL, "classes: expected 1 to %d, found %zu", CLASSES_MAX, n);
    for (size_t i = 0; i < n; i++) {
        if (!list[i].name || !is_class_name(list[i].name))
            return errtext_set(err, EINVAL,
                               "class %zu: expected a name of 1 to %d letters, digits, '_', '-' "
                               "and '.', found '%.80s'",
                               i + 1, CLASSES_NAME_MAX, list[i].name ? list[i].name : "");
        if (share_class_index(list, i, list[i].name) < i)
            return errtext_set(err, EINVAL, "class '%s': expected once, found twice", list[i].name);
        if (list[i].percent < 0 || list[i].percent > CLASSES_PERCENT_MAX)
            return errtext_set(err, EINVAL,
                               "class '%s': expected a percentage from 0 to %d, found %" PRId64,
                               list[i].name, CLASSES_PERCENT_MAX, list[i].percent);
        sum += list[i].percent;
    }
    if (sum == 0)
        return errtext_set(err, EINVAL, "classes: expected a percentage above 0, found none");
    return 0;
}

/* Sort by percentage, the largest first, of equals the first: lists are short, and mostly sorted. */
static void sort_percents(struct classes_percent *list, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        struct classes_percent one = list[i];
        size_t at = i;
        for (; at > 0 && list[at - 1].percent < one.percent; at--)
            list[at] = list[at - 1];
        list[at] = one;
    }
}

/* A copy of a list, sorted and normalised. NULL with ENOMEM. */
static struct classes_percent *copy_percents(const struct classes_percent *list, size_t n)
{
    int64_t percent[CLASSES_MAX];
    size_t bytes = 0;
    for (size_t i = 0; i < n; i++)
        bytes += strlen(list[i].name) + 1;
    struct classes_percent *copy = malloc(n * sizeof(*copy) + bytes);
    if (!copy)
        return NULL;
    char *room = (char *)(copy + n);
    for (size_t i = 0; i < n; i++)
        copy[i] = (struct classes_percent){copy_to_room(&room, list[i].name), list[i].percent};
    sort_percents(copy, n);
    for (size_t i = 0; i < n; i++)
        percent[i] = copy[i].percent;
    class_normalise(percent, n);
    for (size_t i = 0; i < n; i++)
        copy[i].percent = percent[i];
    return copy;
}

/* Which class of a new list each pattern and the default class is. */
static int find_classes(const classes_t *c, const struct classes_percent *list, size_t n,
                        size_t *found, size_t *fallback, berth_error_t *err)
{
    for (size_t i = 0; i < c->nrequestors; i++) {
        found[i] = share_class_index(list, n, c->requestors[i].name);
        if (found[i] == n)
            return errtext_set(err, EINVAL,
                               "classes: expected '%s', the class of pattern %zu, found none",
                               c->requestors[i].name, i + 1);
    }
    *fallback = c->fallback ? share_class_index(list, n, c->fallback) : n;
    if (*fallback == n && c->nrequestors > 0)
        return errtext_set(err, EINVAL, "classes: expected '%s', the default class, found none",
                           c->fallback);
    if (*fallback == n)
        while (list[--*fallback].percent == 0)
            ;
    return 0;
}

int classes_set_percents(classes_t *c, const struct classes_percent *list, size_t n,
                         berth_error_t *err)
{
    size_t found[CLASSES_REQUESTORS], fallback = 0;
    if (check_percents(list, n, err) < 0)
        return -1;
    struct classes_percent *copy = copy_percents(list, n);
    if (!copy)
        return errtext_no_memory(err);
    if (find_classes(c, copy, n, found, &fallback, err) < 0) {
        free(copy);
        return -1;
    }
    free(c->percents);
    c->percents = copy;
    c->npercents = n;
    c->fallback = copy[fallback].name;
    for (size_t i = 0; i < c->nrequestors; i++)
        c->requestors[i].name = copy[found[i]].name;
    return 0;
}

size_t classes_get_percents(const classes_t *c, const struct classes_percent **list)
{
    *list = c->percents;
    return c->npercents;
}

/* ---- Requestors ---- */

/* A copy of a list, whose names are those of the classes. */
static int copy_requestors(const classes_t *c, const struct classes_requestor *list, size_t n,
                           struct classes_requestor **copy, berth_error_t *err)
{
    size_t bytes = 1;
    for (size_t i = 0; i < n; i++) {
        if (!list[i].pattern || !list[i].name)
            return errtext_set(err, EINVAL, "pattern %zu: expected a pattern and a class", i + 1);
        if (share_class_index(c->percents, c->npercents, list[i].name) == c->npercents)
            return errtext_set(err, EINVAL,
                               "pattern %zu: expected one of the classes, found '%.80s'", i + 1,
                               list[i].name);
        bytes += strlen(list[i].pattern) + 1;
    }
    *copy = malloc(n * sizeof(**copy) + bytes);
    if (!*copy)
        return errtext_no_memory(err);
    char *room = (char *)(*copy + n);
    for (size_t i = 0; i < n; i++) {
        size_t class = share_class_index(c->percents, c->npercents, list[i].name);
        (*copy)[i] = (struct classes_requestor){copy_to_room(&room, list[i].pattern),
                                                c->percents[class].name};
    }
    return 0;
}

static struct class_patterns *compile(const struct classes_requestor *list, size_t n,
                                      berth_error_t *err)
{
    const char *patterns[CLASSES_REQUESTORS] = {NULL};
    for (size_t i = 0; i < n; i++)
        patterns[i] = list[i].pattern;
    return class_patterns_compile(patterns, n, err);
}

int classes_set_requestors(classes_t *c, const struct classes_requestor *list, size_t n,
                           const char *default_class, berth_error_t *err)
{
    const char *name = default_class ? default_class : c->fallback;
    size_t fallback = share_class_index(c->percents, c->npercents, name);
    struct classes_requestor *copy;
    if (n > CLASSES_REQUESTORS)
        return errtext_set(err, EINVAL, "patterns: expected at most %d, found %zu",
                           CLASSES_REQUESTORS, n);
    if (fallback == c->npercents)
        return errtext_set(err, EINVAL, "default class: expected one of the classes, found '%.80s'",
                           name);
    if (copy_requestors(c, list, n, &copy, err) < 0)
        return -1;
    struct class_patterns *patterns = compile(copy, n, err);
    if (!patterns) {
        free(copy);
        return -1;
    }
    free(c->requestors);
    class_patterns_destroy(c->patterns);
    c->requestors = copy;
    c->nrequestors = n;
    c->patterns = patterns;
    c->fallback = c->percents[fallback].name;
    return 0;
}

size_t classes_get_requestors(const classes_t *c, const struct classes_requestor **list,
                              const char **default_class)
{
    *list = c->requestors;
    if (default_class)
        *default_class = c->fallback;
    return c->nrequestors;
}

int classes_find(const classes_t *c, const char *requestor, size_t length,
                 struct classes_match *match)
{
    size_t found = c->nrequestors;
    bool gave_up = false;
    if (length <= CLASSES_REQUESTOR_MAX &&
        class_patterns_find(c->patterns, requestor, length, &found, &gave_up) < 0)
        return -1;
    const char *name = found < c->nrequestors ? c->requestors[found].name : c->fallback;
    *match = (struct classes_match){name, share_class_index(c->percents, c->npercents, name), found,
                                    gave_up};
    return 0;
}

/* ---- Rebalancing ---- */

int64_t classes_get_rebalance_threshold(const classes_t *c)
{
    return c->rule.threshold;
}

int classes_set_rebalance_threshold(classes_t *c, int64_t percent, berth_error_t *err)
{
    if (percent < 0 || percent > CLASSES_THRESHOLD_MAX)
        return errtext_set(err, EINVAL,
                           "rebalance threshold: expected 0 to %d percent, found %" PRId64,
                           CLASSES_THRESHOLD_MAX, percent);
    c->rule.threshold = percent;
    return 0;
}

int64_t classes_get_rebalance_minimum_duration(const classes_t *c)
{
    return c->rule.duration;
}

int classes_set_rebalance_minimum_duration(classes_t *c, int64_t seconds, berth_error_t *err)
{
    if (seconds < 0 || seconds > CLASSES_DURATION_MAX)
        return errtext_set(err, EINVAL,
                           "rebalance minimum duration: expected 0 to %d seconds, found %" PRId64,
                           CLASSES_DURATION_MAX, seconds);
    c->rule.duration = seconds;
    return 0;
}

/* ---- Within the core ---- */

void share_class_loads(const classes_t *c, struct class_load *loads)
{
    for (size_t i = 0; i < c->npercents; i++)
        loads[i] = (struct class_load){.percent = c->percents[i].percent};
}

/* True if a name is one of the classes' names, not a copy. */
static bool is_own_name(const classes_t *c, const char *name)
{
    size_t i = 0;
    while (i < c->npercents && c->percents[i].name != name)
        i++;
    return i < c->npercents;
}

bool share_classes_check(const classes_t *c)
{
    int64_t sum = 0;
    if (check_percents(c->percents, c->npercents, NULL) < 0)
        return false;
    for (size_t i = 0; i < c->npercents; i++) {
        sum += c->percents[i].percent;
        if (i > 0 && c->percents[i].percent > c->percents[i - 1].percent)
            return false;
    }
    for (size_t i = 0; i < c->nrequestors; i++)
        if (!is_own_name(c, c->requestors[i].name))
            return false;
    return sum == 100 && c->patterns && c->nrequestors <= CLASSES_REQUESTORS &&
           is_own_name(c, c->fallback) && c->rule.threshold >= 0 && c->rule.duration >= 0;
}
