#include "share/durations.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/dict.h"

enum {
    RUNS_MAX = 1 << 22
}; /* of one key; beyond that half of them are forgotten, so that a sum fits */

/* A key, in the list of all: the one that was used least recently is `oldest`. */
struct entry {
    struct dict_entry dict; /* its text is `key` */
    struct entry *older, *newer;
    int64_t runs, total;
    char key[];
};

struct durations {
    struct dict dict;
    struct entry *oldest, *newest;
    size_t capacity;
};

struct durations *durations_create(size_t capacity)
{
    if (capacity == 0) {
        errno = EINVAL;
        return NULL;
    }
    struct durations *d = calloc(1, sizeof(*d));
    if (d)
        d->capacity = capacity;
    return d;
}

void durations_destroy(struct durations *d)
{
    if (!d)
        return;
    for (struct entry *e = d->oldest, *next; e; e = next) {
        next = e->newer;
        free(e);
    }
    dict_clear(&d->dict);
    free(d);
}

static void unlink_entry(struct durations *d, struct entry *e)
{
    *(e->older ? &e->older->newer : &d->oldest) = e->newer;
    *(e->newer ? &e->newer->older : &d->newest) = e->older;
}

static void link_newest(struct durations *d, struct entry *e)
{
    e->older = d->newest;
    e->newer = NULL;
    *(d->newest ? &d->newest->newer : &d->oldest) = e;
    d->newest = e;
}

static struct entry *find_durations(const struct durations *d, const char *key, size_t length)
{
    return (struct entry *)dict_find(&d->dict, key, length);
}

static void forget_oldest(struct durations *d)
{
    struct entry *e = d->oldest;
    unlink_entry(d, e);
    dict_take(&d->dict, &e->dict);
    free(e);
}

static struct entry *insert(struct durations *d, const char *key, size_t length)
{
    struct entry *e = calloc(1, sizeof(*e) + length + 1);
    if (!e || dict_reserve(&d->dict) < 0) {
        free(e);
        errno = ENOMEM;
        return NULL;
    }
    if (d->dict.n == d->capacity)
        forget_oldest(d);
    memcpy(e->key, key, length);
    e->dict.text = e->key;
    e->dict.length = length;
    dict_put(&d->dict, &e->dict);
    link_newest(d, e);
    return e;
}

int durations_add(struct durations *d, const char *key, size_t length, int64_t seconds)
{
    struct entry *e = find_durations(d, key, length);
    if (seconds < 0) {
        errno = EINVAL;
        return -1;
    }
    if (e) {
        unlink_entry(d, e);
        link_newest(d, e);
    } else if (!(e = insert(d, key, length))) {
        return -1;
    }
    if (e->runs == RUNS_MAX) {
        e->runs /= 2;
        e->total /= 2;
    }
    e->runs++;
    e->total += seconds < DURATIONS_SECONDS_MAX ? seconds : DURATIONS_SECONDS_MAX;
    return 0;
}

int64_t durations_mean(const struct durations *d, const char *key, size_t length)
{
    const struct entry *e = find_durations(d, key, length);
    return e ? (e->total + e->runs / 2) / e->runs : 0;
}

size_t durations_count(const struct durations *d)
{
    return d->dict.n;
}

struct expected {
    int64_t mean;
    size_t index;
    bool is_known;
};

static int longest_first(const void *left, const void *right)
{
    const struct expected *a = left, *b = right;
    if (a->is_known != b->is_known)
        return a->is_known ? -1 : 1;
    if (a->mean != b->mean)
        return a->mean > b->mean ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

int durations_order(const struct durations *d, const char *const *keys, size_t n, size_t *order)
{
    struct expected *tasks = calloc(n ? n : 1, sizeof(*tasks));
    if (!tasks)
        return -1;
    for (size_t i = 0; i < n; i++) {
        size_t length = strlen(keys[i]);
        tasks[i] = (struct expected){durations_mean(d, keys[i], length), i,
                                     find_durations(d, keys[i], length) != NULL};
    }
    qsort(tasks, n, sizeof(*tasks), longest_first);
    for (size_t i = 0; i < n; i++)
        order[i] = tasks[i].index;
    free(tasks);
    return 0;
}

bool durations_check(const struct durations *d)
{
    size_t n = 0;
    const struct entry *older = NULL;
    for (const struct entry *e = d->oldest; e; older = e, e = e->newer, n++)
        if (e->older != older || e->runs < 1 || e->total < 0 ||
            find_durations(d, e->key, e->dict.length) != e)
            return false;
    return d->newest == older && n == d->dict.n && n <= d->capacity && dict_check(&d->dict);
}
