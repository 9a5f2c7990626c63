#include "server/api/labels.h"

#include <stdlib.h>
#include <string.h>

#include "server/core/job_text.h"

static bool is_label_name(const char *text)
{
    size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/-");
    return n > 0 && n <= LABELS_NAME && !text[n];
}

int labels_check(struct job_reader *r)
{
    const char *name;
    json_t *value;
    if (json_object_size(r->ask.labels) > LABELS_MAX)
        return job_wrong(r, "labels", NULL, "at most 20 labels");
    json_object_foreach (r->ask.labels, name, value) {
        const char *text = json_string_value(value);
        if (!is_label_name(name))
            return job_wrong(r, "labels", NULL,
                             "names of at most 63 letters, digits, '.', '_', '-' and '/'");
        if (!text || json_string_length(value) > LABELS_TEXT ||
            strlen(text) != json_string_length(value) || !text_is_plain(text))
            return job_wrong(r, "labels", value,
                             "values of at most 255 bytes without control characters");
    }
    return 0;
}

void labels_put(const struct job_reader *r, struct json_out *out)
{
    const char *name;
    json_t *value;
    if (json_object_size(r->ask.labels) == 0)
        return;
    json_open(out, "labels", '{');
    json_object_foreach (r->ask.labels, name, value) {
        json_put_text(out, name, json_string_value(value));
    }
    json_close(out, '}');
}

struct json_part labels_of_row(const char *row, size_t length)
{
    /* Within a string the quotes would have backslashes before them. */
    static const char begin[] = ",\"labels\":{";
    const char *at = length > 0 ? memmem(row, length, begin, sizeof(begin) - 1) : NULL;
    struct json_part none = {0};
    if (!at)
        return none;
    at += sizeof(begin) - 2;
    return json_part(at, length - (size_t)(at - row));
}

struct json_part labels_of_request(const char *request)
{
    static const char *const shown_key = "shown", *const labels_key = "labels";
    struct json_part shown, labels;
    json_find(json_part(request, strlen(request)), &shown_key, 1, &shown);
    json_find(shown, &labels_key, 1, &labels);
    return labels;
}

bool labels_fit(struct json_part labels, const char *wanted)
{
    const char *sign = strchr(wanted, '=');
    char name[LABELS_NAME + 1];
    size_t n = sign ? (size_t)(sign - wanted) : strlen(wanted);
    const char *const key = name;
    struct json_part found = {0};
    char *value = NULL;
    if (!labels.at || n > LABELS_NAME)
        return false;
    memcpy(name, wanted, n);
    name[n] = '\0';
    json_find(labels, &key, 1, &found);
    if (!found.at || !sign)
        return found.at != NULL;
    bool fits = json_part_copy(found, &value) == 0 && value && strcmp(value, sign + 1) == 0;
    free(value);
    return fits;
}
