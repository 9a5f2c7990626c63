#include "cli/client/objects.h"

#include <errno.h>

/* ---- Objects of a list ---- */

#define OBJECT_MAX ((size_t)64 << 20) /* bytes */
#define INSIDE     2                  /* the depth between objects of the list */
#define DEEPEST    1000
#define OVER       (DEEPEST + 1) /* the depth after the list */

/* Hand on an object, of which these bytes are the last part. */
static int hand_on(struct records *r, const char *bytes, size_t n)
{
    if (r->object.len == 0)
        return r->visit(r->context, bytes, n);
    strbuf_put(&r->object, bytes, n);
    if (r->object.failed) {
        errno = ENOMEM;
        return -1;
    }
    int rc = r->visit(r->context, r->object.data, r->object.len);
    strbuf_reset(&r->object);
    return rc;
}

static int objects_fail(int errnum)
{
    errno = errnum;
    return -1;
}

int records_take(struct records *r, const char *bytes, size_t n)
{
    const char *end = bytes + n, *at = bytes;
    const char *start = r->depth > INSIDE && r->depth != OVER ? bytes : NULL; /* of an object */

    while ((at = json_bracket(&r->strings, at, end)) < end) {
        char c = *at++;
        if (c == '{' || c == '[') {
            if (r->depth == OVER)
                return objects_fail(EINVAL);
            if (r->depth == INSIDE)
                start = at - 1;
            if (++r->depth >= DEEPEST)
                return objects_fail(EINVAL);
        } else if (c == '}' || c == ']') {
            if (r->depth == 0 || r->depth == OVER)
                return objects_fail(EINVAL);
            r->depth--;
            if (r->depth == INSIDE && start) {
                if (hand_on(r, start, (size_t)(at - start)) != 0)
                    return -1;
                start = NULL;
            } else if (r->depth == 0) {
                r->depth = OVER;
            }
        }
    }
    if (start) {
        if (r->object.len > OBJECT_MAX)
            return objects_fail(EINVAL);
        strbuf_put(&r->object, start, (size_t)(end - start));
    }
    return r->object.failed ? objects_fail(ENOMEM) : 0;
}

bool records_are_complete(const struct records *r)
{
    return r->depth == OVER && !r->strings.inside;
}

void records_clear(struct records *r)
{
    strbuf_clear(&r->object);
}

/* ---- Members of an object ---- */

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

static struct json_part find_member(const struct fields *f, const char *key)
{
    for (size_t i = 0; i < f->n; i++)
        if (json_part_is(f->v[i].key, key))
            return f->v[i].value;
    return (struct json_part){0};
}

const char *fields_text(const struct fields *f, const char *key, struct strbuf *buffer)
{
    strbuf_reset(buffer);
    json_part_text(find_member(f, key), buffer);
    return strbuf_text(buffer);
}

double fields_number(const struct fields *f, const char *key)
{
    return json_part_double(find_member(f, key), -1);
}

bool fields_whole(const struct fields *f, const char *key, int64_t *number)
{
    return json_part_int(find_member(f, key), number);
}

bool fields_inside(const struct fields *f, const char *key, struct fields *inside)
{
    struct json_part object = find_member(f, key);
    return object.length > 0 && fields_find(inside, object.at, object.length);
}

bool fields_is_true(const struct fields *f, const char *key)
{
    return json_part_is(find_member(f, key), "true");
}
