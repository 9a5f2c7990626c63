/* Jobs of a list that wait for earlier ones of it, whose ids nobody knows before. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"
#include "base/strbuf.h"
#include "server/api/bulk.h"

int bulk_name_earlier(const char *what, json_t *job, int64_t first, int64_t n, berth_error_t *err)
{
    const char *at = json_string_value(json_object_get(job, "dependency"));
    struct strbuf text = {0};
    if (!at || !strchr(at, '#'))
        return 0;
    while (*at) {
        char *end = NULL;
        errno = 0;
        long long i = *at == '#' && at[1] >= '0' && at[1] <= '9' ? strtoll(at + 1, &end, 10) : -1;
        if (*at != '#') {
            strbuf_putc(&text, *at++);
            continue;
        }
        if (i < 0 || errno || i >= n) {
            strbuf_clear(&text);
            return errtext_set(err, EINVAL,
                               "%skey \"dependency\": expected the number of an earlier job of the "
                               "list after '#', as in \"afterok:#0\"",
                               what);
        }
        strbuf_put_int(&text, first + i);
        at = end;
    }
    int rc =
        text.failed || json_object_set_new(job, "dependency", json_string(strbuf_text(&text))) < 0
            ? errtext_no_memory(err)
            : 0;
    strbuf_clear(&text);
    return rc;
}
