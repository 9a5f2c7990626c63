/* Memory runs out: each allocation of the store and of SQLite fails in turn, alone or with all after it.
 * The call that meets it says so, and does what it should when it is made again.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "../sim/sim_disk.h"
#include "fixture/failing_alloc.h"
#include "server/store/store.h"

static sqlite3_mem_methods system_memory;

/* SQLite's allocations fail in turn with the others. */
static bool fails(void)
{
    void *volatile probe = malloc(1); /* that a compiler must not leave out */
    bool failed = !probe;
    free(probe);
    return failed;
}

static void *failing_malloc(int size)
{
    return fails() ? NULL : system_memory.xMalloc(size);
}

static void *failing_realloc(void *p, int size)
{
    return fails() ? NULL : system_memory.xRealloc(p, size);
}

static berth_error_t err;

/* Whether the call that just failed is to be made again. */
static bool again(bool failed)
{
    if (!failed)
        return false;
    if (errno != ENOMEM || !allocation_failed)
        fail_msg("errno %d: %s", errno, err.text);
    assert_non_null(strstr(err.text, "store.db: out of memory"));
    until_failure = -1;
    return true;
}

static store_t *open_store(void)
{
    store_t *s;
    do
        s = store_open("store.db", "test-memory", &err);
    while (again(!s));
    return s;
}

static void write_job(store_t *s, int64_t id)
{
    char text[2000];
    memset(text, 'a' + (int)id, sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    struct store_job job = {.id = id,
                            .name = "work",
                            .queue = "batch",
                            .request = "{}",
                            .environment = text,
                            .script = "true",
                            .script_length = 4,
                            .members = 2,
                            .count = 2};
    while (again(store_add_job(s, &job, &err) < 0))
        ;
    job.priority = 7;
    while (again(store_set_job(s, &job, &err) < 0))
        ;
    struct store_event event = {.job = id, .member = -1, .kind = "submitted"};
    while (again(store_add_event(s, &event, &err) < 0))
        ;
    assert_int_equal(event.number, id);
    struct store_member member = {
        .job = id, .state = STORE_DONE, .resources = text, .start_wall = -1, .end_wall = id};
    while (again(store_set_member(s, &member, &err) < 0))
        ;
    member.member = 1;
    if (id == 2)
        member.state = STORE_RUNNING;
    while (again(store_set_member(s, &member, &err) < 0))
        ;
    while (again(store_put(s, "clock", "17", &err) < 0))
        ;
    while (again(store_commit(s, &err) < 0))
        ;
    assert_false(store_is_changed(s));
}

static int count_job(void *context, const struct store_job *job)
{
    (void)job;
    ++*(int *)context;
    return 0;
}

static int count_member(void *context, const struct store_member *member)
{
    (void)member;
    *(int *)context += 10;
    return 0;
}

static int count_event(void *context, const struct store_event *event)
{
    (void)event;
    ++*(int *)context;
    return 0;
}

static int list(store_t *s)
{
    struct store_query query = {
        .uid = -1, .since_wall = -1, .queue = "batch", .newest_first = true};
    struct store_job job;
    struct store_member member;
    int n, rc;
    do {
        struct store_cursor *c = store_find(s, &query, &err);
        rc = c ? 1 : -1;
        for (n = 0; c && (rc = store_next(c, &job, &member, &err)) == 1; n++)
            ;
        int saved = errno;
        store_cursor_close(c);
        errno = saved;
    } while (again(rc < 0));
    return n;
}

static void read_all(store_t *s)
{
    const char *value;
    struct store_job job;
    struct store_member member;
    int n = 0;
    while (again(store_get(s, "clock", &value, &err) < 0))
        ;
    assert_string_equal(value, "17");
    do
        n = 0;
    while (again(store_load(s, &(struct store_visitor){&n, count_job, count_member}, &err) < 0));
    assert_int_equal(n, 21); /* job 2, a member that ended, one that runs */
    while (again(store_read_job(s, 2, &job, &err) < 0))
        ;
    assert_int_equal(job.priority, 7);
    assert_int_equal(strlen(job.environment), 1999);
    while (again(store_read_member(s, 2, 1, &member, &err) < 0))
        ;
    assert_int_equal(strlen(member.resources), 1999);
    do
        n = 0;
    while (again(store_events(s, 0, 0, 10, &n, count_event, &err) < 0));
    assert_int_equal(n, 2);
    assert_int_equal(list(s), 3);
}

static void play(void)
{
    store_t *s = open_store();
    write_job(s, 1);
    write_job(s, 2);
    store_close(s);
    s = open_store();
    read_all(s);
    int64_t dropped;
    while (again(store_retain(s, 2, 100, &dropped, &err) < 0))
        ;
    assert_int_equal(dropped, 4);
    assert_int_equal(list(s), 1);
    store_close(s);
}

static void test_memory(void **state)
{
    (void)state;
    for (int lasting = 0; lasting < 2; lasting++) {
        int64_t n = 0;
        do { /* dense where little has happened, and of all that follows some */
            struct sim_disk *disk = sim_disk_create("test-memory", 1);
            assert_non_null(disk);
            failures_last = lasting;
            allocation_failed = false;
            until_failure = n;
            play();
            until_failure = -1;
            sim_disk_destroy(disk);
            n += 1 + n / 20;
        } while (allocation_failed);
        assert_true(n > 1000);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory),
    };
    sqlite3_config(SQLITE_CONFIG_GETMALLOC, &system_memory);
    sqlite3_mem_methods memory = system_memory;
    memory.xMalloc = failing_malloc;
    memory.xRealloc = failing_realloc;
    sqlite3_config(SQLITE_CONFIG_MALLOC, &memory);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
