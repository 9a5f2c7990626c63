/* Gangs: what the core does not keep of them when the server ends (gang.c). */
#ifndef SERVER_CORE_GANG_H
#define SERVER_CORE_GANG_H

#include "server/core/state.h"

/* The handle of a member that has not ended, but for this one; -1: there is none. */
sched_job_t gang_handle(const struct job *job, uint32_t but);

/* The member whose reason and estimate are those of a gang that waits to start together; -1: its members wait one by one,
 * or it is no gang. O(records).
 */
int64_t gang_leader(const server_t *s, const struct job *job);

/* A member could not be started: those of its gang that started with it, and look for it in vain, are stopped and wait again.
 * Returns whether there are any; and whether a member's reason is that.
 */
bool gang_start_again(server_t *s, struct job *job, uint32_t member);
bool gang_stops_for(const char *reason);

/* A member of a gang has ended badly, which the core knows: whether the gang is over by that. */
void gang_note_end(server_t *s, struct job *job, uint32_t member);

/* What a record for the core says of a member's gang, with room for two texts. */
struct gang_texts {
    char over[SCHED_REASON_TEXT], waits[SCHED_REASON_TEXT];
};
struct sched_record;
/* Whether a gang of several roles is up, each of which grows by itself: every member that waits does so for itself. */
bool gang_grows_apart(const struct job *job);
void gang_record(struct sched_record *r, const struct job *job, bool is_promised,
                 struct gang_texts *texts);

#endif
