/* A matcher's machine as a place where bookings name resources: each is a match (berth/match.h), and keeps
 * what it was given.
 *
 *  1. Reservations name what they get, so that a promise is never more than can be kept: what it names is
 *     free then, as far as bookings say, and nobody else gets it. The calendars are the truth: a job that
 *     overruns must be extended.
 *  2. A booking is a job of the matcher. It can be lifted out of the calendars and put back without memory,
 *     as its points stay there; put back over others it holds what they hold, and is not counted in filters,
 *     so that what is free beside them stays known.
 *  3. Units, which rooms and idle count, are cores, or nodes on a machine without cores (without either
 *     everything has room). What is down within a node counts as there, and so does what a booking that was
 *     forced over others holds: the counts never rule out what could start. Both sides are 1 more than the
 *     count, so that who needs none always fits.
 *  4. A block is not booked. Jobs without a permit get none of its vertices in a window that overlaps an
 *     occurrence.
 *  5. Who waits is woken by what is freed only if a node that something was freed in has room for a piece
 *     of its request (wake.c).
 *
 * Costs on 10,000 nodes of 32 cores: make bench, bench_graph_place.
 */
#ifndef PLACE_GRAPH_H
#define PLACE_GRAPH_H

#include "berth/error.h"
#include "berth/match.h"
#include "place/place.h"

/* A place over a matcher without jobs, which is borrowed. Returns NULL with EINVAL or ENOMEM. */
struct place *graph_place_create(match_t *match, berth_error_t *err);

#endif
