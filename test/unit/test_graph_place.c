/* Bookings that name resources, one thing at a time; and each call without memory. What fits when on random
 * machines is prop_graph_place's.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fixture/change_place.h"
#include "fixture/failing_alloc.h"
#include "match/inner.h"
#include "place/graph.h"

#define JOB(resources, more)                                                                       \
    "{\"version\":9999,\"resources\":[" resources                                                  \
    "],\"attributes\":{\"system\":{\"duration\":10" more                                           \
    "}},\"tasks\":[{\"command\":[\"a\"],\"slot\":\"s\",\"count\":{\"per_slot\":1}}]}"
#define SLOT(count, below)                                                                         \
    "{\"type\":\"slot\",\"label\":\"s\",\"count\":" count ",\"with\":[" below "]}"
#define NODES(count)                                                                               \
    JOB("{\"type\":\"node\",\"count\":" count                                                      \
        ",\"exclusive\":true,\"with\":[" SLOT("1", "{\"type\":\"core\",\"count\":1}") "]}",        \
        "")
#define CORES(count) JOB(SLOT("1", "{\"type\":\"core\",\"count\":" count "}"), "")

/* Four nodes n0 to n3, each with 4 cores and a gpu. */
static const char machine[] =
    "{\"version\":1,\"execution\":{\"R_lite\":[{\"rank\":\"0-3\",\"children\":{\"core\":\"0-3\","
    "\"gpu\":\"0\"}}],\"nodelist\":[\"n[0-3]\"],\"properties\":{\"fast\":\"0-1\"},\"starttime\":0,"
    "\"expiration\":0}}";

#define NODE(id, type, rest, path)                                                                 \
    "{\"id\":\"" id "\",\"metadata\":{\"type\":\"" type "\"," rest                                 \
    ",\"paths\":{\"containment\":\"" path "\"}}}"
#define EDGE(from, to) "{\"source\":\"" from "\",\"target\":\"" to "\"}"

/* A fifth one, with one core. */
static const char more[] =
    "{\"graph\":{\"nodes\":[" NODE("0", "cluster", "\"rank\":-1", "/cluster0") "," NODE(
        "90", "node", "\"name\":\"n4\",\"rank\":4,\"properties\":{\"fast\":\"\"}",
        "/cluster0/n4") "," NODE("91", "core", "\"id\":0,\"rank\":4",
                                 "/cluster0/n4/"
                                 "core0") "],\"edges\":[" EDGE("0", "90") "," EDGE("90", "9"
                                                                                         "1") "]}}";

struct fixture {
    match_t *match;
    struct place *place;
    const struct place_ops *ops;
};

static struct fixture make_with(const match_options_t *options)
{
    berth_error_t err = {""};
    resource_graph_t *g = resource_graph_read("rv1exec", machine, strlen(machine), &err);
    struct fixture f;

    if (!g)
        fail_msg("%s", err.text);
    f.match = match_create(g, options, &err);
    assert_non_null(f.match);
    f.place = graph_place_create(f.match, &err);
    assert_non_null(f.place);
    f.ops = f.place->ops;
    return f;
}

static struct fixture make(const char *policy)
{
    return make_with(&(match_options_t){.policy = policy, .end = MATCH_END_MAX});
}

static void end(struct fixture *f)
{
    assert_true(f->ops->check(f->place));
    f->ops->destroy(f->place);
    assert_true(match_check(f->match));
    match_destroy(f->match);
}

static int know(struct fixture *f, const char *text, uint32_t part, int64_t duration,
                struct place_ask *ask, berth_error_t *err)
{
    jobspec_t *spec = jobspec_parse(text, strlen(text), NULL, err);

    if (!spec)
        fail_msg("%s", err->text);
    *ask = (struct place_ask){.part = part, .duration = duration};
    int rc = f->ops->know(f->place, spec, part, true, &ask->class, &ask->units, err), error = errno;
    jobspec_destroy(spec);
    errno = error;
    return rc;
}

static struct place_ask known(struct fixture *f, const char *text, uint32_t part, int64_t duration)
{
    struct place_ask ask;
    berth_error_t err = {""};

    if (know(f, text, part, duration, &ask, &err) < 0)
        fail_msg("%s", err.text);
    return ask;
}

static void assert_holds(struct fixture *f, int64_t booking, const char *expected)
{
    const char *text;
    size_t length;

    assert_int_equal(f->ops->write(f->place, booking, NULL, &text, &length), 0);
    assert_string_equal(text, expected);
    assert_int_equal(length, strlen(expected));
}

static void classes(void **state)
{
    struct fixture f = make("low");
    berth_error_t err = {""};
    struct place_ask a = known(&f, NODES("2"), 0, 10), b = known(&f, NODES("2"), 0, 20), c;
    int64_t part = f.ops->part(f.place, "{\"properties\": [\"fast\"]}", &err);

    (void)state;
    assert_int_equal(part, 1);
    assert_int_equal(a.class, b.class);
    assert_int_equal(a.units, 9); /* two nodes of four cores, and 1 */
    assert_int_equal(f.ops->wants(f.place, a.class, "node"), 2);
    assert_int_equal(f.ops->wants(f.place, a.class, "core"), 8);
    assert_int_equal(f.ops->wants(f.place, a.class, "gpu"), 2);
    assert_int_equal(know(&f, NODES("3"), 1, 10, &c, &err), -1);
    assert_int_equal(errno, ENODEV);
    assert_string_equal(err.text, "asks for 3 nodes, the queue has 2");
    assert_int_equal(know(&f, CORES("5"), 0, 10, &c, &err), -1);
    assert_int_equal(errno, ENODEV);
    assert_string_equal(err.text, "there is enough in all, but not together");
    assert_int_equal(
        know(&f, JOB(SLOT("1", "{\"type\":\"fpga\",\"count\":1}"), ""), 0, 10, &c, &err), -1);
    assert_int_equal(errno, EINVAL);
    assert_non_null(strstr(err.text, "fpga"));
    c = known(&f, JOB(SLOT("1", "{\"type\":\"gpu\",\"count\":1}"), ""), 0, 10);
    assert_int_equal(c.units, 1);
    assert_int_equal(f.ops->wants(f.place, c.class, "node"), 1);
    f.ops->forget(f.place, a.class);
    f.ops->forget(f.place, a.class);
    a = known(&f, NODES("2"), 1, 10);
    assert_int_not_equal(a.class, c.class);
    assert_int_equal(f.ops->part(f.place, "{\"properties\": [", &err), -1);
    assert_int_equal(errno, EINVAL);
    end(&f);
}

/* Counts say that there are two nodes, but one of the fast ones is taken until 40: the search tries 0, and
 * then 40.
 */
static void tries(void **state)
{
    (void)state;
    for (int64_t most = 0; most < 3; most++) {
        struct fixture f =
            make_with(&(match_options_t){.policy = "low", .end = MATCH_END_MAX, .tries = most});
        struct place_ask first = known(&f, NODES("1"), 0, 40);
        struct place_ask fast =
            known(&f,
                  JOB("{\"type\":\"node\",\"count\":2,\"exclusive\":true,\"with\":[" SLOT(
                          "1", "{\"type\":\"core\",\"count\":1}") "]}",
                      ",\"constraints\":{\"properties\":[\"fast\"]}"),
                  0, 10);
        int64_t at;
        assert_holds(&f, f.ops->book(f.place, &first, 0), "n0");
        assert_int_equal(f.ops->when(f.place, &fast, 0), most == 1 ? -1 : 40);
        assert_int_equal(f.ops->reserve(f.place, &fast, 0, &at) < 0, most == 1);
        end(&f);
    }
    berth_error_t err = {""};
    resource_graph_t *g = resource_graph_read("rv1exec", machine, strlen(machine), &err);
    assert_null(match_create(g, &(match_options_t){.tries = -1}, &err));
    assert_int_equal(errno, EINVAL);
    assert_string_equal(err.text, "tries -1: expected 1 or more");
}

static void bookings(void **state)
{
    struct fixture f = make("low");
    struct place_ask node = known(&f, NODES("1"), 0, 10), three = known(&f, NODES("3"), 0, 10),
                     cores = known(&f, CORES("3"), 0, 5);
    int64_t a = f.ops->book(f.place, &node, 0), b, c;

    (void)state;
    assert_holds(&f, a, "n0");
    assert_int_equal(f.ops->start(f.place, &node, a, 0), 0);
    b = f.ops->book(f.place, &cores, 0);
    assert_holds(&f, b, "n1/core[0-2]");
    assert_int_equal(f.ops->amount(f.place, b, "core"), 3);
    assert_int_equal(f.ops->amount(f.place, b, "node"), 1);
    assert_int_equal(f.ops->amount(f.place, a, "gpu"), 1);
    assert_int_equal(f.ops->book(f.place, &three, 0), -1);
    assert_int_equal(errno, EBUSY);
    assert_string_equal(f.ops->lacks(f.place, &three, 0, NULL), "core");
    assert_true(f.ops->useful(f.place, &three, b) > 0);
    assert_int_equal(f.ops->when(f.place, &three, 0), 5);
    c = f.ops->book(f.place, &three, 5);
    assert_holds(&f, c, "n[1-3]");
    /* The cores' job overruns: who is promised them must move. */
    assert_int_equal(f.ops->extend(f.place, b, 8), 0);
    f.ops->lift(f.place, c, false);
    assert_false(f.ops->fits(f.place, &three, c));
    f.ops->drop(f.place, &three, c);
    assert_int_equal(f.ops->start(f.place, &three, c, 5), -1);
    assert_int_equal(errno, EBUSY);
    uint64_t since = f.place->freed.next;
    f.ops->release(f.place, b);
    assert_false(graph_place_wakes(f.place, cores.class, since)); /* now, at 5, n1 is c's */
    since = f.place->freed.next;
    assert_int_equal(f.ops->extend(f.place, a, 9), 0);
    assert_false(graph_place_wakes(f.place, node.class, since)); /* nothing of n0 is free now */
    assert_int_equal(f.ops->extend(f.place, a, 10), 0);
    assert_int_equal(f.ops->start(f.place, &three, c, 6), 0);
    node.duration = 6;
    assert_int_equal(f.ops->when(f.place, &node, 0), 0); /* n1 to n3 are not taken before 6 */
    assert_int_equal(f.ops->when(f.place, &node, 6), 10);
    end(&f);
}

/* What a job holds is written, and taken up by another scheduler; times are such as microseconds give. */
static void adoption(void **state)
{
    enum { SECOND = 1000000 };
    static const int64_t late = INT64_C(1700000000) * SECOND;
    struct fixture f = make("high"), g = make("high");
    struct place_ask cores = known(&f, CORES("3"), 0, INT64_C(86400) * SECOND);
    const char *text;
    size_t length;
    berth_error_t err = {""};
    int64_t a = f.ops->book(f.place, &cores, late);

    (void)state;
    assert_holds(&f, a, "n0/core[1-3]"); /* the highest ids, which all nodes have */
    assert_int_equal(f.ops->write(f.place, a, "jgf", &text, &length), 0);
    int64_t b = g.ops->adopt(g.place, "jgf", text, length, late, late + cores.duration, true, &err);
    assert_true(b >= 0);
    assert_holds(&g, b, "n0/core[1-3]");
    struct place_ask all = known(&g, NODES("4"), 0, 1),
                     same = known(&g, CORES("3"), 0, cores.duration);
    assert_int_equal(g.ops->when(g.place, &all, late), late + cores.duration);
    assert_int_equal(g.ops->start(g.place, &same, b, late), 0);
    assert_int_equal(g.ops->adopt(g.place, "jgf", text, length, late, late + 1, false, &err), -1);
    assert_int_equal(errno, EINVAL);
    /* The allocation may be in its way, as by another end; two reservations never are. */
    int64_t c = g.ops->adopt(g.place, "jgf", text, length, late + 1, late + 2, true, &err);
    assert_true(c >= 0);
    assert_int_equal(g.ops->adopt(g.place, "jgf", text, length, late + 1, late + 2, true, &err),
                     -1);
    assert_int_equal(errno, EINVAL);
    g.ops->release(g.place, b);
    assert_int_equal(g.ops->when(g.place, &all, late + 1), late + 2);
    b = g.ops->adopt(g.place, "jgf", text, length, late, late + 5, false, &err);
    assert_true(b >= 0);
    g.ops->release(g.place, c);
    assert_int_equal(g.ops->when(g.place, &all, late), late + 5);
    assert_int_equal(f.ops->write(f.place, a, "nothing", &text, &length), -1);
    end(&f);
    end(&g);
}

static void blocks(void **state)
{
    struct fixture f = make("low");
    struct place_ask all = known(&f, NODES("4"), 0, 50), one = known(&f, NODES("1"), 0, 50);
    berth_error_t err = {""};

    (void)state;
    assert_int_equal(f.ops->block(f.place, 3, "n[0-1]", 40, 20, 100, &err), 0);
    assert_int_equal(f.ops->turn(f.place, 0), 40);
    assert_int_equal(f.ops->turn(f.place, 40), 60);
    assert_int_equal(f.ops->turn(f.place, 60), 140);
    assert_int_equal(f.ops->when(f.place, &all, 0), 60);
    assert_int_equal(f.ops->when(f.place, &all, 100), 160);
    all.duration = 80;
    assert_int_equal(f.ops->when(f.place, &all, 0), 60);
    assert_int_equal(f.ops->when(f.place, &all, 61), 160);
    all.duration = 81; /* longer than the gap */
    assert_int_equal(f.ops->when(f.place, &all, 0), -1);
    assert_int_equal(errno, ENOENT);
    all.permits = UINT64_C(1) << 3;
    assert_int_equal(f.ops->when(f.place, &all, 0), 0);
    int64_t a = f.ops->book(f.place, &one, 0), b = f.ops->book(f.place, &one, 0);
    assert_holds(&f, a, "n2");
    assert_holds(&f, b, "n3");
    assert_int_equal(f.ops->book(f.place, &one, 0), -1);
    one.permits = UINT64_C(1) << 3;
    int64_t c = f.ops->book(f.place, &one, 0);
    assert_holds(&f, c, "n0");
    f.ops->lift(f.place, c, false);
    assert_true(f.ops->fits(f.place, &one, c));
    one.permits = 0;
    assert_false(f.ops->fits(f.place, &one, c));
    f.ops->drop(f.place, &one, c);
    uint64_t since = f.place->freed.next;
    f.ops->block(f.place, 3, NULL, 0, 0, 0, NULL);
    assert_true(graph_place_wakes(f.place, one.class, since));
    assert_int_equal(f.ops->turn(f.place, 60), INT64_MAX);
    assert_int_equal(f.ops->block(f.place, 64, "n0", 0, 1, 0, &err), -1);
    assert_int_equal(f.ops->block(f.place, 0, "n0", 0, 10, 10, &err), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(f.ops->block(f.place, 0, "n9", 0, 10, 0, &err), -1);
    assert_int_equal(errno, ENOENT);
    end(&f);
}

static void changes(void **state)
{
    struct fixture f = make("low");
    berth_error_t err = {""};
    int64_t fast = f.ops->part(f.place, "{\"properties\": [\"fast\"]}", &err);
    struct place_ask two = known(&f, NODES("2"), (uint32_t)fast, 10), three;
    struct planner_room room[4];

    (void)state;
    int64_t a = f.ops->book(f.place, &two, 0);
    assert_holds(&f, a, "n[0-1]");
    assert_int_equal(know(&f, NODES("3"), (uint32_t)fast, 10, &three, &err), -1);
    assert_int_equal(attach(f.place, more, strlen(more), &err), 0);
    three = known(&f, NODES("3"), (uint32_t)fast, 10);
    assert_int_equal(three.units, 4); /* some node has but one core */
    assert_int_equal(f.ops->units(f.place, two.class), 3);
    assert_int_equal(f.ops->rooms(f.place, (uint32_t)fast, 0, room, 4), 1);
    assert_int_equal(room[0].free, 2); /* the one core, and 1 */
    assert_int_equal(f.ops->rooms(f.place, (uint32_t)fast, 10, room, 4), 1);
    assert_int_equal(room[0].free, 10);
    assert_int_equal(f.ops->when(f.place, &three, 0), 10);
    uint64_t since = f.place->freed.next;
    assert_int_equal(set_property(f.place, "n2", "fast", "", &err), 0);
    assert_true(graph_place_wakes(f.place, two.class, since));
    assert_int_equal(f.ops->when(f.place, &three, 0), 10);
    int64_t b = f.ops->book(f.place, &two, 0);
    assert_holds(&f, b, "n[2,4]");
    assert_int_equal(set_status(f.place, "n2", RESOURCE_DRAINED, &err), 0);
    assert_int_equal(f.ops->touches(f.place, a, "n2", &err), 0);
    assert_int_equal(f.ops->touches(f.place, b, "n2/core3", &err), 1);
    f.ops->lift(f.place, b, false);
    assert_false(f.ops->fits(f.place, &two, b));
    f.ops->drop(f.place, &two, b);
    assert_int_equal(f.ops->when(f.place, &three, 0), 10); /* n0, n1, n4 */
    assert_int_equal(remove_those(f.place, "n4", &err), 0);
    assert_holds(&f, b, "n2");
    assert_int_equal(f.ops->when(f.place, &three, 0), -1);
    assert_int_equal(set_status(f.place, "n2", RESOURCE_UP, &err), 0);
    assert_int_equal(set_status(f.place, "n2", RESOURCE_UP, &err), 1); /* it is so already */
    f.ops->lift(f.place, b, false);
    assert_false(f.ops->fits(f.place, &two, b)); /* it is half of what was asked for */
    f.ops->drop(f.place, &two, b);
    assert_int_equal(f.ops->when(f.place, &three, 0), 10);
    assert_int_equal(set_status(f.place, "n7", RESOURCE_UP, &err), -1);
    assert_int_equal(errno, ENOENT);
    assert_int_equal(remove_those(f.place, "cluster0", &err), -1);
    assert_int_equal(errno, EINVAL);
    end(&f);
}

/* ---- Without memory ---- */

static struct strbuf before, after;

/* All that bookings hold, when. */
static void look(struct fixture *f, struct strbuf *out)
{
    strbuf_reset(out);
    for (int64_t id = 0; id < 8; id++) {
        const struct job *job = jobs_find(&f->match->jobs, id);
        strbuf_puts(out, "\n");
        if (!job)
            continue;
        strbuf_put_int(out, job->at);
        strbuf_puts(out, job->lifted ? " lifted " : job->forced ? " forced " : " ");
        strbuf_put_int(out, job->end);
        for (uint32_t i = 0; i < job->n; i++) {
            strbuf_putc(out, ' ');
            strbuf_put_int(out, job->hold[i].vertex);
        }
    }
    for (uint32_t v = 0; v < f->match->g->n; v++) {
        strbuf_putc(out, f->match->g->v[v].gone ? 'g' : f->match->g->v[v].down ? 'd' : 'u');
        strbuf_put_uint(out, f->match->state[v] ? f->match->state[v]->blocks : 0);
    }
}

/* Make a call fail at each of its allocations until it comes through. */
#define THROUGH(f, call)                                                                           \
    do {                                                                                           \
        bool again_ = true;                                                                        \
        look(f, &before);                                                                          \
        for (int64_t n_ = 0; again_; n_++) {                                                       \
            until_failure = n_ / 2;                                                                \
            failures_last = n_ % 2;                                                                \
            allocation_failed = false;                                                             \
            int64_t rc_ = (call);                                                                  \
            int error_ = errno;                                                                    \
            until_failure = -1;                                                                    \
            again_ = allocation_failed && rc_ < 0;                                                 \
            assert_true((f)->ops->check((f)->place));                                              \
            if (rc_ < 0 && (!again_ || error_ != ENOMEM))                                          \
                fail_msg("%s: errno %d", #call, error_);                                           \
            look(f, &after);                                                                       \
            if (again_)                                                                            \
                assert_string_equal(strbuf_text(&before), strbuf_text(&after));                    \
        }                                                                                          \
    } while (0)

static void without_memory(void **state)
{
    struct fixture f = make("low");
    jobspec_t *spec = jobspec_parse(NODES("2"), strlen(NODES("2")), NULL, NULL);
    struct place_ask two = {.duration = 10}, one = known(&f, NODES("1"), 0, 30);
    berth_error_t err;
    struct place_pull how = {.at = 40, .from = 0, .anew = true};
    int64_t a, b, c;
    const char *text;
    size_t length;

    (void)state;
    THROUGH(&f, f.ops->part(f.place, "{\"properties\": [\"fast\"]}", &err));
    THROUGH(&f, f.ops->know(f.place, spec, 1, true, &two.class, &two.units, &err));
    two.part = 1;
    THROUGH(&f, a = f.ops->book(f.place, &two, 0));
    THROUGH(&f, f.ops->start(f.place, &two, a, 5));
    THROUGH(&f, f.ops->when(f.place, &two, 0));
    THROUGH(&f, b = f.ops->book(f.place, &two, 40));
    THROUGH(&f, f.ops->pull(f.place, &two, b, &how));
    THROUGH(&f, f.ops->extend(f.place, a, 25));
    THROUGH(&f, f.ops->write(f.place, b, "jgf", &text, &length));
    char *copy = strndup(text, length);
    THROUGH(&f,
            c = f.ops->adopt(f.place, "jgf", copy, length, 45, 60, false, &err)); /* in its way */
    f.ops->release(f.place, c);
    free(copy);
    THROUGH(&f, f.ops->part(f.place, "{\"hostlist\": [\"n[0-2]\"]}", &err));
    THROUGH(&f, set_status(f.place, "n1", RESOURCE_DOWN, &err));
    THROUGH(&f, f.ops->block(f.place, 0, "n[2-3]", 10, 10, 20, &err));
    THROUGH(&f, c = f.ops->book(f.place, &one, 100));
    assert_holds(&f, c, "n0");
    THROUGH(&f, f.ops->touches(f.place, a, "n1", &err) == 1 ? 0 : -1);
    f.ops->block(f.place, 0, NULL, 0, 0, 0, NULL);
    THROUGH(&f, c = f.ops->book(f.place, &one, 0));
    THROUGH(&f, f.ops->write(f.place, c, NULL, &text, &length));
    THROUGH(&f, set_property(f.place, "n2", "fast", "", &err));
    THROUGH(&f, attach(f.place, more, strlen(more), &err));
    THROUGH(&f, remove_those(f.place, "n0", &err));
    f.ops->release(f.place, a);
    f.ops->forget(f.place, two.class);
    jobspec_destroy(spec);
    strbuf_clear(&before);
    strbuf_clear(&after);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classes),        cmocka_unit_test(tries),  cmocka_unit_test(bookings),
        cmocka_unit_test(adoption),       cmocka_unit_test(blocks), cmocka_unit_test(changes),
        cmocka_unit_test(without_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
