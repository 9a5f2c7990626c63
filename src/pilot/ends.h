/* Nodes that are taken back at many different times, in few groups.
 *
 * The calendars have the end of a node as a block, of which there are few. So ends that are near each other are one: all
 * nodes of a group are free of jobs from its first end on. Nothing outlasts its node then, and no node is left earlier
 * than it must be by more than the width, which is as small as it can be.
 */
#ifndef PILOT_ENDS_H
#define PILOT_ENDS_H

#include <stddef.h>
#include <stdint.h>

/* Blocks that pilots make at most; the others are the users'. */
#define PILOT_BLOCKS 48

/* Ticks for which a node is set aside behind its end: for good, since no plan goes so far (place.endless). So a job that
 * would outlast what is there waits without a promise, which others may have.
 */
#define PILOT_GONE (INT64_C(1) << 60)

#define PILOT_BEFORE_END 60 /* s before its end that a node is free of jobs */

/* The name of a group's block: "pilot-3", or "pilots-3-and-11-others", of the one that ends first. */
#define PILOT_BLOCK_NAME 64
void pilot_block_name(char name[PILOT_BLOCK_NAME], int64_t pilot, size_t others);

/* Put ends, ascending, into `most` >= 1 groups at most: group[i] is the number of that of end[i], from 0 on without
 * gaps. Where each may have one of its own, equal ends alone are together. Returns how many there are.
 * O(n log (last - first)).
 */
size_t pilot_group_ends(const int64_t *end, size_t n, size_t most, size_t *group);

#endif
