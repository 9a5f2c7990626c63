#include "config/keys.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"
#include "base/nearest.h"
#include "config/quantity.h"
#include "config/seconds.h"

#define SHOWN_MAX 40 /* bytes of a wrong value */

int keys_failed(const struct key_place *place, int errnum, const char *why, berth_error_t *err)
{
    if (place->line == 0)
        return errtext_set(err, errnum, "%s: %s", place->file, why);
    return errtext_set(err, errnum, "%s:%" PRIu64 ": %s", place->file, place->line, why);
}

int keys_wrong(const struct key_place *place, const char *what, const char *key,
               const json_t *found, const char *expected, berth_error_t *err)
{
    char why[sizeof(err->text)];
    char *text =
        found ? json_dumps(found, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(15)) : NULL;
    int shown = text && strlen(text) > SHOWN_MAX ? SHOWN_MAX : -1;
    snprintf(why, sizeof(why), "%skey \"%.40s\": expected %s, got %.*s%s", what, key, expected,
             shown, text ? text : "none", shown >= 0 ? "..." : "");
    free(text);
    return keys_failed(place, EINVAL, why, err);
}

static bool is_texts(const json_t *value)
{
    size_t i;
    json_t *element;
    if (!json_is_array(value))
        return false;
    json_array_foreach (value, i, element) {
        if (json_string_length(element) == 0)
            return false;
    }
    return true;
}

static int find_word(const char *const *words, const json_t *value)
{
    const char *text = json_string_value(value);
    for (int i = 0; text && words[i]; i++)
        if (strcmp(words[i], text) == 0)
            return i;
    return -1;
}

static bool is_that_word(const char *word, const json_t *value)
{
    return word && json_is_string(value) && strcmp(json_string_value(value), word) == 0;
}

static bool take_value(const struct key *key, json_t *value, void *to)
{
    int64_t number;
    int word;
    switch (key->type) {
    case KEY_TEXT:
        *(const char **)to = json_string_value(value);
        return json_string_length(value) > 0;
    case KEY_WHOLE:
        *(int64_t *)to = json_integer_value(value);
        return json_is_integer(value) && json_integer_value(value) >= key->min &&
               json_integer_value(value) <= key->max;
    case KEY_SECONDS:
        if (!seconds_read(value, &number) || number < key->min)
            return false;
        *(int64_t *)to = number;
        return true;
    case KEY_DURATION:
        if (!is_that_word(key->word, value))
            return duration_read(value, key->max, to);
        *(int64_t *)to = INT64_MAX;
        return true;
    case KEY_BOOL:
        *(bool *)to = json_is_true(value);
        return json_is_boolean(value);
    case KEY_WORD:
        word = find_word(key->words, value);
        *(int *)to = word;
        return word >= 0;
    case KEY_TEXTS:
        *(json_t **)to = value;
        return is_texts(value);
    case KEY_OBJECT:
        *(json_t **)to = value;
        return json_is_object(value);
    case KEY_ARRAY:
        *(json_t **)to = value;
        return json_is_array(value);
    case KEY_ANY:
        *(json_t **)to = value;
        return true;
    }
    return false;
}

static void list_words(const char *const *words, char *text, size_t size)
{
    size_t used = 0;
    for (size_t i = 0; words[i] && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s",
                                 i == 0         ? ""
                                 : words[i + 1] ? ", "
                                                : " or ",
                                 words[i]);
}

static void say_duration(int64_t most, const char *word, char *text, size_t size)
{
    int64_t seconds = most / SECONDS_TICKS, years = seconds / (365 * 86400);
    bool is_years = seconds % (365 * 86400) == 0;
    snprintf(text, size,
             "seconds, or a time such as \"90s\", \"1h30m\" or \"1-00:00:00\", up to %" PRId64
             " %s%s%s%s",
             is_years ? years : seconds, is_years ? "years" : "seconds", word ? ", or \"" : "",
             word ? word : "", word ? "\"" : "");
}

static int wrong_value(const struct key_place *place, const struct key_table *table,
                       const struct key *key, const json_t *found, berth_error_t *err)
{
    char text[sizeof(err->text)] = "a value";
    switch (key->type) {
    case KEY_TEXT:
        strcpy(text, found ? "a string that is not empty" : "a string");
        break;
    case KEY_WHOLE:
        snprintf(text, sizeof(text), "a whole number from %" PRId64 " to %" PRId64, key->min,
                 key->max);
        break;
    case KEY_SECONDS:
        snprintf(text, sizeof(text), "seconds from %s to %" PRId64 ", with up to six decimals",
                 key->min > 0 ? "0.000001" : "0", SECONDS_MAX);
        break;
    case KEY_DURATION:
        say_duration(key->max, key->word, text, sizeof(text));
        break;
    case KEY_BOOL:
        strcpy(text, "true or false");
        break;
    case KEY_WORD:
        list_words(key->words, text, sizeof(text));
        break;
    case KEY_TEXTS:
        strcpy(text, "a list of strings");
        break;
    case KEY_OBJECT:
        strcpy(text, "an object");
        break;
    case KEY_ARRAY:
        strcpy(text, "a list");
        break;
    case KEY_ANY:
        break;
    }
    return keys_wrong(place, table->what, key->name, found, text, err);
}

static const struct key *key_named(const struct key_table *table, const char *name)
{
    for (size_t i = 0; i < table->n; i++)
        if (strcmp(table->keys[i].name, name) == 0)
            return &table->keys[i];
    return NULL;
}

static int unknown_key(const struct key_place *place, const struct key_table *table,
                       const char *name, berth_error_t *err)
{
    const struct nearest_names names = {&table->keys[0].name, sizeof(table->keys[0]), table->n};
    char why[sizeof(err->text)], expected[NEAREST_LIST_MAX + 32];
    nearest_expected(&names, name, expected, sizeof(expected));
    snprintf(why, sizeof(why), "%sunknown key \"%.40s\"%s", table->what, name, expected);
    return keys_failed(place, EINVAL, why, err);
}

int keys_read(json_t *object, const struct key_table *table, const struct key_place *place,
              void *into, berth_error_t *err)
{
    const char *name;
    json_t *value;
    json_object_foreach (object, name, value) {
        const struct key *key = key_named(table, name);
        if (!key)
            return unknown_key(place, table, name, err);
        if (!json_is_null(value) && !take_value(key, value, (char *)into + key->at))
            return wrong_value(place, table, key, value, err);
    }
    for (size_t i = 0; i < table->n; i++) {
        const struct key *key = &table->keys[i];
        const json_t *found = json_object_get(object, key->name);
        if (key->needed && (!found || json_is_null(found)))
            return wrong_value(place, table, key, found, err);
    }
    return 0;
}

int keys_texts(const json_t *texts, const char ***v, size_t *n)
{
    *n = json_array_size(texts);
    *v = NULL;
    if (*n == 0)
        return 0;
    *v = reallocarray(NULL, *n, sizeof(**v));
    if (!*v)
        return -1;
    for (size_t i = 0; i < *n; i++)
        (*v)[i] = json_string_value(json_array_get(texts, i));
    return 0;
}
