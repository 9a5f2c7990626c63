#include "cli/client/records.h"

#include <errno.h>

#define OBJECT_MAX ((size_t)64 << 20) /* bytes */
#define INSIDE     2                  /* the depth between objects of the list */
#define DEEPEST    1000
#define OVER       (DEEPEST + 1) /* the depth behind the list */

/* Hand an object on whose last part are these bytes. */
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

static int fail(int errnum)
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
                return fail(EINVAL);
            if (r->depth == INSIDE)
                start = at - 1;
            if (++r->depth >= DEEPEST)
                return fail(EINVAL);
        } else if (c == '}' || c == ']') {
            if (r->depth == 0 || r->depth == OVER)
                return fail(EINVAL);
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
            return fail(EINVAL);
        strbuf_put(&r->object, start, (size_t)(end - start));
    }
    return r->object.failed ? fail(ENOMEM) : 0;
}

bool records_are_complete(const struct records *r)
{
    return r->depth == OVER && !r->strings.inside;
}

void records_clear(struct records *r)
{
    strbuf_clear(&r->object);
}
