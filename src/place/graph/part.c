/* Parts of the machine, and for each a calendar of how many of its cores are taken when. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"
#include "jobspec/constraint_text.h"
#include "place/graph/graph_priv.h"

static int64_t capacity_of(const struct graph_place *n, const uint64_t *within)
{
    return n->has_unit ? match_part_amount(n->match, within, n->unit, true) : 0;
}

static int64_t units_of_job_in_part(const struct graph_place *n, int64_t job,
                                    const struct part *part, bool up)
{
    return match_job_amount(n->match, job, n->unit, part->within, up);
}

static void part_clear(struct part *part)
{
    jobspec_constraint_destroy(part->constraints);
    free(part->requires);
    free(part->within);
    free(part->least);
    profile_clear(&part->calendar);
}

void graph_place_parts_clear(struct graph_place *n)
{
    for (uint32_t i = 0; i < n->n_parts; i++)
        part_clear(&n->parts[i]);
    free(n->parts);
}

/* ---- Shares ---- */

static int shares_grow(struct booking *b)
{
    if (b->n <= b->capacity)
        return 0;
    uint32_t capacity = 2 * b->capacity + 1;
    struct share *others = reallocarray(b->others, capacity, sizeof(*others));
    if (!others)
        return -1;
    b->others = others;
    b->capacity = capacity;
    return 0;
}

static struct profile *calendar_of(struct graph_place *n, struct booking *b, uint32_t i)
{
    return &n->parts[booking_share(b, i)->part].calendar;
}

/* Enter all, or take the first `some` out again. */
static int enter_shares(struct graph_place *n, struct booking *b, int64_t at, int64_t end,
                        bool counted)
{
    for (uint32_t i = 0; i < b->n; i++) {
        if (profile_book(calendar_of(n, b, i), at, end, counted ? booking_share(b, i)->up : 0) == 0)
            continue;
        while (i-- > 0)
            profile_unbook(calendar_of(n, b, i), at, end, counted ? booking_share(b, i)->up : 0);
        errno = ENOMEM;
        return -1;
    }
    return 0;
}

static void leave_shares(struct graph_place *n, struct booking *b, int64_t at, int64_t end,
                         bool counted)
{
    for (uint32_t i = 0; i < b->n; i++)
        profile_unbook(calendar_of(n, b, i), at, end, counted ? booking_share(b, i)->up : 0);
}

int graph_place_enter(struct graph_place *n, int64_t job, struct booking *b)
{
    enum { AT_ONCE = 16 };
    struct match_amount amount[AT_ONCE];
    int64_t at, end;

    b->n = 0;
    b->counted = false;
    match_job_window(n->match, job, &at, &end);
    for (uint32_t first = 0; first < n->n_parts && n->has_unit; first += AT_ONCE) {
        uint32_t some = n->n_parts - first < AT_ONCE ? n->n_parts - first : AT_ONCE;
        for (uint32_t i = 0; i < some; i++)
            amount[i].within = n->parts[first + i].within;
        match_job_amounts(n->match, job, n->unit, amount, some);
        for (uint32_t i = 0; i < some; i++) {
            if (amount[i].all == 0)
                continue;
            if (shares_grow(b) < 0)
                return -1;
            *booking_share(b, b->n++) = (struct share){first + i, amount[i].all, amount[i].up};
        }
    }
    return enter_shares(n, b, at, end, false);
}

void graph_place_leave(struct graph_place *n, int64_t job, struct booking *b)
{
    int64_t at, end;

    match_job_window(n->match, job, &at, &end);
    leave_shares(n, b, at, end, b->counted);
    b->n = 0;
    b->counted = false;
}

void graph_place_count(struct graph_place *n, int64_t job, struct booking *b, bool count)
{
    int64_t at, end;

    if (count == b->counted)
        return;
    match_job_window(n->match, job, &at, &end);
    for (uint32_t i = 0; i < b->n; i++)
        profile_add(calendar_of(n, b, i), at, end,
                    count ? booking_share(b, i)->up : -booking_share(b, i)->up);
    b->counted = count;
}

int graph_place_move(struct graph_place *n, int64_t job, struct booking *b, int64_t at, int64_t end)
{
    int64_t was_at, was_end;

    match_job_window(n->match, job, &was_at, &was_end);
    if (enter_shares(n, b, at, end, b->counted) < 0)
        return -1;
    if (match_job_move(n->match, job, at, end) < 0) {
        leave_shares(n, b, at, end, b->counted);
        errno = ENOMEM;
        return -1;
    }
    leave_shares(n, b, was_at, was_end, b->counted);
    return 0;
}

/* ---- Making parts ---- */

/* Room for one more share in every booking. */
static int all_shares_grow(struct graph_place *n)
{
    for (uint32_t i = 0; i < n->n_bookings; i++)
        if (n->bookings[i].used && shares_grow(&n->bookings[i]) < 0)
            return -1;
    return 0;
}

/* The calendar of a new part. */
static int fill_calendar(struct graph_place *n, struct part *part)
{
    if (profile_init(&part->calendar, 0) < 0)
        return -1;
    for (uint32_t i = 0; i < n->n_bookings && n->has_unit; i++) {
        int64_t at, end;
        if (!n->bookings[i].used || units_of_job_in_part(n, i, part, false) == 0)
            continue;
        match_job_window(n->match, i, &at, &end);
        int64_t up = n->bookings[i].counted ? units_of_job_in_part(n, i, part, true) : 0;
        if (profile_book(&part->calendar, at, end, up) < 0)
            return -1;
    }
    return 0;
}

static void add_shares(struct graph_place *n, uint32_t p)
{
    for (uint32_t i = 0; i < n->n_bookings && n->has_unit; i++) {
        struct booking *b = &n->bookings[i];
        int64_t all = b->used ? units_of_job_in_part(n, i, &n->parts[p], false) : 0;
        if (all > 0)
            *booking_share(b, b->n++) =
                (struct share){p, all, units_of_job_in_part(n, i, &n->parts[p], true)};
    }
}

/* Between which ids its nodes are. */
static void find_ids(const struct graph_place *n, struct part *part)
{
    part->low = INT64_MAX;
    part->high = INT64_MIN;
    for (uint32_t i = 0; i < n->graph->n; i++) {
        const struct vertex *x = &n->graph->v[i];
        if (x->type != TYPE_NODE || !match_part_has(part->within, i))
            continue;
        part->low = x->id < part->low ? x->id : part->low;
        part->high = x->id > part->high ? x->id : part->high;
    }
}

static int make_part(struct graph_place *n, struct part *part, const char *requires,
                     berth_error_t *err)
{
    if (requires) {
        part->constraints = jobspec_constraint_parse(requires, strlen(requires), err);
        if (!part->constraints)
            return -1;
        part->requires = strdup(requires);
        part->within = match_part(n->match, part->constraints);
        if (!part->requires || !part->within)
            return errtext_no_memory(err);
    }
    part->capacity = capacity_of(n, part->within);
    find_ids(n, part);
    return all_shares_grow(n) < 0 || fill_calendar(n, part) < 0 ? errtext_no_memory(err) : 0;
}

int64_t graph_place_part(struct place *place, const char *requires, berth_error_t *err)
{
    struct graph_place *n = graph_place_of(place);
    struct part part = {0};

    for (uint32_t i = 0; i < n->n_parts; i++)
        if (requires ? n->parts[i].requires && strcmp(requires, n->parts[i].requires) == 0
                     : !n->parts[i].requires)
            return i;
    if (graph_place_refresh(n) < 0)
        return errtext_no_memory(err);
    struct part *parts = reallocarray(n->parts, n->n_parts + 1, sizeof(*parts));
    if (!parts)
        return errtext_no_memory(err);
    n->parts = parts;
    if (make_part(n, &part, requires, err) < 0) {
        int saved = errno;
        part_clear(&part);
        errno = saved;
        return -1;
    }
    n->parts[n->n_parts++] = part;
    capacity_reset(n);
    add_shares(n, n->n_parts - 1);
    return n->n_parts - 1;
}

/* ---- After changes ---- */

/* Parts and shares made aside. */
struct renewal {
    struct part *parts;
    struct booking *bookings;
};

static void renewal_clear(struct graph_place *n, struct renewal *r)
{
    for (uint32_t p = 0; r->parts && p < n->n_parts; p++) {
        free(r->parts[p].within);
        profile_clear(&r->parts[p].calendar);
    }
    for (uint32_t i = 0; r->bookings && i < n->n_bookings; i++)
        free(r->bookings[i].others);
    free(r->parts);
    free(r->bookings);
}

static int renew_parts(struct graph_place *n, struct renewal *r)
{
    for (uint32_t p = 0; p < n->n_parts; p++) {
        struct part *part = &r->parts[p];
        part->constraints = n->parts[p].constraints;
        if (part->constraints && !(part->within = match_part(n->match, part->constraints)))
            return -1;
        part->capacity = capacity_of(n, part->within);
        find_ids(n, part);
        if (profile_init(&part->calendar, 0) < 0)
            return -1;
    }
    return 0;
}

static int renew_shares(struct graph_place *n, struct renewal *r)
{
    struct part *was = n->parts;
    int rc = 0;

    n->parts = r->parts;
    for (uint32_t i = 0; i < n->n_bookings && rc == 0; i++) {
        struct booking *b = &r->bookings[i];
        if (!n->bookings[i].used)
            continue;
        rc = graph_place_enter(n, i, b);
        if (rc == 0)
            graph_place_count(n, i, b, n->bookings[i].counted);
    }
    n->parts = was;
    return rc;
}

int graph_place_refresh(struct graph_place *n)
{
    if (!n->stale)
        return 0;
    struct renewal r = {calloc((size_t)n->n_parts + 1, sizeof(*r.parts)),
                        calloc((size_t)n->n_bookings + 1, sizeof(*r.bookings))};
    if (!r.parts || !r.bookings || renew_parts(n, &r) < 0 || renew_shares(n, &r) < 0) {
        renewal_clear(n, &r);
        errno = ENOMEM;
        return -1;
    }
    for (uint32_t p = 0; p < n->n_parts; p++) {
        struct part was = n->parts[p];
        n->parts[p].within = r.parts[p].within;
        n->parts[p].capacity = r.parts[p].capacity;
        n->parts[p].low = r.parts[p].low;
        n->parts[p].high = r.parts[p].high;
        n->parts[p].calendar = r.parts[p].calendar;
        n->parts[p].n_least = 0;
        r.parts[p] = was;
    }
    for (uint32_t i = 0; i < n->n_bookings; i++) {
        struct booking was = n->bookings[i], *b = &r.bookings[i];
        n->bookings[i].first = b->first;
        n->bookings[i].others = b->others;
        n->bookings[i].n = b->n;
        n->bookings[i].capacity = b->capacity;
        n->bookings[i].has_ids = false;
        n->bookings[i].is_best = false;
        b->others = was.others;
    }
    renewal_clear(n, &r);
    capacity_reset(n);
    n->stale = false;
    graph_place_classes_renew(n);
    return 0;
}

void graph_place_recount(struct graph_place *n, const uint64_t *those)
{
    n->any_down = true;
    if (n->stale || !n->has_unit)
        return;
    for (uint32_t p = 0; p < n->n_parts; p++)
        n->parts[p].capacity = capacity_of(n, n->parts[p].within);
    for (uint32_t i = 0; i < n->n_bookings; i++) {
        struct booking *b = &n->bookings[i];
        if (!b->used || b->n == 0 || !match_job_touches(n->match, i, those))
            continue;
        bool counted = b->counted;
        graph_place_count(n, i, b, false);
        for (uint32_t k = 0; k < b->n; k++)
            booking_share(b, k)->up =
                units_of_job_in_part(n, i, &n->parts[booking_share(b, k)->part], true);
        graph_place_count(n, i, b, counted);
    }
}

/* ---- Questions ---- */

static int64_t free_under(const struct part *part, int64_t load)
{
    return part->capacity > load ? part->capacity - load : 0;
}

int64_t graph_place_idle(const struct place *place, int64_t at)
{
    struct graph_place *n = graph_place_of(place);

    graph_place_tell(n, at);
    if (!n->has_unit || graph_place_refresh(n) < 0)
        return INT64_MAX;
    return free_under(&n->parts[0], profile_at(&n->parts[0].calendar, at)) + 1;
}

size_t graph_place_rooms(const struct place *place, uint32_t number, int64_t at,
                         struct planner_room *room, size_t max)
{
    struct graph_place *n = graph_place_of(place);
    const struct part *part = &n->parts[number];
    struct profile_cursor c;
    size_t steps = 0;

    graph_place_tell(n, at);
    if (!n->has_unit || graph_place_refresh(n) < 0) {
        room[0] = (struct planner_room){INT64_MAX, INT64_MAX};
        return 1;
    }
    part = &n->parts[number];
    profile_seek(&c, &part->calendar, at);
    int64_t load = profile_cursor_load(&c);
    while (steps + 1 < max && load < part->capacity && profile_next_over(&c, load, INT64_MAX)) {
        room[steps++] =
            (struct planner_room){profile_cursor_time(&c) - at, free_under(part, load) + 1};
        load = profile_cursor_load(&c);
    }
    room[steps++] = (struct planner_room){INT64_MAX, free_under(part, load) + 1};
    return steps;
}

int64_t graph_place_least(struct graph_place *n, uint32_t number, uint16_t upper, uint16_t type)
{
    struct part *part = &n->parts[number];

    for (uint32_t i = 0; i < part->n_least; i++)
        if (part->least[i].upper == upper && part->least[i].type == type)
            return part->least[i].least;
    int64_t least = match_part_min_below(n->match, part->within, upper, type);
    struct least *more = reallocarray(part->least, part->n_least + 1, sizeof(*more));
    if (more) {
        part->least = more;
        part->least[part->n_least++] = (struct least){upper, type, least};
    }
    return least;
}

/* ---- Check ---- */

static bool check_shares(const struct graph_place *n, uint32_t i)
{
    struct booking *b = &n->bookings[i];
    uint32_t k = 0;

    for (uint32_t p = 0; p < n->n_parts && n->has_unit; p++) {
        int64_t all = units_of_job_in_part(n, i, &n->parts[p], false);
        if (all == 0)
            continue;
        if (k == b->n || booking_share(b, k)->part != p || booking_share(b, k)->all != all ||
            booking_share(b, k)->up != units_of_job_in_part(n, i, &n->parts[p], true))
            return false;
        k++;
    }
    return k == b->n &&
           b->counted == !(match_job_is_lifted(n->match, i) || match_job_is_forced(n->match, i));
}

/* The load of a calendar at an instant, from the bookings. */
static int64_t load_at(const struct graph_place *n, uint32_t part, int64_t now)
{
    int64_t load = 0;

    for (uint32_t i = 0; i < n->n_bookings; i++) {
        struct booking *b = &n->bookings[i];
        int64_t at = 0, end = 0;
        if (b->used && b->counted)
            match_job_window(n->match, i, &at, &end);
        for (uint32_t k = 0; k < b->n && at <= now && now < end; k++)
            load += booking_share(b, k)->part == part ? booking_share(b, k)->up : 0;
    }
    return load;
}

bool graph_place_parts_check(const struct graph_place *n)
{
    if (n->stale)
        return true;
    for (uint32_t i = 0; i < n->n_bookings; i++)
        if (n->bookings[i].used && !check_shares(n, i))
            return false;
    for (uint32_t p = 0; p < n->n_parts; p++) {
        const struct part *part = &n->parts[p];
        struct profile_cursor c;
        if (!profile_check(&part->calendar) || part->capacity != capacity_of(n, part->within))
            return false;
        profile_seek(&c, &part->calendar, 0);
        do {
            if (profile_cursor_load(&c) != load_at(n, p, profile_cursor_time(&c)))
                return false;
        } while (profile_next(&c));
    }
    return true;
}
