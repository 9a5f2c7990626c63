/* Accounts: what they and their users have used, kept by another scheduler and another configuration, and corrected. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "berth/sched_admin.h"
#include "berth/sched_query.h"
#include "berth/sched_snapshot.h"
#include "fixture/world.h"

#define CONFIG(accounts)                                                                           \
    "resources: {nodes: 1, cores: 4}\nshares: {half-life: 100, resources: [core]}\n"               \
    "accounts: {" accounts "}\nqueues: {q: {shares: {by: account, order: [usage, submit]}}}\n"
#define BOTH "a: {users: [ann, bob]}, b: {under: a, users: [ann]}"

static sched_job_t submit(struct world *w, int64_t now, const char *id, const char *user,
                          const char *account)
{
    return world_submit(
        w, now, 1,
        (struct sched_request){.id = id, .user = user, .account = account, .duration = 1000});
}

/* What a node has used, as "AMOUNT at AT"; "": there is no such node. */
static const char *used(struct world *w, const char *account, const char *user, char text[80])
{
    struct sched_usage u;
    text[0] = '\0';
    for (size_t i = 0; i < sched_usages(w->sched); i++) {
        assert_int_equal(sched_usage(w->sched, i, &u), 0);
        const char *is = u.node.account ? u.node.account : "", *of = u.node.user ? u.node.user : "";
        if (strcmp(is, account) == 0 && strcmp(of, user) == 0 && (*is || u.node.queue))
            snprintf(text, 80, "%s at %lld", u.amount, (long long)u.at);
    }
    return text;
}

static void same_usages(struct world *a, struct world *b)
{
    struct sched_usage x, y;
    assert_int_equal(sched_usages(a->sched), sched_usages(b->sched));
    for (size_t i = 0; i < sched_usages(a->sched); i++) {
        assert_int_equal(sched_usage(a->sched, i, &x), 0);
        assert_int_equal(sched_usage(b->sched, i, &y), 0);
        assert_string_equal(x.amount, y.amount);
        assert_int_equal(x.at, y.at);
        assert_string_equal(x.node.user ? x.node.user : "", y.node.user ? y.node.user : "");
    }
    errno = 0;
    assert_int_equal(sched_usage(a->sched, sched_usages(a->sched), &x), -1);
    assert_int_equal(errno, EINVAL);
}

static void another_scheduler_goes_on_to_the_digit(void **state)
{
    struct world old, new;
    struct sched_record record;
    struct sched_usage u;
    berth_error_t err;
    const uint32_t *nodes;
    (void)state;
    world_open(&old, CONFIG(BOTH));
    sched_job_t first = submit(&old, 0, "1", "bob", NULL);
    submit(&old, 3, "2", "ann", "b");
    submit(&old, 3, "3", "ann", NULL);
    world_pass(&old, 7);
    assert_true(sched_usages_changed(old.sched, &nodes) > 0);
    sched_usages_kept(old.sched);
    assert_int_equal(sched_usages_changed(old.sched, &nodes), 0);
    assert_int_equal(sched_finish(old.sched, 31, first, true), 0);
    assert_int_equal(sched_usages_changed(old.sched, &nodes), 4); /* bob, a, the queue, all */
    world_pass(&old, 31);

    world_open(&new, CONFIG(BOTH));
    for (size_t i = 0; i < sched_usages(old.sched); i++) {
        assert_int_equal(sched_usage(old.sched, i, &u), 0);
        assert_int_equal(sched_restore_usage(new.sched, &u, &err), 0);
    }
    for (sched_job_t j = sched_first(old.sched); j >= 0; j = sched_next(old.sched, j)) {
        assert_int_equal(sched_record(old.sched, j, &record), 0);
        assert_true(sched_restore(new.sched, 57, &record, &err) >= 0);
    }
    assert_int_equal(sched_restore_passed(new.sched, 57, &(struct sched_passed){.at = 31}), 0);
    same_usages(&old, &new);
    struct world *const both[] = {&old, &new};
    for (size_t i = 0; i < 2; i++) {
        sched_job_t j = sched_find(both[i]->sched, "2", 0);
        assert_int_equal(sched_finish(both[i]->sched, 91, j, true), 0);
        world_pass(both[i], 91);
    }
    same_usages(&old, &new);
    snprintf(u.amount, sizeof(u.amount), "%s", "1x");
    assert_int_equal(sched_restore_usage(new.sched, &u, &err), -1);
    assert_int_equal(errno, EINVAL);
    u = (struct sched_usage){.node = {.queue = "q", .account = "c"}, .amount = "1"};
    assert_int_equal(sched_restore_usage(new.sched, &u, &err), -1);
    assert_int_equal(errno, ENOENT);
    world_close(&old);
    world_close(&new);
}

/* 4 * 2^32 and 1 * 2^32, half of which is left after a half-life. */
static void usage_is_corrected(void **state)
{
    struct world w;
    berth_error_t err;
    char text[80];
    const struct sched_share_name bob = {.queue = "q", .account = "a", .user = "bob"},
                                  b = {.queue = "q", .account = "b"},
                                  nobody = {.queue = "q", .account = "b", .user = "bob"};
    const uint32_t *nodes;
    (void)state;
    world_open(&w, CONFIG(BOTH));
    assert_int_equal(sched_share_set_usage(w.sched, 50, &bob, 4, 0, &err), 0);
    assert_string_equal(used(&w, "a", "bob", text), "400000000 at 50");
    assert_string_equal(used(&w, "a", "", text), "400000000 at 50");
    sched_usages_kept(w.sched);
    assert_int_equal(sched_share_set_usage(w.sched, 150, &b, 1, 1u << 31, &err), 0);
    assert_int_equal(sched_usages_changed(w.sched, &nodes), 4); /* b, a, the queue, all */
    assert_string_equal(used(&w, "b", "", text), "180000000 at 150");
    assert_string_equal(used(&w, "a", "", text), "380000000 at 150");
    assert_string_equal(used(&w, "a", "bob", text), "400000000 at 50");
    assert_int_equal(sched_share_set_usage(w.sched, 150, &nobody, 1, 0, &err), -1);
    assert_int_equal(errno, ENOENT);
    assert_int_equal(sched_share_set_usage(w.sched, 150, &b, -1, 0, &err), -1);
    assert_int_equal(errno, EINVAL);
    world_close(&w);
}

/* b is left out while a job of it runs, and comes again: its job is beside a meanwhile. */
static void an_account_comes_and_goes(void **state)
{
    struct world w;
    struct sched_annotation a;
    berth_error_t err;
    char text[80];
    struct config *without = world_config(CONFIG("a: {users: [ann, bob]}"));
    struct config *with = world_config(CONFIG(BOTH));
    (void)state;
    world_open(&w, CONFIG(BOTH));
    sched_job_t job = submit(&w, 0, "1", "ann", "b");
    world_pass(&w, 0);
    assert_int_equal(sched_configure(w.sched, 100, &without->sched, &err), 0);
    world_pass(&w, 100);
    assert_int_equal(sched_annotate(w.sched, job, &a), 0);
    assert_string_equal(a.account, "b");
    assert_string_equal(used(&w, "a", "", text), "80000000 at 100"); /* half a core */
    assert_string_equal(used(&w, "b", "", text), "");
    sched_job_t refused = submit(&w, 100, "2", "ann", "b");
    assert_int_equal(sched_state(w.sched, refused), SCHED_REJECTED);
    assert_int_equal(sched_configure(w.sched, 200, &with->sched, &err), 0);
    world_pass(&w, 200);
    assert_string_equal(used(&w, "a", "", text), "40000000 at 200");
    assert_string_equal(used(&w, "b", "", text), "0 at 200");
    assert_int_equal(sched_finish(w.sched, 300, job, true), 0);
    assert_string_equal(used(&w, "b", "ann", text), "80000000 at 300");
    world_close(&w);
    config_destroy(without);
    config_destroy(with);
}

/* The account of a submission goes before that of its jobspec, and this before the user's usual one, a. */
static void an_account_is_chosen(void **state)
{
    static const char spec[] =
        "{\"version\":1,\"resources\":[{\"type\":\"slot\",\"label\":\"s\",\"count\":1,\"with\":[{"
        "\"type\":\"core\",\"count\":1}]}],\"tasks\":[{\"command\":[\"x\"],\"slot\":\"s\","
        "\"count\":{"
        "\"per_slot\":1}}],\"attributes\":{\"system\":{\"duration\":10,\"account\":\"b\"}}}";
    static const struct {
        const char *id, *account, *chosen;
    } rows[] = {{"1", NULL, "b"}, {"2", "a", "a"}, {"3", "b", "b"}};
    struct world w;
    struct sched_annotation a;
    (void)state;
    world_open(&w, CONFIG(BOTH));
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct sched_request request = {.id = rows[i].id,
                                              .user = "ann",
                                              .account = rows[i].account,
                                              .jobspec = spec,
                                              .jobspec_length = sizeof(spec) - 1};
        assert_int_equal(sched_annotate(w.sched, sched_submit(w.sched, 0, &request), &a), 0);
        assert_non_null(a.account);
        assert_string_equal(a.account, rows[i].chosen);
    }
    assert_int_equal(sched_annotate(w.sched, submit(&w, 0, "4", "ann", NULL), &a), 0);
    assert_string_equal(a.account, "a");
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(another_scheduler_goes_on_to_the_digit),
        cmocka_unit_test(usage_is_corrected),
        cmocka_unit_test(an_account_is_chosen),
        cmocka_unit_test(an_account_comes_and_goes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
