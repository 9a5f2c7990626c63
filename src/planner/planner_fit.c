/* The planner: when so much is free, and what is free then (berth/planner.h, planner_priv.h). */
#include "base/bounds.h"
#include "planner/planner_ext.h"
#include "planner/planner_priv.h"

/* Earliest fit. */

/* Continue the query from its cursor. */
static int64_t query_step(planner_t *p)
{
    struct query *q = &p->query;
    struct profile_view view;
    struct profile_cursor c;
    int64_t at;
    if (q->from == INT64_MAX || planner_outlasts(p, q->from, q->duration))
        return planner_fail(ENOENT);
    int64_t limit = planner_load_limit(p, q->request);
    int64_t duration = (int64_t)q->duration;
    profile_seek(&c, planner_profile(p, &view), q->from);
    bool found = (profile_cursor_time(&c) >= q->from || profile_next(&c)) &&
                 profile_fit(&c, INT64_MIN, duration, limit, INT64_MAX, &at);
    if (!found || planner_outlasts(p, at, q->duration)) {
        q->from = INT64_MAX;
        return planner_fail(ENOENT);
    }
    q->from = at + 1;
    return at;
}

int64_t planner_avail_time_first(planner_t *ctx, int64_t on_or_after, uint64_t duration,
                                 uint64_t request)
{
    if (planner_unusable(ctx) || on_or_after < ctx->start || on_or_after >= ctx->end ||
        duration < 1)
        return planner_fail(EINVAL);
    if (request > (uint64_t)ctx->total)
        return planner_fail(ERANGE);
    ctx->querying = true;
    ctx->query = (struct query){
        .on_or_after = on_or_after,
        .from = on_or_after,
        .duration = duration,
        .request = (int64_t)request,
    };
    return query_step(ctx);
}

int64_t planner_avail_time_next(planner_t *ctx)
{
    if (planner_unusable(ctx) || !ctx->querying)
        return planner_fail(EINVAL);
    if (ctx->query.request > ctx->total)
        return planner_fail(ERANGE);
    return query_step(ctx);
}

int planner_fit(const planner_t *ctx, int64_t from, uint64_t duration, uint64_t request,
                int64_t *at)
{
    struct profile_view view;
    struct profile_cursor c;
    int64_t start;
    if (planner_unusable(ctx) || from < ctx->start || from >= ctx->end || duration < 1)
        return planner_fail(EINVAL);
    if (request > (uint64_t)ctx->total)
        return planner_fail(ERANGE);
    if (planner_outlasts(ctx, from, duration))
        return planner_fail(ENOENT);
    int64_t limit = planner_load_limit(ctx, (int64_t)request);
    profile_seek(&c, planner_profile(ctx, &view), from);
    if (!profile_fit(&c, from, (int64_t)duration, limit, INT64_MAX, &start) ||
        planner_outlasts(ctx, start, duration))
        return planner_fail(ENOENT);
    *at = start;
    return 0;
}

int64_t planner_earliest(const planner_t *ctx, int64_t from, uint64_t duration, uint64_t request)
{
    int64_t at;
    return planner_fit(ctx, from, duration, request, &at) < 0 ? -1 : at;
}

int64_t planner_earliest_before(const planner_t *ctx, int64_t from, int64_t duration,
                                int64_t request, int64_t before)
{
    struct profile_view view;
    struct profile_cursor c;
    int64_t at;
    const struct profile *profile = planner_profile(ctx, &view);
    int64_t limit = planner_load_limit(ctx, request);
    if (from >= before)
        return before;
    if ((before - from) / FEW_LOOKS < duration &&
        !profile_fits(profile, from, duration, limit, before))
        return before;
    profile_seek(&c, profile, from);
    return profile_fit(&c, from, duration, limit, before, &at) ? at : before;
}

int64_t planner_next_point(const planner_t *ctx, int64_t from)
{
    struct profile_view view;
    struct profile_cursor c;
    profile_seek(&c, planner_profile(ctx, &view), from);
    if (profile_cursor_time(&c) < from && !profile_next(&c))
        return INT64_MAX;
    return profile_cursor_time(&c);
}

/* What is free. */

int planner_free_during(const planner_t *p, int64_t at, uint64_t duration, uint64_t request)
{
    struct profile_view view;
    struct profile_cursor c;
    if (at < p->start)
        return planner_fail(EINVAL);
    if (at > p->end || planner_outlasts(p, at, duration))
        return planner_fail(ERANGE);
    if (request == 0)
        return 0;
    profile_seek(&c, planner_profile(p, &view), at);
    if (profile_next_over(&c, planner_load_limit(p, (int64_t)request), at + (int64_t)duration))
        return planner_fail(EBUSY);
    return 0;
}

int planner_avail_during(planner_t *ctx, int64_t at, uint64_t duration, uint64_t request)
{
    if (planner_unusable(ctx) || duration < 1)
        return planner_fail(EINVAL);
    if (request > (uint64_t)ctx->total)
        return planner_fail(ERANGE);
    return planner_free_during(ctx, at, duration, request);
}

int64_t planner_avail_resources_during(planner_t *ctx, int64_t at, uint64_t duration)
{
    struct profile_view view;
    if (planner_unusable(ctx) || at > ctx->end || at < ctx->start || duration < 1)
        return planner_fail(EINVAL);
    if (planner_outlasts(ctx, at, duration))
        return planner_fail(ERANGE);
    int64_t load = profile_max(planner_profile(ctx, &view), at, at + (int64_t)duration);
    return planner_free_under(ctx, load);
}

int64_t planner_avail_resources_at(planner_t *ctx, int64_t at)
{
    struct profile_view view;
    if (planner_unusable(ctx))
        return planner_fail(EINVAL);
    if (at > ctx->end || at < ctx->start)
        return planner_fail(ERANGE);
    return planner_free_under(ctx, profile_at(planner_profile(ctx, &view), at));
}

size_t planner_rooms(const planner_t *ctx, int64_t at, struct planner_room *room, size_t max)
{
    struct profile_view view;
    struct profile_cursor c;
    profile_seek(&c, planner_profile(ctx, &view), at);
    int64_t load = profile_cursor_load(&c);
    size_t n = 0;
    while (n + 1 < max && load < ctx->total && profile_next_over(&c, load, INT64_MAX)) {
        room[n++] =
            (struct planner_room){profile_cursor_time(&c) - at, planner_free_under(ctx, load)};
        load = profile_cursor_load(&c);
    }
    room[n++] = (struct planner_room){INT64_MAX, planner_free_under(ctx, load)};
    return n;
}
