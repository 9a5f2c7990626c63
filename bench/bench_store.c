/* The store: how fast jobs come in, run and go by, and how long a start takes with many of them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "measure.h"
#include "server/store/store.h"

enum { MILLION = 1000000 };

static const int64_t wall = INT64_C(1700000000) * MILLION;
static char environment[4000];
static const char request[] =
    "{\"command\":[\"./work.sh\",\"--input\",\"data/one.h5\",\"--steps\",\"1000\"],\"cores\":4,"
    "\"duration\":3600,\"directory\":\"/home/somebody/work\",\"output\":\"logs/%j.out\"}";

static void must(int rc, const berth_error_t *err)
{
    if (rc >= 0)
        return;
    fprintf(stderr, "%s\n", err->text);
    exit(1);
}

static void add_job(store_t *s, int64_t id, const char *what)
{
    berth_error_t err;
    struct store_job job = {
        .id = id,
        .uid = 1000,
        .gid = 1000,
        .user = "somebody",
        .name = "work.sh",
        .queue = "batch",
        .request = what,
        .environment = environment,
        .members = 1,
        .count = 1,
        .priority = 100,
        .limit = INT64_MAX,
        .estimate = INT64_C(3600) * MILLION,
        .submitted = id * 100,
        .submitted_wall = wall + id * 100,
        .nodes = 1,
        .cores = 4,
    };
    must(store_add_job(s, &job, &err), &err);
}

static void add_event(store_t *s, int64_t id, const char *kind)
{
    berth_error_t err;
    struct store_event event = {
        .wall = wall + id * 100, .job = id, .member = 0, .kind = kind, .data = "{\"cores\":4}"};
    must(store_add_event(s, &event, &err), &err);
}

static void set_member(store_t *s, int64_t id, enum store_state state)
{
    berth_error_t err;
    struct store_member member = {
        .job = id,
        .state = state,
        .key = (uint64_t)id,
        .attempts = 1,
        .at = id * 100,
        .until = id * 100 + INT64_C(3600) * MILLION,
        .resources = state < STORE_DONE ? "{\"graph\":{\"nodes\":[{\"id\":\"17\",\"metadata\":"
                                          "{\"type\":\"core\",\"id\":3}}],\"edges\":[]}}"
                                        : NULL,
        .held_resources = "node0/core[0-3]",
        .start_wall = state >= STORE_RUNNING ? wall + id * 100 : -1,
        .end_wall = state >= STORE_DONE ? wall + id * 100 + 50 : -1,
        .peak_memory = 4 << 20,
        .cpu_time = 12345,
    };
    must(store_set_member(s, &member, &err), &err);
}

static double longest_commit;

static void commit(store_t *s)
{
    berth_error_t err;
    double begin = now();
    must(store_commit(s, &err), &err);
    longest_commit = now() - begin > longest_commit ? now() - begin : longest_commit;
}

/* Whole lives of jobs: submitted, handed over, running, done. */
static double live_through(store_t *s, int64_t from, int64_t n, int64_t batch, bool different)
{
    double begin = now();
    for (int64_t id = from; id < from + n; id++) {
        char own[sizeof(request) + 32];
        snprintf(own, sizeof(own), "%s %lld", request, (long long)id);
        add_job(s, id, different ? own : request);
        add_event(s, id, "submitted");
        set_member(s, id, STORE_STARTING);
        set_member(s, id, STORE_RUNNING);
        add_event(s, id, "started");
        set_member(s, id, STORE_DONE);
        add_event(s, id, "ended");
        if (id % batch == 0)
            commit(s);
    }
    commit(s);
    return now() - begin;
}

static double submit(store_t *s, int64_t from, int64_t n, int64_t batch)
{
    double begin = now();
    for (int64_t id = from; id < from + n; id++) {
        add_job(s, id, request);
        if (id % batch == 0)
            commit(s);
    }
    commit(s);
    return now() - begin;
}

static int count_job(void *context, const struct store_job *job)
{
    *(size_t *)context += strlen(job->request) + strlen(job->environment) > 0;
    return 0;
}

static int count_member(void *context, const struct store_member *member)
{
    (void)context;
    (void)member;
    return 0;
}

static double list(store_t *s, const struct store_query *query, int64_t *n)
{
    berth_error_t err;
    double begin = now();
    struct store_cursor *c = store_find(s, query, &err);
    must(c ? 0 : -1, &err);
    struct store_job job;
    struct store_member member;
    int rc;
    for (*n = 0; (rc = store_next(c, &job, &member, &err)) == 1;)
        ++*n;
    must(rc, &err);
    store_cursor_close(c);
    return now() - begin;
}

static void restart(store_t **s, const char *path, size_t n)
{
    berth_error_t err;
    store_close(*s);
    double begin = now();
    *s = store_open(path, NULL, &err);
    must(*s ? 0 : -1, &err);
    double opened = now();
    size_t jobs = 0;
    must(store_load(*s, &(struct store_visitor){&jobs, count_job, count_member}, &err), &err);
    if (jobs != n)
        exit(1);
    printf("store: open %.4f s, load %zu pending jobs beside those that ended %.3f s\n",
           opened - begin, jobs, now() - opened);
}

static void drop(store_t *s)
{
    berth_error_t err;
    double begin = now(), longest = 0;
    int64_t dropped, all = 0;
    for (int i = 0; i < 100; i++, all += dropped) {
        double step = now();
        must(store_retain(s, INT64_MAX, 1000, &dropped, &err), &err);
        longest = now() - step > longest ? now() - step : longest;
    }
    printf("store: drop %lld rows in %.3f s, at most %.1f ms at once\n", (long long)all,
           now() - begin, 1e3 * longest);
}

static void measure(store_t **s, const char *path, int64_t n)
{
    int64_t id = 1, listed;
    double t = live_through(*s, id, 50000, 100, false);
    printf("store: %.0f jobs/s from submission to end, 100 a commit\n", 50000 / t);
    t = live_through(*s, id += 50000, 50000, 100, true);
    printf("store: %.0f jobs/s of requests that all differ\n", 50000 / t);
    longest_commit = 0;
    t = live_through(*s, id += 50000, 5000, 1, false);
    printf("store: %.0f jobs/s, one a commit, which takes %.1f ms at most\n", 5000 / t,
           1e3 * longest_commit);
    id += 5000;
    live_through(*s, id, n - id + 1, 1000, false);
    id = n + 1;
    t = live_through(*s, id, 20000, 100, false);
    printf("store: %.0f jobs/s, 100 a commit, beside %lld that ended\n", 20000 / t, (long long)n);
    t = live_through(*s, id += 20000, 20000, 100, true);
    printf("store: %.0f jobs/s of requests that all differ beside them\n", 20000 / t);
    id += 20000;
    t = submit(*s, id, 100000, INT64_MAX);
    printf("store: submit 100000 jobs in one batch %.3f s\n", t);
    restart(s, path, 100000);
    t = list(
        *s,
        &(struct store_query){.uid = -1, .since_wall = -1, .limit = 100000, .newest_first = true},
        &listed);
    printf("store: list the newest %lld %.3f s\n", (long long)listed, t);
    t = list(*s, &(struct store_query){.uid = -1, .since_wall = -1, .limit = 100000}, &listed);
    printf("store: list the oldest %lld %.3f s\n", (long long)listed, t);
    drop(*s);
}

int main(int argc, char **argv)
{
    int64_t n = argc > 1 ? atoll(argv[1]) : MILLION;
    const char *folder = getenv("TMPDIR");
    char path[4096];
    berth_error_t err;
    snprintf(path, sizeof(path), "%s/berth-bench-XXXXXX", folder ? folder : "/tmp");
    if (!mkdtemp(path))
        return 1;
    size_t length = strlen(path);
    snprintf(path + length, sizeof(path) - length, "/store.db");
    memset(environment, 'e', sizeof(environment) - 1);
    store_t *s = store_open(path, NULL, &err);
    must(s ? 0 : -1, &err);
    measure(&s, path, n);
    struct stat st;
    if (stat(path, &st) == 0)
        printf("store: the file has %.0f bytes a job\n", (double)st.st_size / (double)(n + 140000));
    store_close(s);
    unlink(path);
    path[length] = '\0';
    rmdir(path);
    return 0;
}
