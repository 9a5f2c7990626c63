/* The multi planner: its spans, each made up of one in the planner of each type (planner_multi_priv.h). */
#include <string.h>

#include "planner/ids.h"
#include "planner/planner_multi_priv.h"

/* The row of the span with this id, or NULL with EINVAL or ENOENT. */
static int64_t *row_get(const planner_multi_t *m, int64_t id)
{
    if (!m || id < 0)
        return planner_multi_fail_null(EINVAL);
    uint32_t i = ids_above(planner_multi_rows_of(m),
                           planner_multi_row_words(m->types) * sizeof(int64_t), m->n, id);
    int64_t *row = i > 0 ? planner_multi_row_at(m, i - 1) : NULL;
    return row && row[0] == id && planner_multi_row_live(row) ? row
                                                              : planner_multi_fail_null(ENOENT);
}

/* Take a row's parts off the first k planners. A part that was removed from the planner itself is gone
 * already.
 */
static void parts_remove(planner_multi_t *m, const int64_t *row, uint32_t k)
{
    int saved = errno;
    while (k-- > 0)
        if (row[1 + k] != PART_GONE)
            (void)planner_rem_span(planner_multi_planners(m)[k], row[1 + k]);
    errno = saved;
}

int64_t planner_multi_add_span(planner_multi_t *ctx, int64_t start_time, uint64_t duration,
                               const uint64_t *resource_requests, size_t len)
{
    if (!ctx || !resource_requests || len != ctx->types)
        return planner_multi_fail(EINVAL);
    if (planner_multi_rows_reserve(ctx) < 0)
        return -1;
    int64_t *row = planner_multi_row_at(ctx, ctx->n);
    row[0] = ctx->counter++;
    row[1] = PART_GONE;
    for (uint32_t k = 0; k < ctx->types; k++) {
        row[1 + k] = planner_add_span(planner_multi_planners(ctx)[k], start_time, duration,
                                      resource_requests[k]);
        if (row[1 + k] < 0) {
            parts_remove(ctx, row, k);
            return -1;
        }
    }
    ctx->n++;
    ctx->live++;
    ctx->querying = false;
    return row[0];
}

static void row_remove(planner_multi_t *m, int64_t *row)
{
    row[1] = ROW_REMOVED;
    m->live--;
    planner_multi_rows_settle(m);
}

int planner_multi_rem_span(planner_multi_t *ctx, int64_t span_id)
{
    int64_t *row = row_get(ctx, span_id);
    if (!row)
        return -1;
    parts_remove(ctx, row, ctx->types);
    row_remove(ctx, row);
    ctx->querying = false;
    return 0;
}

/* What the span has of type k; PART_GONE if nothing any more. */
static int64_t part_planned(const planner_multi_t *m, const int64_t *row, uint32_t k)
{
    planner_t *p = planner_multi_planners(m)[k];
    if (row[1 + k] == PART_GONE || !planner_is_active_span(p, row[1 + k]))
        return PART_GONE;
    return planner_span_resource_count(p, row[1 + k]);
}

/* What is left of `planned` units of a type after a list of reductions in order: PART_GONE once nothing
 * is left. A reduction of more than is left also gives PART_GONE, and sets *excess.
 */
static int64_t part_left(int64_t planned, const char *type, const uint64_t *reduced,
                         const char **types, size_t len, bool *excess)
{
    bool listed = false;
    int64_t left = planned;
    for (size_t i = 0; i < len && left != PART_GONE; i++) {
        if (strcmp(types[i], type) != 0)
            continue;
        listed = true;
        *excess |= (int64_t)reduced[i] > left;
        left = (int64_t)reduced[i] < left ? left - (int64_t)reduced[i] : PART_GONE;
    }
    return !listed && left == 0 ? PART_GONE : left;
}

static int reductions_check(const planner_multi_t *m, const int64_t *row, const uint64_t *reduced,
                            const char **types, size_t len)
{
    bool excess = false;
    for (size_t i = 0; i < len; i++) {
        if (reduced[i] > INT64_MAX)
            return planner_multi_fail(ERANGE);
        if (!types[i])
            return planner_multi_fail(EINVAL);
    }
    for (uint32_t k = 0; k < m->types; k++)
        (void)part_left(part_planned(m, row, k),
                        planner_resource_type(planner_multi_planners(m)[k]), reduced, types, len,
                        &excess);
    return excess ? planner_multi_fail(EINVAL) : 0;
}

/* Leave the span so much of type k. */
static void part_reduce(planner_multi_t *m, int64_t *row, uint32_t k, int64_t planned, int64_t left)
{
    bool gone;
    if (planned != PART_GONE && left != planned) {
        int64_t units = left == PART_GONE ? planned : planned - left;
        (void)planner_reduce_span(planner_multi_planners(m)[k], row[1 + k], units, &gone);
        m->from = m->on_or_after;
    }
    if (left == PART_GONE) {
        m->querying = m->querying && planned == PART_GONE;
        row[1 + k] = PART_GONE;
    }
}

int planner_multi_reduce_span(planner_multi_t *ctx, int64_t span_id, const uint64_t *reduced_totals,
                              const char **resource_types, size_t len, bool *removed)
{
    if (removed)
        *removed = false;
    if (!removed || !reduced_totals || !resource_types)
        return planner_multi_fail(EINVAL);
    int64_t *row = row_get(ctx, span_id);
    if (!row || reductions_check(ctx, row, reduced_totals, resource_types, len) < 0)
        return -1;
    bool rest = false;
    bool excess = false;
    for (uint32_t k = 0; k < ctx->types; k++) {
        int64_t planned = part_planned(ctx, row, k);
        int64_t left = part_left(planned, planner_resource_type(planner_multi_planners(ctx)[k]),
                                 reduced_totals, resource_types, len, &excess);
        part_reduce(ctx, row, k, planned, left);
        rest = rest || left != PART_GONE;
    }
    if (!rest) {
        *removed = true;
        row_remove(ctx, row);
    }
    return 0;
}

int64_t planner_multi_span_planned_at(planner_multi_t *ctx, int64_t span_id, unsigned int i)
{
    if (!planner_multi_planner_at(ctx, i))
        return -1;
    const int64_t *row = row_get(ctx, span_id);
    if (!row)
        return -1;
    int64_t planned = part_planned(ctx, row, i);
    return planned == PART_GONE ? 0 : planned;
}

/* The id of the first span at or after row i. */
static int64_t span_visit(planner_multi_t *m, uint32_t i)
{
    i = planner_multi_rows_live(m, i);
    if (i == m->n)
        return planner_multi_fail(ENOENT);
    m->visited = planner_multi_row_at(m, i)[0];
    return m->visited;
}

int64_t planner_multi_span_first(planner_multi_t *ctx)
{
    return ctx ? span_visit(ctx, 0) : planner_multi_fail(EINVAL);
}

int64_t planner_multi_span_next(planner_multi_t *ctx)
{
    if (!ctx)
        return planner_multi_fail(EINVAL);
    size_t row_bytes = planner_multi_row_words(ctx->types) * sizeof(int64_t);
    return span_visit(ctx, ids_above(planner_multi_rows_of(ctx), row_bytes, ctx->n, ctx->visited));
}

size_t planner_multi_span_size(planner_multi_t *ctx)
{
    if (ctx)
        return ctx->live;
    errno = EINVAL;
    return 0;
}
