/* Who is stopped for a job by shares, in the words of lots.h and berth-config(5), by way of a plain greedy choice that counts
 * cores by node and works out anew what each queue deserves; and laws that hold for whoever is stopped.
 */
#include <stdlib.h>
#include <string.h>

#include "berth/sched_config.h"
#include "reclaim_scene.h"

struct many_seen many_seen;
const int many_took[3] = {2, 16, 64};

/* Those who go together or not at all. */
struct lot {
    int unit[MANY_GANG];
    int n, job, member; /* of the last member of a gang */
    bool is_spare, is_whole, by_share;
    int level, near, priority, cores;
    int64_t work, at;
    bool goes, is_needed;
};

/* The state of a choice. */
struct choice {
    const struct many_scene *s;
    const struct many_job *job;
    int number; /* the job's */
    struct lot *lot;
    int n;
    int left[MANY_NODES];                /* cores that are idle, or leave, and nobody else's */
    int64_t keeps[MANY_TREE];            /* what a node has when all have left that do */
    int64_t deserved[MANY_TREE];         /* each, */
    int64_t has[MANY_USERS];             /* and what its queue's users have */
    int running, held;                   /* in the job's queue: jobs and their cores */
    int most;                            /* lots that were taken at a time */
    bool spares, refused, again, others; /* what has come about */
};

/* ---- The tree of shares ---- */

static int node_of(const struct many_scene *s, int queue)
{
    return 1 + s->divisions + queue;
}

static int above(const struct many_scene *s, int node)
{
    return node > s->divisions ? s->queue[node - 1 - s->divisions].above : s->under[node - 1];
}

static bool is_at_or_below(const struct many_scene *s, int node, int of)
{
    while (node != of && node != 0)
        node = above(s, node);
    return node == of;
}

static int common(const struct many_scene *s, int a, int b)
{
    while (!is_at_or_below(s, b, a))
        a = above(s, a);
    return a;
}

static int depth(const struct many_scene *s, int node)
{
    int n = 0;
    for (; node != 0; node = above(s, node))
        n++;
    return n;
}

static int guarantee(const struct many_scene *s, int node)
{
    return node > s->divisions ? s->queue[node - 1 - s->divisions].guarantee : 0;
}

static void add(const struct many_scene *s, int64_t *sums, int queue, int64_t amount)
{
    for (int node = node_of(s, queue);; node = above(s, node)) {
        sums[node] += amount;
        if (node == 0)
            return;
    }
}

/* Which jobs a limit has blocked is not seen from outside at each time: none; those that are when the pass is over; those
 * that were before it.
 */
enum { OPEN_ALL, OPEN_AFTER, OPEN_BEFORE, OPENS };

/* What a job has, and asks for while it is open. Of a gang that waits again, those are open that start together. */
static int64_t demand(const struct choice *c, int job, int open)
{
    const struct many_scene *s = c->s;
    const struct many_job *j = &s->job[job];
    bool blocked =
        !many_holds(s, job) && j != c->job &&
        ((open == OPEN_AFTER && j->is_blocked) || (open == OPEN_BEFORE && j->was_blocked));
    int there = 0, running = 0;
    for (int m = 0; m < j->members; m++) {
        enum many_state state = s->unit[j->first + m].state;
        there += state != MANY_OVER && !(blocked && state == MANY_WAITS);
        running += state == MANY_RUNS || state == MANY_STOPS;
    }
    if (j->has_run && running == 0 && there > j->min)
        there = j->min;
    return many_asks(s, j) * there;
}

static void find_deserved(struct choice *c, int open)
{
    static struct naive_share tree;
    const struct many_scene *s = c->s;
    memset(&tree, 0, sizeof(tree));
    tree.dimensions = 1;
    tree.total[0] = s->nodes * s->cores;
    tree.n = (uint32_t)(1 + s->divisions + s->queues);
    for (uint32_t i = 1; i < tree.n; i++) {
        int weight = i > (uint32_t)s->divisions ? s->queue[(int)i - 1 - s->divisions].weight
                                                : s->weight[i - 1];
        struct share_settings *settings = &tree.node[i].settings;
        tree.node[i].parent = (uint32_t)above(s, (int)i);
        share_default_settings(settings);
        settings->weight = weight;
        settings->guarantee[0] = guarantee(s, (int)i);
    }
    for (int q = 0; q < s->queues; q++) {
        int64_t asks = 0;
        for (int i = 0; i < s->jobs; i++)
            asks += s->job[i].queue == q ? demand(c, i, open) : 0;
        tree.job[tree.n_jobs++] =
            (struct naive_job){(uint32_t)node_of(s, q), SHARE_RUNNING, {asks}};
    }
    for (uint32_t i = 0; i < tree.n; i++)
        c->deserved[i] = naive_deserved(&tree, i, 0);
}

/* Whether the user of a lot has more, over the weight, and has no less than the job's when both have given and taken. */
static bool is_richer(const struct choice *c, const struct lot *lot)
{
    const int *weight = c->s->queue[c->job->queue].user_weight;
    int taker = c->job->user, giver = c->s->job[lot->job].user;
    int64_t has = c->has[taker], gets = has + many_asks_together(c->s, c->job);
    int64_t had = c->has[giver], keeps = had - lot->cores;
    return taker != giver && has * weight[giver] < had * weight[taker] &&
           gets * weight[giver] <= keeps * weight[taker];
}

/* Whether a share gives a lot: below the node where the two queues part the taker has no more than it deserves with what it
 * asks for, and the giver has more than it deserves, and keeps what it is guaranteed.
 */
static bool is_given(const struct choice *c, const struct lot *lot)
{
    const struct many_scene *s = c->s;
    int taker = node_of(s, c->job->queue), giver = node_of(s, s->job[lot->job].queue);
    int end = common(s, taker, giver);
    if (!lot->by_share)
        return true;
    if (taker == giver)
        return is_richer(c, lot);
    for (int i = taker; i != end; i = above(s, i))
        if (c->keeps[i] + many_asks_together(s, c->job) > c->deserved[i])
            return false;
    for (int i = giver; i != end; i = above(s, i))
        if (c->keeps[i] <= c->deserved[i] || c->keeps[i] - lot->cores < guarantee(s, i))
            return false;
    return true;
}

/* ---- Room ---- */

static bool has_room(const struct choice *c)
{
    const struct many_scene *s = c->s;
    const struct many_job *j = c->job;
    int found = 0, asks = j->count * j->min;
    for (int i = 0; i < s->nodes; i++)
        found += j->piece == MANY_ANYWHERE ? c->left[i]
                 : j->piece == MANY_PIECES ? c->left[i] / j->cores
                 : j->piece == MANY_ON_NODES
                     ? j->members > 1 ? c->left[i] / j->cores : c->left[i] >= j->cores
                     : c->left[i] == s->cores;
    return found >= asks;
}

static bool fits(const struct choice *c)
{
    const struct many_queue *q = &c->s->queue[c->job->queue];
    return has_room(c) && c->running + c->job->min <= q->most_running &&
           c->held + many_asks_together(c->s, c->job) <= q->most_cores;
}

static void let_go(struct choice *c, struct lot *lot, bool go)
{
    int sign = go ? 1 : -1, queue = c->s->job[lot->job].queue;
    for (int i = 0; i < lot->n; i++)
        for (int node = 0; node < c->s->nodes; node++)
            c->left[node] += sign * c->s->unit[lot->unit[i]].on[node];
    if (queue == c->job->queue) {
        c->running -= sign * lot->n;
        c->held -= sign * lot->cores;
        c->has[c->s->job[lot->job].user] -= sign * lot->cores;
    }
    add(c->s, c->keeps, queue, -sign * lot->cores);
    lot->goes = go;
}

/* What is idle or leaves, and what each has, before anybody is stopped for the job. */
static void begin(struct choice *c)
{
    const struct many_scene *s = c->s;
    for (int node = 0; node < s->nodes; node++)
        c->left[node] = s->cores;
    for (int i = 0; i < s->units; i++) {
        const struct many_job *j = &s->job[s->unit[i].job];
        if (s->unit[i].state != MANY_RUNS)
            continue;
        for (int node = 0; node < s->nodes; node++)
            c->left[node] -= s->unit[i].on[node];
        add(s, c->keeps, j->queue, many_asks(s, j));
        c->running += j->queue == c->job->queue;
        c->held += j->queue == c->job->queue ? many_asks(s, j) : 0;
        c->has[j->user] += j->queue == c->job->queue ? many_asks(s, j) : 0;
    }
    for (int i = 0; i < s->holders; i++) {
        const struct many_holder *h = &s->holder[i];
        const struct many_job *j = &s->job[h->job];
        for (int node = 0; node < s->nodes; node++)
            c->left[node] -= h->on[node];
        add(s, c->keeps, j->queue, many_asks(s, j) * h->units);
        c->running += j->queue == c->job->queue ? h->units : 0;
        c->held += j->queue == c->job->queue ? many_asks(s, j) * h->units : 0;
        c->has[j->user] += j->queue == c->job->queue ? many_asks(s, j) * h->units : 0;
    }
}

/* ---- Lots ---- */

/* Whether one that runs may be stopped for the job, if its gang lets it. */
static bool may_go(const struct choice *c, const struct many_unit *u, bool *by_share)
{
    const struct many_scene *s = c->s;
    const struct many_job *j = &s->job[u->job];
    const struct many_queue *own = &s->queue[c->job->queue], *other = &s->queue[j->queue];
    int64_t stays = j->after > 1 ? j->after : 1;
    bool stops_own = !other->is_preemptible && !other->takes_none && own->is_preemptible;
    bool beside = j->queue == c->job->queue, is_lower = j->priority < c->job->priority;
    *by_share = !beside || own->takes_richer;
    return u->state == MANY_RUNS && s->now >= u->at + stays &&
           (!beside             ? own->takes && !stops_own
            : own->takes_richer ? true
                                : own->takes_lower && is_lower);
}

static void join(struct choice *c, struct lot *lot, int unit, bool by_share)
{
    const struct many_scene *s = c->s;
    const struct many_unit *u = &s->unit[unit];
    const struct many_job *j = &s->job[u->job];
    if (lot->n == 0) {
        int own = node_of(s, c->job->queue), other = node_of(s, j->queue);
        int apart = common(s, own, other);
        /* Its own queue is as near as those right beside it. */
        apart = own == other ? above(s, own) : apart;
        *lot = (struct lot){.job = u->job,
                            .member = u->member,
                            .by_share = by_share,
                            .level = s->queue[j->queue].priority,
                            .near = depth(s, apart),
                            .priority = j->priority,
                            .at = u->at};
    }
    lot->unit[lot->n++] = unit;
    lot->cores += many_asks(s, j);
    lot->work += many_asks(s, j) * (s->now - u->at);
}

/* Those of a gang, from the last one on: each that it can spare, and all others together if none of them is to stay, and nobody
 * is being stopped for a member.
 */
static void list_gang(struct choice *c, int job)
{
    const struct many_scene *s = c->s;
    const struct many_job *j = &s->job[job];
    struct lot whole = {0};
    int more = -j->min;
    bool stays = many_holds(s, job), by_share;
    for (int m = 0; m < j->members; m++)
        more += s->unit[j->first + m].state == MANY_RUNS;
    for (int m = j->members; m-- > 0;) {
        int unit = j->first + m;
        bool may = may_go(c, &s->unit[unit], &by_share);
        stays |= s->unit[unit].state == MANY_RUNS && !may;
        if (may && more > 0) {
            c->lot[c->n] = (struct lot){0};
            join(c, &c->lot[c->n], unit, by_share);
            c->lot[c->n++].is_spare = true;
            more--;
        } else if (may) {
            join(c, &whole, unit, by_share);
        }
    }
    whole.is_whole = true;
    if (whole.n > 0 && !stays)
        c->lot[c->n++] = whole;
}

static int compare(const void *a, const void *b)
{
    const struct lot *x = a, *y = b;
    if (x->is_spare != y->is_spare)
        return x->is_spare ? -1 : 1;
    if (x->level != y->level)
        return x->level < y->level ? -1 : 1;
    if (x->near != y->near)
        return x->near > y->near ? -1 : 1;
    if (x->priority != y->priority)
        return x->priority < y->priority ? -1 : 1;
    if (x->work != y->work)
        return x->work < y->work ? -1 : 1;
    if (x->at != y->at)
        return x->at > y->at ? -1 : 1;
    if (x->job != y->job)
        return x->job > y->job ? -1 : 1;
    return x->member > y->member ? -1 : x->member < y->member;
}

static void list(struct choice *c)
{
    const struct many_scene *s = c->s;
    bool by_share;
    c->lot = malloc(sizeof(*c->lot) * (size_t)(s->units + 1));
    assert_non_null(c->lot);
    for (int i = 0; i < s->jobs; i++) {
        const struct many_job *j = &s->job[i];
        if (i == c->number)
            continue;
        if (j->members > 1) {
            list_gang(c, i);
        } else if (may_go(c, &s->unit[j->first], &by_share)) {
            c->lot[c->n] = (struct lot){0};
            join(c, &c->lot[c->n++], j->first, by_share);
        }
    }
    qsort(c->lot, (size_t)c->n, sizeof(*c->lot), compare);
}

/* ---- The choice ---- */

/* What is left of a gang goes with all that it can spare, */
static bool has_turn(const struct choice *c, const struct lot *lot)
{
    bool has = true;
    for (int i = 0; lot->is_whole && i < c->n; i++)
        has &= c->lot[i].job != lot->job || !c->lot[i].is_spare || c->lot[i].goes;
    return has;
}

/* and none of these stays then. */
static bool goes_along(const struct choice *c, const struct lot *lot)
{
    bool goes = false;
    for (int i = 0; lot->is_spare && i < c->n; i++)
        goes |= c->lot[i].job == lot->job && c->lot[i].is_whole && c->lot[i].goes;
    return goes;
}

static int count_going(const struct choice *c)
{
    int n = 0;
    for (int i = 0; i < c->n; i++)
        n += c->lot[i].goes;
    return n;
}

static bool take(struct choice *c, bool needed)
{
    bool fit = false;
    for (int i = 0; i < c->n && !fit; i++) {
        struct lot *lot = &c->lot[i];
        if (lot->goes || (needed && !lot->is_needed) || !has_turn(c, lot))
            continue;
        if (!is_given(c, lot)) {
            c->refused = true;
            continue;
        }
        let_go(c, lot, true);
        fit = fits(c);
    }
    int going = count_going(c);
    c->most = going > c->most ? going : c->most;
    return fit;
}

static void put_back(struct choice *c)
{
    for (int i = c->n; i-- > 0;) {
        struct lot *lot = &c->lot[i];
        if (!lot->goes || goes_along(c, lot))
            continue;
        let_go(c, lot, false);
        if (fits(c))
            c->spares = true;
        else
            let_go(c, lot, true);
    }
}

static void put_all_back(struct choice *c)
{
    for (int i = 0; i < c->n; i++)
        if (c->lot[i].goes)
            let_go(c, &c->lot[i], false);
}

/* Whether shares give each with the others gone. */
static bool all_are_given(struct choice *c)
{
    bool given = true;
    for (int i = 0; i < c->n; i++) {
        struct lot *lot = &c->lot[i];
        if (!lot->goes || goes_along(c, lot))
            continue;
        let_go(c, lot, false);
        given &= is_given(c, lot);
        let_go(c, lot, true);
    }
    return given;
}

/* Those that are left if all are taken that a share gives as the first one, and each is put back that is not needed. */
static bool find_needed(struct choice *c)
{
    put_all_back(c);
    for (int i = 0; i < c->n; i++)
        c->lot[i].is_needed = is_given(c, &c->lot[i]);
    for (int i = 0; i < c->n; i++)
        if (c->lot[i].is_needed && has_turn(c, &c->lot[i]))
            let_go(c, &c->lot[i], true);
    bool fit = fits(c);
    if (fit)
        put_back(c);
    for (int i = 0; i < c->n; i++)
        c->lot[i].is_needed = c->lot[i].goes;
    put_all_back(c);
    return fit;
}

/* Choose. Returns whether anybody, or nobody, has to go for the job to start. */
static bool choose(struct choice *c)
{
    if (fits(c))
        return true;
    bool fit = take(c, false);
    if (fit)
        put_back(c);
    if (fit && all_are_given(c))
        return true;
    if (!fit && !c->refused)
        return false;
    c->again = true;
    if (!find_needed(c))
        return false;
    fit = take(c, true);
    c->others = !fit;
    fit = fit || take(c, false);
    if (fit)
        put_back(c);
    fit = fit && all_are_given(c);
    c->others &= fit;
    return fit;
}

static void open_choice(struct choice *c, const struct many_scene *s, int job, int open)
{
    *c = (struct choice){.s = s, .job = &s->job[job], .number = job};
    begin(c);
    list(c);
    find_deserved(c, open);
}

/* ---- What is held ---- */

bool many_is_exact(const struct many_scene *s, int job)
{
    if (s->ends == MANY_SURE || s->ends == MANY_SURE_FCFS)
        return s->now + s->job[job].limit <= MANY_HORIZON;
    return s->ends != MANY_KNOWN && !s->any_promised;
}

/* Those that are told are whole lots. */
static void let_told_go(struct choice *c, const bool *told)
{
    const struct many_scene *s = c->s;
    int units = 0;
    for (int i = 0; i < s->units; i++)
        units += told[i];
    for (int i = 0; i < c->n; i++) {
        struct lot *lot = &c->lot[i];
        int n = 0;
        for (int k = 0; k < lot->n; k++)
            n += told[lot->unit[k]];
        CHECK_IN(*s, n == 0 || n == lot->n);
        if (n > 0)
            let_go(c, lot, true);
        units -= n;
    }
    CHECK_IN(*s, units == 0);
    for (int i = 0; i < c->n; i++)
        CHECK_IN(*s, !c->lot[i].goes || has_turn(c, &c->lot[i]));
}

/* The laws, of those that are told. Returns whether shares give each. */
static bool check_laws(const struct many_scene *s, int job, const bool *told, int open)
{
    struct choice c;
    open_choice(&c, s, job, open);
    let_told_go(&c, told);
    bool given = all_are_given(&c);
    if (!s->any_promised || many_is_exact(s, job)) {
        CHECK_IN(*s, fits(&c));
        bool none = count_going(&c) == 0;
        put_back(&c);
        CHECK_IN(*s, none || !c.spares); /* nobody could stay */
    }
    free(c.lot);
    return given;
}

static bool is_as_told(const struct choice *c, const bool *told)
{
    bool is = true;
    for (int i = 0; i < c->n; i++)
        is &= c->lot[i].goes == told[c->lot[i].unit[0]];
    return is;
}

static void show(const struct choice *c, const bool *told)
{
    const struct many_scene *s = c->s;
    if (!getenv("SCENE_SHOW"))
        return;
    print_message("time %d, job %d of q%d asks for %d\n", (int)s->now, c->number, c->job->queue,
                  many_asks_together(s, c->job));
    for (int i = 0; i <= s->divisions + s->queues; i++)
        print_message("  node %d under %d: keeps %d at last, deserves %d\n", i,
                      i > 0 ? above(s, i) : 0, (int)c->keeps[i], (int)c->deserved[i]);
    for (int i = 0; i < c->n; i++)
        print_message("  lot %d: job %d.%d of q%d, %d cores, priority %d, work %d, from %d%s%s%s\n",
                      i, c->lot[i].job, c->lot[i].member, s->job[c->lot[i].job].queue,
                      c->lot[i].cores, c->lot[i].priority, (int)c->lot[i].work, (int)c->lot[i].at,
                      c->lot[i].is_spare ? ", spare" : "", c->lot[i].goes ? ", should go" : "",
                      told && told[c->lot[i].unit[0]] ? ", told" : "");
}

static void note(const struct choice *c)
{
    for (int i = 0; i < 3; i++)
        many_seen.took[i] += c->most >= many_took[i];
    many_seen.spared += c->spares;
    many_seen.refused += c->refused;
    many_seen.again += c->again;
    many_seen.second += c->again;
    many_seen.others += c->others;
    many_seen.by_nodes += c->job->piece != MANY_ANYWHERE;
    for (int i = 0; i < c->n; i++) {
        many_seen.whole += c->lot[i].goes && c->lot[i].is_whole;
        many_seen.spare += c->lot[i].goes && c->lot[i].is_spare;
        many_seen.lower += c->lot[i].goes && !c->lot[i].by_share;
        many_seen.richer +=
            c->lot[i].goes && c->lot[i].by_share && c->s->job[c->lot[i].job].queue == c->job->queue;
    }
}

/* A choice is not as predicted. Where queues have limits, another one than those above may have been blocked when it was made:
 * that is rare.
 */
static void note_unclear(const struct many_scene *s)
{
    many_seen.unclear++;
    CHECK_IN(*s, s->has_limits && many_seen.unclear * 2000 <= many_seen.choices);
}

static void note_vain(const struct choice *c)
{
    for (int i = 0; i < 3; i++)
        many_seen.took[i] += c->most >= many_took[i];
    many_seen.vain++;
    many_seen.refused += c->refused;
    many_seen.again += c->again;
}

/* Many are blocked, at times that are not seen from outside. */
static bool is_unseen(const struct many_scene *s)
{
    return s->has_crowds && s->has_limits;
}

void many_check_choice(const struct many_scene *s, int job, const bool *told)
{
    bool lawful = false, exact = false;
    struct choice c;
    if (is_unseen(s))
        return;
    many_seen.choices++;
    for (int open = OPEN_ALL; open < (s->has_limits ? OPENS : 1) && !lawful; open++)
        lawful = check_laws(s, job, told, open);
    CHECK_IN(*s, lawful);
    for (int open = OPEN_ALL; many_is_exact(s, job) && open < (s->has_limits ? OPENS : 1) && !exact;
         open++) {
        open_choice(&c, s, job, open);
        exact = choose(&c) && is_as_told(&c, told);
        if (exact)
            note(&c);
        else
            show(&c, told);
        free(c.lot);
    }
    if (many_is_exact(s, job) && !exact)
        note_unclear(s);
    many_seen.exact += exact;
    many_seen.limited += exact && s->has_limits;
}

void many_check_vain(const struct many_scene *s, int job)
{
    struct choice c;
    bool vain = false;
    if (!many_is_exact(s, job) || is_unseen(s))
        return;
    for (int open = OPEN_ALL; open < (s->has_limits ? OPENS : 1) && !vain; open++) {
        open_choice(&c, s, job, open);
        vain = fits(&c) || !choose(&c); /* it fits: it waits for its turn, as it borrows */
        if (!vain)
            show(&c, NULL);
        else
            note_vain(&c);
        free(c.lot);
    }
    if (!vain)
        note_unclear(s);
}
