/* The table of texts that come and go: chains of entries. */
#include "base/dict.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void dict_clear(struct dict *d)
{
    int saved = errno;
    free(d->bucket);
    *d = (struct dict){0};
    errno = saved;
}

static uint64_t stir(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * 0x9e3779b97f4a7c15;
    return hash ^ hash >> 32;
}

/* Eight bytes at a time, as texts may be long. */
static uint64_t dict_hash(const char *text, size_t length)
{
    uint64_t hash = length;
    uint64_t word = 0;
    for (; length >= sizeof(word); text += sizeof(word), length -= sizeof(word)) {
        memcpy(&word, text, sizeof(word));
        hash = stir(hash, word);
    }
    word = 0;
    if (length > 0)
        memcpy(&word, text, length);
    return stir(hash, word);
}

static struct dict_entry **bucket_of(const struct dict *d, uint64_t hash)
{
    return &d->bucket[hash & (d->buckets - 1)];
}

struct dict_entry *dict_find(const struct dict *d, const char *text, size_t length)
{
    if (d->n == 0)
        return NULL;
    uint64_t hash = dict_hash(text, length);
    struct dict_entry *e = *bucket_of(d, hash);
    while (e && (e->hash != hash || e->length != length ||
                 (length > 0 && memcmp(e->text, text, length) != 0)))
        e = e->next;
    return e;
}

int dict_reserve(struct dict *d)
{
    if (d->n < d->buckets)
        return 0;
    struct dict old = *d;
    size_t buckets = old.buckets ? 2 * old.buckets : 16;
    struct dict_entry **bucket = calloc(buckets, sizeof(struct dict_entry *));
    if (!bucket) {
        errno = ENOMEM;
        return -1;
    }
    *d = (struct dict){.bucket = bucket, .buckets = buckets};
    for (size_t i = 0; i < old.buckets; i++)
        for (struct dict_entry *e = old.bucket[i], *next; e; e = next) {
            next = e->next;
            e->next = *bucket_of(d, e->hash);
            *bucket_of(d, e->hash) = e;
        }
    d->n = old.n;
    free(old.bucket);
    return 0;
}

void dict_put(struct dict *d, struct dict_entry *entry)
{
    entry->hash = dict_hash(entry->text, entry->length);
    struct dict_entry **bucket = bucket_of(d, entry->hash);
    entry->next = *bucket;
    *bucket = entry;
    d->n++;
}

void dict_take(struct dict *d, struct dict_entry *entry)
{
    struct dict_entry **at = bucket_of(d, entry->hash);
    while (*at != entry)
        at = &(*at)->next;
    *at = entry->next;
    d->n--;
}

bool dict_check(const struct dict *d)
{
    size_t n = 0;
    for (size_t i = 0; i < d->buckets; i++)
        for (const struct dict_entry *e = d->bucket[i]; e; e = e->next) {
            if (dict_find(d, e->text, e->length) != e)
                return false;
            n++;
        }
    return n == d->n;
}
