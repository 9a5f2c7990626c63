/* Jobs in memory and their members. */
#ifndef SERVER_CORE_MEMBERS_H
#define SERVER_CORE_MEMBERS_H

#include "server/core/state.h"

/* ---- Jobs and members (job.c) ---- */

/* A job with its members, all pending and unknown to the core; not in the table yet. It takes the indices,
 * which are then empty; those of a plain job are 0. NULL with ENOMEM.
 */
struct job *job_create(server_t *s, int64_t id, struct idset *indices);
/* The job as it is stored, without environment and script. */
void job_to_store(const struct job *job, struct store_job *to);
void job_discard(server_t *s, struct job *job);
/* Insert the job into the table, by id. Returns 0, or -1 with ENOMEM; cannot fail after job_table_reserve. */
int job_insert(server_t *s, struct job *job);
/* Reserve room for more jobs, beyond those reserved for bulk submissions. 0, or -1 with ENOMEM. */
int job_table_reserve(server_t *s, size_t jobs);
/* Add or subtract a job's share of its user's limits. */
void job_charge(server_t *s, const struct job *job, bool counts);
void job_remove(server_t *s, struct job *job); /* removed from the table and freed */
struct job *job_lookup(const server_t *s, int64_t id);
/* The index of the first job in the table with at least this id. */
size_t job_index(const server_t *s, int64_t id);

/* Reserve room to mark a job and n members as unsaved; call it before making the change. */
int unsaved_reserve(server_t *s, size_t n);
void job_changed(server_t *s, struct job *job);
void member_changed(server_t *s, struct job *job, uint32_t member);

/* Change a member's state, and the counts that depend on it. It has to have a record. */
void member_set_state(server_t *s, struct job *job, uint32_t member, enum store_state state);

/* The part of a reason that says why the engine or the store refused a start; NULL for other reasons. */
const char *not_started_cause(const char *text);

/* End a member with a state and a reason (copied; NULL: none). It has a run afterwards unless memory is
 * short. It has to have a record.
 */
void member_end(server_t *s, struct job *job, uint32_t member, enum store_state state,
                const char *reason);
void text_assign(char **to, const char *text);

/* The core has rejected a member: it can never start (pass.c). Without memory for its record, that is done later. */
void member_reject(server_t *s, struct job *job, uint32_t member, const char *reason);

struct run *run_create(server_t *s, struct job *job, uint32_t member, uint64_t key);
void run_destroy(server_t *s, struct run *run);
struct run *run_lookup(const server_t *s, uint64_t key);

static inline bool member_is_live(const struct member *m)
{
    return m->state <= STORE_RUNNING;
}

/* ---- Members of a job (member.c) ---- */

#define PAGE_MEMBERS 256

/* What job_create and job_discard do for members. 0, or -1 with ENOMEM. */
int records_create(server_t *s, struct job *job);
void records_destroy(server_t *s, struct job *job);

uint32_t member_count(const struct job *job);
bool member_exists(const struct job *job, int64_t i);

/* The first member from an index on, or job->members; the last one up to an index, or -1. O(log ranges). */
uint32_t member_next(const struct job *job, uint32_t from);
int64_t member_previous(const struct job *job, int64_t from);

/* The first member from an index on that has a record, or job->members; the last one up to an index, or -1. */
uint32_t member_next_own(const struct job *job, uint32_t from);
int64_t member_previous_own(const struct job *job, int64_t from);

/* The record of a member; NULL: it has none. O(1). */
struct member *member_record(const struct job *job, uint32_t i);

/* The same for reading; without a record it waits. */
const struct member *member_look(const struct job *job, uint32_t i);

/* The record, which is made unless there is one. NULL with ENOMEM. */
struct member *member_make(server_t *s, struct job *job, uint32_t i);

/* Whether what has become of it is not in the store yet. */
bool member_is_unsaved(const struct job *job, uint32_t i);

/* Its handle in the core, maybe that of its job's entry; -1: unknown there. */
sched_job_t member_handle(const struct job *job, uint32_t i);

/* Whether it waits in its job's entry. */
bool member_is_in_entry(const struct job *job, uint32_t i);

/* Whether it waits in its job's entry behind the member that this is promised a time for: it is promised none itself, and starts
 * no sooner. O(1), for a gang O(its slots).
 */
bool member_is_behind(const server_t *s, const struct job *job, uint32_t i);

/* A member that waits in the entry gets a record and a handle of its own. 0, also if it has one, or -1 with
 * ENOMEM.
 */
int member_split(server_t *s, struct job *job, uint32_t i);

/* A member, which has a record, waits in the core under a handle of its own by now. */
void member_parted(server_t *s, struct job *job, uint32_t i, sched_job_t handle);

/* A member that was to preempt others and then could not has left the entry in the core, and nobody was told:
 * find such. 0, or -1 with ENOMEM.
 */
int entry_find_parts(server_t *s, struct job *job);

/* The entry's reservation or claim is this member's (-1: there is none), and no longer the one's before. */
void entry_promised(server_t *s, struct job *job, int64_t i);

/* Something has happened to the entry or to members of it: have that in the right record. */
void entry_follow(server_t *s, struct job *job);

/* For tests. */
bool records_check(const struct job *job);

static inline struct member *ref_record(const struct member_ref *ref)
{
    return member_record(ref->job, ref->member);
}

/* ---- Members that end together (mass.c) ---- */

/* What is true of a member that has ended so, and when; NULL or -1: it has not. O(spans). */
const struct member *mass_member(const struct job *job, uint32_t i);
bool mass_is_unsaved(const struct job *job, uint32_t i);
int64_t mass_end_wall(const struct job *job, uint32_t i);

/* Prepare the end of all members that have no record, which all wait in the entry: NULL with ENOMEM. Then carry
 * it out, with an event of the job that names them, and a text. O(records).
 */
struct mass *mass_prepare(server_t *s, const struct job *job, enum store_state state,
                          const char *reason);
void mass_end(server_t *s, struct job *job, struct mass *mass, const char *kind, const char *key,
              const char *text);

/* A range of the store. 0, or -1 with ENOMEM. */
int mass_load(server_t *s, struct job *job, const struct store_member *from);

/* Write what is unsaved of a job; it is saved; free all. */
int masses_write(server_t *s, struct job *job, berth_error_t *err);
void masses_saved(struct job *job);
void masses_clear(struct job *job);
bool masses_check(const struct job *job);

/* ---- What was changed of members by themselves (own.c) ---- */

/* What a member goes by: its own, or else its job's. */
bool member_held(const struct job *job, const struct member *m);
int64_t member_priority(const struct job *job, const struct member *m);
int64_t member_limit(const struct job *job, const struct member *m);
int64_t member_estimate(const struct job *job, const struct member *m);

/* How many of a job's members wait and are held. */
uint32_t job_held(const struct job *job);

/* What a member has of its own; and set that. 0, or -1 with ENOMEM, never where it has some already. */
struct own own_of(const struct member *m);
int own_set(server_t *s, struct job *job, struct member *m, const struct own *to);

/* Change a member's state, and the counts of its job that go by what it has of its own. */
void own_state(struct job *job, struct member *m, enum store_state state);

/* Members that run or are about to. */
static inline uint32_t job_running(const struct job *job)
{
    return job->counts[STORE_STARTING] + job->counts[STORE_RUNNING];
}

#endif
