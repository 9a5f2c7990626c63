/* The cores of a matcher's machine as a place: so many named units, each given to one job at a time.
 *
 * Two questions are kept apart.
 *
 *  1. When can a job start? Cores are interchangeable for this, so that counts decide: a calendar of all
 *     cores together, as a flat machine has, holds allocations and reservations alike and answers with a flat machine's
 *     times. A reservation could name cores only if each of these were free throughout its window; since jobs hold
 *     what they hold, no window need have such cores even where at each instant enough are free, and promises would
 *     come to depend on which cores earlier jobs happened to get.
 *  2. Which cores does it get? Those that the match policy prefers among the cores that are free when it
 *     starts.
 *
 * There are always enough: at any instant the jobs that hold cores are those that have started and whose
 * bookings are not over, and these the calendar counts too. So a job whose booking is over gives its cores
 * up when another starts, though its end has not been told yet. Only a job that starts after its own
 * booking is over, in a pass that is late by that much, may find too few (EBUSY).
 *
 * Where the policy has a fixed order (match/units.h), the cores are the first free ones of a row, which
 * takes a few instructions for 64 of them. Where the order depends on what is free ("first", "locality"),
 * each start is a match of slot[n] > core[1], and the matcher knows who holds what.
 */
#ifndef PLACE_CORES_H
#define PLACE_CORES_H

#include "berth/error.h"
#include "berth/match.h"
#include "place/place.h"

/* A place over a matcher without jobs, which is borrowed. Returns NULL with EINVAL or ENOMEM. O(n log n). */
struct place *cores_place_create(match_t *match, berth_error_t *err);

#endif
