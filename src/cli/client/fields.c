#include "cli/client/fields.h"

bool fields_find(struct fields *f, const char *text, size_t length)
{
    struct json_scan s;
    f->n = 0;
    if (!json_scan_begin(&s, json_part(text, length)) || !s.is_object)
        return false;
    while (f->n < FIELDS_MAX && json_scan_next(&s, &f->v[f->n].key, &f->v[f->n].value))
        f->n++;
    return f->n == FIELDS_MAX || s.is_whole;
}

static struct json_part find(const struct fields *f, const char *key)
{
    for (size_t i = 0; i < f->n; i++)
        if (json_part_is(f->v[i].key, key))
            return f->v[i].value;
    return (struct json_part){0};
}

const char *fields_text(const struct fields *f, const char *key, struct strbuf *buffer)
{
    strbuf_reset(buffer);
    json_part_text(find(f, key), buffer);
    return strbuf_text(buffer);
}

double fields_number(const struct fields *f, const char *key)
{
    return json_part_double(find(f, key), -1);
}

bool fields_whole(const struct fields *f, const char *key, int64_t *number)
{
    return json_part_int(find(f, key), number);
}

bool fields_is_false(const struct fields *f, const char *key)
{
    return json_part_is(find(f, key), "false");
}
