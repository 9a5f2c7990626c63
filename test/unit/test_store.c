/* The store: each call, on a disk in memory. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "store_scene.h"

static void test_values(void **state)
{
    (void)state;
    const char *value = "";
    assert_int_equal(store_get(scene.store, "clock", &value, &scene.err), 0);
    assert_null(value);
    assert_false(store_is_changed(scene.store));
    assert_int_equal(store_put(scene.store, "clock", "17", &scene.err), 0);
    assert_true(store_is_changed(scene.store));
    assert_int_equal(store_get(scene.store, "clock", &value, &scene.err), 0);
    assert_null(value); /* not committed */
    store_scene_commit();
    assert_int_equal(store_put(scene.store, "clock", "18", &scene.err), 0);
    store_rollback(scene.store);
    store_scene_reopen();
    assert_int_equal(store_get(scene.store, "clock", &value, &scene.err), 0);
    assert_string_equal(value, "17");
    assert_int_equal(store_put(scene.store, "clock", NULL, &scene.err), -1);
    assert_int_equal(errno, EINVAL);
}

static int see_value(void *context, const char *name, const char *value)
{
    strcat(strcat(strcat(context, name), value), " ");
    return strcmp(value, "stop") == 0;
}

static void test_values_of_a_prefix(void **state)
{
    (void)state;
    char seen[100] = "";
    const char *value;
    assert_int_equal(store_put(scene.store, "a.2", "=two", &scene.err), 0);
    assert_int_equal(store_put(scene.store, "a.1", "=one", &scene.err), 0);
    assert_int_equal(store_put(scene.store, "a", "=none", &scene.err), 0);
    assert_int_equal(store_put(scene.store, "b", "stop", &scene.err), 0);
    assert_int_equal(store_values(scene.store, "a.", see_value, seen, &scene.err), 0);
    assert_string_equal(seen, ""); /* not committed */
    store_scene_commit();
    assert_int_equal(store_values(scene.store, "a.", see_value, seen, &scene.err), 0);
    assert_string_equal(seen, "a.1=one a.2=two ");
    assert_int_equal(store_values(scene.store, "b", see_value, seen, &scene.err), -1);
    assert_int_equal(store_put(scene.store, "a.1", "=one", &scene.err), 0);
    assert_int_equal(store_drop_values(scene.store, "a.", &scene.err), 0);
    assert_int_equal(store_put(scene.store, "a.3", "=three", &scene.err), 0); /* in this order */
    store_scene_commit();
    seen[0] = '\0';
    assert_int_equal(store_values(scene.store, "a", see_value, seen, &scene.err), 0);
    assert_string_equal(seen, "a=none a.3=three ");
    assert_int_equal(store_get(scene.store, "a.1", &value, &scene.err), 0);
    assert_null(value);
    assert_int_equal(store_drop_values(scene.store, "", &scene.err), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(store_values(scene.store, "", see_value, seen, &scene.err), -1);
    assert_int_equal(errno, EINVAL);
}

static void test_numbers(void **state)
{
    (void)state;
    struct store_job job = store_scene_job(5, 1);
    struct store_event event = {.job = 5, .member = -1, .kind = "submitted"};
    assert_int_equal(store_last_job(scene.store), 0);
    store_scene_add(5, 1);
    assert_int_equal(store_last_job(scene.store), 5);
    assert_int_equal(store_add_job(scene.store, &job, &scene.err), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(store_add_event(scene.store, &event, &scene.err), 0);
    assert_int_equal(event.number, 1);
    store_rollback(scene.store);
    assert_int_equal(store_last_job(scene.store), 0);
    assert_int_equal(store_last_event(scene.store), 0);
    store_scene_add_ended(5, 1);
    assert_int_equal(store_add_event(scene.store, &event, &scene.err), 0);
    store_scene_commit();
    int64_t dropped;
    assert_int_equal(store_retain(scene.store, 100, 100, &dropped, &scene.err), 0);
    assert_int_equal(dropped, 3);
    store_scene_reopen();
    assert_int_equal(store_last_job(scene.store), 5);
    assert_int_equal(store_last_event(scene.store), 1);
}

static void test_job(void **state)
{
    (void)state;
    static char large[100000];
    memset(large, 'x', sizeof(large) - 1);
    struct store_job job = store_scene_job(1, 3), read;
    job.environment = large;
    job.script = "#!/bin/sh\0rest";
    job.script_length = 14;
    job.priority = -3;
    job.gpus = INT64_MAX;
    assert_int_equal(store_add_job(scene.store, &job, &scene.err), 0);
    assert_int_equal(store_read_job(scene.store, 1, &read, &scene.err), -1);
    assert_int_equal(errno, ENOENT);
    store_scene_commit();
    job.queue = NULL;
    job.held = true;
    job.limit = 7;
    job.estimate = 5;
    job.name = "not looked at";
    assert_int_equal(store_set_job(scene.store, &job, &scene.err), 0);
    store_scene_commit();
    assert_int_equal(store_read_job(scene.store, 1, &read, &scene.err), 0);
    assert_string_equal(read.environment, large);
    assert_int_equal(read.script_length, 14);
    assert_memory_equal(read.script, "#!/bin/sh\0rest", 15);
    assert_string_equal(read.name, "work");
    assert_null(read.queue);
    assert_true(read.held && read.limit == 7 && read.estimate == 5 && read.priority == -3 &&
                read.members == 3);
    assert_true(read.gpus == INT64_MAX);
    job.id = 2;
    assert_int_equal(store_set_job(scene.store, &job, &scene.err), -1);
    assert_int_equal(errno, ENOENT);
    assert_string_equal(scene.err.text, "store.db: no job 2");
}

static void test_live(void **state)
{
    (void)state;
    store_scene_add(1, 1);
    store_scene_add(2, 3);
    store_scene_add(9, 1);
    store_scene_set_member(2, 2, STORE_FAILED, 5);
    store_scene_set_member(2, 0, STORE_RUNNING, -1);
    store_scene_set_member(9, 0, STORE_STARTING, -1);
    store_scene_commit();
    assert_string_equal(store_scene_live(), " 1 2[0:2][2:4] 9[0:1]");
    store_scene_set_member(9, 0, STORE_TIMEOUT, 6);
    store_scene_set_member(2, 0, STORE_DONE, 6);
    store_scene_set_member(1, 0, STORE_CANCELLED, 6);
    store_scene_commit();
    assert_string_equal(store_scene_live(), " 2[0:3][2:4]");
    store_scene_set_member(2, 1, STORE_DONE, 6);
    store_scene_set_member(9, 0, STORE_PENDING, -1); /* once more */
    store_scene_commit();
    store_scene_reopen();
    assert_string_equal(store_scene_live(), " 9[0:0]");
    struct store_member member;
    assert_int_equal(store_read_member(scene.store, 2, 1, &member, &scene.err), 0);
    assert_int_equal(member.state, STORE_DONE);
    assert_int_equal(store_read_member(scene.store, 9, 0, &member, &scene.err), 0);
    assert_int_equal(member.state, STORE_PENDING);
    assert_int_equal(store_read_member(scene.store, 9, 1, &member, &scene.err), -1);
    assert_int_equal(errno, ENOENT);
}

static void test_list(void **state)
{
    (void)state;
    struct store_query query = {.uid = -1, .since_wall = -1, .after_job = -1};
    store_scene_add(1, 3);
    store_scene_set_member(1, 1, STORE_DONE, 10);
    store_scene_add_ended(2, 20);
    store_scene_set_member(1, 0, STORE_FAILED, 30);
    struct store_job job = store_scene_job(3, 1);
    job.uid = 7;
    job.queue = "short";
    job.name = NULL;
    assert_int_equal(store_add_job(scene.store, &job, &scene.err), 0);
    store_scene_set_member(3, 0, STORE_DONE, 40);
    store_scene_commit();
    assert_string_equal(store_scene_list(&query), "1[0] 1[1] 2 3");
    query.newest_first = true;
    assert_string_equal(store_scene_list(&query), "3 1[0] 2 1[1]");
    query.limit = 2;
    assert_string_equal(store_scene_list(&query), "3 1[0]");
    query.after_job = 1;
    query.after_member = 0;
    assert_string_equal(store_scene_list(&query), "2 1[1]");
    query.newest_first = false;
    assert_string_equal(store_scene_list(&query), "1[1] 2");
    query = (struct store_query){.uid = 7, .since_wall = -1};
    assert_string_equal(store_scene_list(&query), "3");
    query = (struct store_query){.uid = -1, .since_wall = 20, .states = 1 << STORE_DONE};
    assert_string_equal(store_scene_list(&query), "2 3");
    query = (struct store_query){.uid = -1, .since_wall = -1, .queue = "batch", .job = 1};
    assert_string_equal(store_scene_list(&query), "1[0] 1[1]");
    query.newest_first = true;
    assert_string_equal(store_scene_list(&query), "1[0] 1[1]");
    query = (struct store_query){.uid = -1, .since_wall = -1, .name = "work", .limit = 1};
    assert_string_equal(store_scene_list(&query), "1[0]");
}

/* Others write and drop while a cursor is open; it goes on behind what it gave. */
static void test_cursor(void **state)
{
    (void)state;
    for (int64_t id = 1; id <= 5; id++)
        store_scene_add_ended(id, id);
    store_scene_commit();
    struct store_query query = {.uid = -1, .since_wall = -1, .newest_first = true};
    struct store_cursor *newest = store_find(scene.store, &query, &scene.err);
    query.newest_first = false;
    struct store_cursor *oldest = store_find(scene.store, &query, &scene.err);
    struct store_job job;
    struct store_member member;
    assert_int_equal(store_next(newest, &job, &member, &scene.err), 1);
    assert_int_equal(job.id, 5);
    assert_int_equal(store_next(oldest, &job, &member, &scene.err), 1);
    assert_int_equal(job.id, 1);
    store_scene_add_ended(6, 6);
    store_scene_commit();
    assert_int_equal(store_next(newest, &job, &member, &scene.err), 1);
    assert_int_equal(job.id, 4);
    int64_t dropped;
    assert_int_equal(store_retain(scene.store, 3, 100, &dropped, &scene.err), 0);
    const int64_t rest[] = {3, 4, 5, 6};
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(store_next(oldest, &job, &member, &scene.err), 1);
        assert_int_equal(job.id, rest[i]);
    }
    assert_int_equal(store_next(oldest, &job, &member, &scene.err), 0);
    assert_int_equal(store_next(newest, &job, &member, &scene.err), 1);
    assert_int_equal(job.id, 3);
    assert_int_equal(store_next(newest, &job, &member, &scene.err), 0);
    assert_int_equal(store_next(newest, &job, &member, &scene.err), 0);
    store_cursor_close(oldest);
    store_cursor_close(newest);
}

/* A call looks at so many and no more. */
static void test_long_search(void **state)
{
    (void)state;
    for (int64_t id = 1; id <= 10000; id++)
        store_scene_add_ended(id, id);
    store_scene_commit();
    struct store_query query = {.uid = -1, .since_wall = 10000};
    struct store_cursor *c = store_find(scene.store, &query, &scene.err);
    struct store_job job;
    struct store_member member;
    int calls = 0;
    while (store_next(c, &job, &member, &scene.err) < 0) {
        assert_int_equal(errno, EAGAIN);
        calls++;
    }
    assert_int_equal(job.id, 10000);
    assert_in_range(calls, 1, 10);
    store_cursor_close(c);
}

static int tell_event(void *text, const struct store_event *event)
{
    sprintf((char *)text + strlen(text), " %d:%s", (int)event->number, event->kind);
    return strcmp(event->kind, "stop") == 0;
}

static void test_events(void **state)
{
    (void)state;
    char text[200] = "";
    const char *const kinds[] = {"a", "b", "c", "stop", "d"};
    store_scene_add(1, 1);
    store_scene_add(2, 1);
    for (int i = 0; i < 5; i++) {
        struct store_event event = {.job = i % 3, .member = -1, .kind = kinds[i]};
        assert_int_equal(store_add_event(scene.store, &event, &scene.err), 0);
    }
    assert_int_equal(store_events(scene.store, 0, 0, 10, text, tell_event, &scene.err), 0);
    assert_string_equal(text, "");
    store_scene_commit();
    assert_int_equal(store_events(scene.store, 0, 0, 2, text, tell_event, &scene.err), 0);
    assert_string_equal(text, " 1:a 2:b");
    assert_int_equal(store_events(scene.store, 2, 0, 10, text, tell_event, &scene.err), 0);
    assert_string_equal(text, " 1:a 2:b 3:c 4:stop");
    text[0] = '\0';
    assert_int_equal(store_events(scene.store, 0, 1, 10, text, tell_event, &scene.err), 0);
    assert_string_equal(text, " 2:b 5:d");
}

/* Equal texts are one row, over batches and restarts, which goes with its last user. */
static void test_texts(void **state)
{
    (void)state;
    static char environment[4096], other[4096];
    memset(environment, 'e', sizeof(environment) - 1);
    memset(other, 'o', sizeof(other) - 1);
    for (int64_t id = 1; id <= 4; id++) {
        struct store_job job = store_scene_job(id, 1);
        job.environment = id == 2 ? other : environment;
        job.script = environment;
        job.script_length = sizeof(environment) - 1;
        assert_int_equal(store_add_job(scene.store, &job, &scene.err), 0);
        store_scene_set_member(id, 0, STORE_DONE, id);
        if (id == 3) {
            store_scene_commit();
            store_scene_reopen();
        }
    }
    store_scene_commit();
    assert_int_equal(store_scene_count("SELECT count(*) FROM text"), 2);
    assert_int_equal(store_scene_count("SELECT sum(uses) FROM text"), 8);
    int64_t dropped;
    assert_int_equal(store_retain(scene.store, 3, 100, &dropped, &scene.err), 0);
    assert_int_equal(store_scene_count("SELECT count(*) FROM text"), 1);
    struct store_job job;
    assert_int_equal(store_read_job(scene.store, 4, &job, &scene.err), 0);
    assert_string_equal(job.environment, environment);
    assert_int_equal(store_retain(scene.store, 5, 100, &dropped, &scene.err), 0);
    assert_int_equal(store_scene_count("SELECT count(*) FROM text"), 0);
}

static void test_retention(void **state)
{
    (void)state;
    store_scene_add(1, 10);
    for (uint32_t i = 0; i < 10; i++) {
        store_scene_set_member(1, i, STORE_DONE, i);
        struct store_event event = {.job = 1, .member = i, .wall = i, .kind = "ended"};
        assert_int_equal(store_add_event(scene.store, &event, &scene.err), 0);
    }
    store_scene_add(2, 2);
    store_scene_set_member(2, 0, STORE_DONE, 1);
    struct store_event started = {.wall = 3, .member = -1, .kind = "started"};
    assert_int_equal(store_add_event(scene.store, &started, &scene.err), 0);
    store_scene_commit();
    int64_t dropped, all = 0;
    assert_int_equal(store_retain(scene.store, 9, 4, &dropped, &scene.err), 0);
    assert_int_equal(dropped, 1); /* the server's event; a member of job 1 ended at 9 */
    do {
        assert_int_equal(store_retain(scene.store, 10, 4, &dropped, &scene.err), 0);
        assert_in_range(dropped, 0, 4);
        all += dropped;
    } while (dropped > 0);
    assert_int_equal(all, 21);
    store_scene_set_member(1, 0, STORE_DONE, 9); /* passed over */
    store_scene_set_member(1, 1, STORE_PENDING, -1);
    store_scene_commit();
    assert_string_equal(store_scene_list(&(struct store_query){.uid = -1, .since_wall = -1}),
                        "2[0]");
    assert_string_equal(store_scene_live(), " 2[0:3]");
}

static void test_full_disk(void **state)
{
    (void)state;
    store_scene_add(1, 1);
    store_scene_commit();
    sim_disk_limit(scene.disk, sim_disk_size(scene.disk));
    static char script[6000000]; /* more than the log has room for */
    memset(script, 's', sizeof(script));
    struct store_job job = store_scene_job(2, 1);
    job.script = script;
    job.script_length = sizeof(script);
    assert_int_equal(store_add_job(scene.store, &job, &scene.err), 0);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(store_commit(scene.store, &scene.err), -1);
        assert_int_equal(errno, ENOSPC);
        assert_string_equal(scene.err.text, "store.db: no space left on the disk");
        assert_string_equal(store_scene_live(), " 1");
        assert_true(store_is_changed(scene.store));
    }
    sim_disk_limit(scene.disk, -1);
    store_scene_commit();
    assert_string_equal(store_scene_live(), " 1 2");
    sim_disk_crash(scene.disk);
    sim_disk_limit(scene.disk, sim_disk_size(scene.disk));
    store_scene_reopen(); /* on a full disk again */
    assert_string_equal(store_scene_live(), " 1 2");
}

/* What a user has too much of goes by the order of its end, others' never; what waits or runs stays. */
static void test_trim(void **state)
{
    (void)state;
    const struct store_query all = {.uid = -1, .since_wall = -1};
    static char script[5000];
    int64_t dropped;
    memset(script, 's', sizeof(script));
    for (int64_t id = 1; id <= 5; id++) {
        struct store_job job = store_scene_job(id, 1);
        job.uid = id == 1 ? 1001 : 1000;
        script[0] = (char)('0' + id);
        job.script = script;
        job.script_length = sizeof(script);
        assert_int_equal(store_add_job(scene.store, &job, &scene.err), 0);
        if (id < 5)
            store_scene_set_member(id, 0, STORE_DONE, 10 - id);
    }
    store_scene_commit();
    assert_in_range(store_scene_used(1000), 4 * 5000, 4 * 6000);
    assert_int_equal(store_trim(scene.store, 1000, 4 * 6000, 100, &dropped, &scene.err), 0);
    assert_int_equal(dropped, 0);
    assert_int_equal(store_trim(scene.store, 1000, 3 * 5900, 100, &dropped, &scene.err), 0);
    assert_int_equal(dropped, 2); /* the job that ended first, and its member */
    assert_string_equal(store_scene_list(&all), "1 2 3");
    assert_int_equal(store_trim(scene.store, 1000, 0, 1, &dropped, &scene.err), 0);
    assert_int_equal(dropped, 1);
    assert_int_equal(store_trim(scene.store, 1000, 0, 100, &dropped, &scene.err), 0);
    assert_int_equal(dropped, 3);
    assert_string_equal(store_scene_list(&all), "1");
    assert_string_equal(store_scene_live(), " 5");
    assert_in_range(store_scene_used(1000), 5000, 6000);
    assert_in_range(store_scene_used(1001), 5000, 6000);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, store_scene_set_up, store_scene_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_values),    TEST(test_values_of_a_prefix),
        TEST(test_numbers),   TEST(test_job),
        TEST(test_live),      TEST(test_list),
        TEST(test_cursor),    TEST(test_long_search),
        TEST(test_events),    TEST(test_texts),
        TEST(test_retention), TEST(test_full_disk),
        TEST(test_trim),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
