/* What the files of the server call on each other, beside members.h, users.h, machine.h and gang.h. */
#ifndef SERVER_CORE_PRIV_H
#define SERVER_CORE_PRIV_H

#include "server/core/state.h"

/* ---- Clock, names, notices, events (server.c) ---- */

void server_update_clock(server_t *s);

/* The wall time of a tick, us since 1970; -1 for -1. */
int64_t server_wall_time(const server_t *s, int64_t ticks);

/* The tick of a wall time, us since 1970; 0 for what was before the first one. */
int64_t server_tick(const server_t *s, int64_t wall);

/* The same of a start that is estimated or promised; -1 also for one that is only there as what is lent is taken back for
 * ever: nobody counts on it.
 */
#define SERVER_FAR (INT64_C(3650) * 86400 * SERVER_SECOND)
int64_t server_start_time(const server_t *s, int64_t ticks);

/* A permanent copy of the name of a user or a queue. NULL with ENOMEM. */
const char *server_intern_name(server_t *s, const char *text);

/* Add a notice for the server's users. */
void server_notice(server_t *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Record an event. Takes ownership of data, also on failure; without memory the event is lost. */
void server_event(server_t *s, int64_t job, int64_t member, const char *kind, char *data);
void member_event(server_t *s, const struct job *job, uint32_t member, const char *kind,
                  char *data);

struct shared_text *shared_text_create(const char *text, size_t length);
void shared_text_release(struct shared_text *t);

/* ---- Parts of a turn ---- */

int server_load(server_t *s, berth_error_t *err); /* load.c */

/* Compare the stored runs with those of the engine, once it can list them (else do nothing): start those
 * that were about to start, and kill those that belong to no job. 0, or -1 with a text, and it must be
 * called again.
 */
int runs_reconcile(server_t *s, berth_error_t *err);

int server_pass(server_t *s, berth_error_t *err);  /* pass.c: a slice of the scheduling pass */
int server_write(server_t *s, berth_error_t *err); /* write.c: commit all that is unsaved */
void server_mark_saved(server_t *s);               /* it is durable */
void server_undo_submissions(server_t *s);         /* undo submissions that are not stored */
void work_run_slice(server_t *s);                  /* work.c: a slice of large requests */
int64_t work_due(const server_t *s);               /* the tick of the next slice */
void work_stored(server_t *s);                     /* finished requests are durable: answer them */
void work_failed(server_t *s, const berth_error_t *why);
void work_clear(server_t *s);
void server_run_timers(server_t *s);              /* stop.c: limits and grace periods */
int64_t server_next_turn(const server_t *s);      /* the tick of the next turn */
void run_arm_timer(server_t *s, struct run *run); /* set the timer for its next event */
void run_stop(server_t *s, struct run *run); /* send SIGTERM, or what the job asked for (stop.c) */
void run_stop_by_server(server_t *s, struct run *run); /* the same, on the server's own account */
/* Reserve room for `more` signals and for all that the server itself may send to its runs. */
int run_reserve_signals(server_t *s, size_t more);
/* When a run that is being stopped is killed, now at the earliest, in ticks; -1: it is not being stopped. */
int64_t run_killed_at(const server_t *s, const struct run *run);
void run_signal(server_t *s, struct run *run, int signal, bool tree);

/* Kill the engine's runs (keys ascending) that belong to no job (orphans.c). -1 with ENOMEM. */
int orphans_kill(server_t *s, const uint64_t *keys, size_t n);
void orphan_ended(server_t *s, uint64_t key); /* call it for each run that ends */

/* Why no member is started at present, or this one of a job is not, whose turn it may be; NULL: nothing is in its way. */
const char *server_pause_reason(const server_t *s, const struct job *job, const struct member *m);

/* A new run's key, above all that the engine remembers (pass.c). */
uint64_t server_next_key(server_t *s);

/* Note in an event and in its reason that a member is stopped for another job. And whether a text is such a reason, which
 * is read into the memory of another one (preempted.c).
 */
void preempted_note(server_t *s, struct job *job, uint32_t i, const struct sched_reason *why);
bool preempted_why(const char *reason, struct sched_reason *why, char text[SCHED_REASON_TEXT]);

/* Note in an event that another job, of which it is this member or -1, waits for the end of one that is stopped, too. */
void awaited_note(server_t *s, struct job *job, uint32_t i, int64_t by, int64_t member);

/* Handle an event of the engine (engine.c). */
void server_engine_event(server_t *s, const struct engine_event *e);

/* Retry deferred ends and undone starts, once that is due. */
void server_retry_ends(server_t *s);

/* Memory is too short for a start that the core has decided: put the member back, now or later. */
void member_undo_start(server_t *s, struct job *job, uint32_t i);

/* Memory is too short for the record of a member of which the core has decided something: a start is undone,
 * now or later, and a rejection is done later.
 */
void member_fall_behind(server_t *s, struct job *job, sched_job_t handle);

/* Give an unstarted member its handle back. */
void member_recover_handle(server_t *s, struct job *job, uint32_t i);

/* Requeue the member of a run that could not be stored, and so never reached the engine, with the reason.
 * Does nothing if memory is short.
 */
void run_undo_start(server_t *s, struct run *run, const char *why);

/* Have the next turn start a member. */
int start_enqueue(server_t *s, struct job *job, uint32_t member);

/* Note what a run holds by what the core knows of its member. */
void run_measure(server_t *s, struct run *run);

/* ---- Admitting jobs to the core (admit.c) ---- */

/* Admit a new job, and take the queue and duration that the core gives it. hold: it stays held until
 * released, whatever the job says. Returns 0, or -1 with a text and nothing changed.
 */
int admit_job(server_t *s, struct job *job, bool hold, berth_error_t *err);

/* The job's rank among jobs of equal priority. */
uint64_t job_order(const struct job *job);

void job_withdraw(server_t *s, struct job *job); /* remove a job from the core */

/* Pass a start to the engine (start.c). -1 with a text: it cannot be started. */
int run_start(server_t *s, struct run *run, berth_error_t *err);

/* Restore to the core the ended jobs that job `id` depends on (load_outcomes.c). *unknown is the first dependency
 * found neither in memory, nor in the store, nor in the same bulk submission; 0: none.
 */
int dependency_restore_ended(server_t *s, const char *dependency, int64_t id, int64_t *unknown);

/* The same of a job that is to depend on them; one that is not found is an error: 0, or -1 with errno and a text (admit.c). */
int dependency_restore(server_t *s, const char *dependency, int64_t job, berth_error_t *err);

/* Remove from a dependency the jobs that history has dropped: they have ended as required, or this job
 * would have ended with them. 0, or -1 with errno.
 */
int dependency_remove_dropped(server_t *s, char *dependency);

#endif
