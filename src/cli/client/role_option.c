#include "cli/client/role_option.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"
#include "config/members.h"
#include "config/quantity.h"

#define COUNT_MAX 1000000000

enum kind { KIND_NUMBER, KIND_SIZE, KIND_TEXT, KIND_TEXTS, KIND_FLAG, KIND_LINE };

static const struct role_key {
    const char *name;
    enum kind kind;
    long long min, max;
} keys[] = {{"min", KIND_NUMBER, 0, MEMBERS_MAX},
            {"nodes", KIND_NUMBER, 1, COUNT_MAX},
            {"tasks", KIND_NUMBER, 1, COUNT_MAX},
            {"cores", KIND_NUMBER, 1, COUNT_MAX},
            {"gpus", KIND_NUMBER, 0, COUNT_MAX},
            {"gpu_type", KIND_TEXT, 0, 0},
            {"gpu_memory", KIND_SIZE, 0, 0},
            {"memory", KIND_SIZE, 0, 0},
            {"requires", KIND_TEXTS, 0, 0},
            {"exclusive", KIND_FLAG, 0, 0},
            {"run", KIND_LINE, 0, 0}};

#define KEYS (sizeof(keys) / sizeof(keys[0]))

static json_t *out_of_memory(berth_error_t *err)
{
    errtext_no_memory(err);
    return NULL;
}

/* A part of the text as a string of its own; NULL with ENOMEM or, where it is not UTF-8, EINVAL, and a text. */
static json_t *role_text_of(const char *text, size_t n, berth_error_t *err)
{
    json_t *value = json_stringn(text, n);
    if (!value)
        errtext_set(err, EINVAL, "expected UTF-8");
    return value;
}

static json_t *read_role_number(const char *text, size_t n, const char *key, long long min,
                                long long max, berth_error_t *err)
{
    char *end;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    if (end == text + n && n > 0 && errno == 0 && number >= min && number <= max)
        return json_integer(number);
    errtext_set(err, EINVAL, "%s: expected a whole number from %lld to %lld", key, min, max);
    return NULL;
}

static json_t *read_size(const char *text, size_t n, berth_error_t *err)
{
    int64_t bytes;
    char *copy = strndup(text, n);
    if (!copy)
        return out_of_memory(err);
    int rc = quantity_size(copy, &bytes);
    free(copy);
    if (rc == 0)
        return json_integer(bytes);
    errtext_set(err, EINVAL, "memory: expected a size such as 512M or 4G");
    return NULL;
}

/* One more of a list, of which there may be some. */
static json_t *read_one_more(json_t *role, const char *name, const char *text, size_t n,
                             berth_error_t *err)
{
    json_t *before = json_object_get(role, name);
    json_t *list = before ? json_incref(before) : json_array();
    json_t *value = role_text_of(text, n, err);
    if (value && json_array_append_new(list, value) == 0)
        return list;
    json_decref(list);
    return NULL;
}

/* The value of a key, of which the text begins behind "=", or where there is none is NULL. */
static json_t *read_value(json_t *role, const struct role_key *key, const char *text, size_t n,
                          berth_error_t *err)
{
    json_t *line;
    if (key->kind == KIND_FLAG && text) {
        errtext_set(err, EINVAL, "%s: expected no value", key->name);
        return NULL;
    }
    if (key->kind != KIND_FLAG && (!text || n == 0)) {
        errtext_set(err, EINVAL, "%s: expected a value behind '='", key->name);
        return NULL;
    }
    switch (key->kind) {
    case KIND_NUMBER:
        return read_role_number(text, n, key->name, key->min, key->max, err);
    case KIND_SIZE:
        return read_size(text, n, err);
    case KIND_TEXTS:
        return read_one_more(role, key->name, text, n, err);
    case KIND_FLAG:
        return json_true();
    case KIND_LINE:
        line = role_text_of(text, strlen(text), err);
        return line ? json_pack("[sso]", "/bin/sh", "-c", line) : NULL;
    default:
        return role_text_of(text, n, err);
    }
}

static const struct role_key *find_role_key(const char *text, size_t n, berth_error_t *err)
{
    for (size_t i = 0; i < KEYS; i++)
        if (strlen(keys[i].name) == n && memcmp(keys[i].name, text, n) == 0)
            return &keys[i];
    errtext_set(
        err, EINVAL,
        "'%.*s': expected min, nodes, tasks, cores, gpus, gpu_type, gpu_memory, memory, requires, "
        "exclusive or run",
        n < 40 ? (int)n : 40, text);
    return NULL;
}

static int put_role_value(json_t *role, const char *name, json_t *value, berth_error_t *err)
{
    if (!value)
        return -1;
    return json_object_set_new(role, name, value) == 0 ? 0 : errtext_no_memory(err);
}

/* Read the key at *at, with its value, and go on behind it. */
static int read_pair(json_t *role, const char **at, berth_error_t *err)
{
    size_t n = strcspn(*at, "=,"), length = 0;
    const struct role_key *key = find_role_key(*at, n, err);
    const char *value = (*at)[n] == '=' ? *at + n + 1 : NULL;
    if (!key)
        return -1;
    if (value)
        length = key->kind == KIND_LINE ? strlen(value) : strcspn(value, ",");
    if (key->kind != KIND_TEXTS &&
        json_object_get(role, key->kind == KIND_LINE ? "command" : key->name))
        return errtext_set(err, EINVAL, "%s is there twice", key->name);
    if (put_role_value(role, key->kind == KIND_LINE ? "command" : key->name,
                       read_value(role, key, value, length, err), err) < 0)
        return -1;
    *at = value ? value + length : *at + n;
    return 0;
}

/* Without a count it has one member. */
static int check_min(const json_t *role, berth_error_t *err)
{
    const json_t *count = json_object_get(role, "count");
    long long n = count ? json_integer_value(count) : 1;
    if (json_integer_value(json_object_get(role, "min")) <= n)
        return 0;
    return errtext_set(err, EINVAL, "min: expected at most the role's %lld member%s", n,
                       n == 1 ? "" : "s");
}

json_t *role_option_read(const char *text, berth_error_t *err)
{
    size_t n = strcspn(text, ":,");
    const char *at = text + n;
    json_t *role = json_object();
    if (!role)
        return out_of_memory(err);
    int rc = n == 0 || strcspn(text, "=") < n
                 ? errtext_set(err, EINVAL, "expected " ROLE_EXPECTED)
                 : put_role_value(role, "role", role_text_of(text, n, err), err);
    if (rc == 0 && *at == ':') {
        n = strcspn(++at, ",");
        rc = put_role_value(role, "count",
                            read_role_number(at, n, "the number behind ':'", 1, MEMBERS_MAX, err),
                            err);
        at += n;
    }
    while (rc == 0 && *at == ',') {
        at++;
        rc = read_pair(role, &at, err);
    }
    if (rc == 0)
        rc = check_min(role, err);
    if (rc == 0)
        return role;
    int saved = errno;
    json_decref(role);
    errno = saved;
    return NULL;
}
