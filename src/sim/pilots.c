/* Pilots come and go. */
#include "sim/pilots.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/blocks.h"
#include "base/errtext.h"
#include "berth/sched_admin.h"
#include "config/machine_open.h"
#include "pilot/graph.h"
#include "resource/graph.h"
#include "sim/pilots_priv.h"

static double seconds(const struct sim_pilots *p, int64_t ticks)
{
    return (double)ticks / (double)p->options.second;
}

/* Tell the shell what has changed in the machine. */
static int tell_shell(struct sim_pilots *p, json_t *event)
{
    if (!p->options.shell->changed || !event) {
        json_decref(event);
        errno = ENOMEM;
        return event || !p->options.shell->changed ? 0 : -1;
    }
    return p->options.shell->changed(p->options.arg, event);
}

/* ---- Nodes ---- */

static int attach_all(struct sim_pilots *p, berth_error_t *err)
{
    const struct sim_pilots_options *o = &p->options;
    size_t n = (size_t)p->rule.max_nodes;
    struct pilot_vertex *v = calloc(n, sizeof(*v));
    char(*name)[32] = calloc(n, sizeof(*name)), names[64], *text = NULL;
    for (size_t i = 0; v && name && i < n; i++) {
        snprintf(name[i], sizeof(name[i]), "pilot%zu", i);
        v[i] = (struct pilot_vertex){.name = name[i],
                                     .cores = p->rule.node[PILOT_CORES],
                                     .gpus = p->rule.node[PILOT_GPUS],
                                     .memory = p->rule.node[PILOT_MEMORY],
                                     .property = "pilot",
                                     .value = ""};
    }
    if (v && name)
        text = pilot_nodes_graph(o->machine, p->unit, v, n);
    free(v);
    free(name);
    if (!text)
        return errtext_no_memory(err);
    snprintf(names, sizeof(names), "pilot[0-%zu]", n - 1);
    int rc = sched_attach(o->sched, 0, text, strlen(text), err);
    free(text);
    return rc < 0 ? -1 : sched_set_status(o->sched, 0, names, RESOURCE_DOWN, err);
}

/* The names of a pilot's nodes, "pilot0,pilot3". */
static void put_pilot_nodes(const struct sim_pilots *p, int64_t number, struct strbuf *out)
{
    for (int64_t i = 0; i < p->rule.max_nodes; i++) {
        if (p->slot[i] != number)
            continue;
        strbuf_puts(out, out->len ? ",pilot" : "pilot");
        strbuf_put_int(out, i);
    }
}

static int set_nodes(struct sim_pilots *p, int64_t now, const char *names, bool up)
{
    berth_error_t why;
    if (sched_set_status(p->options.sched, now, names, up ? RESOURCE_UP : RESOURCE_DOWN, &why) < 0)
        return -1;
    return tell_shell(p, json_pack("{s:i, s:s}", "at", 0, up ? "up" : "down", names));
}

/* ---- Their ends ---- */

static int by_end(const void *a, const void *b)
{
    const struct sim_pilot *x = a, *y = b;
    int order = (x->end > y->end) - (x->end < y->end);
    return order ? order : (x->number > y->number) - (x->number < y->number);
}

/* The blocks that are to be: one for ends that are near each other. */
static int make_blocks(const struct sim_pilots *p, struct sim_block *block, size_t *n)
{
    struct sim_pilot up[PILOT_NODES_MOST];
    int64_t end[PILOT_NODES_MOST];
    size_t group[PILOT_NODES_MOST], n_up = 0, i = 0, others = p->options.config->sched.n_blocks;
    size_t most = others < BLOCKS_MAX - PILOT_BLOCKS ? PILOT_BLOCKS : BLOCKS_MAX - others;
    for (i = 0; i < p->n_pilots; i++)
        if (p->pilot[i].up >= 0)
            up[n_up++] = p->pilot[i];
    qsort(up, n_up, sizeof(*up), by_end);
    for (i = 0; i < n_up; i++)
        end[i] = up[i].end;
    *n = pilot_group_ends(end, n_up, most, group);
    for (i = 0; i < n_up;) {
        struct strbuf names = {0};
        size_t first = i;
        for (; i < n_up && group[i] == group[first]; i++)
            put_pilot_nodes(p, up[i].number, &names);
        struct sim_block *b = &block[group[first]];
        pilot_block_name(b->name, up[first].number, i - first - 1);
        b->start = up[first].end - PILOT_BEFORE_END * p->options.second;
        b->resources = strbuf_steal(&names);
        if (!b->resources)
            return -1;
    }
    return 0;
}

static int unblock(struct sim_pilots *p, int64_t now, struct sim_block *b)
{
    int rc = sched_unblock(p->options.sched, now, b->name, NULL);
    free(b->resources);
    b->resources = NULL;
    return rc;
}

int sim_pilots_block(struct sim_pilots *p, int64_t now, const struct sim_block *b)
{
    berth_error_t why;
    const struct sched_block made = {
        .name = b->name, .resources = b->resources, .start = b->start, .duration = PILOT_GONE};
    return sched_block(p->options.sched, now, &made, &why);
}

static bool are_equal_blocks(const struct sim_block *a, const struct sim_block *b)
{
    return a->resources && b->resources && a->start == b->start && strcmp(a->name, b->name) == 0 &&
           strcmp(a->resources, b->resources) == 0;
}

static int set_blocks(struct sim_pilots *p, int64_t now)
{
    struct sim_block *is = calloc(PILOT_BLOCKS, sizeof(*is));
    size_t n = 0;
    int rc = is ? make_blocks(p, is, &n) : -1;
    for (size_t i = 0; rc == 0 && i < p->n_blocks; i++) {
        bool stays = false;
        for (size_t k = 0; k < n; k++)
            stays = stays || are_equal_blocks(&p->block[i], &is[k]);
        if (!stays)
            rc = unblock(p, now, &p->block[i]);
    }
    for (size_t k = 0; rc == 0 && k < n; k++) {
        bool stays = false;
        for (size_t i = 0; i < p->n_blocks; i++)
            stays = stays || are_equal_blocks(&p->block[i], &is[k]);
        if (!stays)
            rc = sim_pilots_block(p, now, &is[k]);
    }
    for (size_t i = 0; i < p->n_blocks; i++)
        free(p->block[i].resources);
    free(p->block);
    p->block = is;
    p->n_blocks = n;
    return rc;
}

/* ---- Events ---- */

static int come(struct sim_pilots *p, struct sim_pilot *pilot, int64_t now)
{
    struct strbuf names = {0};
    int64_t left = pilot->nodes;
    for (int64_t i = 0; i < p->rule.max_nodes && left > 0; i++)
        if (p->slot[i] == 0) {
            p->slot[i] = pilot->number;
            left--;
        }
    pilot->up = now;
    pilot->end = now + pilot->time;
    put_pilot_nodes(p, pilot->number, &names);
    int rc = set_blocks(p, now) < 0 || set_nodes(p, now, strbuf_text(&names), true) < 0 ? -1 : 0;
    if (p->options.decisions)
        decisions_pilot_comes(p->options.decisions, now, pilot->number, strbuf_text(&names),
                              pilot->end);
    strbuf_clear(&names);
    return rc;
}

/* Jobs that are on its nodes end. */
static int lose_jobs(struct sim_pilots *p, int64_t number)
{
    char reason[40];
    snprintf(reason, sizeof(reason), "pilot %" PRId64 " has ended", number);
    for (size_t i = 0; i < p->n_runs;) {
        bool is_there = false;
        for (size_t k = 0; k < p->run[i].n; k++) {
            const struct sim_pilot *of = sim_pilots_of_rank(p, p->run[i].part[k].rank);
            is_there = is_there || (of && of->number == number);
        }
        if (is_there && p->options.shell->lost(p->options.arg, p->run[i].job, reason) < 0)
            return -1;
        i += !is_there;
    }
    return 0;
}

static int go(struct sim_pilots *p, size_t i, int64_t now)
{
    static const char *const words[] = {
        [PILOT_IDLE] = "idle", [PILOT_UNWANTED] = "unwanted", [PILOT_IS_STUCK] = "stuck"};
    struct sim_pilot pilot = p->pilot[i];
    struct strbuf names = {0};
    int rc = 0;
    if (pilot.up >= 0) {
        put_pilot_nodes(p, pilot.number, &names);
        rc = lose_jobs(p, pilot.number) < 0 || set_nodes(p, now, strbuf_text(&names), false) < 0
                 ? -1
                 : 0;
        p->had += pilot.nodes * (now - pilot.up);
    }
    for (int64_t k = 0; k < p->rule.max_nodes; k++)
        if (p->slot[k] == pilot.number)
            p->slot[k] = 0;
    memmove(&p->pilot[i], &p->pilot[i + 1], (p->n_pilots - i - 1) * sizeof(*p->pilot));
    p->n_pilots--;
    if (p->options.decisions)
        decisions_pilot_goes(p->options.decisions, now, pilot.number,
                             pilot.leaves ? words[pilot.why] : "end");
    strbuf_clear(&names);
    return rc < 0 ? -1 : set_blocks(p, now);
}

int64_t sim_pilots_next(const struct sim_pilots *p)
{
    int64_t next = p ? p->look_at : INT64_MAX;
    for (size_t i = 0; p && i < p->n_pilots; i++) {
        const struct sim_pilot *pilot = &p->pilot[i];
        int64_t at = pilot->leaves ? 0 : pilot->up < 0 ? sim_pilot_comes(p, pilot) : pilot->end;
        next = at < next ? at : next;
    }
    return next;
}

int sim_pilots_event(struct sim_pilots *p, int64_t now)
{
    if (p->look_at <= now)
        p->look_at = INT64_MAX; /* it is at the end of this instant */
    for (size_t i = 0; i < p->n_pilots;) {
        struct sim_pilot *pilot = &p->pilot[i];
        bool goes = pilot->leaves || (pilot->up >= 0 && pilot->end <= now);
        if (goes && go(p, i, now) < 0)
            return -1;
        if (!goes && pilot->up < 0 && sim_pilot_comes(p, pilot) <= now && come(p, pilot, now) < 0)
            return -1;
        i += !goes;
    }
    return 0;
}

/* ---- All of it ---- */

struct sim_pilots *sim_pilots_create(const struct sim_pilots_options *options, berth_error_t *err)
{
    const struct config_pilots *of = &options->config->pilots;
    struct sim_pilots *p = NULL;
    if (of->rule.node[PILOT_CORES] == 0) {
        errtext_set(err, EINVAL,
                    "pilots: expected \"node\", which says what a node has: in a simulation none "
                    "comes to learn it from");
        return NULL;
    }
    if (options->config->sched.n_blocks >= BLOCKS_MAX) {
        errtext_set(err, EINVAL, "pilots: there are %d blocks, and the end of pilots needs one",
                    BLOCKS_MAX);
        return NULL;
    }
    p = calloc(1, sizeof(*p));
    if (p)
        p->slot = calloc((size_t)of->rule.max_nodes, sizeof(*p->slot));
    if (!p || !p->slot) {
        free(p);
        errtext_no_memory(err);
        return NULL;
    }
    p->options = *options;
    p->rule = of->rule;
    p->wait = of->wait;
    p->unit = config_memory_unit(options->machine);
    if (p->unit == 0)
        p->rule.node[PILOT_MEMORY] = 0;
    p->lacking = -1;
    p->asked_at = -SIM_PILOTS_LOOK * options->second;
    p->look_at = INT64_MAX;
    if (attach_all(p, err) == 0 && sim_pilots_list_nodes(p) == 0)
        return p;
    sim_pilots_destroy(p);
    return NULL;
}

void sim_pilots_destroy(struct sim_pilots *p)
{
    if (!p)
        return;
    for (size_t i = 0; i < p->n_runs; i++)
        free(p->run[i].part);
    for (size_t i = 0; i < p->n_blocks; i++)
        free(p->block[i].resources);
    pilot_plan_clear(&p->plan);
    free(p->pilot);
    free(p->slot);
    free(p->node);
    free(p->run);
    free(p->block);
    free(p->want);
    free(p->of);
    free(p);
}

struct schedule_pilots sim_pilots_sum(const struct sim_pilots *p, int64_t now)
{
    struct schedule_pilots sum = {.pilots = p->made, .asked = seconds(p, p->asked)};
    int64_t had = p->had;
    double used = p->used;
    for (size_t i = 0; i < p->n_pilots; i++)
        had += p->pilot[i].up < 0 ? 0 : p->pilot[i].nodes * (now - p->pilot[i].up);
    sum.had = seconds(p, had);
    sum.used = used / (double)p->options.second;
    return sum;
}
