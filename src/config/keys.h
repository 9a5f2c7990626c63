/* Members of a JSON object, read into a struct by a table of the keys that it may have.
 *
 * Errors name file, line, key, what was expected and what is there:
 *     events.jsonl:12: submit: key "nodes": expected a whole number from 1 to 1000000, got "two"
 */
#ifndef CONFIG_KEYS_H
#define CONFIG_KEYS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "berth/error.h"

enum key_type {
    KEY_TEXT,     /* const char *; not empty */
    KEY_WHOLE,    /* int64_t; from min to max */
    KEY_SECONDS,  /* int64_t, in ticks (config/seconds.h); at least min */
    KEY_DURATION, /* the same, or a time such as "1h30m"; above 0, to max */
    KEY_BOOL,     /* bool */
    KEY_WORD,     /* int: which of the words */
    KEY_TEXTS,    /* json_t *: an array of strings, none of them empty */
    KEY_OBJECT,   /* json_t * */
    KEY_ARRAY,    /* json_t * */
    KEY_ANY       /* json_t * */
};

struct key {
    const char *name;
    enum key_type type;
    size_t at; /* where in the struct it goes */
    bool needed;
    int64_t min, max;
    const char *const *words; /* ended by NULL */
    const char *word;         /* of KEY_DURATION: this is read as INT64_MAX; NULL: no word is */
};

/* A row of a table: a field of a struct, under its own name or another, with further settings. */
#define KEY_AS(into, field, key, kind, ...)                                                        \
    {                                                                                              \
        .name = key, .type = kind, .at = offsetof(into, field), __VA_ARGS__                        \
    }
#define KEY_OF(into, field, kind, ...) KEY_AS(into, field, #field, kind, __VA_ARGS__)

struct key_table {
    const char *what; /* text before the key in errors, "submit: "; may be "" */
    const struct key *keys;
    size_t n;
};

/* Where the object comes from. */
struct key_place {
    const char *file;
    uint64_t line; /* 0: not shown */
};

/* Read an object. Strings and JSON in *into belong to the object. For keys that are missing or null, *into
 * stays as it was. Returns 0, or -1 with EINVAL and a text: an unknown key, a missing required key, or an
 * invalid value.
 */
int keys_read(json_t *object, const struct key_table *table, const struct key_place *place,
              void *into, berth_error_t *err);

/* Report a value that is not what was expected. Returns -1 with EINVAL. */
int keys_wrong(const struct key_place *place, const char *what, const char *key,
               const json_t *found, const char *expected, berth_error_t *err);

/* Begin an error text with the place: "events.jsonl:12: ". Returns -1 with errnum. */
int keys_failed(const struct key_place *place, int errnum, const char *why, berth_error_t *err);

/* The strings of a KEY_TEXTS as an array of *n, which the caller frees; NULL if there are none. Returns 0, or
 * -1 with ENOMEM.
 */
int keys_texts(const json_t *texts, const char ***v, size_t *n);

#endif
