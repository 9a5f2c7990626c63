/* A planner under any sequence of calls. Each takes an opcode and its arguments off the input; what is left
 * short is zero. Ids and times are mostly near what there is, for a byte or two cannot say much.
 */
#include "fuzz.h"

#include "planner/planner_ext.h"

struct input {
    const uint8_t *data;
    size_t size;
};

static uint8_t byte(struct input *in)
{
    if (in->size == 0)
        return 0;
    in->size--;
    return *in->data++;
}

/* One to eight bytes: mostly small, at times huge. */
static uint64_t number(struct input *in)
{
    uint8_t first = byte(in);
    if (first < 0xf8)
        return first;
    uint64_t value = 0;
    for (int i = 0; i <= first - 0xf8; i++)
        value = value << 8 | byte(in);
    return value;
}

static int64_t time_of(planner_t *p, struct input *in)
{
    uint64_t value = number(in);
    return (int64_t)((uint64_t)planner_base_time(p) + value);
}

/* A fit is what free-during confirms, and the next is later. */
static void look_for(planner_t *p, struct input *in)
{
    int64_t from = time_of(p, in);
    uint64_t duration = number(in);
    uint64_t request = number(in);
    int64_t earliest = 0;
    int fit = planner_fit(p, from, duration, request, &earliest);
    int64_t at = planner_avail_time_first(p, from, duration, request);
    for (int i = 0; i < 4 && at != -1; i++) { /* a time of -1 ends it too */
        FUZZ_CHECK(at >= from && planner_next_point(p, at) == at);
        FUZZ_CHECK(planner_avail_during(p, at, duration, request) == 0);
        FUZZ_CHECK(fit == 0 && earliest <= at);
        int64_t next = planner_avail_time_next(p);
        FUZZ_CHECK(next == -1 || next > at);
        at = next;
    }
}

static void measure(planner_t *p, struct input *in)
{
    int64_t at = time_of(p, in);
    uint64_t duration = number(in);
    uint64_t request = number(in);
    int64_t least = planner_avail_resources_during(p, at, duration);
    if (least >= 0) {
        bool fits = planner_avail_during(p, at, duration, request) == 0;
        FUZZ_CHECK(fits == (request <= (uint64_t)least));
        FUZZ_CHECK(least <= planner_avail_resources_at(p, at));
    }
}

static void add(planner_t *p, struct input *in)
{
    int64_t start = time_of(p, in);
    uint64_t duration = number(in);
    uint64_t request = number(in);
    size_t n = planner_span_size(p);
    bool fits = planner_avail_during(p, start, duration, request) == 0;
    int64_t id = planner_add_span(p, start, duration, request);
    FUZZ_CHECK((id > 0) == fits);
    FUZZ_CHECK(planner_span_size(p) == n + (id > 0));
}

static void remove_span(planner_t *p, int64_t id)
{
    size_t n = planner_span_size(p);
    bool active = planner_is_active_span(p, id);
    FUZZ_CHECK((planner_rem_span(p, id) == 0) == active);
    FUZZ_CHECK(planner_span_size(p) == n - active);
}

static void reduce(planner_t *p, int64_t id, int64_t units)
{
    bool removed;
    int64_t planned = planner_span_resource_count(p, id);
    int rc = planner_reduce_span(p, id, units, &removed);
    FUZZ_CHECK((rc == 0) == (planned >= 0 && units >= 0 && units <= planned));
    FUZZ_CHECK(removed == (rc == 0 && units == planned));
    FUZZ_CHECK(rc < 0 || removed || planner_span_resource_count(p, id) == planned - units);
}

static void advance(planner_t *p, int64_t id, int64_t from)
{
    if (!planner_is_active_span(p, id) || from < planner_base_time(p) ||
        planner_span_resource_count(p, id) > planner_resource_total(p))
        return;
    int64_t start = planner_span_start_time(p, id);
    int64_t duration = planner_span_duration(p, id);
    int64_t units = planner_span_resource_count(p, id);
    int64_t at = planner_earliest_before(p, from, duration, units, start);
    FUZZ_CHECK(at <= start);
    FUZZ_CHECK(planner_advance_span(p, id, at) == (at < start ? 0 : -1));
    FUZZ_CHECK(planner_span_start_time(p, id) == at);
}

static void copy(planner_t **p)
{
    planner_t *twin = planner_copy(*p);
    FUZZ_CHECK(twin && planners_equal(*p, twin));
    planner_destroy(p);
    *p = planner_new_empty();
    planner_assign(*p, twin);
    FUZZ_CHECK(planners_equal(*p, twin));
    planner_destroy(&twin);
}

static void step(planner_t **p, struct input *in)
{
    switch (byte(in) % 12) {
    case 0:
    case 1:
    case 2:
    case 3:
        add(*p, in);
        break;
    case 4:
        remove_span(*p, (int64_t)number(in));
        break;
    case 5: /* the oldest, which a byte can always name */
        remove_span(*p, planner_span_first(*p));
        break;
    case 6:
        reduce(*p, (int64_t)number(in), (int64_t)number(in));
        break;
    case 7:
        advance(*p, (int64_t)number(in), time_of(*p, in));
        break;
    case 8:
        look_for(*p, in);
        break;
    case 9:
        measure(*p, in);
        break;
    case 10:
        (void)planner_update_total(*p, number(in));
        break;
    case 11:
        if (byte(in) % 16)
            copy(p);
        else
            (void)planner_reset(*p, (int64_t)number(in), number(in));
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = {data, size};
    int64_t base = (int64_t)number(&in);
    uint64_t duration = number(&in);
    uint64_t total = number(&in);
    planner_t *p = planner_new(base, duration, total, "unit");
    for (int i = 1; p && in.size > 0; i++) {
        step(&p, &in);
        if (i % 64 == 0)
            FUZZ_CHECK(planner_check(p));
    }
    FUZZ_CHECK(!p || planner_check(p));
    planner_destroy(&p);
    return 0;
}
