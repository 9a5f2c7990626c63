/* Inside the pilots of the simulator. */
#ifndef SIM_PILOTS_PRIV_H
#define SIM_PILOTS_PRIV_H

#include "base/array.h"
#include "pilot/ends.h"
#include "sim/pilots.h"

struct sim_pilot {
    int64_t number, nodes, time;
    int64_t asked, up, end; /* up -1: it waits */
    int64_t useless;        /* as pilot_seen */
    bool leaves;            /* it is given back now */
    enum pilot_end why;
};

/* A node of the machine, by its rank: one that may come, or one of its own. */
struct sim_node {
    uint32_t vertex; /* VERTEX_NONE: no node has this rank */
    int64_t total[PILOT_KINDS];
};

/* What a running job has of a node. */
struct sim_part {
    size_t rank;
    int64_t amount[PILOT_KINDS];
};

struct sim_run {
    uint32_t job;
    int64_t since, until;
    struct sim_part *part;
    size_t n;
};

struct sim_block {
    char name[PILOT_BLOCK_NAME];
    char *resources;
    int64_t start;
};

struct sim_pilots {
    struct sim_pilots_options options;
    struct pilot_rule rule;
    int64_t wait, unit; /* ticks; bytes in a unit of memory */

    struct sim_pilot *pilot;
    size_t n_pilots, cap_pilots;
    int64_t made;
    int64_t *slot;     /* of each node that may come the number of its pilot; 0: none */
    size_t first_rank; /* of the first of them */

    struct sim_node *node; /* by rank */
    size_t n_nodes;
    uint32_t known; /* vertices when these were listed */

    struct sim_run *run;
    size_t n_runs, cap_runs;

    struct sim_block *block;
    size_t n_blocks;

    int64_t lacking, asked_at, look_at;
    int64_t asked, had; /* ticks of nodes; had: by those that are over */
    double used;        /* ticks of nodes, by runs that have ended */

    struct pilot_want *want;
    uint32_t *of; /* the job of each want */
    size_t n_wants, cap_wants, cap_of;
    struct pilot_plan plan; /* the last one */
};

/* When what is asked for now comes. */
static inline int64_t sim_pilot_comes(const struct sim_pilots *p, const struct sim_pilot *pilot)
{
    return pilot->asked + p->wait;
}

/* List the machine's nodes, if there are others than before. -1 with ENOMEM. */
int sim_pilots_list_nodes(struct sim_pilots *p);

/* Set one of its blocks. -1 with errno. */
int sim_pilots_block(struct sim_pilots *p, int64_t now, const struct sim_block *b);

/* The pilot of a node; NULL: it is one of the machine's own, or of none. */
struct sim_pilot *sim_pilots_of_rank(struct sim_pilots *p, size_t rank);

#endif
