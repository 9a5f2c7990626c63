/* GET /v1/jobs: parameters, pages and the stream. */
#include "server/api/list.h"
#include "server/core/members.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { STATE, USER, QUEUE, NAME, LIMIT, AFTER, ORDER, HISTORY, SINCE, IDS, ARRAYS, LABEL, QUERIES };

/* ---- The stream ---- */

static void list_put_end(struct list *l)
{
    struct strbuf *out = l->json.text;
    strbuf_putc(out, '\n');
    json_close(&l->json, ']');
    json_key(&l->json, "next");
    if (l->left != 0) {
        strbuf_puts(out, "null");
    } else {
        strbuf_putc(out, '"');
        strbuf_put_int(out, l->last_id);
        if (l->last_member >= 0) {
            strbuf_putc(out, '.');
            strbuf_put_int(out, l->last_member);
        }
        strbuf_putc(out, '"');
    }
    json_close(&l->json, '}');
    strbuf_putc(out, '\n');
}

static int list_read(struct server_stream *stream, struct strbuf *out, size_t max)
{
    struct list *l = (struct list *)stream;
    size_t begin = out->len;
    if (l->over)
        return 0;
    l->json.text = out;
    l->estimates_now = 0;
    for (size_t looked = 0, seen = begin; out->len - begin < max && !out->failed; looked++) {
        if (out->len != seen)
            looked = 0;
        seen = out->len;
        if (looked == LIST_LOOK_MAX || l->estimates_now >= LIST_ESTIMATES_TURN)
            return 1;
        int rc = l->left == 0 ? 0 : l->next_id ? list_next_named(l) : list_next(l);
        if (rc < 0)
            return errno == EAGAIN ? 1 : -1;
        if (rc > 0)
            continue;
        list_put_end(l);
        l->over = true;
        return out->failed ? -1 : 0;
    }
    return out->failed ? -1 : 1;
}

static void list_close(struct server_stream *stream)
{
    struct list *l = (struct list *)stream;
    store_cursor_close(l->cursor);
    store_cursor_close(l->part);
    array_sum_clear(&l->sum);
    strbuf_clear(&l->stored);
    free(l->user);
    free(l->queue);
    free(l->name);
    free(l->label);
    free(l->ids);
    free(l);
}

/* ---- Parameters ---- */

static int read_after(struct call *c, struct list *l, const char *text)
{
    char *end;
    l->id = strtoll(text, &end, 10);
    l->member = INT32_MAX;
    if (end > text && (*end == '.' || *end == '[') && end[1] >= '0' && end[1] <= '9')
        l->member = strtoll(end + 1, &end, 10);
    else if (l->newest)
        l->member = 0;
    if (end == text || (*end && strcmp(end, "]") != 0) || l->id < 0 || l->member < 0 ||
        l->member > INT32_MAX)
        return api_refuse(c, 400, "after", "after: expected ID or ID.MEMBER, got \"%.40s\"", text);
    return 0;
}

/* Find the position among the ids after the last row of a page. */
static int seek_id(struct call *c, struct list *l)
{
    for (char *end; *l->next_id; l->next_id = end + (*end == ',')) {
        if (strtoll(l->next_id, &end, 10) != l->id)
            continue;
        if (l->member < INT32_MAX)
            l->next_member = (uint32_t)l->member + 1;
        else
            l->next_id = end + (*end == ',');
        return 0;
    }
    return api_refuse(c, 400, "after", "after: %lld is not one of the ids", (long long)l->id);
}

static int read_query(struct call *c, struct list *l, struct api_query *q)
{
    const char *order = q[ORDER].value;
    int64_t limit;
    if (api_query_whole(c, &q[LIMIT], &limit) < 0)
        return -1;
    l->left = limit > 0 ? limit : -1;
    if (api_query_whole(c, &q[SINCE], &l->since) < 0)
        return -1;
    l->since = l->since > INT64_MAX / 1000000 ? INT64_MAX : l->since < 0 ? -1 : l->since * 1000000;
    if (limit == 0)
        return api_refuse(c, 400, "limit", "limit: expected a whole number above 0");
    if (order && strcmp(order, "newest") != 0 && strcmp(order, "oldest") != 0)
        return api_refuse(c, 400, "order", "order: expected newest or oldest, got \"%.40s\"",
                          order);
    l->newest = order && strcmp(order, "newest") == 0;
    l->id = l->newest ? INT64_MAX : 0;
    l->member = -1;
    if (q[STATE].value && api_states_read(c, &l->states, q[STATE].value) < 0)
        return -1;
    if (!l->states.bits) {
        bool ended = q[IDS].value || (q[HISTORY].value && strcmp(q[HISTORY].value, "0") != 0);
        l->states = (struct api_states){API_LIVE_BITS | (ended ? LIST_OVER_BITS : 0), true, true};
    }
    if (q[IDS].value && strspn(q[IDS].value, "0123456789,") != strlen(q[IDS].value))
        return api_refuse(c, 400, "ids", "ids: expected numbers separated by commas");
    l->arrays = q[ARRAYS].value && strcmp(q[ARRAYS].value, "0") != 0;
    l->user = q[USER].value;
    l->queue = q[QUEUE].value;
    l->name = q[NAME].value;
    l->label = q[LABEL].value;
    l->ids = l->next_id = q[IDS].value;
    q[USER].value = q[QUEUE].value = q[NAME].value = q[LABEL].value = q[IDS].value = NULL;
    if (q[AFTER].value && read_after(c, l, q[AFTER].value) < 0)
        return -1;
    return q[AFTER].value && l->ids ? seek_id(c, l) : 0;
}

static int open_cursor(struct call *c, struct list *l, bool has_after)
{
    berth_error_t why = {""};
    struct store_query query = {.uid = -1,
                                .states = l->states.bits & LIST_OVER_BITS,
                                .queue = l->queue,
                                .name = l->name,
                                .since_wall = l->since,
                                .after_job = -1,
                                .after_member = -1,
                                .newest_first = l->newest,
                                .by_job = l->arrays};
    if (!(l->states.bits & LIST_OVER_BITS) || l->ids)
        return 0;
    if (has_after && (!l->newest || !job_lookup(c->s, l->id))) {
        query.after_job = l->id;
        query.after_member = l->member;
        l->live_over = l->newest; /* the last row was an ended member */
    }
    l->cursor = store_find(c->s->store, &query, &why);
    return l->cursor ? 0 : api_wrong(c, &why);
}

void api_jobs_get(struct call *c)
{
    struct api_query q[QUERIES + 1] = {
        [STATE] = {"state", NULL}, [USER] = {"user", NULL},       [QUEUE] = {"queue", NULL},
        [NAME] = {"name", NULL},   [LIMIT] = {"limit", NULL},     [AFTER] = {"after", NULL},
        [ORDER] = {"order", NULL}, [HISTORY] = {"history", NULL}, [SINCE] = {"since", NULL},
        [IDS] = {"ids", NULL},     [ARRAYS] = {"arrays", NULL},   [LABEL] = {"label", NULL}};
    struct list *l = calloc(1, sizeof(*l));
    if (!l) {
        api_refuse(c, 503, NULL, "out of memory");
        return;
    }
    l->stream = (struct server_stream){list_read, list_close, c->s};
    l->estimated = -1;
    l->caller = *c;
    l->request = *c->request;
    l->caller.request = &l->request;
    if (api_query(c, q) < 0 || read_query(c, l, q) < 0 || open_cursor(c, l, q[AFTER].value) < 0) {
        list_close(&l->stream);
    } else {
        l->json.text = c->out;
        json_open(&l->json, NULL, '{');
        json_open(&l->json, "jobs", '[');
        c->reply->stream = &l->stream;
    }
    api_query_clear(q);
}
