/* What a node has for a request, step by step, as capacities count it (capacity.h). */
#include "place/graph/capacity.h"

void capacity_view(struct capacity_view *view, struct graph_place *n, const struct class *c)
{
    bool is_known = c->capacity != PLACE_NONE && usage_settle(n);

    *view = (struct capacity_view){
        .n = n, .capacity = is_known ? &n->capacities->v[c->capacity] : NULL, .alike = PLACE_NONE};
}

/* The row of a node, and what it has; NULL: nothing is known. */
static const struct node_row *row_in(struct capacity_view *view, uint32_t node)
{
    const struct capacities *all = view->n->capacities;
    uint32_t i = view->capacity ? usage_row_of(all, node) : 0;

    if (!view->capacity || i == all->n_rows)
        return NULL;
    const struct node_row *row = &all->row[i];
    if (row->alike != view->alike) {
        view->has = capacity_has_of(view->n, view->capacity, node);
        view->is_found = false;
    }
    view->alike = row->alike;
    return row;
}

static void note_found(struct capacity_view *view, const struct node_row *row, int64_t at,
                       int64_t from)
{
    view->is_found = true;
    view->same = row->same;
    view->at = at;
    view->from = from;
}

static bool row_has_room(const struct capacity_view *view, const struct node_row *row, int64_t at,
                         int64_t end)
{
    for (uint32_t k = 0; k < row->n && row->step[k].at < end; k++)
        if ((k + 1 == row->n || row->step[k + 1].at > at) &&
            capacity_room_of(&view->has, &row->step[k]) == 0)
            return false;
    return true;
}

bool capacity_view_finds(struct capacity_view *view, uint32_t node, int64_t at, int64_t end)
{
    const struct node_row *row = row_in(view, node);

    if (!row)
        return true;
    if (!capacity_view_knows(view, row, at))
        note_found(view, row, at, row_has_room(view, row, at, end) ? at : INT64_MAX);
    return view->from == at;
}

/* The last step that is not after a time. */
static uint32_t step_at(const struct node_row *row, int64_t at)
{
    uint32_t low = 0, high = row->n;

    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (row->step[middle].at <= at)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* What a step without room lacks. */
static struct plan_lack lack_of(const struct capacity_has *has, const struct plan_usage *step)
{
    if (step->use == PLAN_FULL)
        return (struct plan_lack){.kind = PLAN_LACKS_ALL};
    if (has->alone && step->use != PLAN_IDLE)
        return (struct plan_lack){.kind = PLAN_LACKS_WHOLE};
    for (uint32_t i = 0; i < has->n; i++) {
        int number = has->need[i].number;
        if (number >= 0 && has->need[i].units - step->taken[number] < has->need[i].least)
            return (struct plan_lack){
                .kind = PLAN_LACKS_UNITS, .number = number, .units = has->need[i].least};
    }
    return (struct plan_lack){0};
}

/* The first step from `k` on with room; row->n: none. *lack: what the step k lacks, as long as it does. */
static uint32_t skip_full(const struct capacity_has *has, const struct node_row *row, uint32_t k,
                          struct plan_lack *lack)
{
    struct plan_lack own = lack_of(has, &row->step[k]);

    own.at = row->step[k].at;
    own.end = INT64_MAX;
    for (; k < row->n && capacity_room_of(has, &row->step[k]) == 0; k++) {
        struct plan_lack now = lack_of(has, &row->step[k]);
        if (own.end == INT64_MAX && (now.kind != own.kind || now.number != own.number))
            own.end = row->step[k].at;
    }
    if (k < row->n && own.end == INT64_MAX)
        own.end = row->step[k].at;
    if (lack->kind == PLAN_LACKS_NOTHING && row->n > 1) /* else it may be down */
        *lack = own;
    return k;
}

/* From when on, at `at` or later, a row has room for as long as is asked; *lack: what it lacks before. */
static int64_t room_from(const struct counted *ask, const struct node_row *row, int64_t at,
                         struct plan_lack *lack)
{
    lack->kind = PLAN_LACKS_NOTHING;
    for (uint32_t k = step_at(row, at); k < row->n && row->step[k].at < at + ask->plan.duration;) {
        if (capacity_room_of(&ask->view.has, &row->step[k]) > 0) {
            k++;
            continue;
        }
        k = skip_full(&ask->view.has, row, k, lack);
        if (k == row->n)
            return INT64_MAX;
        at = row->step[k].at;
    }
    return at;
}

int64_t capacity_node_from(void *context, uint32_t node, int64_t at, struct plan_lack *lack)
{
    struct counted *ask = context;

    if (!ask->is_viewed)
        capacity_view(&ask->view, ask->n, ask->class);
    ask->is_viewed = true;
    const struct node_row *row = row_in(&ask->view, node);
    lack->kind = PLAN_LACKS_NOTHING;
    if (!row || row->n == 0)
        return at;
    if (!capacity_view_knows(&ask->view, row, at))
        note_found(&ask->view, row, at, room_from(ask, row, at, &ask->view.lack));
    *lack = ask->view.lack;
    return ask->view.from;
}
