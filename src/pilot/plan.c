#include "pilot/plan.h"

#include <errno.h>
#include <stdlib.h>

#include "pilot/lay.h"

void pilot_rule_default(struct pilot_rule *rule, int64_t second)
{
    *rule = (struct pilot_rule){
        .time = 3600 * second, .backlog = 2, .idle = 120 * second, .budget = INT64_MAX};
}

int64_t pilot_again(int64_t failures, int64_t failed_at, int64_t second)
{
    int64_t wait = PILOT_AGAIN;
    for (int64_t i = 1; i < failures && wait < PILOT_SELDOM; i++)
        wait *= 2;
    return failed_at + lesser(wait, PILOT_SELDOM) * second;
}

/* ---- When, and for how long ---- */

/* All of the rule's time, unless what is known to wait needs less: the less is asked for, the sooner it comes. */
static void choose_times(struct laying *l)
{
    int64_t minute = 60 * l->in->second;
    for (size_t i = 0; i < l->plan->n_asks && !l->over; i++) {
        int64_t time = greater(l->longest[i], l->ahead) + l->margin;
        time = (time + minute - 1) / minute * minute;
        l->plan->ask[i].time = lesser(time, l->in->rule->time);
    }
}

static void choose_when(struct laying *l)
{
    const struct pilot_case *in = l->in;
    struct pilot_plan *plan = l->plan;
    int64_t waiting = 0, patient, again;
    for (size_t i = 0; i < in->n_pilots; i++)
        waiting += in->pilot[i].state == PILOT_WAITS;
    plan->lacking = plan->n_asks == 0 ? -1 : in->lacking < 0 ? in->now : in->lacking;
    patient = plan->lacking + PILOT_PATIENCE * in->second;
    again = in->failures > 0 ? pilot_again(in->failures, in->failed_at, in->second) : INT64_MIN;
    for (size_t i = 0; i < plan->n_asks; i++) {
        struct pilot_ask *ask = &plan->ask[i];
        ask->when = again > in->now                             ? PILOT_FAILED
                    : patient > in->now                         ? PILOT_PATIENT
                    : waiting + (int64_t)i >= in->rule->backlog ? PILOT_BACKLOG
                                                                : PILOT_NOW;
        ask->at = ask->when == PILOT_FAILED ? again : ask->when == PILOT_PATIENT ? patient : -1;
    }
}

static void choose_releases(struct laying *l)
{
    const struct pilot_case *in = l->in;
    struct pilot_plan *plan = l->plan;
    for (size_t i = 0; i < in->n_pilots; i++) {
        const struct pilot_seen *p = &in->pilot[i];
        bool idle = p->useless >= 0 && in->now - p->useless >= in->rule->idle && !plan->used[i];
        bool stuck = p->state == PILOT_WAITS && p->stuck >= 0 &&
                     in->now - p->stuck >= PILOT_STUCK * in->second;
        if (p->state == PILOT_ENDING || !(idle || stuck))
            continue;
        plan->release[plan->n_releases++] =
            (struct pilot_release){p->number, stuck                  ? PILOT_IS_STUCK
                                              : p->state == PILOT_UP ? PILOT_IDLE
                                                                     : PILOT_UNWANTED};
    }
}

static int begin_laying(struct laying *l)
{
    const struct pilot_case *in = l->in;
    struct pilot_plan *plan = l->plan;
    plan->verdict = calloc(in->n_wants + 1, sizeof(*plan->verdict));
    plan->used = calloc(in->n_pilots + 1, sizeof(*plan->used));
    plan->release = calloc(in->n_pilots + 1, sizeof(*plan->release));
    if (!plan->verdict || !plan->used || !plan->release)
        return -1;
    for (size_t i = 0; i < in->n_pilots; i++)
        plan->nodes += in->pilot[i].nodes;
    l->room = greater(in->rule->max_nodes - plan->nodes, 0);
    l->left = in->rule->budget == INT64_MAX ? INT64_MAX : greater(in->rule->budget - in->spent, 0);
    l->each = (in->rule->max_nodes + PILOT_ASKS - 1) / PILOT_ASKS;
    return lay_begin(l);
}

void pilot_spread(const struct pilot_rule *rule, int64_t pieces, struct pilot_want *want)
{
    int64_t each = pieces;
    for (int k = 0; k < PILOT_KINDS; k++)
        if (want->amount[k] > 0 && rule->node[k] / want->amount[k] < each)
            each = rule->node[k] / want->amount[k];
    each = greater(each, 1);
    want->nodes = (pieces + each - 1) / each;
    for (int k = 0; k < PILOT_KINDS; k++)
        want->amount[k] *= each;
}

int pilot_plan(const struct pilot_case *in, struct pilot_plan *plan)
{
    struct laying l = {.in = in,
                       .plan = plan,
                       .ahead = PILOT_AHEAD * in->second,
                       .margin = PILOT_MARGIN * in->second,
                       .open = NONE};
    *plan = (struct pilot_plan){.lacking = -1};
    int rc = begin_laying(&l);
    if (rc == 0 && in->rule->node[PILOT_CORES] == 0)
        rc = lay_to_learn(&l);
    else
        for (size_t i = 0; rc == 0 && i < in->n_wants; i++)
            rc = lay_want(&l, &in->want[i], &plan->verdict[i]);
    if (rc == 0) {
        choose_times(&l);
        choose_when(&l);
        choose_releases(&l);
    }
    free(l.bin);
    free(l.longest);
    if (rc < 0)
        errno = ENOMEM;
    return rc;
}

void pilot_plan_clear(struct pilot_plan *plan)
{
    free(plan->ask);
    free(plan->release);
    free(plan->verdict);
    free(plan->used);
    *plan = (struct pilot_plan){0};
}
