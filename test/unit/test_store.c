/* The store: each call, on a disk in memory; the file itself as other programs leave it. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "../sim/sim_disk.h"
#include "server/store/priv.h"

static struct sim_disk *disk;
static store_t *s;
static berth_error_t err;

static void open_store(void)
{
    s = store_open("store.db", "test-store", &err);
    if (!s)
        fail_msg("%s", err.text);
}

static int set_up(void **state)
{
    (void)state;
    disk = sim_disk_create("test-store", 1);
    open_store();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    store_close(s);
    s = NULL;
    sim_disk_destroy(disk);
    return 0;
}

static void reopen(void)
{
    store_close(s);
    open_store();
}

static void commit(void)
{
    if (store_commit(s, &err) < 0)
        fail_msg("%s", err.text);
}

static struct store_job job_of(int64_t id, uint32_t members)
{
    return (struct store_job){.id = id,
                              .uid = 1000,
                              .user = "ann",
                              .name = "work",
                              .queue = "batch",
                              .request = "{}",
                              .members = members,
                              .count = members};
}

static void add_job(int64_t id, uint32_t members)
{
    struct store_job job = job_of(id, members);
    assert_int_equal(store_add_job(s, &job, &err), 0);
}

static void set_member(int64_t job, uint32_t member, enum store_state state, int64_t end)
{
    struct store_member m = {
        .job = job, .member = member, .state = state, .start_wall = -1, .end_wall = end};
    assert_int_equal(store_set_member(s, &m, &err), 0);
}

static void add_ended(int64_t id, int64_t end)
{
    add_job(id, 1);
    set_member(id, 0, STORE_DONE, end);
}

/* "3 1[2]": jobs of one member by their number. */
static const char *list(const struct store_query *query)
{
    static char text[512];
    struct store_job job;
    struct store_member member;
    struct store_cursor *c = store_find(s, query, &err);
    assert_non_null(c);
    int rc;
    size_t n = 0;
    text[0] = '\0';
    while ((rc = store_next(c, &job, &member, &err)) == 1) {
        assert_int_equal(job.id, member.job);
        n += (size_t)snprintf(text + n, sizeof(text) - n, n ? " %d" : "%d", (int)job.id);
        if (job.members > 1)
            n += (size_t)snprintf(text + n, sizeof(text) - n, "[%u]", member.member);
    }
    assert_int_equal(rc, 0);
    store_cursor_close(c);
    return text;
}

static int tell_job(void *text, const struct store_job *job)
{
    sprintf((char *)text + strlen(text), " %d", (int)job->id);
    return 0;
}

static int tell_member(void *text, const struct store_member *member)
{
    sprintf((char *)text + strlen(text), "[%u:%d]", member->member, (int)member->state);
    return 0;
}

static const char *live(void)
{
    static char text[512];
    text[0] = '\0';
    assert_int_equal(store_load(s, &(struct store_visitor){text, tell_job, tell_member}, &err), 0);
    return text;
}

static void test_values(void **state)
{
    (void)state;
    const char *value = "";
    assert_int_equal(store_get(s, "clock", &value, &err), 0);
    assert_null(value);
    assert_false(store_is_changed(s));
    assert_int_equal(store_put(s, "clock", "17", &err), 0);
    assert_true(store_is_changed(s));
    assert_true(store_batch_size(s) > 0);
    assert_int_equal(store_get(s, "clock", &value, &err), 0);
    assert_null(value); /* not committed */
    commit();
    assert_int_equal(store_put(s, "clock", "18", &err), 0);
    store_rollback(s);
    reopen();
    assert_int_equal(store_get(s, "clock", &value, &err), 0);
    assert_string_equal(value, "17");
    assert_int_equal(store_put(s, "clock", NULL, &err), -1);
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
    assert_int_equal(store_put(s, "a.2", "=two", &err), 0);
    assert_int_equal(store_put(s, "a.1", "=one", &err), 0);
    assert_int_equal(store_put(s, "a", "=none", &err), 0);
    assert_int_equal(store_put(s, "b", "stop", &err), 0);
    assert_int_equal(store_values(s, "a.", see_value, seen, &err), 0);
    assert_string_equal(seen, ""); /* not committed */
    commit();
    assert_int_equal(store_values(s, "a.", see_value, seen, &err), 0);
    assert_string_equal(seen, "a.1=one a.2=two ");
    assert_int_equal(store_values(s, "b", see_value, seen, &err), -1);
    assert_int_equal(store_put(s, "a.1", "=one", &err), 0);
    assert_int_equal(store_drop_values(s, "a.", &err), 0);
    assert_int_equal(store_put(s, "a.3", "=three", &err), 0); /* in this order */
    commit();
    seen[0] = '\0';
    assert_int_equal(store_values(s, "a", see_value, seen, &err), 0);
    assert_string_equal(seen, "a=none a.3=three ");
    assert_int_equal(store_get(s, "a.1", &value, &err), 0);
    assert_null(value);
    assert_int_equal(store_drop_values(s, "", &err), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(store_values(s, "", see_value, seen, &err), -1);
    assert_int_equal(errno, EINVAL);
}

static void test_numbers(void **state)
{
    (void)state;
    struct store_job job = job_of(5, 1);
    struct store_event event = {.job = 5, .member = -1, .kind = "submitted"};
    assert_int_equal(store_last_job(s), 0);
    add_job(5, 1);
    assert_int_equal(store_last_job(s), 5);
    assert_int_equal(store_add_job(s, &job, &err), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(store_add_event(s, &event, &err), 0);
    assert_int_equal(event.number, 1);
    store_rollback(s);
    assert_int_equal(store_last_job(s), 0);
    assert_int_equal(store_last_event(s), 0);
    add_ended(5, 1);
    assert_int_equal(store_add_event(s, &event, &err), 0);
    commit();
    int64_t dropped;
    assert_int_equal(store_retain(s, 100, 100, &dropped, &err), 0);
    assert_int_equal(dropped, 3);
    reopen();
    assert_int_equal(store_last_job(s), 5);
    assert_int_equal(store_last_event(s), 1);
}

static void test_job(void **state)
{
    (void)state;
    static char large[100000];
    memset(large, 'x', sizeof(large) - 1);
    struct store_job job = job_of(1, 3), read;
    job.environment = large;
    job.script = "#!/bin/sh\0rest";
    job.script_length = 14;
    job.priority = -3;
    job.gpus = INT64_MAX;
    assert_int_equal(store_add_job(s, &job, &err), 0);
    assert_int_equal(store_read_job(s, 1, &read, &err), -1);
    assert_int_equal(errno, ENOENT);
    commit();
    job.queue = NULL;
    job.held = true;
    job.limit = 7;
    job.estimate = 5;
    job.name = "not looked at";
    assert_int_equal(store_set_job(s, &job, &err), 0);
    commit();
    assert_int_equal(store_read_job(s, 1, &read, &err), 0);
    assert_string_equal(read.environment, large);
    assert_int_equal(read.script_length, 14);
    assert_memory_equal(read.script, "#!/bin/sh\0rest", 15);
    assert_string_equal(read.name, "work");
    assert_null(read.queue);
    assert_true(read.held && read.limit == 7 && read.estimate == 5 && read.priority == -3 &&
                read.members == 3);
    assert_true(read.gpus == INT64_MAX);
    job.id = 2;
    assert_int_equal(store_set_job(s, &job, &err), -1);
    assert_int_equal(errno, ENOENT);
    assert_string_equal(err.text, "store.db: no job 2");
}

static void test_live(void **state)
{
    (void)state;
    add_job(1, 1);
    add_job(2, 3);
    add_job(9, 1);
    set_member(2, 2, STORE_FAILED, 5);
    set_member(2, 0, STORE_RUNNING, -1);
    set_member(9, 0, STORE_STARTING, -1);
    commit();
    assert_string_equal(live(), " 1 2[0:2][2:4] 9[0:1]");
    set_member(9, 0, STORE_TIMEOUT, 6);
    set_member(2, 0, STORE_DONE, 6);
    set_member(1, 0, STORE_CANCELLED, 6);
    commit();
    assert_string_equal(live(), " 2[0:3][2:4]");
    set_member(2, 1, STORE_DONE, 6);
    set_member(9, 0, STORE_PENDING, -1); /* once more */
    commit();
    reopen();
    assert_string_equal(live(), " 9[0:0]");
    struct store_member member;
    assert_int_equal(store_read_member(s, 2, 1, &member, &err), 0);
    assert_int_equal(member.state, STORE_DONE);
    assert_int_equal(store_read_member(s, 9, 0, &member, &err), 0);
    assert_int_equal(member.state, STORE_PENDING);
    assert_int_equal(store_read_member(s, 9, 1, &member, &err), -1);
    assert_int_equal(errno, ENOENT);
}

static void test_list(void **state)
{
    (void)state;
    struct store_query query = {.uid = -1, .since_wall = -1, .after_job = -1};
    add_job(1, 3);
    set_member(1, 1, STORE_DONE, 10);
    add_ended(2, 20);
    set_member(1, 0, STORE_FAILED, 30);
    struct store_job job = job_of(3, 1);
    job.uid = 7;
    job.queue = "short";
    job.name = NULL;
    assert_int_equal(store_add_job(s, &job, &err), 0);
    set_member(3, 0, STORE_DONE, 40);
    commit();
    assert_string_equal(list(&query), "1[0] 1[1] 2 3");
    query.newest_first = true;
    assert_string_equal(list(&query), "3 1[0] 2 1[1]");
    query.limit = 2;
    assert_string_equal(list(&query), "3 1[0]");
    query.after_job = 1;
    query.after_member = 0;
    assert_string_equal(list(&query), "2 1[1]");
    query.newest_first = false;
    assert_string_equal(list(&query), "1[1] 2");
    query = (struct store_query){.uid = 7, .since_wall = -1};
    assert_string_equal(list(&query), "3");
    query = (struct store_query){.uid = -1, .since_wall = 20, .states = 1 << STORE_DONE};
    assert_string_equal(list(&query), "2 3");
    query = (struct store_query){.uid = -1, .since_wall = -1, .queue = "batch", .job = 1};
    assert_string_equal(list(&query), "1[0] 1[1]");
    query.newest_first = true;
    assert_string_equal(list(&query), "1[0] 1[1]");
    query = (struct store_query){.uid = -1, .since_wall = -1, .name = "work", .limit = 1};
    assert_string_equal(list(&query), "1[0]");
}

/* Others write and drop while a cursor is open; it goes on behind what it gave. */
static void test_cursor(void **state)
{
    (void)state;
    for (int64_t id = 1; id <= 5; id++)
        add_ended(id, id);
    commit();
    struct store_query query = {.uid = -1, .since_wall = -1, .newest_first = true};
    struct store_cursor *newest = store_find(s, &query, &err);
    query.newest_first = false;
    struct store_cursor *oldest = store_find(s, &query, &err);
    struct store_job job;
    struct store_member member;
    assert_int_equal(store_next(newest, &job, &member, &err), 1);
    assert_int_equal(job.id, 5);
    assert_int_equal(store_next(oldest, &job, &member, &err), 1);
    assert_int_equal(job.id, 1);
    add_ended(6, 6);
    commit();
    assert_int_equal(store_next(newest, &job, &member, &err), 1);
    assert_int_equal(job.id, 4);
    int64_t dropped;
    assert_int_equal(store_retain(s, 3, 100, &dropped, &err), 0);
    const int64_t rest[] = {3, 4, 5, 6};
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(store_next(oldest, &job, &member, &err), 1);
        assert_int_equal(job.id, rest[i]);
    }
    assert_int_equal(store_next(oldest, &job, &member, &err), 0);
    assert_int_equal(store_next(newest, &job, &member, &err), 1);
    assert_int_equal(job.id, 3);
    assert_int_equal(store_next(newest, &job, &member, &err), 0);
    assert_int_equal(store_next(newest, &job, &member, &err), 0);
    store_cursor_close(oldest);
    store_cursor_close(newest);
}

/* A call looks at so many and no more. */
static void test_long_search(void **state)
{
    (void)state;
    for (int64_t id = 1; id <= 10000; id++)
        add_ended(id, id);
    commit();
    struct store_query query = {.uid = -1, .since_wall = 10000};
    struct store_cursor *c = store_find(s, &query, &err);
    struct store_job job;
    struct store_member member;
    int calls = 0;
    while (store_next(c, &job, &member, &err) < 0) {
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
    add_job(1, 1);
    add_job(2, 1);
    for (int i = 0; i < 5; i++) {
        struct store_event event = {.job = i % 3, .member = -1, .kind = kinds[i]};
        assert_int_equal(store_add_event(s, &event, &err), 0);
    }
    assert_int_equal(store_events(s, 0, 0, 10, text, tell_event, &err), 0);
    assert_string_equal(text, "");
    commit();
    assert_int_equal(store_events(s, 0, 0, 2, text, tell_event, &err), 0);
    assert_string_equal(text, " 1:a 2:b");
    assert_int_equal(store_events(s, 2, 0, 10, text, tell_event, &err), 0);
    assert_string_equal(text, " 1:a 2:b 3:c 4:stop");
    text[0] = '\0';
    assert_int_equal(store_events(s, 0, 1, 10, text, tell_event, &err), 0);
    assert_string_equal(text, " 2:b 5:d");
}

static int64_t count(const char *sql)
{
    sqlite3_stmt *q;
    assert_int_equal(sqlite3_prepare_v2(s->db, sql, -1, &q, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(q), SQLITE_ROW);
    int64_t n = sqlite3_column_int64(q, 0);
    sqlite3_finalize(q);
    return n;
}

/* Equal texts are one row, over batches and restarts, which goes with its last user. */
static void test_texts(void **state)
{
    (void)state;
    static char environment[4096], other[4096];
    memset(environment, 'e', sizeof(environment) - 1);
    memset(other, 'o', sizeof(other) - 1);
    for (int64_t id = 1; id <= 4; id++) {
        struct store_job job = job_of(id, 1);
        job.environment = id == 2 ? other : environment;
        job.script = environment;
        job.script_length = sizeof(environment) - 1;
        assert_int_equal(store_add_job(s, &job, &err), 0);
        set_member(id, 0, STORE_DONE, id);
        if (id == 3) {
            commit();
            reopen();
        }
    }
    commit();
    assert_int_equal(count("SELECT count(*) FROM text"), 2);
    assert_int_equal(count("SELECT sum(uses) FROM text"), 8);
    int64_t dropped;
    assert_int_equal(store_retain(s, 3, 100, &dropped, &err), 0);
    assert_int_equal(count("SELECT count(*) FROM text"), 1);
    struct store_job job;
    assert_int_equal(store_read_job(s, 4, &job, &err), 0);
    assert_string_equal(job.environment, environment);
    assert_int_equal(store_retain(s, 5, 100, &dropped, &err), 0);
    assert_int_equal(count("SELECT count(*) FROM text"), 0);
}

static void test_retention(void **state)
{
    (void)state;
    add_job(1, 10);
    for (uint32_t i = 0; i < 10; i++) {
        set_member(1, i, STORE_DONE, i);
        struct store_event event = {.job = 1, .member = i, .wall = i, .kind = "ended"};
        assert_int_equal(store_add_event(s, &event, &err), 0);
    }
    add_job(2, 2);
    set_member(2, 0, STORE_DONE, 1);
    struct store_event started = {.wall = 3, .member = -1, .kind = "started"};
    assert_int_equal(store_add_event(s, &started, &err), 0);
    commit();
    int64_t dropped, all = 0;
    assert_int_equal(store_retain(s, 9, 4, &dropped, &err), 0);
    assert_int_equal(dropped, 1); /* the server's event; a member of job 1 ended at 9 */
    do {
        assert_int_equal(store_retain(s, 10, 4, &dropped, &err), 0);
        assert_in_range(dropped, 0, 4);
        all += dropped;
    } while (dropped > 0);
    assert_int_equal(all, 21);
    set_member(1, 0, STORE_DONE, 9); /* passed over */
    set_member(1, 1, STORE_PENDING, -1);
    commit();
    assert_string_equal(list(&(struct store_query){.uid = -1, .since_wall = -1}), "2[0]");
    assert_string_equal(live(), " 2[0:3]");
}

static void test_full_disk(void **state)
{
    (void)state;
    add_job(1, 1);
    commit();
    sim_disk_limit(disk, sim_disk_size(disk));
    static char script[6000000]; /* more than the log has room for */
    memset(script, 's', sizeof(script));
    struct store_job job = job_of(2, 1);
    job.script = script;
    job.script_length = sizeof(script);
    assert_int_equal(store_add_job(s, &job, &err), 0);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(store_commit(s, &err), -1);
        assert_int_equal(errno, ENOSPC);
        assert_string_equal(err.text, "store.db: no space left on the disk");
        assert_string_equal(live(), " 1");
        assert_true(store_is_changed(s));
    }
    sim_disk_limit(disk, -1);
    commit();
    assert_string_equal(live(), " 1 2");
    sim_disk_crash(disk);
    sim_disk_limit(disk, sim_disk_size(disk));
    reopen(); /* on a full disk again */
    assert_string_equal(live(), " 1 2");
}

static void refuse(const char *text, int error)
{
    berth_error_t why = {""};
    assert_null(store_open("store.db", "test-store", &why));
    assert_string_equal(why.text, text);
    assert_int_equal(errno, error);
}

static void test_two(void **state)
{
    (void)state;
    refuse("store.db: open in another process; is another berthd running?", EBUSY);
}

static void run(const char *sql)
{
    assert_int_equal(sqlite3_exec(s->db, sql, NULL, NULL, NULL), SQLITE_OK);
}

static void close_store(void)
{
    store_close(s);
    s = NULL;
}

static void test_newer(void **state)
{
    (void)state;
    run("PRAGMA user_version = 99");
    close_store();
    refuse("store.db: written by a newer berthd (version 99, this one supports up to 10): run that "
           "one",
           EINVAL);
}

static void test_strange(void **state)
{
    (void)state;
    run("PRAGMA application_id = 1");
    close_store();
    refuse("store.db: not a berthd store; move it away", EINVAL);
    sim_disk_put(disk, "store.db",
                 "not a database, but long enough to be looked at as one, which"
                 " takes a hundred bytes of a header, so here they are",
                 112);
    refuse("store.db: not a berthd store; move it away", EINVAL);
}

static void test_view(void **state)
{
    (void)state;
    run("CREATE VIEW v AS SELECT 1");
    close_store();
    refuse("store.db: not a berthd store; move it away", EINVAL);
}

/* Steps are taken once, all or none. */
static void test_migration(void **state)
{
    (void)state;
    int now = (int)count("SELECT user_version FROM pragma_user_version");
    struct store_step steps[16] = {{""}}, wrong[16] = {{""}};
    assert_in_range(now, 1, 12);
    steps[now] = (struct store_step){"CREATE TABLE t (a)"};
    steps[now + 1] = (struct store_step){"INSERT INTO t VALUES (1); INSERT INTO t VALUES (2)"};
    wrong[now + 2] = (struct store_step){"DELETE FROM t; DELETE FROM nothing"};
    assert_int_equal(store_migrate(s, steps, now + 1, &err), 0);
    assert_int_equal(store_migrate(s, steps, now + 2, &err), 0);
    assert_int_equal(store_migrate(s, steps, now + 2, &err), 0);
    assert_int_equal(count("SELECT sum(a) FROM t"), 3);
    assert_int_equal(store_migrate(s, wrong, now + 3, &err), -1);
    assert_int_equal(count("SELECT sum(a) FROM t"), 3);
    assert_int_equal(count("SELECT user_version FROM pragma_user_version"), now + 2);
}

/* The tables as version 2 had them; texts that users have alike are one row then, with all their jobs. */
static void make_version_2(void)
{
    run("ALTER TABLE job DROP COLUMN estimate; ALTER TABLE ended DROP COLUMN last;"
        "DROP TABLE owner; DROP INDEX over_user; ALTER TABLE over DROP COLUMN uid;"
        "ALTER TABLE live DROP COLUMN end_wall;"
        "DROP INDEX text_hash; ALTER TABLE text DROP COLUMN uid;"
        "CREATE INDEX text_hash ON text (hash);"
        "CREATE TABLE one AS SELECT min(id) AS id, data FROM text GROUP BY data;"
        "CREATE TABLE same AS SELECT t.id AS id, o.id AS one FROM text t JOIN one o USING (data);"
        "UPDATE text SET uses = (SELECT total(u.uses) FROM text u JOIN same s ON s.id = u.id"
        " WHERE s.one = text.id);"
        "UPDATE job SET environment = (SELECT one FROM same WHERE id = environment),"
        " script = (SELECT one FROM same WHERE id = script);"
        "DELETE FROM text WHERE id NOT IN (SELECT id FROM one); DROP TABLE one; DROP TABLE same;"
        "PRAGMA user_version = 2");
}

static int64_t used(uint32_t uid)
{
    int64_t bytes;
    assert_int_equal(store_used(s, uid, &bytes, &err), 0);
    return bytes;
}

/* What is stored of each user's is counted when the file is of a version that did not, and users part their
 * texts.
 */
static void test_version_2(void **state)
{
    (void)state;
    static char environment[4096], script[1000];
    memset(environment, 'e', sizeof(environment) - 1);
    memset(script, 's', sizeof(script) - 1);
    for (int64_t id = 1; id <= 5; id++) {
        struct store_job job = job_of(id, 2);
        struct store_event event = {.job = id, .member = -1, .kind = "submitted", .data = "{}"};
        job.uid = id % 2 ? 1000 : 1001;
        job.environment = environment;
        job.script = id == 2 ? NULL : script;
        job.script_length = sizeof(script) - 1;
        assert_int_equal(store_add_job(s, &job, &err), 0);
        assert_int_equal(store_add_event(s, &event, &err), 0);
        set_member(id, 0, STORE_DONE, id);
        if (id > 2)
            set_member(id, 1, STORE_CANCELLED, id);
    }
    commit();
    int64_t ann = used(1000), bob = used(1001), dropped;
    assert_true(ann > 5000 && bob > 5000);
    make_version_2();
    assert_int_equal(count("SELECT count(*) FROM text"), 2);
    assert_int_equal(count("SELECT sum(uses) FROM text"), 9);
    reopen();
    assert_int_equal(used(1000), ann);
    assert_int_equal(used(1001), bob);
    assert_int_equal(used(7), 0);
    assert_int_equal(count("SELECT count(*) FROM text"), 4);
    assert_int_equal(count("SELECT sum(uses) FROM text"), 9);
    struct store_job job;
    assert_int_equal(store_read_job(s, 5, &job, &err), 0);
    assert_string_equal(job.environment, environment);
    assert_string_equal(job.script, script);
    assert_int_equal(store_trim(s, 1001, 0, 100, &dropped, &err), 0);
    assert_int_equal(dropped, 4);
    assert_int_equal(used(1000), ann);
    assert_string_equal(list(&(struct store_query){.uid = 1001, .since_wall = -1}), "2[0]");
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
        struct store_job job = job_of(id, 1);
        job.uid = id == 1 ? 1001 : 1000;
        script[0] = (char)('0' + id);
        job.script = script;
        job.script_length = sizeof(script);
        assert_int_equal(store_add_job(s, &job, &err), 0);
        if (id < 5)
            set_member(id, 0, STORE_DONE, 10 - id);
    }
    commit();
    assert_in_range(used(1000), 4 * 5000, 4 * 6000);
    assert_int_equal(store_trim(s, 1000, 4 * 6000, 100, &dropped, &err), 0);
    assert_int_equal(dropped, 0);
    assert_int_equal(store_trim(s, 1000, 3 * 5900, 100, &dropped, &err), 0);
    assert_int_equal(dropped, 2); /* the job that ended first, and its member */
    assert_string_equal(list(&all), "1 2 3");
    assert_int_equal(store_trim(s, 1000, 0, 1, &dropped, &err), 0);
    assert_int_equal(dropped, 1);
    assert_int_equal(store_trim(s, 1000, 0, 100, &dropped, &err), 0);
    assert_int_equal(dropped, 3);
    assert_string_equal(list(&all), "1");
    assert_string_equal(live(), " 5");
    assert_in_range(used(1000), 5000, 6000);
    assert_in_range(used(1001), 5000, 6000);
}

/* What version 1 has of a member that ran, which says not how it was started: a byte for the version,
 * numbers of which the lowest bit is the sign (flags, key, attempts, at, until, start, exit, signal,
 * memory, time), and three texts that are none.
 */
#define MEMBER_1 "x'010000020101' || x'0a0600' || x'0101000000'"

/* Version 3 does not say which members a job has: all of them. */
static void test_version_3(void **state)
{
    (void)state;
    struct store_job job = job_of(1, 5);
    add_job(2, 3);
    commit();
    run("UPDATE job SET record = CAST(x'01' || substr(record, 2, length(record) - 3) AS BLOB)");
    run("ALTER TABLE job DROP COLUMN estimate; ALTER TABLE ended DROP COLUMN last;"
        "PRAGMA user_version = 3");
    reopen();
    assert_int_equal(store_read_job(s, 2, &job, &err), 0);
    assert_int_equal(job.members, 3);
    assert_int_equal(job.count, 3);
    assert_null(job.indices);
    assert_string_equal(live(), " 2");

    job = job_of(3, 5);
    job.count = 2;
    assert_int_equal(store_add_job(s, &job, &err), -1);
    assert_int_equal(errno, EINVAL);
    job.indices = "0,4";
    assert_int_equal(store_add_job(s, &job, &err), 0);
    commit();
    assert_int_equal(store_read_job(s, 3, &job, &err), 0);
    assert_int_equal(job.count, 2);
    assert_string_equal(job.indices, "0,4");
}

/* A duration was a limit where the request said so, and an estimate in any case. */
static void test_version_4(void **state)
{
    (void)state;
    struct store_job job = job_of(1, 1), read;
    job.limit = job.estimate = 70;
    job.request = "{\"shown\":{\"name\":\"\\\"limited\\\":true\"},\"limited\":true}";
    assert_int_equal(store_add_job(s, &job, &err), 0);
    job.id = 2;
    job.request = "{\"shown\":{\"name\":\",\\\"limited\\\":true\"}}";
    assert_int_equal(store_add_job(s, &job, &err), 0);
    commit();
    run("ALTER TABLE job DROP COLUMN estimate; ALTER TABLE ended DROP COLUMN last;"
        "PRAGMA user_version = 4");
    reopen();
    assert_int_equal(store_read_job(s, 1, &read, &err), 0);
    assert_true(read.limit == 70 && read.estimate == 70);
    assert_int_equal(store_read_job(s, 2, &read, &err), 0);
    assert_true(read.limit == INT64_MAX && read.estimate == 70);
}

static void test_version_1(void **state)
{
    (void)state;
    struct store_member member;
    add_ended(1, 9);
    add_ended(2, 9);
    commit();
    run("UPDATE ended SET record = CAST(" MEMBER_1 " AS BLOB) WHERE job = 1");
    make_version_2();
    run("PRAGMA user_version = 1");
    reopen();
    assert_int_equal(count("SELECT user_version FROM pragma_user_version"), 10);
    assert_int_equal(store_read_member(s, 1, 0, &member, &err), 0);
    assert_int_equal(member.attempts, 1);
    assert_int_equal(member.start_wall, 5);
    assert_int_equal(member.exit_status, 3);
    assert_int_equal(member.how, -1);
    assert_false(member.displaced);
    assert_int_equal(member.promised, 0);
    assert_true(member.nodes == -1 && member.cores == -1 && member.gpus == -1);
    member.how = STORE_HOW_MAX + 1;
    assert_int_equal(store_set_member(s, &member, &err), -1);
    assert_int_equal(errno, EINVAL);
    member.how = 2;
    member.nodes = 2;
    member.cores = 7;
    assert_int_equal(store_set_member(s, &member, &err), 0);
    commit();
    assert_int_equal(store_read_member(s, 1, 0, &member, &err), 0);
    assert_int_equal(member.how, 2);
    assert_true(member.nodes == 2 && member.cores == 7 && member.gpus == -1);
}

static void expect_damage(const char *sql, const char *text)
{
    char seen[512] = "";
    run("SAVEPOINT here");
    run(sql);
    assert_int_equal(store_load(s, &(struct store_visitor){seen, tell_job, tell_member}, &err), -1);
    assert_int_equal(errno, EINVAL);
    assert_string_equal(err.text, text);
    run("ROLLBACK TO here; RELEASE here");
}

static void test_damage(void **state)
{
    (void)state;
    add_job(1, 1);
    set_member(1, 0, STORE_RUNNING, -1);
    commit();
#define DAMAGED "store.db: the file is damaged: "
    expect_damage("UPDATE job SET record = x'02'", DAMAGED "job 1: invalid record");
    expect_damage("UPDATE job SET record = record || x'00'", DAMAGED "job 1: invalid record");
    expect_damage("UPDATE job SET held = 2", DAMAGED "job 1: invalid record");
    expect_damage("UPDATE job SET request = 17", DAMAGED "a text is missing");
    expect_damage("UPDATE job SET request = x'41'", DAMAGED "a text");
    expect_damage("UPDATE live SET remaining = 2", DAMAGED "job 1: wrong number of members");
    expect_damage("UPDATE member SET state = 3", DAMAGED "job 1: a member's state");
    expect_damage("UPDATE member SET state = 1000", DAMAGED "job 1: a member's state");
    expect_damage("UPDATE member SET record = substr(record, 2)",
                  DAMAGED "job 1: a member's record");
    expect_damage("UPDATE member SET job = 2", DAMAGED "job 2: a member of a missing job");
    expect_damage("DELETE FROM job", DAMAGED "invalid record");
    assert_string_equal(live(), " 1[0:2]");
}

/* On the system's disk: for the owner alone, and none where there is no folder. */
static void test_file(void **state)
{
    (void)state;
    char folder[] = "/tmp/berth-store-XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/store.db", folder);
    store_t *file = store_open(path, NULL, &err);
    assert_non_null(file);
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_null(store_open(path, NULL, &err));
    assert_int_equal(errno, EBUSY);
    assert_int_equal(store_put(file, "clock", "1", &err), 0);
    assert_int_equal(store_commit(file, &err), 0);
    store_close(file);
    unlink(path);
    snprintf(path, sizeof(path), "%s/none/store.db", folder);
    assert_null(store_open(path, NULL, &err));
    assert_int_equal(errno, ENOENT);
    assert_non_null(strstr(err.text, "cannot create: No such file or directory"));
    rmdir(folder);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_values),    TEST(test_values_of_a_prefix),
        TEST(test_numbers),   TEST(test_job),
        TEST(test_live),      TEST(test_list),
        TEST(test_cursor),    TEST(test_long_search),
        TEST(test_events),    TEST(test_texts),
        TEST(test_retention), TEST(test_full_disk),
        TEST(test_two),       TEST(test_newer),
        TEST(test_strange),   TEST(test_view),
        TEST(test_migration), TEST(test_damage),
        TEST(test_file),      TEST(test_version_1),
        TEST(test_version_3), TEST(test_version_2),
        TEST(test_version_4), TEST(test_trim),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
