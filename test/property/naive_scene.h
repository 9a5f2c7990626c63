/* What scenes of naive_queues.h are made of, and how what the core says of them reads. */
#ifndef PROPERTY_NAIVE_SCENE_H
#define PROPERTY_NAIVE_SCENE_H

#include "berth/sched_config.h"
#include "naive_queues.h"
#include "random.h"

/* Limits of running jobs, of nodes (or whatever this names), or of both: as the core knows them, of which it returns how many
 * there are, and as the model does.
 */
size_t nq_draw_limits(struct random *r, const char *of_nodes, struct sched_limit limit[NQ_WHATS],
                      int64_t most[NQ_WHATS], int64_t high);

/* "node[0-1]/core[0,2-3],node3" as bits, of nodes with so many cores. */
uint32_t nq_nodes_of(const char *text, int cores);

#endif
