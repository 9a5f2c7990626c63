/* What the search for open jobs by group (finder_by_group.c) knows of the table of groups (job_group.c). */
#ifndef SCHED_JOB_GROUP_PRIV_H
#define SCHED_JOB_GROUP_PRIV_H

#include "sched/queues.h"
#include "sched/waiting/job_group.h"

/* Into a list of groups or of parts, and out of it. */
void job_group_link(struct job_groups *t, uint32_t *first, uint32_t group);
void job_group_unlink(struct job_groups *t, uint32_t *first, uint32_t group);

/* The line that a group is of. */
struct line *job_group_line(const sched_t *s, const struct job_group *g);

/* The group of a job, or the part of it. */
struct job_group *job_group_part_of(const sched_t *s, uint32_t slot);

/* The number of a job's group. */
uint32_t job_group_whole_of(const sched_t *s, uint32_t slot);

/* The group of a kind in a lane; NULL: there is none. O(1). */
const struct job_group *job_group_in_lane(const struct job_groups *t, uint32_t kind, uint32_t lane);

/* A group's kind. */
struct job_kind *job_group_kind(const sched_t *s, const struct job_group *g);

#endif
