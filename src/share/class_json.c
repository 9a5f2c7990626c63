/* The settings of classes as JSON, written and read. */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <string.h>

#include "base/errtext.h"
#include "base/json_out.h"
#include "share/classes.h"

char *classes_save(const classes_t *c)
{
    struct strbuf text = {0};
    struct json_out j = {.text = &text};
    json_open(&j, NULL, '{');
    json_open(&j, "classes", '[');
    for (size_t i = 0; i < c->npercents; i++) {
        json_open(&j, NULL, '{');
        json_put_string(&j, "name", c->percents[i].name);
        json_put_int(&j, "percent", c->percents[i].percent);
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_open(&j, "requestors", '[');
    for (size_t i = 0; i < c->nrequestors; i++) {
        json_open(&j, NULL, '{');
        json_put_string(&j, "pattern", c->requestors[i].pattern);
        json_put_string(&j, "class", c->requestors[i].name);
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_put_string(&j, "default_class", c->fallback);
    json_put_int(&j, "rebalance_threshold", c->rule.threshold);
    json_put_int(&j, "rebalance_minimum_duration", c->rule.duration);
    json_close(&j, '}');
    return strbuf_steal(&text);
}

/* ---- Reading ---- */

/* Refuse members that are not among the keys, which end with NULL. */
static int check_keys(json_t *object, const char *place, const char *const *keys,
                      berth_error_t *err)
{
    char list[ERRTEXT_LIST_MAX];
    const char *key;
    json_t *value;
    json_object_foreach (object, key, value) {
        size_t i = 0;
        while (keys[i] && strcmp(keys[i], key) != 0)
            i++;
        if (!keys[i])
            return errtext_set(err, EINVAL, "%s: expected %s, found '%.80s'", place,
                               errtext_list(list, sizeof(list), keys, " or "), key);
    }
    return 0;
}

/* A list that may be missing. *list is NULL then. */
static int get_list(json_t *root, const char *key, size_t most, json_t **list, berth_error_t *err)
{
    *list = json_object_get(root, key);
    if (*list && !json_is_array(*list))
        return errtext_set(err, EINVAL, "%s: expected a list", key);
    if (json_array_size(*list) > most)
        return errtext_set(err, EINVAL, "%s: expected at most %zu, found %zu", key, most,
                           json_array_size(*list));
    return 0;
}

/* A text of an element of a list. */
static int get_text(json_t *element, const char *list, size_t index, const char *key,
                    const char **text, berth_error_t *err)
{
    *text = json_string_value(json_object_get(element, key));
    if (!*text)
        return errtext_set(err, EINVAL, "%s[%zu].%s: expected a text", list, index, key);
    return 0;
}

static int check_element(json_t *element, const char *list, size_t index, const char *const *keys,
                         berth_error_t *err)
{
    char place[64];
    snprintf(place, sizeof(place), "%s[%zu]", list, index);
    if (!json_is_object(element))
        return errtext_set(err, EINVAL, "%s: expected an object", place);
    return check_keys(element, place, keys, err);
}

static int read_percents(classes_t *c, json_t *root, berth_error_t *err)
{
    static const char *const keys[] = {"name", "percent", NULL};
    struct classes_percent list[CLASSES_MAX];
    json_t *array, *element, *percent;
    size_t i;
    if (get_list(root, "classes", CLASSES_MAX, &array, err) < 0)
        return -1;
    if (!array)
        return 0;
    json_array_foreach (array, i, element) {
        if (check_element(element, "classes", i, keys, err) < 0 ||
            get_text(element, "classes", i, "name", &list[i].name, err) < 0)
            return -1;
        percent = json_object_get(element, "percent");
        if (!json_is_integer(percent))
            return errtext_set(err, EINVAL, "classes[%zu].percent: expected an integer", i);
        list[i].percent = json_integer_value(percent);
    }
    return classes_set_percents(c, list, json_array_size(array), err);
}

static int read_requestors(classes_t *c, json_t *root, berth_error_t *err)
{
    static const char *const keys[] = {"pattern", "class", NULL};
    struct classes_requestor list[CLASSES_REQUESTORS];
    json_t *array, *element, *fallback = json_object_get(root, "default_class");
    size_t i;
    if (get_list(root, "requestors", CLASSES_REQUESTORS, &array, err) < 0)
        return -1;
    if (fallback && !json_is_string(fallback))
        return errtext_set(err, EINVAL, "default_class: expected a text");
    json_array_foreach (array, i, element)
        if (check_element(element, "requestors", i, keys, err) < 0 ||
            get_text(element, "requestors", i, "pattern", &list[i].pattern, err) < 0 ||
            get_text(element, "requestors", i, "class", &list[i].name, err) < 0)
            return -1;
    return classes_set_requestors(c, list, json_array_size(array), json_string_value(fallback),
                                  err);
}

static int read_integer_setting(classes_t *c, json_t *root, const char *key,
                                int (*set)(classes_t *, int64_t, berth_error_t *),
                                berth_error_t *err)
{
    json_t *number = json_object_get(root, key);
    if (!number)
        return 0;
    if (!json_is_integer(number))
        return errtext_set(err, EINVAL, "%s: expected an integer", key);
    return set(c, json_integer_value(number), err);
}

static int read_class_settings(classes_t *c, json_t *root, berth_error_t *err)
{
    static const char *const keys[] = {"classes",
                                       "requestors",
                                       "default_class",
                                       "rebalance_threshold",
                                       "rebalance_minimum_duration",
                                       NULL};
    if (!json_is_object(root))
        return errtext_set(err, EINVAL, "classes: expected an object");
    if (check_keys(root, "classes", keys, err) < 0 || read_percents(c, root, err) < 0 ||
        read_requestors(c, root, err) < 0 ||
        read_integer_setting(c, root, "rebalance_threshold", classes_set_rebalance_threshold, err) <
            0)
        return -1;
    return read_integer_setting(c, root, "rebalance_minimum_duration",
                                classes_set_rebalance_minimum_duration, err);
}

static json_t *parse(const char *text, size_t length, berth_error_t *err)
{
    json_error_t why;
    json_t *root = json_loadb(text, length, JSON_REJECT_DUPLICATES, &why);
    if (root)
        return root;
    if (json_error_code(&why) == json_error_out_of_memory)
        errtext_no_memory(err);
    else
        errtext_set(err, EINVAL, "line %d, column %d: expected JSON: %s", why.line, why.column,
                    why.text);
    return NULL;
}

classes_t *classes_load(const char *text, size_t length, berth_error_t *err)
{
    json_t *root = parse(text, length, err);
    if (!root)
        return NULL;
    classes_t *c = classes_create();
    int result = c ? read_class_settings(c, root, err) : errtext_no_memory(err);
    int error = errno;
    json_decref(root);
    if (result == 0)
        return c;
    classes_destroy(c);
    errno = error;
    return NULL;
}
