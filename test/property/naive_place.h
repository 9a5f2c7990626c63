/* A machine of nodes with cores, gpus and memory, and licences beside the nodes, as a naive place: every question is answered by looking at
 * every booking at every instant.
 */
#ifndef PROPERTY_NAIVE_PLACE_H
#define PROPERTY_NAIVE_PLACE_H

#include <stdbool.h>
#include <stdint.h>

enum {
    NAIVE_GPUS = 3,
    NAIVE_GPU_KINDS = 2,
    NAIVE_NODES = 8,
    NAIVE_RACKS = 2,
    NAIVE_BOOKINGS = 24,
    NAIVE_BLOCKS = 3,
    NAIVE_PARTS = 3
};

struct naive_node {
    bool there, down;
    bool property;
    int rack;
    int cores, gpus, memory;
    int gpu_memory;                    /* of each GPU; 0: unknown */
    uint32_t gpus_of[NAIVE_GPU_KINDS]; /* those of each kind */
    uint32_t cores_down;
};

/* A part of a request: of part 0 all nodes, of 1 those with the property, of 2 the nodes 0 to 2. */
struct naive_ask {
    enum { ASK_SLOTS, ASK_WHOLE, ASK_SHARED, ASK_NODE_SLOTS, ASK_KINDS } kind;
    int count;               /* slots or nodes */
    int cores, gpus, memory; /* of a slot */
    int slots;               /* of a shared node */
    int shares,
        share; /* of a shared node beside the slots: so many GPUs, so much of the memory of each */
    int gpu_kind;  /* of all GPUs, from 1; 0: any */
    int licenses;  /* beside them */
    bool property; /* a constraint of its own */
    int part;
    int64_t duration;
    uint64_t permits;
};

struct naive_hold {
    bool any;   /* something of the node */
    bool whole; /* all of it */
    uint32_t cores, gpus;
    int memory;
    int share[NAIVE_GPUS]; /* of the memory of a GPU that it shares */
};

struct naive_booking {
    bool used, lifted;
    bool cut; /* something of it is gone */
    int64_t at, end;
    struct naive_hold hold[NAIVE_NODES];
    int licenses;
};

struct naive_block {
    bool used;
    int64_t start, duration, every;
    uint32_t nodes;
    uint32_t cores[NAIVE_NODES];
};

struct naive_place {
    bool whole; /* nodes are given whole */
    struct naive_node node[NAIVE_NODES];
    bool rack_down[NAIVE_RACKS];
    int licenses;
    bool licenses_down;
    struct naive_booking booking[NAIVE_BOOKINGS];
    struct naive_block block[NAIVE_BLOCKS];
};

/* Whether a request fits at a time; `ever`: on an idle machine that is all up. */
bool naive_fits(const struct naive_place *p, const struct naive_ask *ask, int64_t at, bool ever);

/* The first time on or after `from` and before `before`, -1: none (as far as one can look). */
int64_t naive_when(const struct naive_place *p, const struct naive_ask *ask, int64_t from,
                   int64_t before);

/* Whether what a lifted booking holds is good for a request during [at, end), and held by nobody else until
 * `until`.
 */
bool naive_holds_fit(const struct naive_place *p, const struct naive_ask *ask, int booking,
                     int64_t at, int64_t end, int64_t until);

/* Whether what a booking holds is what a request asks for. */
bool naive_satisfies(const struct naive_place *p, const struct naive_ask *ask, int booking);

bool naive_may_use(const struct naive_place *p, const struct naive_ask *ask, int node, bool ever);

#endif
