/* Jobs that wait, laid into the nodes of pilots that are there, asked for, or to be asked for. */
#ifndef PILOT_LAY_H
#define PILOT_LAY_H

#include "base/number.h"
#include "pilot/plan.h"

#define NONE SIZE_MAX

/* A node, and what it can still do within the next PILOT_AHEAD. */
struct bin {
    size_t pilot, ask;          /* of which it is a node, or NONE */
    int64_t life;               /* it is there for so long, from its start or from now */
    int64_t wide[PILOT_KINDS];  /* free all the time */
    __int128 area[PILOT_KINDS]; /* amounts x ticks that are free */
    bool taken;                 /* by the member that is laid just now */
};

struct laying {
    const struct pilot_case *in;
    struct pilot_plan *plan;
    struct bin *bin;
    size_t n, cap, cap_asks;
    int64_t ahead, margin, each; /* each: nodes of a new pilot */
    int64_t room;                /* nodes that may be asked for yet */
    int64_t left;                /* ticks of nodes of the budget */
    int64_t *longest;            /* of the jobs in each ask */
    size_t cap_longest;
    size_t open; /* the ask that has nodes to give yet, or NONE */
    bool over;   /* some found no room */
};

/* The nodes there are and that come. 0, or -1 with ENOMEM. */
int lay_begin(struct laying *l);

/* A want: its verdict, and new asks as far as bounds let. 0, or -1 with ENOMEM. */
int lay_want(struct laying *l, const struct pilot_want *w, struct pilot_verdict *v);

/* Where nobody knows what a node has: all wants wait for the first. 0, or -1 with ENOMEM. */
int lay_to_learn(struct laying *l);

#endif
