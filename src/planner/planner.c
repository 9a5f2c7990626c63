/* The planner: its life, and the spans that are booked in it (berth/planner.h, planner_priv.h). */
#include "berth/planner.h"
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bounds.h"
#include "planner/planner_ext.h"
#include "planner/planner_priv.h"

/* One more end of a span among the few of a view: its time, what it changes, how many share it. */
struct edge {
    int64_t at;
    int64_t change;
    uint32_t holds;
};

static size_t edge_put(struct edge *edge, size_t n, int64_t at, int64_t change)
{
    size_t i = n;
    while (i > 0 && edge[i - 1].at > at)
        i--;
    if (i > 0 && edge[i - 1].at == at) {
        edge[i - 1].change += change;
        edge[i - 1].holds++;
        return n;
    }
    memmove(edge + i + 1, edge + i, (n - i) * sizeof(*edge));
    edge[i] = (struct edge){at, change, 1};
    return n + 1;
}

const struct profile *planner_view(const planner_t *p, struct profile_view *view)
{
    struct edge edge[PROFILE_VIEW_MAX] = {{p->start, 0, 1}};
    const struct span *spans = planner_spans(p);
    size_t n = 1;
    for (uint32_t i = 0; i < p->n; i++) {
        n = edge_put(edge, n, spans[i].start, spans[i].planned);
        n = edge_put(edge, n, spans[i].last, -spans[i].planned);
    }
    profile_view_init(view);
    int64_t load = 0;
    for (size_t i = 0; i < n; i++) {
        load += edge[i].change;
        profile_view_push(view, edge[i].at, load, edge[i].holds);
    }
    return &view->profile;
}

static int profile_build(struct profile *profile, int64_t base, const struct span *spans,
                         uint32_t n)
{
    if (profile_init(profile, base) < 0)
        return planner_fail(ENOMEM);
    for (uint32_t i = 0; i < n; i++) {
        const struct span *s = &spans[i];
        if (s->planned == SPAN_REMOVED)
            continue;
        if (profile_book(profile, s->start, s->last, s->planned) < 0) {
            profile_clear(profile);
            return planner_fail(ENOMEM);
        }
    }
    return 0;
}

/* Free what the calendar has outside of the planner and leave it without spans. */
static void spans_clear(planner_t *p)
{
    if (p->cap > NEAR_SPANS) {
        if (planner_has_profile(p))
            profile_clear(&p->far.profile);
        free(p->far.spans);
    }
    p->n = 0;
    p->live = 0;
    p->cap = NEAR_SPANS;
}

/* Change the capacity of the table, to at least its count and over NEAR_SPANS. With more than FEW_SPANS
 * there is a profile too.
 */
static int spans_resize(planner_t *p, uint32_t cap)
{
    struct span *old = planner_spans(p);
    struct profile profile = {0};
    bool build = cap > FEW_SPANS && !planner_has_profile(p);
    struct span *spans = malloc(cap * sizeof(*spans));
    if (!spans)
        return planner_fail(ENOMEM);
    if (build && profile_build(&profile, p->start, old, p->n) < 0) {
        free(spans);
        return planner_fail(ENOMEM);
    }
    memcpy(spans, old, p->n * sizeof(*spans));
    if (p->cap > NEAR_SPANS)
        free(old);
    p->far.spans = spans;
    if (build)
        p->far.profile = profile;
    p->cap = cap;
    return 0;
}

static int spans_reserve(planner_t *p)
{
    if (p->n < p->cap)
        return 0;
    if (p->n - p->live >= p->n / 4 + 1) {
        p->n = spans_pack(planner_spans(p), p->n);
        return 0;
    }
    if (p->cap > UINT32_MAX / 2)
        return planner_fail(ENOMEM);
    return spans_resize(p, p->cap + (p->cap < FEW_SPANS ? FEW_SPANS - p->cap : p->cap / 2));
}

/* Back into the planner once the spans fit there; else give back memory that is mostly idle, if possible. */
static void spans_settle(planner_t *p)
{
    if (p->cap == NEAR_SPANS)
        return;
    if (p->live <= NEAR_SPANS) {
        struct span keep[NEAR_SPANS];
        uint32_t n = spans_pack(p->far.spans, p->n);
        memcpy(keep, p->far.spans, n * sizeof(*keep));
        spans_clear(p);
        memcpy(p->near, keep, n * sizeof(*keep));
        p->n = n;
        p->live = n;
    } else if (p->n - p->live > p->n / 2) {
        p->n = spans_pack(p->far.spans, p->n);
        if (p->n < p->cap / 4 && p->cap / 2 > FEW_SPANS)
            (void)spans_resize(p, p->cap / 2);
    }
}

/* Life of a planner. */

static planner_t *planner_alloc(const char *type)
{
    size_t length = strlen(type) + 1;
    size_t room = length > TYPE_ROOM ? length : TYPE_ROOM;
    planner_t *p = malloc(sizeof(*p) + room);
    if (!p)
        return NULL;
    memset(p, 0, sizeof(*p));
    p->cap = NEAR_SPANS;
    p->type = p->type_here;
    p->type_room = (uint8_t)(room < UINT8_MAX ? room : UINT8_MAX);
    memcpy(p->type, type, length);
    return p;
}

/* The end of a window, or -1 with EINVAL. */
static int window_end(int64_t base_time, uint64_t duration, int64_t *end)
{
    if (duration < 1 || duration > INT64_MAX ||
        __builtin_add_overflow(base_time, (int64_t)duration, end))
        return planner_fail(EINVAL);
    return 0;
}

planner_t *planner_new(int64_t base_time, uint64_t duration, uint64_t resource_total,
                       const char *resource_type)
{
    int64_t end;
    if (!resource_type || window_end(base_time, duration, &end) < 0) {
        errno = EINVAL;
        return NULL;
    }
    if (resource_total > INT64_MAX) {
        errno = ERANGE;
        return NULL;
    }
    planner_t *p = planner_alloc(resource_type);
    if (p) {
        p->start = base_time;
        p->end = end;
        p->total = (int64_t)resource_total;
    }
    return p;
}

planner_t *planner_new_empty(void)
{
    planner_t *p = planner_alloc("");
    if (p)
        p->empty = true;
    return p;
}

/* Copy the calendar of `from` into `to`, which has none yet but its type. */
static int calendar_copy(planner_t *to, const planner_t *from)
{
    struct span *spans = NULL;
    struct profile profile = {0};
    if (from->cap > NEAR_SPANS) {
        if (!(spans = malloc(from->cap * sizeof(*spans))))
            return planner_fail(ENOMEM);
        memcpy(spans, from->far.spans, from->n * sizeof(*spans));
    }
    if (planner_has_profile(from) && profile_copy(&profile, &from->far.profile) < 0) {
        free(spans);
        return planner_fail(ENOMEM);
    }
    char *type = to->type;
    bool apart = to->type_apart;
    uint8_t room = to->type_room;
    *to = *from; /* all but the type, which follows the structure */
    to->type = type;
    to->type_apart = apart;
    to->type_room = room;
    if (spans) {
        to->far.spans = spans;
        to->far.profile = profile;
    }
    return 0;
}

planner_t *planner_copy(planner_t *p)
{
    if (!p) {
        errno = EINVAL;
        return NULL;
    }
    planner_t *copy = planner_alloc(p->type);
    if (copy && calendar_copy(copy, p) < 0) {
        free(copy);
        return NULL;
    }
    return copy;
}

void planner_assign(planner_t *lhs, planner_t *rhs)
{
    if (!lhs || !rhs) {
        errno = EINVAL;
        return;
    }
    if (lhs == rhs)
        return;
    char *type = lhs->type_here;
    size_t length = strlen(rhs->type) + 1;
    planner_t old = *lhs;
    if (length > lhs->type_room && !(type = malloc(length)))
        return;
    if (calendar_copy(lhs, rhs) < 0) {
        if (type != lhs->type_here)
            free(type);
        return;
    }
    spans_clear(&old);
    if (old.type_apart)
        free(old.type);
    memcpy(type, rhs->type, length);
    lhs->type = type;
    lhs->type_apart = type != lhs->type_here;
}

int planner_reset(planner_t *ctx, int64_t base_time, uint64_t duration)
{
    int64_t end;
    if (planner_unusable(ctx) || window_end(base_time, duration, &end) < 0)
        return planner_fail(EINVAL);
    spans_clear(ctx);
    ctx->start = base_time;
    ctx->end = end;
    ctx->counter = 0;
    ctx->visited = 0;
    ctx->querying = false;
    return 0;
}

void planner_destroy(planner_t **ctx_p)
{
    if (!ctx_p || !*ctx_p)
        return;
    spans_clear(*ctx_p);
    if ((*ctx_p)->type_apart)
        free((*ctx_p)->type);
    free(*ctx_p);
    *ctx_p = NULL;
}

int64_t planner_base_time(planner_t *ctx)
{
    return planner_unusable(ctx) ? planner_fail(EINVAL) : ctx->start;
}

int64_t planner_duration(planner_t *ctx)
{
    return planner_unusable(ctx) ? planner_fail(EINVAL) : ctx->end - ctx->start;
}

int64_t planner_resource_total(planner_t *ctx)
{
    return planner_unusable(ctx) ? planner_fail(EINVAL) : ctx->total;
}

const char *planner_resource_type(planner_t *ctx)
{
    if (!planner_unusable(ctx))
        return ctx->type;
    errno = EINVAL;
    return NULL;
}

/* Spans. */

int64_t planner_add_span(planner_t *ctx, int64_t start_time, uint64_t duration, uint64_t request)
{
    if (planner_unusable(ctx) || duration < 1 || start_time < ctx->start || start_time > ctx->end ||
        planner_outlasts(ctx, start_time, duration))
        return planner_fail(EINVAL);
    if (request > INT64_MAX)
        return planner_fail(ERANGE);
    if (request > (uint64_t)ctx->total ||
        planner_free_during(ctx, start_time, duration, request) < 0)
        return planner_fail(EINVAL);
    if (spans_reserve(ctx) < 0)
        return -1;
    struct span span = {
        .id = ctx->counter + 1,
        .start = start_time,
        .last = start_time + (int64_t)duration,
        .planned = (int64_t)request,
    };
    if (planner_has_profile(ctx) &&
        profile_book(&ctx->far.profile, span.start, span.last, span.planned) < 0)
        return planner_fail(ENOMEM);
    planner_spans(ctx)[ctx->n++] = span;
    ctx->live++;
    ctx->counter++;
    ctx->querying = false;
    return span.id;
}

/* The span with this id, or NULL with EINVAL. */
static struct span *span_get(const planner_t *p, int64_t id)
{
    if (!planner_unusable(p)) {
        struct span *spans = planner_spans(p);
        uint32_t i = spans_find(spans, p->n, id);
        if (i < p->n)
            return &spans[i];
    }
    errno = EINVAL;
    return NULL;
}

int planner_rem_span(planner_t *ctx, int64_t span_id)
{
    struct span *span = span_get(ctx, span_id);
    if (!span)
        return -1;
    if (planner_has_profile(ctx))
        profile_unbook(&ctx->far.profile, span->start, span->last, span->planned);
    span->planned = SPAN_REMOVED;
    ctx->live--;
    if (!planner_has_profile(ctx))
        ctx->n = spans_pack(planner_spans(ctx), ctx->n);
    spans_settle(ctx);
    ctx->querying = false;
    return 0;
}

int planner_reduce_span(planner_t *ctx, int64_t span_id, int64_t to_remove, bool *removed)
{
    if (!removed)
        return planner_fail(EINVAL);
    *removed = false;
    struct span *span = span_get(ctx, span_id);
    if (!span)
        return -1;
    if (to_remove < 0 || to_remove > span->planned)
        return planner_fail(EINVAL);
    if (to_remove == span->planned) {
        *removed = true;
        return planner_rem_span(ctx, span_id);
    }
    if (to_remove == 0)
        return 0;
    if (planner_has_profile(ctx))
        profile_add(&ctx->far.profile, span->start, span->last, -to_remove);
    span->planned -= to_remove;
    ctx->query.from = ctx->query.on_or_after;
    return 0;
}

int planner_retake_span(planner_t *ctx, int64_t span_id, int64_t units)
{
    struct span *span = span_get(ctx, span_id);
    if (!span || units < 0)
        return planner_fail(EINVAL);
    if (planner_has_profile(ctx) && units != span->planned)
        profile_add(&ctx->far.profile, span->start, span->last, units - span->planned);
    span->planned = units;
    ctx->querying = false;
    return 0;
}

int planner_advance_span(planner_t *ctx, int64_t span_id, int64_t start)
{
    struct span *span = span_get(ctx, span_id);
    if (!span || start >= span->start || start < ctx->start)
        return planner_fail(EINVAL);
    int64_t duration = span->last - span->start;
    if (planner_has_profile(ctx) &&
        profile_advance(&ctx->far.profile, span->start, duration, start, span->planned) < 0)
        return planner_fail(ENOMEM);
    span->last = start + duration;
    span->start = start;
    ctx->querying = false;
    return 0;
}

/* The id of the first span that is not removed at or after index i. */
static int64_t span_visit(planner_t *p, uint32_t i)
{
    const struct span *spans = planner_spans(p);
    i = spans_live(spans, p->n, i);
    if (i == p->n)
        return planner_fail(EINVAL);
    p->visited = spans[i].id;
    return p->visited;
}

int64_t planner_span_first(planner_t *ctx)
{
    return planner_unusable(ctx) ? planner_fail(EINVAL) : span_visit(ctx, 0);
}

int64_t planner_span_next(planner_t *ctx)
{
    if (planner_unusable(ctx))
        return planner_fail(EINVAL);
    return span_visit(ctx, spans_above(planner_spans(ctx), ctx->n, ctx->visited));
}

size_t planner_span_size(planner_t *ctx)
{
    if (!planner_unusable(ctx))
        return ctx->live;
    errno = EINVAL;
    return 0;
}

bool planner_is_active_span(planner_t *ctx, int64_t span_id)
{
    return span_get(ctx, span_id) != NULL;
}

int64_t planner_span_start_time(planner_t *ctx, int64_t span_id)
{
    const struct span *span = span_get(ctx, span_id);
    return span ? span->start : -1;
}

int64_t planner_span_duration(planner_t *ctx, int64_t span_id)
{
    const struct span *span = span_get(ctx, span_id);
    return span ? span->last - span->start : -1;
}

int64_t planner_span_resource_count(planner_t *ctx, int64_t span_id)
{
    const struct span *span = span_get(ctx, span_id);
    return span ? span->planned : -1;
}

static bool spans_equal(const planner_t *a, const planner_t *b)
{
    const struct span *u = planner_spans(a);
    const struct span *v = planner_spans(b);
    uint32_t i = 0;
    uint32_t j = 0;
    for (;; i++, j++) {
        i = spans_live(u, a->n, i);
        j = spans_live(v, b->n, j);
        if (i == a->n || j == b->n)
            return i == a->n && j == b->n;
        if (u[i].id != v[j].id || u[i].start != v[j].start || u[i].last != v[j].last ||
            u[i].planned != v[j].planned)
            return false;
    }
}

static bool queries_equal(const planner_t *a, const planner_t *b)
{
    if (!a->querying || !b->querying)
        return a->querying == b->querying;
    const struct query *q = &a->query;
    const struct query *r = &b->query;
    return q->on_or_after == r->on_or_after && q->from == r->from && q->duration == r->duration &&
           q->request == r->request;
}

bool planners_equal(planner_t *lhs, planner_t *rhs)
{
    if (!lhs || !rhs)
        return lhs == rhs;
    return lhs->empty == rhs->empty && lhs->total == rhs->total && lhs->start == rhs->start &&
           lhs->end == rhs->end && lhs->counter == rhs->counter &&
           strcmp(lhs->type, rhs->type) == 0 && queries_equal(lhs, rhs) && spans_equal(lhs, rhs);
}

int planner_update_total(planner_t *ctx, uint64_t resource_total)
{
    if (planner_unusable(ctx))
        return planner_fail(EINVAL);
    if (resource_total > INT64_MAX)
        return planner_fail(ERANGE);
    ctx->total = (int64_t)resource_total;
    return 0;
}

/* The profile must be what building it from the spans gives. */
static bool profile_true(const planner_t *p)
{
    struct profile again;
    struct profile_cursor a;
    struct profile_cursor b;
    if (!profile_check(&p->far.profile) || profile_build(&again, p->start, p->far.spans, p->n) < 0)
        return false;
    bool same = again.n == p->far.profile.n;
    profile_seek(&a, &p->far.profile, p->start);
    profile_seek(&b, &again, p->start);
    do {
        same = same && profile_cursor_time(&a) == profile_cursor_time(&b) &&
               profile_cursor_load(&a) == profile_cursor_load(&b) &&
               profile_cursor_holds(&a) == profile_cursor_holds(&b);
    } while (same && profile_next(&a) && profile_next(&b));
    profile_clear(&again);
    return same;
}

bool planner_check(const planner_t *ctx)
{
    uint32_t live = 0;
    if (!ctx || ctx->n > ctx->cap || ctx->live > ctx->n)
        return false;
    const struct span *spans = planner_spans(ctx);
    for (uint32_t i = 0; i < ctx->n; i++) {
        if ((i > 0 && spans[i].id <= spans[i - 1].id) || spans[i].id > ctx->counter)
            return false;
        live += spans[i].planned != SPAN_REMOVED;
    }
    return live == ctx->live && (!planner_has_profile(ctx) || profile_true(ctx));
}
