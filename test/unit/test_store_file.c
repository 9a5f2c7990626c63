/* The file of a store, as other programs and other versions leave it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store_scene.h"

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
    assert_int_equal(sqlite3_exec(scene.store->db, sql, NULL, NULL, NULL), SQLITE_OK);
}

static void close_store(void)
{
    store_close(scene.store);
    scene.store = NULL;
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
    sim_disk_put(scene.disk, "store.db",
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
    int now = (int)store_scene_count("SELECT user_version FROM pragma_user_version");
    struct store_step steps[16] = {{""}}, wrong[16] = {{""}};
    assert_in_range(now, 1, 12);
    steps[now] = (struct store_step){"CREATE TABLE t (a)"};
    steps[now + 1] = (struct store_step){"INSERT INTO t VALUES (1); INSERT INTO t VALUES (2)"};
    wrong[now + 2] = (struct store_step){"DELETE FROM t; DELETE FROM nothing"};
    assert_int_equal(store_migrate(scene.store, steps, now + 1, &scene.err), 0);
    assert_int_equal(store_migrate(scene.store, steps, now + 2, &scene.err), 0);
    assert_int_equal(store_migrate(scene.store, steps, now + 2, &scene.err), 0);
    assert_int_equal(store_scene_count("SELECT sum(a) FROM t"), 3);
    assert_int_equal(store_migrate(scene.store, wrong, now + 3, &scene.err), -1);
    assert_int_equal(store_scene_count("SELECT sum(a) FROM t"), 3);
    assert_int_equal(store_scene_count("SELECT user_version FROM pragma_user_version"), now + 2);
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
        struct store_job job = store_scene_job(id, 2);
        struct store_event event = {.job = id, .member = -1, .kind = "submitted", .data = "{}"};
        job.uid = id % 2 ? 1000 : 1001;
        job.environment = environment;
        job.script = id == 2 ? NULL : script;
        job.script_length = sizeof(script) - 1;
        assert_int_equal(store_add_job(scene.store, &job, &scene.err), 0);
        assert_int_equal(store_add_event(scene.store, &event, &scene.err), 0);
        store_scene_set_member(id, 0, STORE_DONE, id);
        if (id > 2)
            store_scene_set_member(id, 1, STORE_CANCELLED, id);
    }
    store_scene_commit();
    int64_t ann = store_scene_used(1000), bob = store_scene_used(1001), dropped;
    assert_true(ann > 5000 && bob > 5000);
    make_version_2();
    assert_int_equal(store_scene_count("SELECT count(*) FROM text"), 2);
    assert_int_equal(store_scene_count("SELECT sum(uses) FROM text"), 9);
    store_scene_reopen();
    assert_int_equal(store_scene_used(1000), ann);
    assert_int_equal(store_scene_used(1001), bob);
    assert_int_equal(store_scene_used(7), 0);
    assert_int_equal(store_scene_count("SELECT count(*) FROM text"), 4);
    assert_int_equal(store_scene_count("SELECT sum(uses) FROM text"), 9);
    struct store_job job;
    assert_int_equal(store_read_job(scene.store, 5, &job, &scene.err), 0);
    assert_string_equal(job.environment, environment);
    assert_string_equal(job.script, script);
    assert_int_equal(store_trim(scene.store, 1001, 0, 100, &dropped, &scene.err), 0);
    assert_int_equal(dropped, 4);
    assert_int_equal(store_scene_used(1000), ann);
    assert_string_equal(store_scene_list(&(struct store_query){.uid = 1001, .since_wall = -1}),
                        "2[0]");
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
    struct store_job job = store_scene_job(1, 5);
    store_scene_add(2, 3);
    store_scene_commit();
    run("UPDATE job SET record = CAST(x'01' || substr(record, 2, length(record) - 3) AS BLOB)");
    run("ALTER TABLE job DROP COLUMN estimate; ALTER TABLE ended DROP COLUMN last;"
        "PRAGMA user_version = 3");
    store_scene_reopen();
    assert_int_equal(store_read_job(scene.store, 2, &job, &scene.err), 0);
    assert_int_equal(job.members, 3);
    assert_int_equal(job.count, 3);
    assert_null(job.indices);
    assert_string_equal(store_scene_live(), " 2");

    job = store_scene_job(3, 5);
    job.count = 2;
    assert_int_equal(store_add_job(scene.store, &job, &scene.err), -1);
    assert_int_equal(errno, EINVAL);
    job.indices = "0,4";
    assert_int_equal(store_add_job(scene.store, &job, &scene.err), 0);
    store_scene_commit();
    assert_int_equal(store_read_job(scene.store, 3, &job, &scene.err), 0);
    assert_int_equal(job.count, 2);
    assert_string_equal(job.indices, "0,4");
}

/* A duration was a limit where the request said so, and an estimate in any case. */
static void test_version_4(void **state)
{
    (void)state;
    struct store_job job = store_scene_job(1, 1), read;
    job.limit = job.estimate = 70;
    job.request = "{\"shown\":{\"name\":\"\\\"limited\\\":true\"},\"limited\":true}";
    assert_int_equal(store_add_job(scene.store, &job, &scene.err), 0);
    job.id = 2;
    job.request = "{\"shown\":{\"name\":\",\\\"limited\\\":true\"}}";
    assert_int_equal(store_add_job(scene.store, &job, &scene.err), 0);
    store_scene_commit();
    run("ALTER TABLE job DROP COLUMN estimate; ALTER TABLE ended DROP COLUMN last;"
        "PRAGMA user_version = 4");
    store_scene_reopen();
    assert_int_equal(store_read_job(scene.store, 1, &read, &scene.err), 0);
    assert_true(read.limit == 70 && read.estimate == 70);
    assert_int_equal(store_read_job(scene.store, 2, &read, &scene.err), 0);
    assert_true(read.limit == INT64_MAX && read.estimate == 70);
}

static void test_version_1(void **state)
{
    (void)state;
    struct store_member member;
    store_scene_add_ended(1, 9);
    store_scene_add_ended(2, 9);
    store_scene_commit();
    run("UPDATE ended SET record = CAST(" MEMBER_1 " AS BLOB) WHERE job = 1");
    make_version_2();
    run("PRAGMA user_version = 1");
    store_scene_reopen();
    assert_int_equal(store_scene_count("SELECT user_version FROM pragma_user_version"), 10);
    assert_int_equal(store_read_member(scene.store, 1, 0, &member, &scene.err), 0);
    assert_int_equal(member.attempts, 1);
    assert_int_equal(member.start_wall, 5);
    assert_int_equal(member.exit_status, 3);
    assert_int_equal(member.how, -1);
    assert_false(member.displaced);
    assert_int_equal(member.promised, 0);
    assert_true(member.nodes == -1 && member.cores == -1 && member.gpus == -1);
    member.how = STORE_HOW_MAX + 1;
    assert_int_equal(store_set_member(scene.store, &member, &scene.err), -1);
    assert_int_equal(errno, EINVAL);
    member.how = 2;
    member.nodes = 2;
    member.cores = 7;
    assert_int_equal(store_set_member(scene.store, &member, &scene.err), 0);
    store_scene_commit();
    assert_int_equal(store_read_member(scene.store, 1, 0, &member, &scene.err), 0);
    assert_int_equal(member.how, 2);
    assert_true(member.nodes == 2 && member.cores == 7 && member.gpus == -1);
}

static void expect_damage(const char *sql, const char *text)
{
    char seen[512] = "";
    run("SAVEPOINT here");
    run(sql);
    assert_int_equal(
        store_load(scene.store,
                   &(struct store_visitor){seen, store_scene_tell_job, store_scene_tell_member},
                   &scene.err),
        -1);
    assert_int_equal(errno, EINVAL);
    assert_string_equal(scene.err.text, text);
    run("ROLLBACK TO here; RELEASE here");
}

static void test_damage(void **state)
{
    (void)state;
    store_scene_add(1, 1);
    store_scene_set_member(1, 0, STORE_RUNNING, -1);
    store_scene_commit();
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
    assert_string_equal(store_scene_live(), " 1[0:2]");
}

/* On the system's disk: for the owner alone, and none where there is no folder. */
static void test_file(void **state)
{
    (void)state;
    char folder[] = "/tmp/berth-store-XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/store.db", folder);
    store_t *file = store_open(path, NULL, &scene.err);
    assert_non_null(file);
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_null(store_open(path, NULL, &scene.err));
    assert_int_equal(errno, EBUSY);
    assert_int_equal(store_put(file, "clock", "1", &scene.err), 0);
    assert_int_equal(store_commit(file, &scene.err), 0);
    store_close(file);
    unlink(path);
    snprintf(path, sizeof(path), "%s/none/store.db", folder);
    assert_null(store_open(path, NULL, &scene.err));
    assert_int_equal(errno, ENOENT);
    assert_non_null(strstr(scene.err.text, "cannot create: No such file or directory"));
    rmdir(folder);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, store_scene_set_up, store_scene_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_two),       TEST(test_newer),     TEST(test_strange),   TEST(test_view),
        TEST(test_migration), TEST(test_damage),    TEST(test_file),      TEST(test_version_1),
        TEST(test_version_2), TEST(test_version_3), TEST(test_version_4),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
