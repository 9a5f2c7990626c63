/* What a tree of shares costs: 5,000 users in 500 accounts in 50 hierarchical queues with 100,000 jobs that
 * wait, on a machine of 10,000 nodes. Cold: all are told to an empty tree, and the first choice is made. Warm:
 * a job ends, time passes, the next leaf is chosen and its job starts.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "measure.h"
#include "share/tree.h"

enum {
    DIVISIONS = 5,
    QUEUES = 45, /* below the divisions, with these 50 */
    ACCOUNTS = 500,
    USERS = 5000,
    WAITING = 100000,
    RUNNING = 20000,
    NODES = 10000,
    ROUNDS = 2000
};

struct job {
    uint32_t leaf;
    int64_t amount[2];
};

struct scene {
    struct share_tree *tree;
    uint32_t user[USERS];
    struct job running[RUNNING];
    uint64_t random;
};

static void check(bool right, const char *what)
{
    if (right)
        return;
    fprintf(stderr, "bench_shares: %s\n", what);
    exit(1);
}

static uint32_t draw(struct scene *s, uint32_t n)
{
    s->random = s->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(s->random >> 33) % n;
}

static uint32_t add(struct scene *s, uint32_t parent, int32_t weight, const uint8_t *by)
{
    struct share_settings set;
    share_default_settings(&set);
    set.weight = weight;
    for (int i = 0; i < SHARE_BY_MAX && by[i] != SHARE_BY_END; i++)
        set.by[i] = by[i];
    uint32_t node = share_add(s->tree, parent, &set);
    check(node != SHARE_NO_NODE, "a node is refused");
    return node;
}

static void make_tree(struct scene *s, const uint8_t *by)
{
    static const int64_t total[] = {(int64_t)NODES * 64, (int64_t)NODES << 38};
    static const struct share_usage_rule rule = {.half_life = 604800, .weights = {1, 0}};
    uint32_t division[DIVISIONS], queue[QUEUES], account[ACCOUNTS];
    struct share_settings set;
    s->tree = share_new(2, total, &rule);
    check(s->tree != NULL, "no memory");
    share_default_settings(&set);
    for (int i = 0; i < SHARE_BY_MAX && by[i] != SHARE_BY_END; i++)
        set.by[i] = by[i];
    check(share_set(s->tree, SHARE_ROOT, &set) == 0, "the root's settings are refused");
    for (int i = 0; i < DIVISIONS; i++)
        division[i] = add(s, SHARE_ROOT, i + 1, by);
    for (int i = 0; i < QUEUES; i++)
        queue[i] = add(s, division[i % DIVISIONS], i % 7 + 1, by);
    for (int i = 0; i < ACCOUNTS; i++)
        account[i] = add(s, queue[i % QUEUES], i % 5 + 1, by);
    for (int i = 0; i < USERS; i++)
        s->user[i] = add(s, account[i % ACCOUNTS], 1, by);
}

static struct job draw_job(struct scene *s)
{
    uint32_t user = draw(s, USERS);
    struct job job = {s->user[user], {1 + draw(s, 64), (int64_t)(1 + draw(s, 256)) << 30}};
    return job;
}

static void tell(struct scene *s)
{
    for (int i = 0; i < RUNNING; i++) {
        s->running[i] = draw_job(s);
        check(share_job(s->tree, s->running[i].leaf, SHARE_ABSENT, SHARE_RUNNING, 1,
                        s->running[i].amount, 0) == 0,
              "a job is refused");
    }
    for (int i = 0; i < WAITING; i++) {
        struct job job = draw_job(s);
        check(share_job(s->tree, job.leaf, SHARE_ABSENT, SHARE_WAITING, 1, job.amount, 0) == 0,
              "a job is refused");
    }
    for (int i = 0; i < USERS; i++) {
        struct share_first first = {draw(s, 3), INT64_MAX, 0, draw(s, WAITING), false};
        share_offer(s->tree, s->user[i], &first);
    }
}

/* A job ends; in its place the tree's choice starts. Another comes, so that as many wait as before. */
static void turn(struct scene *s, int64_t at)
{
    struct job *job = &s->running[draw(s, RUNNING)];
    share_job(s->tree, job->leaf, SHARE_RUNNING, SHARE_ABSENT, 1, job->amount, at);
    job->leaf = share_next(s->tree, at);
    check(job->leaf != SHARE_NO_NODE, "nobody is next");
    share_job(s->tree, job->leaf, SHARE_ABSENT, SHARE_RUNNING, 1, job->amount, at);
}

static void measure(const char *name, const uint8_t *by)
{
    static struct scene s;
    static double took[ROUNDS];
    s.random = 1;
    double start = worked();
    make_tree(&s, by);
    double made = worked();
    tell(&s);
    double told = worked();
    check(share_next(s.tree, 0) != SHARE_NO_NODE, "nobody is next");
    double chosen = worked();
    for (int i = 0; i < ROUNDS; i++) {
        double before = worked();
        turn(&s, i + 1);
        took[i] = worked() - before;
    }
    qsort(took, ROUNDS, sizeof(*took), compare);
    double before = worked();
    int64_t none[2] = {0};
    for (int i = 0; i < ROUNDS; i++) {
        uint32_t leaf = share_next(s.tree, ROUNDS);
        share_job(s.tree, leaf, SHARE_ABSENT, SHARE_ABSENT, 1, none, ROUNDS);
    }
    double again = (worked() - before) / ROUNDS;
    printf("%-34s %8.1f %8.1f %8.1f %10.1f %10.1f %10.2f\n", name, (made - start) * 1e3,
           (told - made) * 1e3, (chosen - told) * 1e3, took[ROUNDS / 2] * 1e6,
           took[ROUNDS * 99 / 100] * 1e6, again * 1e6);
    share_free(s.tree);
}

int main(void)
{
    printf("A tree of shares: %d users, %d accounts, %d queues, %d jobs wait, %d run\n", USERS,
           ACCOUNTS, QUEUES + DIVISIONS, WAITING, RUNNING);
    printf("%-34s %8s %8s %8s %10s %10s %10s\n", "", "make ms", "tell ms", "first ms", "turn us",
           "99% us", "again us");
    measure("share", (const uint8_t[]){SHARE_BY_SHARE, SHARE_BY_END});
    measure("drf", (const uint8_t[]){SHARE_BY_DRF, SHARE_BY_END});
    measure("usage", (const uint8_t[]){SHARE_BY_USAGE, SHARE_BY_END});
    measure("job priority, share, usage, age",
            (const uint8_t[]){SHARE_BY_JOB_PRIORITY, SHARE_BY_SHARE, SHARE_BY_USAGE, SHARE_BY_AGE,
                              SHARE_BY_END});
    return 0;
}
