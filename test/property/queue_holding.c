/* The laws (queue_scene.h): what jobs hold, and what they may hold. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "berth/sched_config.h"
#include "queue_inner.h"

/* ---- What is held ---- */

static const char *read_ids(const char *text, uint32_t *ids)
{
    bool list = *text == '[';
    *ids = 0;
    text += list;
    for (;;) {
        char *end;
        long low = strtol(text, &end, 10), high = low;
        assert_true(end != text);
        if (*end == '-')
            high = strtol(end + 1, &end, 10);
        assert_true(low >= 0 && high < 8);
        for (long i = low; i <= high; i++)
            *ids |= 1u << i;
        text = end;
        if (!list || *text == ']')
            return text + list;
        assert_true(*text == ',');
        text++;
    }
}

static void hold(const struct scene *c, struct holding *h, uint32_t nodes, uint32_t cores,
                 uint32_t gpus)
{
    for (size_t i = 0; i < (size_t)c->nodes && i < sizeof(h->cores) / sizeof(*h->cores); i++) {
        if (!(nodes >> i & 1))
            continue;
        h->node[i] = true;
        h->cores[i] |= (uint8_t)(cores & ((1u << c->node[i].cores) - 1));
        h->gpus[i] |= (uint8_t)(gpus & ((1u << c->node[i].gpus) - 1));
    }
}

void holding_read(const struct scene *c, struct holding *h, const char *text)
{
    memset(h, 0, sizeof(*h));
    while (*text) {
        uint32_t nodes, ids;
        assert_int_equal(strncmp(text, "node", 4), 0);
        text = read_ids(text + 4, &nodes);
        if (strncmp(text, "/core", 5) == 0) {
            text = read_ids(text + 5, &ids);
            hold(c, h, nodes, ids, 0);
        } else if (strncmp(text, "/gpu", 4) == 0) {
            text = read_ids(text + 4, &ids);
            hold(c, h, nodes, 0, ids);
        } else {
            hold(c, h, nodes, UINT32_MAX, UINT32_MAX);
        }
        if (*text == ',')
            text++;
        else
            assert_true(*text == '\0');
    }
}

static int64_t amount(const struct scene *c, const struct holding *h, const char *what)
{
    int64_t sum = 0;
    if (strcmp(what, "running") == 0)
        return 1;
    for (int i = 0; i < c->nodes; i++)
        sum += strcmp(what, "node") == 0   ? h->node[i]
               : strcmp(what, "core") == 0 ? __builtin_popcount(h->cores[i])
               : strcmp(what, "gpu") == 0  ? __builtin_popcount(h->gpus[i])
                                           : 0;
    return sum;
}

/* ---- What may be held ---- */

bool scene_in_part(const struct scene *c, int queue, int node)
{
    const char *requires = c->config.queue[scene_lane(c, queue)].requires;
    if (!requires)
        return true;
    if (strstr(requires, "hostlist"))
        return node <= 1;
    return c->node[node].fast == !strstr(requires, "not");
}

bool holding_satisfies(const struct scene *c, const struct scene_job *j, const struct holding *h)
{
    int64_t nodes = amount(c, h, "node");
    for (int i = 0; i < c->nodes && j->kind == ASK_CORES; i++)
        if (__builtin_popcount(h->cores[i]) % j->cores != 0)
            return false;
    if (j->kind == ASK_CORES)
        return amount(c, h, "core") == (int64_t)j->count * j->cores && amount(c, h, "gpu") == 0;
    for (int i = 0; i < c->nodes; i++) {
        bool shared = j->kind == ASK_SHARED;
        if (h->node[i] &&
            (__builtin_popcount(h->cores[i]) != (shared ? j->cores : c->node[i].cores) ||
             __builtin_popcount(h->gpus[i]) != (shared ? j->gpus : c->node[i].gpus)))
            return false;
    }
    return nodes == j->count;
}

bool block_permits(const struct scene *c, const struct sched_block *b, const struct scene_job *j)
{
    return (b->n_users > 0 && j->user == 0) ||
           (b->n_queues > 0 && (j->queue == 0 || scene_lane(c, j->queue) == 0));
}

bool block_is_in_way(const struct sched_block *b, int64_t from, int64_t until)
{
    int64_t at = b->start;
    if (b->every > 0 && from > at)
        at += (from - at) / b->every * b->every;
    for (int k = 0; k < 2 && at < until; k++, at += b->every)
        if (from < at + b->duration)
            return true;
    return false;
}

/* How long no block may be in a job's way. */
static int64_t needed(const struct scene_job *j)
{
    return j->limit < SCHED_UNLIMITED ? j->limit : j->duration;
}

/* Blocks that come again and that a job may not use, as bits. */
static unsigned blocks_of(const struct scene *c, const struct scene_job *j)
{
    unsigned blocks = 0;
    for (int k = 0; k <= SCENE_BLOCKS; k++)
        if (c->block[k].there && c->block[k].block.every > 0 &&
            !block_permits(c, &c->block[k].block, j))
            blocks |= 1u << k;
    return blocks;
}

/* Whether idle, all up or as it is, there is room for a job at a time, beside blocks; -1: beside these for ever. */
static bool could_at(const struct scene *c, const struct scene_job *j, unsigned blocks, int64_t at,
                     bool all_up)
{
    int64_t slots = 0, nodes = 0;
    for (int i = 0; i < c->nodes; i++) {
        bool shut = !scene_in_part(c, j->queue, i) || (!all_up && c->node[i].down);
        for (int k = 0; k <= SCENE_BLOCKS && !shut; k++) {
            const struct scene_block *b = &c->block[k];
            shut = blocks >> k & 1 && i >= b->node && i < b->node + b->nodes &&
                   (at < 0 || block_is_in_way(&b->block, at, at + needed(j)));
        }
        if (shut)
            continue;
        slots += c->node[i].cores / j->cores; /* a slot is all in one node */
        nodes +=
            j->kind != ASK_SHARED || (c->node[i].cores >= j->cores && c->node[i].gpus >= j->gpus);
    }
    return j->kind == ASK_CORES ? slots >= j->count : nodes >= j->count;
}

/* Where the turns of several blocks would come in too many ways before they repeat, those don't count that
 * leave a gap by themselves. Returns when all that count have come and repeat.
 */
static int64_t repeats(const struct scene *c, const struct scene_job *j, unsigned *blocks)
{
    int64_t length = 1, all = c->now, turns = 0;
    unsigned some = 0;
    for (int k = 0; k <= SCENE_BLOCKS; k++) {
        const struct sched_block *b = &c->block[k].block;
        if (!(*blocks >> k & 1) || needed(j) > b->every - b->duration)
            continue;
        int64_t x = length;
        while (x % b->every != 0)
            x += length;
        length = x;
        some |= 1u << k;
    }
    for (int k = 0; k <= SCENE_BLOCKS; k++)
        turns += some >> k & 1 ? length / c->block[k].block.every : 0;
    if (turns > 4096) {
        *blocks &= ~some;
        length = 1;
    }
    for (int k = 0; k <= SCENE_BLOCKS; k++)
        if (*blocks >> k & 1 && c->block[k].block.start > all)
            all = c->block[k].block.start;
    return all + length;
}

bool scene_needs_down(const struct scene *c, const struct scene_job *j)
{
    return !could_at(c, j, 0, c->now, false);
}

bool ledger_could_ever(const struct scene *c, const struct scene_job *j)
{
    unsigned blocks = blocks_of(c, j);
    if (!blocks || could_at(c, j, blocks, -1, true))
        return could_at(c, j, blocks, c->now, true);
    int64_t until = repeats(c, j, &blocks);
    for (int64_t at = c->now; at <= until;) {
        int64_t next = INT64_MAX;
        if (could_at(c, j, blocks, at, true))
            return true;
        for (int k = 0; k <= SCENE_BLOCKS; k++) {
            const struct sched_block *b = &c->block[k].block;
            int64_t end = b->start + b->duration;
            if (!(blocks >> k & 1))
                continue;
            if (end <= at)
                end += ((at - end) / b->every + 1) * b->every;
            next = end < next ? end : next;
        }
        if (next == INT64_MAX)
            return false;
        at = next;
    }
    return false;
}

void holding_check_blocks(const struct scene *c, const struct scene_job *j)
{
    for (int k = 0; k <= SCENE_BLOCKS; k++) {
        const struct scene_block *b = &c->block[k];
        if (!b->there || block_permits(c, &b->block, j) ||
            !block_is_in_way(&b->block, j->start, j->start + needed(j)))
            continue;
        for (int i = b->node; i < b->node + b->nodes; i++)
            SCENE_CHECK(c, !j->holding.node[i]);
    }
}

/* ---- Limits ---- */

/* The rule for a user, and whether there is one. */
bool limit_rule_of(const struct sched_limit *own, size_t n_own, const struct sched_limit *other,
                   size_t n_other, const char *what, int64_t *most)
{
    for (size_t i = 0; i < n_other; i++)
        if (strcmp(other[i].what, what) == 0) {
            *most = other[i].most;
            return true;
        }
    for (size_t i = 0; i < n_own; i++)
        if (strcmp(own[i].what, what) == 0) {
            *most = own[i].most;
            return true;
        }
    return false;
}

static const struct sched_exception *exception_of(const struct scene *c, int queue, int user)
{
    const struct sched_queue_config *q = &c->config.queue[queue];
    if (q->has_parents_exceptions)
        q = &c->config.queue[scene_lane(c, queue)];
    if (q->n_exceptions == 0)
        return NULL;
    bool holds = q->exceptions[0].n_users > 0 ? user == 1 : user != 1;
    return holds ? &q->exceptions[0] : NULL;
}

static const char *const whats[] = {"node", "core", "gpu", "running"};
enum { NODE, CORE, GPU, RUNNING, WHATS };

/* Whether a job's queue limits itself what a user may have of something, or is no virtual one. */
static bool has_own(const struct scene *c, const struct scene_job *j, const char *what)
{
    const struct sched_queue_config *q = &c->config.queue[j->queue];
    const struct sched_exception *e =
        q->has_parents_exceptions ? NULL : exception_of(c, j->queue, j->user);
    int64_t most;
    return !q->parent || limit_rule_of(q->limits.user, q->limits.n_user, e ? e->limits.user : NULL,
                                       e ? e->limits.n_user : 0, what, &most);
}

/* The queue whose limit of a user it counts for. */
static int limiting(const struct scene *c, const struct scene_job *j, const char *what)
{
    return has_own(c, j, what) ? j->queue : scene_lane(c, j->queue);
}

/* What somebody has of something, and nodes each once. */
struct had {
    int64_t sum;
    bool node[SCENE_NODES];
};

static void have(const struct scene *c, struct had *had, const struct holding *h, size_t what)
{
    had->sum += amount(c, h, whats[what]);
    for (int i = 0; i < c->nodes; i++)
        had->node[i] |= h->node[i];
}

/* Whether so much more, or what `h` holds of it, is over a rule beside that. */
static bool exceeds(const struct scene *c, const struct had *had, size_t what, int64_t more,
                    const struct holding *h, int64_t most)
{
    int64_t sum = had->sum;
    for (int i = 0; i < c->nodes && what == NODE; i++) {
        sum = (i == 0 ? 0 : sum) + had->node[i];
        more -= h && had->node[i] && h->node[i];
    }
    return more > 0 && sum + more > most;
}

/* Whether a job that holds so much, and that (NULL: not known), is over a limit of user or queue, beside
 * those that run.
 */
static bool is_over_with(const struct scene *c, const struct scene_job *j, const int64_t *has,
                         const struct holding *h)
{
    const struct sched_queue_config *q = &c->config.queue[j->queue];
    const struct sched_exception *e = exception_of(c, j->queue, j->user);
    const struct sched_queue_config *lane = &c->config.queue[scene_lane(c, j->queue)];
    for (size_t w = 0; w < WHATS; w++) {
        const struct sched_queue_config *of = &c->config.queue[limiting(c, j, whats[w])];
        const struct sched_exception *other =
            of == q ? e : exception_of(c, scene_lane(c, j->queue), j->user);
        struct had of_user = {0}, of_queue = {0}, of_lane = {0};
        int64_t own = has[w], most;
        for (int i = 0; i < c->jobs; i++) {
            const struct scene_job *k = &c->job[i];
            if (!k->running || k == j)
                continue;
            if (k->user == j->user && &c->config.queue[limiting(c, k, whats[w])] == of)
                have(c, &of_user, &k->holding, w);
            if (k->queue == j->queue)
                have(c, &of_queue, &k->holding, w);
            if (scene_lane(c, k->queue) == scene_lane(c, j->queue))
                have(c, &of_lane, &k->holding, w);
        }
        if (limit_rule_of(of->limits.user, of->limits.n_user, other ? other->limits.user : NULL,
                          other ? other->limits.n_user : 0, whats[w], &most) &&
            exceeds(c, &of_user, w, own, h, most))
            return true;
        if (limit_rule_of(q->limits.queue, q->limits.n_queue, NULL, 0, whats[w], &most) &&
            exceeds(c, &of_queue, w, own, h, most))
            return true;
        if (limit_rule_of(lane->limits.queue, lane->limits.n_queue, NULL, 0, whats[w], &most) &&
            exceeds(c, &of_lane, w, own, h, most))
            return true;
    }
    return false;
}

bool holding_over(const struct scene *c, const struct scene_job *j, const struct holding *h)
{
    int64_t has[WHATS];
    for (size_t w = 0; w < WHATS; w++)
        has[w] = amount(c, h, whats[w]);
    return is_over_with(c, j, has, h);
}

bool holding_over_job(const struct scene *c, const struct scene_job *j, const struct holding *h)
{
    const struct sched_queue_config *q = &c->config.queue[j->queue];
    const struct sched_exception *e = exception_of(c, j->queue, j->user);
    int64_t most;
    for (size_t w = 0; w < RUNNING; w++)
        if (limit_rule_of(q->limits.job, q->limits.n_job, e ? e->limits.job : NULL,
                          e ? e->limits.n_job : 0, whats[w], &most) &&
            amount(c, h, whats[w]) > most)
            return true;
    return false;
}

/* What a job takes of each at least: of whole nodes, so many times the least that one of its part has. */
static void asked(const struct scene *c, const struct scene_job *j, int64_t *least)
{
    int64_t cores = INT64_MAX, gpus = INT64_MAX;
    bool whole = j->kind == ASK_WHOLE || j->kind == ASK_SLOTS;
    for (int i = 0; i < c->nodes; i++) {
        if (!scene_in_part(c, j->queue, i))
            continue;
        cores = c->node[i].cores < cores ? c->node[i].cores : cores;
        gpus = c->node[i].gpus < gpus ? c->node[i].gpus : gpus;
    }
    least[NODE] = j->kind == ASK_CORES ? 1 : j->count;
    least[CORE] = j->count * (!whole ? j->cores : cores == INT64_MAX ? 0 : cores);
    least[GPU] = j->count * (!whole ? j->gpus : gpus == INT64_MAX ? 0 : gpus);
    least[RUNNING] = 1;
}

/* Whether a job could be over a limit even alone: by what it asks for, of which there may be less, or by
 * what it may get.
 */
bool scene_limited(const struct scene *c, const struct scene_job *j)
{
    int64_t least[WHATS];
    asked(c, j, least);
    if (is_over_with(c, j, least, NULL))
        return true;
    struct holding h = {.node = {false}};
    for (int i = 0; i < c->nodes; i++) { /* as much as any choice can hold */
        h.node[i] = true;
        h.cores[i] = (uint8_t)((1u << c->node[i].cores) - 1);
        h.gpus[i] = (uint8_t)((1u << c->node[i].gpus) - 1);
    }
    return holding_over(c, j, &h);
}
