/* Matches that repeat. Of equal requests that are matched one after the other (match_plan_alike), what the first ones
 * took of a node that was idle is what the next ones take of the next such node, where nodes are alike: the walk is
 * spared, and the results are the same.
 *
 * This holds where each request is for one node, all nodes are children of one vertex and alike but for ids that follow
 * each other, and the policy takes nodes by id. Then the best node is the first in the order that has room. Those before
 * the last one had none, and nothing was given back. The last one has none either once it was given as much as the
 * first one was before another was taken.
 *
 * Where the policy takes the node of which most is left (book/fill.h), the first node in that order is the best if it has
 * room. It has room if nobody holds anything of it, now or later, and the request gets the parts of it that the first request
 * got of its own node.
 */
#ifndef MATCH_REPEAT_H
#define MATCH_REPEAT_H

#include <stdbool.h>
#include <stdint.h>

#include "match/plan.h"

struct job;
struct match;
struct walk;

/* Make the job for a request at a time as the ones before it were matched. Returns it, not booked; NULL: the walk has to
 * look, or memory runs out (*failed). O(what is in the node) for the first job of a node, else O(holds).
 */
struct job *repeat_next(struct match *m, const struct plan_ask *ask, int64_t jobid, int64_t at,
                        bool reservation, bool *failed);

/* Note what a walk has found for one of the requests, before that is booked. The job lives as long as requests are
 * matched one after the other. Where memory runs out less is repeated.
 */
void repeat_note(struct walk *w, const struct job *job);

/* Forget what was noted, and the memory for it. */
void repeat_reset(struct match *m);
void repeat_clear(struct match *m);

#endif
