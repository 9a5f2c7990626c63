/* Nodes in which there was no room: for a request, by its number (plan_ask.kind), during a window. As long as nothing of
 * the node is given back there is none during any window that begins where the same is booked as at the beginning of that
 * one, and lasts as long or longer: what is booked meanwhile only takes more. So a match that fails over and over, as
 * counts say too much, passes such nodes by. Of two notes with one place in the table the later one is kept.
 *
 * Only where a match is for one node and nothing but bookings may change what it finds: no blocks come, and neither
 * constraints nor properties are asked for. Where a node comes up, or the machine changes, notes of it are void.
 */
#ifndef MATCH_NO_ROOM_H
#define MATCH_NO_ROOM_H

#include <stdbool.h>
#include <stdint.h>

struct match;
struct walk;

/* Whether a walk goes by these notes on a level of its request. */
bool no_room_counts(const struct walk *w, uint32_t level);

/* Whether a node is known to have no room. O(1). */
bool no_room_is_known(const struct walk *w, uint32_t node);

/* Note that. Where memory runs out nothing is noted. O(log points of the node). */
void no_room_note(struct walk *w, uint32_t node);

void no_room_clear(struct match *m);

#endif
