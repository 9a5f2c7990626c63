/* A store on a disk in memory, with jobs in it. */
#include "store_scene.h"

#include <stdio.h>
#include <string.h>

struct store_scene scene;

static void store_scene_open(void)
{
    scene.store = store_open("store.db", "test-store", &scene.err);
    if (!scene.store)
        fail_msg("%s", scene.err.text);
}

int store_scene_set_up(void **state)
{
    (void)state;
    scene.disk = sim_disk_create("test-store", 1);
    store_scene_open();
    return 0;
}

int store_scene_tear_down(void **state)
{
    (void)state;
    store_close(scene.store);
    scene.store = NULL;
    sim_disk_destroy(scene.disk);
    return 0;
}

void store_scene_reopen(void)
{
    store_close(scene.store);
    store_scene_open();
}

void store_scene_commit(void)
{
    if (store_commit(scene.store, &scene.err) < 0)
        fail_msg("%s", scene.err.text);
}

struct store_job store_scene_job(int64_t id, uint32_t members)
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

void store_scene_add(int64_t id, uint32_t members)
{
    struct store_job job = store_scene_job(id, members);
    assert_int_equal(store_add_job(scene.store, &job, &scene.err), 0);
}

void store_scene_set_member(int64_t job, uint32_t member, enum store_state state, int64_t end)
{
    struct store_member m = {
        .job = job, .member = member, .state = state, .start_wall = -1, .end_wall = end};
    assert_int_equal(store_set_member(scene.store, &m, &scene.err), 0);
}

void store_scene_add_ended(int64_t id, int64_t end)
{
    store_scene_add(id, 1);
    store_scene_set_member(id, 0, STORE_DONE, end);
}

const char *store_scene_list(const struct store_query *query)
{
    static char text[512];
    struct store_job job;
    struct store_member member;
    struct store_cursor *c = store_find(scene.store, query, &scene.err);
    assert_non_null(c);
    int rc;
    size_t n = 0;
    text[0] = '\0';
    while ((rc = store_next(c, &job, &member, &scene.err)) == 1) {
        assert_int_equal(job.id, member.job);
        n += (size_t)snprintf(text + n, sizeof(text) - n, n ? " %d" : "%d", (int)job.id);
        if (job.members > 1)
            n += (size_t)snprintf(text + n, sizeof(text) - n, "[%u]", member.member);
    }
    assert_int_equal(rc, 0);
    store_cursor_close(c);
    return text;
}

int store_scene_tell_job(void *text, const struct store_job *job)
{
    sprintf((char *)text + strlen(text), " %d", (int)job->id);
    return 0;
}

int store_scene_tell_member(void *text, const struct store_member *member)
{
    sprintf((char *)text + strlen(text), "[%u:%d]", member->member, (int)member->state);
    return 0;
}

const char *store_scene_live(void)
{
    static char text[512];
    text[0] = '\0';
    assert_int_equal(
        store_load(scene.store,
                   &(struct store_visitor){text, store_scene_tell_job, store_scene_tell_member},
                   &scene.err),
        0);
    return text;
}

int64_t store_scene_count(const char *sql)
{
    sqlite3_stmt *q;
    assert_int_equal(sqlite3_prepare_v2(scene.store->db, sql, -1, &q, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(q), SQLITE_ROW);
    int64_t n = sqlite3_column_int64(q, 0);
    sqlite3_finalize(q);
    return n;
}

int64_t store_scene_used(uint32_t uid)
{
    int64_t bytes;
    assert_int_equal(store_used(scene.store, uid, &bytes, &scene.err), 0);
    return bytes;
}
