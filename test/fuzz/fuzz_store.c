/* Any bytes are a record, or an error; any file is a store that can be loaded, listed and cleared, or an
 * error of one line.
 *
 * The first byte chooses: 'r' and what follows is a record of a job and of a member; 'm' and 'j', one in a
 * row of an otherwise sound file; else all of it is a file.
 */
#include <errno.h>
#include <string.h>

#include "../sim/sim_disk.h"
#include "fuzz.h"
#include "server/store/priv.h"
#include "server/store/record.h"

enum { LISTED_MAX = 10000 };

static void check_error(const berth_error_t *err)
{
    FUZZ_CHECK(errno != 0 && *err->text && !strchr(err->text, '\n'));
}

static int see_job(void *context, const struct store_job *job)
{
    FUZZ_CHECK(store_job_is_valid(job));
    *(size_t *)context += job->request ? strlen(job->request) : 0;
    *(size_t *)context += job->environment ? strlen(job->environment) : 0;
    FUZZ_CHECK(!job->script || job->script[job->script_length] == '\0');
    return 0;
}

static int see_member(void *context, const struct store_member *member)
{
    FUZZ_CHECK(store_member_is_valid(member));
    *(size_t *)context += member->resources ? strlen(member->resources) : 0;
    return 0;
}

static int see_event(void *context, const struct store_event *event)
{
    *(size_t *)context += strlen(event->kind) + (event->data ? strlen(event->data) : 0);
    return 0;
}

static void list(store_t *s, bool newest_first, berth_error_t *err)
{
    struct store_query query = {.uid = -1, .since_wall = -1, .newest_first = newest_first};
    struct store_job job;
    struct store_member member;
    size_t seen = 0;
    struct store_cursor *c = store_find(s, &query, err);
    if (!c) {
        check_error(err);
        return;
    }
    int rc = 1;
    for (int i = 0; rc == 1 && i < LISTED_MAX; i++) {
        rc = store_next(c, &job, &member, err);
        if (rc == 1 && see_job(&seen, &job) == 0)
            see_member(&seen, &member);
    }
    if (rc < 0)
        check_error(err);
    store_cursor_close(c);
}

static void read_all(store_t *s)
{
    berth_error_t err = {""};
    size_t seen = 0;
    struct store_job job;
    struct store_member member;
    if (store_load(s, &(struct store_visitor){&seen, see_job, see_member}, &err) < 0)
        check_error(&err);
    list(s, true, &err);
    list(s, false, &err);
    for (int64_t id = 1; id <= 3; id++) {
        if (store_read_job(s, id, &job, &err) == 0)
            see_job(&seen, &job);
        if (store_read_member(s, id, 0, &member, &err) == 0)
            see_member(&seen, &member);
    }
    if (store_events(s, 0, 0, 1000, &seen, see_event, &err) < 0)
        check_error(&err);
}

static void write_some(store_t *s)
{
    berth_error_t err = {""};
    int64_t id = store_last_job(s), dropped;
    struct store_member member = {.job = id, .state = STORE_DONE, .start_wall = -1, .end_wall = 5};
    struct store_event event = {.job = id, .member = -1, .kind = "ended"};
    if (id > 0) {
        FUZZ_CHECK(store_set_member(s, &member, &err) == 0);
        FUZZ_CHECK(store_add_event(s, &event, &err) == 0);
    }
    if (store_commit(s, &err) < 0)
        check_error(&err);
    store_rollback(s);
    if (store_retain(s, 1000, 100, &dropped, &err) < 0)
        check_error(&err);
}

static void try_file(const uint8_t *data, size_t size)
{
    berth_error_t err = {""};
    struct sim_disk *disk = sim_disk_create("fuzz-store", 1);
    FUZZ_CHECK(disk && sim_disk_put(disk, "store.db", data, (int64_t)size) == 0);
    sim_disk_limit(disk, 1 << 24);
    store_t *s = store_open("store.db", "fuzz-store", &err);
    if (s) {
        read_all(s);
        write_some(s);
        read_all(s);
    } else {
        check_error(&err);
    }
    store_close(s);
    sim_disk_destroy(disk);
}

/* A record in a row, as `sql` puts it there. */
static void try_row(const char *sql, const uint8_t *data, size_t size)
{
    struct sim_disk *disk = sim_disk_create("fuzz-store", 1);
    FUZZ_CHECK(disk);
    store_t *s = store_open("store.db", "fuzz-store", NULL);
    FUZZ_CHECK(s);
    struct store_job job = {.id = 1, .members = 1, .count = 1};
    struct store_member member = {
        .job = 1, .state = STORE_RUNNING, .start_wall = -1, .end_wall = -1};
    FUZZ_CHECK(store_add_job(s, &job, NULL) == 0 && store_set_member(s, &member, NULL) == 0);
    FUZZ_CHECK(store_commit(s, NULL) == 0);
    sqlite3_stmt *q;
    FUZZ_CHECK(sqlite3_prepare_v2(s->db, sql, -1, &q, NULL) == SQLITE_OK);
    sqlite3_bind_blob(q, 1, data, (int)size, SQLITE_STATIC);
    FUZZ_CHECK(sqlite3_step(q) == SQLITE_DONE);
    sqlite3_finalize(q);
    read_all(s);
    write_some(s);
    read_all(s);
    store_close(s);
    sim_disk_destroy(disk);
}

/* What was read is written and read again, to the same bytes. */
static void try_record(const uint8_t *data, size_t size)
{
    struct store_job job = {.id = 1};
    struct store_member member = {.job = 1, .end_wall = -1};
    struct strbuf once = {0}, twice = {0};
    if (store_job_decode(data, size, &job) == 0) {
        store_job_encode(&once, &job);
        FUZZ_CHECK(store_job_decode(once.data, once.len, &job) == 0);
        store_job_encode(&twice, &job);
        FUZZ_CHECK(once.len == twice.len && memcmp(once.data, twice.data, once.len) == 0);
    }
    strbuf_reset(&once);
    strbuf_reset(&twice);
    if (store_member_decode(data, size, &member) == 0) {
        store_member_encode(&once, &member);
        FUZZ_CHECK(store_member_decode(once.data, once.len, &member) == 0);
        store_member_encode(&twice, &member);
        FUZZ_CHECK(once.len == twice.len && memcmp(once.data, twice.data, once.len) == 0);
    }
    strbuf_clear(&once);
    strbuf_clear(&twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 0 && *data == 'r')
        try_record(data + 1, size - 1);
    else if (size > 0 && *data == 'j')
        try_row("UPDATE job SET record = ?1", data + 1, size - 1);
    else if (size > 0 && *data == 'm')
        try_row("UPDATE member SET record = ?1", data + 1, size - 1);
    else
        try_file(data, size);
    return 0;
}
