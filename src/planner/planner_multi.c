/* The multi planner: a planner for each type, their life, and what is free when (planner_multi_priv.h). */
#include <stdlib.h>
#include <string.h>

#include "planner/planner_ext.h"
#include "planner/planner_multi_priv.h"

/* The block. */

static size_t block_words(uint32_t types, uint32_t cap)
{
    return 2 * (size_t)types + cap * planner_multi_row_words(types);
}

static void block_free(planner_multi_t *m)
{
    if (m->block != m->here)
        free(m->block);
}

/* Free a block's planners; those not made yet are NULL. Keeps errno. */
static void planners_free(planner_t **planner, uint32_t types)
{
    int saved = errno;
    for (uint32_t k = 0; k < types; k++)
        planner_destroy(&planner[k]);
    errno = saved;
}

uint32_t planner_multi_rows_live(const planner_multi_t *m, uint32_t i)
{
    while (i < m->n && !planner_multi_row_live(planner_multi_row_at(m, i)))
        i++;
    return i;
}

static void rows_pack(planner_multi_t *m)
{
    uint32_t kept = 0;
    for (uint32_t i = planner_multi_rows_live(m, 0); i < m->n;
         i = planner_multi_rows_live(m, i + 1)) {
        if (i != kept)
            memcpy(planner_multi_row_at(m, kept), planner_multi_row_at(m, i),
                   planner_multi_row_words(m->types) * sizeof(int64_t));
        kept++;
    }
    m->n = kept;
}

/* Move the block to where cap rows fit, at least its count: into the structure if possible. */
static int rows_resize(planner_multi_t *m, uint32_t cap)
{
    bool fits = m->block != m->here && block_words(m->types, cap) <= m->room;
    int64_t *block = fits ? m->here : malloc(block_words(m->types, cap) * sizeof(*block));
    if (!block)
        return planner_multi_fail(ENOMEM);
    memcpy(block, m->block, block_words(m->types, m->n) * sizeof(*block));
    block_free(m);
    m->block = block;
    m->cap = cap;
    return 0;
}

int planner_multi_rows_reserve(planner_multi_t *m)
{
    if (m->n < m->cap)
        return 0;
    if (m->n - m->live >= m->n / 4 + 1) {
        rows_pack(m);
        return 0;
    }
    if (m->cap > UINT32_MAX / 2)
        return planner_multi_fail(ENOMEM);
    return rows_resize(m, m->cap + m->cap / 2 + 1);
}

void planner_multi_rows_settle(planner_multi_t *m)
{
    if (m->cap == NEAR_ROWS || m->n - m->live <= m->n / 2)
        return;
    rows_pack(m);
    if (m->n <= NEAR_ROWS)
        (void)rows_resize(m, NEAR_ROWS);
    else if (m->n < m->cap / 4)
        (void)rows_resize(m, m->cap / 2);
}

/* Life of a multi planner. */

/* Index of the type with this name, or the number of types. They are few. */
static uint32_t type_index(const planner_multi_t *m, const char *name)
{
    uint32_t k = 0;
    while (k < m->types && strcmp(planner_resource_type(planner_multi_planners(m)[k]), name) != 0)
        k++;
    return k;
}

/* A list of types and totals must name each type once. */
static int list_check(const uint64_t *totals, const char **types, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (totals[i] > INT64_MAX)
            return planner_multi_fail(ERANGE);
        if (!types[i])
            return planner_multi_fail(EINVAL);
        for (size_t j = 0; j < i; j++)
            if (strcmp(types[i], types[j]) == 0)
                return planner_multi_fail(EINVAL);
    }
    return 0;
}

/* A multi planner with room for a few spans; its planners are NULL. */
static planner_multi_t *multi_alloc(size_t types)
{
    if (types >= UINT32_MAX / 4 - NEAR_ROWS)
        return planner_multi_fail_null(ENOMEM);
    uint32_t room = (uint32_t)block_words((uint32_t)types, NEAR_ROWS);
    planner_multi_t *m = calloc(1, sizeof(*m) + room * sizeof(m->here[0]));
    if (!m)
        return planner_multi_fail_null(ENOMEM);
    m->visited = -1;
    m->block = m->here;
    m->types = (uint32_t)types;
    m->cap = NEAR_ROWS;
    m->room = room;
    for (uint32_t k = 0; k < m->types; k++)
        planner_multi_planners(m)[k] = NULL;
    return m;
}

planner_multi_t *planner_multi_new(int64_t base_time, uint64_t duration,
                                   const uint64_t *resource_totals, const char **resource_types,
                                   size_t len)
{
    if (duration < 1 || !resource_totals || !resource_types)
        return planner_multi_fail_null(EINVAL);
    if (list_check(resource_totals, resource_types, len) < 0)
        return NULL;
    planner_multi_t *m = multi_alloc(len);
    for (uint32_t k = 0; m && k < m->types; k++) {
        planner_t *p = planner_new(base_time, duration, resource_totals[k], resource_types[k]);
        if (!p) {
            planners_free(planner_multi_planners(m), m->types);
            free(m);
            return NULL;
        }
        planner_multi_planners(m)[k] = p;
    }
    return m;
}

planner_multi_t *planner_multi_empty(void)
{
    return multi_alloc(0);
}

/* A copy of m's block with its planners, in the given room if it is enough; NULL with ENOMEM. */
static int64_t *block_copy(const planner_multi_t *m, int64_t *room, size_t words)
{
    size_t need = block_words(m->types, m->cap);
    int64_t *block = need <= words ? room : malloc(need * sizeof(*block));
    if (!block)
        return planner_multi_fail_null(ENOMEM);
    memcpy(block, m->block, block_words(m->types, m->n) * sizeof(*block));
    planner_t **planner = (planner_t **)(block + m->types);
    for (uint32_t k = 0; k < m->types; k++) {
        if (!(planner[k] = planner_copy(planner_multi_planners(m)[k]))) {
            planners_free(planner, k);
            if (block != room)
                free(block);
            return NULL;
        }
    }
    return block;
}

/* Give `to` a block and all else that `from` has. */
static void multi_take(planner_multi_t *to, const planner_multi_t *from, int64_t *block)
{
    uint32_t room = to->room;
    *to = *from; /* all but the room, which follows the structure */
    to->room = room;
    to->block = block;
}

planner_multi_t *planner_multi_copy(planner_multi_t *mp)
{
    if (!mp)
        return planner_multi_fail_null(EINVAL);
    planner_multi_t *copy = multi_alloc(mp->types);
    if (!copy)
        return NULL;
    int64_t *block = block_copy(mp, copy->here, copy->room);
    if (!block) {
        free(copy);
        return NULL;
    }
    multi_take(copy, mp, block);
    return copy;
}

void planner_multi_assign(planner_multi_t *lhs, planner_multi_t *rhs)
{
    if (!lhs || !rhs) {
        errno = EINVAL;
        return;
    }
    if (lhs == rhs)
        return;
    int64_t *block = block_copy(rhs, NULL, 0);
    if (!block)
        return;
    planners_free(planner_multi_planners(lhs), lhs->types);
    block_free(lhs);
    multi_take(lhs, rhs, block);
}

int planner_multi_reset(planner_multi_t *ctx, int64_t base_time, uint64_t duration)
{
    if (!ctx || duration < 1)
        return planner_multi_fail(EINVAL);
    for (uint32_t k = 0; k < ctx->types; k++) /* a window that is none is refused by the first */
        if (planner_reset(planner_multi_planners(ctx)[k], base_time, duration) < 0)
            return -1;
    ctx->n = 0;
    ctx->live = 0;
    ctx->counter = 0;
    ctx->visited = -1;
    ctx->querying = false;
    if (ctx->cap > NEAR_ROWS)
        (void)rows_resize(ctx, NEAR_ROWS);
    return 0;
}

void planner_multi_destroy(planner_multi_t **ctx_p)
{
    if (!ctx_p || !*ctx_p)
        return;
    planners_free(planner_multi_planners(*ctx_p), (*ctx_p)->types);
    block_free(*ctx_p);
    free(*ctx_p);
    *ctx_p = NULL;
}

planner_t *planner_multi_planner_at(planner_multi_t *ctx, unsigned int i)
{
    return ctx && i < ctx->types ? planner_multi_planners(ctx)[i] : planner_multi_fail_null(EINVAL);
}

/* A NULL planner, for no multi planner or no such type, is what the planner refuses with EINVAL. */

int64_t planner_multi_base_time(planner_multi_t *ctx)
{
    return planner_base_time(planner_multi_planner_at(ctx, 0));
}

int64_t planner_multi_duration(planner_multi_t *ctx)
{
    return planner_duration(planner_multi_planner_at(ctx, 0));
}

size_t planner_multi_resources_len(planner_multi_t *ctx)
{
    if (ctx)
        return ctx->types;
    errno = EINVAL;
    return 0;
}

const char *planner_multi_resource_type_at(planner_multi_t *ctx, unsigned int i)
{
    return planner_resource_type(planner_multi_planner_at(ctx, i));
}

int64_t planner_multi_resource_total_at(planner_multi_t *ctx, unsigned int i)
{
    return planner_resource_total(planner_multi_planner_at(ctx, i));
}

int64_t planner_multi_resource_total_by_type(planner_multi_t *ctx, const char *resource_type)
{
    if (!ctx || !resource_type)
        return planner_multi_fail(EINVAL);
    return planner_multi_resource_total_at(ctx, type_index(ctx, resource_type));
}

/* Earliest fit. */

/* The first point of any type at or after `from`, or INT64_MAX. */
static int64_t next_point(const planner_multi_t *m, int64_t from)
{
    int64_t first = INT64_MAX;
    for (uint32_t k = 0; k < m->types; k++) {
        int64_t at = planner_next_point(planner_multi_planners(m)[k], from);
        first = at < first ? at : first;
    }
    return first;
}

/* Continue the query. From a candidate, each type in turn gives its own earliest time, which is the
 * candidate or a later point; a later point is the new candidate, which the other types have yet to agree
 * to. No point before it is possible.
 */
static int64_t query_step(planner_multi_t *m)
{
    int64_t at = m->from == INT64_MAX ? INT64_MAX : next_point(m, m->from);
    uint32_t agreed = 0;
    for (uint32_t k = 0; agreed < m->types; k = k + 1 < m->types ? k + 1 : 0) {
        int64_t own;
        uint64_t request = (uint64_t)planner_multi_requests(m)[k];
        if (planner_fit(planner_multi_planners(m)[k], at, m->duration, request, &own) < 0) {
            m->from = INT64_MAX;
            return planner_multi_fail(ENOENT);
        }
        agreed = own == at ? agreed + 1 : 1;
        at = own;
    }
    m->from = at + 1;
    return at;
}

int64_t planner_multi_avail_time_first(planner_multi_t *ctx, int64_t on_or_after, uint64_t duration,
                                       const uint64_t *resource_requests, size_t len)
{
    if (!ctx || !resource_requests || ctx->types < 1 || len != ctx->types || duration < 1)
        return planner_multi_fail(EINVAL);
    planner_t *first = planner_multi_planners(ctx)[0];
    int64_t start = planner_base_time(first);
    if (on_or_after < start || on_or_after >= start + planner_duration(first))
        return planner_multi_fail(EINVAL);
    if (resource_requests[0] > (uint64_t)planner_resource_total(first))
        return planner_multi_fail(ERANGE);
    ctx->querying = true;
    ctx->on_or_after = on_or_after;
    ctx->from = on_or_after;
    ctx->duration = duration;
    memcpy(planner_multi_requests(ctx), resource_requests, len * sizeof(*resource_requests));
    return query_step(ctx);
}

int64_t planner_multi_avail_time_next(planner_multi_t *ctx)
{
    if (!ctx || !ctx->querying)
        return planner_multi_fail(EINVAL);
    if ((uint64_t)planner_multi_requests(ctx)[0] >
        (uint64_t)planner_resource_total(planner_multi_planners(ctx)[0]))
        return planner_multi_fail(ERANGE);
    return query_step(ctx);
}

/* What is free. */

int64_t planner_multi_avail_resources_at(planner_multi_t *ctx, int64_t at, unsigned int i)
{
    return planner_avail_resources_at(planner_multi_planner_at(ctx, i), at);
}

int planner_multi_avail_resources_array_at(planner_multi_t *ctx, int64_t at,
                                           int64_t *resource_counts, size_t len)
{
    if (!ctx || !resource_counts || len != ctx->types)
        return planner_multi_fail(EINVAL);
    for (uint32_t k = 0; k < ctx->types; k++) { /* if any refuses, so does the first */
        int64_t count = planner_avail_resources_at(planner_multi_planners(ctx)[k], at);
        if (count < 0)
            return -1;
        resource_counts[k] = count;
    }
    return 0;
}

int planner_multi_avail_during(planner_multi_t *ctx, int64_t at, uint64_t duration,
                               const uint64_t *resource_requests, size_t len)
{
    if (!ctx || !resource_requests || len != ctx->types)
        return planner_multi_fail(EINVAL);
    for (uint32_t k = 0; k < ctx->types; k++)
        if (planner_avail_during(planner_multi_planners(ctx)[k], at, duration,
                                 resource_requests[k]) < 0)
            return -1;
    return 0;
}

int planner_multi_avail_resources_array_during(planner_multi_t *ctx, int64_t at, uint64_t duration,
                                               int64_t *resource_counts, size_t len)
{
    if (!ctx || !resource_counts || ctx->types < 1 || len != ctx->types)
        return planner_multi_fail(EINVAL);
    for (uint32_t k = 0; k < ctx->types; k++) { /* if any refuses, so does the first */
        int64_t count =
            planner_avail_resources_during(planner_multi_planners(ctx)[k], at, duration);
        if (count < 0)
            return -1;
        resource_counts[k] = count;
    }
    return 0;
}

/* Comparing. */

static bool ids_equal(const planner_multi_t *a, const planner_multi_t *b)
{
    uint32_t i = planner_multi_rows_live(a, 0);
    uint32_t j = planner_multi_rows_live(b, 0);
    while (i < a->n && j < b->n && planner_multi_row_at(a, i)[0] == planner_multi_row_at(b, j)[0]) {
        i = planner_multi_rows_live(a, i + 1);
        j = planner_multi_rows_live(b, j + 1);
    }
    return i == a->n && j == b->n;
}

/* Type k of a against type l of b; the spans' ids are the same already. */
static bool types_equal(const planner_multi_t *a, uint32_t k, const planner_multi_t *b, uint32_t l)
{
    if (a->querying && planner_multi_requests(a)[k] != planner_multi_requests(b)[l])
        return false;
    if (!planners_equal(planner_multi_planners(a)[k], planner_multi_planners(b)[l]))
        return false;
    uint32_t j = planner_multi_rows_live(b, 0);
    for (uint32_t i = planner_multi_rows_live(a, 0); i < a->n;
         i = planner_multi_rows_live(a, i + 1)) {
        if (planner_multi_row_at(a, i)[1 + k] != planner_multi_row_at(b, j)[1 + l])
            return false;
        j = planner_multi_rows_live(b, j + 1);
    }
    return true;
}

bool planner_multis_equal(planner_multi_t *lhs, planner_multi_t *rhs)
{
    if (!lhs || !rhs)
        return lhs == rhs;
    if (lhs->types != rhs->types || lhs->counter != rhs->counter ||
        lhs->querying != rhs->querying || !ids_equal(lhs, rhs))
        return false;
    if (lhs->querying && (lhs->on_or_after != rhs->on_or_after || lhs->from != rhs->from ||
                          lhs->duration != rhs->duration))
        return false;
    for (uint32_t k = 0; k < lhs->types; k++) {
        uint32_t l = type_index(rhs, planner_resource_type(planner_multi_planners(lhs)[k]));
        if (l == rhs->types || !types_equal(lhs, k, rhs, l))
            return false;
    }
    return true;
}

/* Other types. */

/* Make type `to` of a new block what type `from` of m is, or, where that is none, a new one. */
static void type_move(planner_multi_t *next, uint32_t to, const planner_multi_t *m, uint32_t from)
{
    bool kept = from < m->types;
    planner_multi_requests(next)[to] = kept ? planner_multi_requests(m)[from] : 0;
    for (uint32_t i = 0; i < m->n; i++)
        planner_multi_row_at(next, i)[1 + to] =
            kept ? planner_multi_row_at(m, i)[1 + from] : PART_GONE;
}

/* Make the planners of a new list of types; types that stay keep m's planners. */
static int types_gather(planner_multi_t *next, const planner_multi_t *m, const uint64_t *totals,
                        const char **types)
{
    planner_t *first = planner_multi_planners(m)[0];
    uint64_t duration = (uint64_t)planner_duration(first);
    for (uint32_t i = 0; i < next->types; i++) {
        uint32_t k = type_index(m, types[i]);
        planner_t *p = k < m->types
                           ? planner_multi_planners(m)[k]
                           : planner_new(planner_base_time(first), duration, totals[i], types[i]);
        if (!p) {
            while (i-- > 0)
                if (type_index(m, types[i]) == m->types)
                    planner_destroy(&planner_multi_planners(next)[i]);
            return planner_multi_fail(ENOMEM);
        }
        planner_multi_planners(next)[i] = p;
    }
    return 0;
}

/* Put another list of types in place of m's. */
static int types_replace(planner_multi_t *m, const uint64_t *totals, const char **types, size_t len)
{
    if (len >= UINT32_MAX / 4 - NEAR_ROWS)
        return planner_multi_fail(ENOMEM);
    rows_pack(m);
    planner_multi_t next = *m;
    next.types = (uint32_t)len;
    next.cap = m->n > NEAR_ROWS ? m->n : NEAR_ROWS;
    next.block = malloc(block_words(next.types, next.cap) * sizeof(*next.block));
    if (!next.block || types_gather(&next, m, totals, types) < 0) {
        free(next.block);
        return planner_multi_fail(ENOMEM);
    }
    for (uint32_t i = 0; i < m->n; i++)
        planner_multi_row_at(&next, i)[0] = planner_multi_row_at(m, i)[0];
    for (uint32_t k = 0; k < next.types; k++)
        type_move(&next, k, m, type_index(m, types[k]));
    for (uint32_t k = 0; k < m->types; k++)
        if (type_index(&next, planner_resource_type(planner_multi_planners(m)[k])) == next.types)
            planner_destroy(&planner_multi_planners(m)[k]);
    block_free(m);
    multi_take(m, &next, next.block);
    return 0;
}

int planner_multi_update(planner_multi_t *ctx, const uint64_t *resource_totals,
                         const char **resource_types, size_t len)
{
    if (!ctx || !resource_totals || !resource_types)
        return planner_multi_fail(EINVAL);
    if (len == 0)
        return 0;
    if (list_check(resource_totals, resource_types, len) < 0)
        return -1;
    if (ctx->types == 0)
        return planner_multi_fail(EINVAL);
    bool same = len == ctx->types;
    for (uint32_t k = 0; same && k < ctx->types; k++)
        same =
            strcmp(resource_types[k], planner_resource_type(planner_multi_planners(ctx)[k])) == 0;
    if (!same && types_replace(ctx, resource_totals, resource_types, len) < 0)
        return -1;
    for (uint32_t k = 0; k < ctx->types; k++)
        (void)planner_update_total(planner_multi_planners(ctx)[k], resource_totals[k]);
    return 0;
}

static bool row_check(const planner_multi_t *m, const int64_t *row)
{
    if (row[0] < 0 || row[0] >= m->counter)
        return false;
    for (uint32_t k = 0; planner_multi_row_live(row) && k < m->types; k++)
        if (row[1 + k] < 1 && row[1 + k] != PART_GONE)
            return false;
    return true;
}

bool planner_multi_check(const planner_multi_t *ctx)
{
    uint32_t live = 0;
    if (!ctx || ctx->n > ctx->cap || ctx->cap < NEAR_ROWS)
        return false;
    if (ctx->block == ctx->here && block_words(ctx->types, ctx->cap) > ctx->room)
        return false;
    for (uint32_t i = 0; i < ctx->n; i++) {
        if (!row_check(ctx, planner_multi_row_at(ctx, i)) ||
            (i > 0 && planner_multi_row_at(ctx, i)[0] <= planner_multi_row_at(ctx, i - 1)[0]))
            return false;
        live += planner_multi_row_live(planner_multi_row_at(ctx, i));
    }
    for (uint32_t k = 0; k < ctx->types; k++) {
        planner_t *p = planner_multi_planners(ctx)[k];
        if (!planner_check(p) || type_index(ctx, planner_resource_type(p)) != k ||
            planner_base_time(p) != planner_base_time(planner_multi_planners(ctx)[0]) ||
            planner_duration(p) != planner_duration(planner_multi_planners(ctx)[0]))
            return false;
    }
    return live == ctx->live;
}
