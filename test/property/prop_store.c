/* The store beside a naive one, on a disk whose machine loses power at random moments, which gets full, and
 * fails.
 *
 * After each crash exactly what was committed is there; a batch whose commit was being made, or had failed,
 * may be there as well, if it is wholly, and nothing has been committed since.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../sim/sim_disk.h"
#include "random.h"
#include "server/store/priv.h"
#include "store_model.h"

enum { TRIED_MAX = 16 };

struct scene {
    struct random r;
    struct sim_disk *disk;
    store_t *s;
    struct model sure, next;       /* committed, and with the batch */
    struct model tried[TRIED_MAX]; /* whose commit failed since the last that didn't */
    int n_tried;
    struct strbuf expected, found;
    bool full;
    uint64_t failures; /* one call of so many; 0: none */
    int crashes, kept;
};

static void do_job(struct scene *c)
{
    struct model *m = &c->next;
    if (m->jobs == MODEL_JOBS)
        return;
    struct model_job *j = &m->job[m->jobs++];
    *j = (struct model_job){.there = true};
    j->members = random_next(&c->r) % 3 ? 1 : (int)random_between(&c->r, 1, MODEL_MEMBERS);
    j->tag = (int)random_between(&c->r, 0, 1000);
    j->environment = (int)random_between(&c->r, 0, 8) * 50;
    j->script = (int)random_between(&c->r, 0, 3);
    j->priority = random_between(&c->r, -9, 9);
    j->held = random_next(&c->r) % 2;
    struct store_job job;
    model_fill_job(m, m->jobs, &job);
    assert_int_equal(store_add_job(c->s, &job, NULL), 0);
}

static void do_change(struct scene *c)
{
    int64_t id = random_between(&c->r, 1, c->next.jobs);
    struct model_job *j = &c->next.job[id - 1];
    j->priority = random_between(&c->r, -9, 9);
    j->held = random_next(&c->r) % 2;
    struct store_job job;
    model_fill_job(&c->next, id, &job);
    assert_int_equal(store_set_job(c->s, &job, NULL), 0);
}

/* A job that is there is submitted with something else. */
static void do_rewrite(struct scene *c)
{
    int64_t id = random_between(&c->r, 1, c->next.jobs);
    struct model_job *j = &c->next.job[id - 1];
    struct store_job job;
    int was = j->tag;
    bool lacks = !model_has(j, 1);
    if (!j->there)
        return;
    do
        j->tag = (was + (int)random_between(&c->r, 0, 1000)) % 1001;
    while (model_has(j, 1) == lacks); /* its members stay */
    model_fill_job(&c->next, id, &job);
    assert_int_equal(store_rewrite_job(c->s, &job, NULL), 0);
}

static void do_member(struct scene *c)
{
    int64_t id = random_between(&c->r, 1, c->next.jobs);
    struct model_job *j = &c->next.job[id - 1];
    int i = (int)random_between(&c->r, 0, j->members - 1);
    enum store_state state = (enum store_state)random_between(&c->r, STORE_PENDING, STORE_TIMEOUT);
    int64_t end = state >= STORE_DONE ? random_between(&c->r, 0, 1000) : -1;
    int tag = (int)random_between(&c->r, 0, 100);
    if (!model_has(j, i) || j->member[i].in_range)
        return;
    if (j->member[i].known && j->member[i].state >= STORE_DONE && random_next(&c->r) % 4)
        return;
    model_set_member(&c->next, id, i, state, end, tag);
    struct store_member member;
    model_fill_member(&c->next, id, i, &member);
    member.state = state;
    member.end_wall = end;
    assert_int_equal(store_set_member(c->s, &member, NULL), 0);
}

/* Members that end together. */
static void do_range(struct scene *c)
{
    int64_t id = random_between(&c->r, 1, c->next.jobs);
    struct model_job *j = &c->next.job[id - 1];
    int first = (int)random_between(&c->r, 0, j->members - 1);
    int last = (int)random_between(&c->r, 0, j->members - 1);
    enum store_state state = (enum store_state)random_between(&c->r, STORE_DONE, STORE_TIMEOUT);
    int64_t end = random_between(&c->r, 0, 1000);
    int tag = (int)random_between(&c->r, 0, 100);
    struct store_member member;
    if (!model_fits_range(j, first, last))
        return;
    model_set_range(&c->next, id, first, last, state, end, tag);
    model_fill_member(&c->next, id, first, &member);
    member.last = (uint32_t)last;
    for (int i = first; i <= last; i++)
        member.count += model_has(j, i);
    assert_int_equal(store_set_member(c->s, &member, NULL), 0);
}

static void do_event(struct scene *c)
{
    struct model *m = &c->next;
    if (m->events == MODEL_EVENTS)
        return;
    int64_t id = random_between(&c->r, 1, m->jobs);
    if (!m->job[id - 1].there)
        return;
    struct store_event event = {.wall = m->events, .job = id, .kind = "started", .data = "{}"};
    m->event_job[m->events++] = id;
    assert_int_equal(store_add_event(c->s, &event, NULL), 0);
    assert_int_equal(event.number, m->events);
}

static void do_value(struct scene *c)
{
    char text[16];
    c->next.value = (int)random_between(&c->r, 0, 99);
    snprintf(text, sizeof(text), "%d", c->next.value);
    assert_int_equal(store_put(c->s, "value", text, NULL), 0);
}

/* Values of a prefix: one of them, or none any more. */
static void do_listed(struct scene *c)
{
    char name[20], text[16];
    int which = (int)random_between(&c->r, 0, MODEL_VALUES);
    if (which == MODEL_VALUES) {
        memset(c->next.listed, 0, sizeof(c->next.listed));
        assert_int_equal(store_drop_values(c->s, "listed.", NULL), 0);
        return;
    }
    c->next.listed[which] = (int)random_between(&c->r, 1, 99);
    snprintf(name, sizeof(name), "listed.%d", which);
    snprintf(text, sizeof(text), "%d", c->next.listed[which]);
    assert_int_equal(store_put(c->s, name, text, NULL), 0);
}

static void do_something(struct scene *c)
{
    int64_t what = random_between(&c->r, 0, 10);
    if (c->next.jobs == 0 || what < 2)
        do_job(c);
    else if (what < 3)
        random_next(&c->r) % 2 ? do_change(c) : do_rewrite(c);
    else if (what < 6)
        do_member(c);
    else if (what < 7)
        do_range(c);
    else if (what < 9)
        do_event(c);
    else if (what < 10)
        do_value(c);
    else
        do_listed(c);
}

static bool is_there(struct scene *c, const struct model *m)
{
    model_tell(m, &c->expected);
    return strcmp(strbuf_text(&c->expected), strbuf_text(&c->found)) == 0;
}

/* What a store that was opened again has is what was committed, or an attempt. */
static void compare(struct scene *c)
{
    berth_error_t err = {""};
    if (model_tell_store(c->s, &c->found, &err) < 0)
        fail_msg("crash %d: %s", c->crashes, err.text);
    for (int i = 0; i < c->n_tried; i++)
        if (is_there(c, &c->tried[i])) {
            c->kept++;
            c->sure = c->tried[i];
            break;
        }
    if (!is_there(c, &c->sure)) {
        const char *expected = strbuf_text(&c->expected), *found = strbuf_text(&c->found);
        size_t same = 0;
        while (expected[same] && expected[same] == found[same])
            same++;
        same = same > 60 ? same - 60 : 0;
        fail_msg("crash %d (%d tried):\nexpected ...%.300s\nfound ...%.300s", c->crashes,
                 c->n_tried, expected + same, found + same);
    }
    c->next = c->sure;
    c->n_tried = 0;
}

/* The log is moved into the file more or less often. */
static void vary(struct scene *c)
{
    static const int pages[] = {5, 40, 1000};
    sqlite3_wal_autocheckpoint(c->s->db, pages[random_next(&c->r) % 3]);
}

/* After the power has gone. It may go again while the store is being opened. */
static void restart(struct scene *c)
{
    berth_error_t err = {""};
    store_close(c->s);
    do {
        c->crashes++;
        sim_disk_crash(c->disk);
        sim_disk_limit(c->disk, -1);
        sim_disk_fail(c->disk, 0);
        c->full = false;
        if (random_next(&c->r) % 4 == 0)
            sim_disk_stop_after(c->disk, random_between(&c->r, 0, 20));
        c->s = store_open("store.db", "prop-store", &err);
    } while (!c->s && sim_disk_has_stopped(c->disk));
    if (!c->s)
        fail_msg("crash %d: %s", c->crashes, err.text);
    sim_disk_stop_after(c->disk, -1);
    compare(c);
    vary(c);
    sim_disk_fail(c->disk, c->failures);
    sim_disk_stop_after(c->disk, random_between(&c->r, 0, 200));
}

static void note_try(struct scene *c)
{
    assert_true(c->n_tried < TRIED_MAX);
    c->tried[c->n_tried++] = c->next;
}

static void expect_failure(struct scene *c, const berth_error_t *err)
{
    assert_true(errno == EIO || errno == ENOSPC);
    assert_non_null(strstr(err->text, "store.db: "));
    assert_true(errno == EIO || c->full);
}

/* A commit, and what follows when it fails: the power has gone, or it is made again, or given up. */
static void commit(struct scene *c)
{
    berth_error_t err = {""};
    while (store_commit(c->s, &err) < 0) {
        expect_failure(c, &err);
        note_try(c);
        if (sim_disk_has_stopped(c->disk) || c->n_tried == TRIED_MAX) {
            restart(c);
            return;
        }
        assert_true(store_is_changed(c->s));
        if (random_next(&c->r) % 2) {
            sim_disk_limit(c->disk, -1);
            c->full = false;
        }
        if (random_next(&c->r) % 3 == 0) {
            store_rollback(c->s);
            c->next = c->sure;
            return;
        }
    }
    assert_false(store_is_changed(c->s));
    c->sure = c->next;
    c->n_tried = 0;
}

/* Drop what ended long ago, or what is too much of a user's. */
static void retain(struct scene *c)
{
    berth_error_t err = {""};
    int64_t before = random_between(&c->r, 0, 600), dropped;
    uint32_t uid = (uint32_t)random_between(&c->r, MODEL_UID, MODEL_UID + MODEL_USERS - 1);
    int64_t bytes = random_between(&c->r, 0, 2 * model_used(&c->next, uid));
    int rc;
    if (random_next(&c->r) % 2) {
        model_retain(&c->next, before);
        rc = store_retain(c->s, before, 100000, &dropped, &err);
    } else {
        model_trim(&c->next, uid, bytes);
        rc = store_trim(c->s, uid, bytes, 100000, &dropped, &err);
    }
    if (rc == 0) {
        if (dropped > 0)
            c->n_tried = 0;
        c->sure = c->next;
        return;
    }
    expect_failure(c, &err);
    note_try(c);
    c->next = c->sure;
    if (sim_disk_has_stopped(c->disk) || c->n_tried == TRIED_MAX)
        restart(c);
}

static void step(struct scene *c)
{
    int64_t what = random_between(&c->r, 0, 30);
    for (int64_t n = random_between(&c->r, 0, 12); n >= 0; n--)
        do_something(c);
    if (what == 0) {
        store_rollback(c->s);
        c->next = c->sure;
    } else if (what == 1) {
        sim_disk_limit(c->disk, sim_disk_size(c->disk) + random_between(&c->r, 0, 60000));
        c->full = true;
    }
    commit(c);
    if (what == 2 && !store_is_changed(c->s))
        retain(c);
    if (what == 3) { /* in good order, as far as the disk allows */
        store_close(c->s);
        c->s = NULL;
        restart(c);
    }
}

static void play(uint64_t seed, int crashes, uint64_t failures, int *kept)
{
    struct scene *c = calloc(1, sizeof(*c));
    assert_non_null(c);
    c->r.state = seed;
    c->disk = sim_disk_create("prop-store", seed);
    assert_non_null(c->disk);
    c->s = store_open("store.db", "prop-store", NULL);
    assert_non_null(c->s);
    c->failures = failures;
    sim_disk_fail(c->disk, failures);
    sim_disk_stop_after(c->disk, random_between(&c->r, 0, 200));
    while (c->crashes < crashes) {
        step(c);
        if (sim_disk_has_stopped(c->disk))
            restart(c);
    }
    *kept += c->kept;
    store_close(c->s);
    strbuf_clear(&c->expected);
    strbuf_clear(&c->found);
    sim_disk_destroy(c->disk);
    free(c);
}

static void play_all(uint64_t failures)
{
    int kept = 0;
    const char *rounds = getenv("BERTH_PROP_ROUNDS"); /* for a longer search */
    for (uint64_t seed = 1; seed <= (rounds     ? strtoull(rounds, NULL, 10)
                                     : failures ? 80
                                                : 40);
         seed++)
        play(seed, 10, failures, &kept);
    /* The power also went after a commit had got there. */
    assert_true(failures == 0 || kept > 0);
}

static void test_crashes(void **state)
{
    (void)state;
    play_all(0);
}

static void test_crashes_and_failures(void **state)
{
    (void)state;
    play_all(150);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_crashes),
        cmocka_unit_test(test_crashes_and_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
