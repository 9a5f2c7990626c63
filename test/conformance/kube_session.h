/* Sessions of kube-batch and Volcano, played by the scheduler: what kube_session.c and its parts share.
 *
 * A queue is a queue, or a division where it has queues below it; a job's tasks are jobs of a user who is
 * named as the job, so that jobs take turns as users do; tiers are orders. What cases name is numbered, so
 * that a resource becomes the type "r0", a node "node0".
 */
#ifndef CONFORMANCE_KUBE_SESSION_H
#define CONFORMANCE_KUBE_SESSION_H

#include "berth/match.h"
#include "berth/sched.h"
#include "berth/sched_config.h"
#include "kube.h"

enum tree_kind {
    TREE_FLAT,    /* queues only */
    TREE_PARENTS, /* by the queues' parents */
    TREE_PATHS    /* by the queues' paths (`hierarchy`) */
};

/* An inner node, or a queue's. */
struct kube_level {
    char *path;     /* its name, with those of all above it */
    uint32_t above; /* among levels, which come before it; UINT32_MAX: the machine */
    const struct kube_queue *queue; /* whose it is; NULL: of none */
    int64_t weight;
    bool is_leaf;
    struct share_settings settings;
    uint32_t node; /* in a tree */
};

struct kube_levels {
    struct kube_level *v;
    size_t n;
};

struct session {
    struct kube_world w;
    json_t *c;
    enum tree_kind kind;
    bool counts_pods; /* as a resource like others; else only on nodes */
    struct kube_levels levels;
    int64_t unit[SHARE_DIMENSIONS_MAX]; /* the scheduler counts in these */
    uint32_t pods;                      /* the dimension */
    bool *is_let_in;                    /* by job */
    bool *has_ended;                    /* by task: it was told to stop for another one */
    int64_t *began_on,
        *promised_on; /* by task: a node that it was given in the session; -1: none */
    bool *is_alone;   /* by task: it is submitted on its own, although its job is a gang */
    bool *has_tried;  /* by task: others were to be stopped for it, in vain */
    uint32_t *order;  /* tasks, those that come first first */
    sched_t *sched;
    match_t *machine;
};

/* Whether a plugin of the tiers has a function enabled. */
bool kube_enabled(const struct kube_world *w, const char *plugin, const char *function);

/* kube_tree.c: the levels, and trees of these in which a job's node is one of its own, or its queue's. NULL after
 * saying why.
 */
bool kube_make_levels(struct session *s);
void kube_clear_levels(struct session *s);

/* By capacity each queue is entitled to what it deserves by name, also where that is more than there is in all: then there
 * is a node with what is missing, all of which is in use by a task of nobody.
 */
void kube_add_what_is_deserved(struct session *s);

/* Whether queues above several say what these may have or are guaranteed, while each is asked alone what it deserves. */
bool kube_limits_several(const struct session *s);
struct share_tree *kube_tree(struct session *s, bool jobs);

/* kube_predicate.c: what a predicate of the test's own keeps apart needs the same device. False after saying why. */
bool kube_read_predicate(json_t *c);

/* kube_enqueue.c: which jobs are let in. False after saying why. */
bool kube_let_in(struct session *s);

/* kube_machine.c: the machine as a graph, and a task as a jobspec (to be freed). NULL: no memory. */
match_t *kube_machine(struct session *s);
char *kube_jobspec(const struct session *s, const struct kube_task *task);

/* kube_scores.c: by which match policy nodes come first, as much, little or evenly is in use of them, and of what (NULL:
 * nothing). `text` has room for 64 bytes; and for 12 for each resource.
 */
const char *kube_match_policy(const struct session *s, char *text, size_t size);
const char *kube_filters(const struct session *s, char *text, size_t size);

/* Have the nodes that tasks prefer first. Whether scores tell two nodes apart, as far as it is known. And why nodes don't
 * come first here as they are to; NULL: they do.
 */
void kube_order_nodes(struct session *s);
bool kube_tells_apart(const struct session *s, const struct kube_task *task,
                      const struct kube_node *a, const struct kube_node *b);
const char *kube_why_unscored(const struct session *s);

/* kube_config.c: queues, shares and order. `tasks_only`: with none of these yet. */
struct kube_config;
struct kube_config *kube_config(struct session *s, bool tasks_only);
const struct sched_config *kube_config_of(const struct kube_config *config);
void kube_config_free(struct kube_config *config);

/* A queue with this behind its name is its virtual queue of tasks for which nobody is stopped. */
#define KUBE_POLITE "-polite"

/* Whether a task has been on a node since before the session, and is of no job, or of one of no queue. */
bool kube_is_stray(const struct kube_task *task);

/* The queue of the configuration in which a task is; NULL: its queue has none as it has queues below it. */
const char *kube_queue_of(const struct session *s, const struct kube_task *task);

/* Whether an action is among those of the session. */
bool kube_has_action(const struct session *s, const char *name);

/* Whether by `preempt` or `reclaim` tasks may end for others: a plugin says which may, and in Volcano one that jobs are in
 * need.
 */
bool kube_may_stop(const struct session *s, const char *action);

/* kube_stops.c: whether jobs have others stopped for what they ask for beyond their min as well, or for their min alone
 * (neither: nobody is stopped). And whether a task is the system's own, which is stopped for nobody.
 */
bool kube_starves_beyond_min(const struct session *s);
bool kube_starves_below_min(const struct session *s);

/* Whether of a queue those end that have more than who waits; and whether also a lower priority. */
bool kube_takes_from_richer(const struct session *s);
bool kube_takes_by_both(const struct session *s);

/* Whether those that wait have others of their queue stopped whatever the priorities are: no plugin asks for these. */
bool kube_stops_equals(const struct session *s);
bool kube_is_critical(const struct session *s, const struct kube_task *task);

/* Whether what runs of a job beyond its min alone may be stopped for others. */
bool kube_keeps_min(const struct session *s, const struct kube_job *job);

/* Whether two tasks ask for the same. */
bool kube_are_alike(const struct kube_world *w, const struct kube_task *a,
                    const struct kube_task *b);

/* Whether all tasks of a job that wait ask for the same. */
bool kube_is_uniform(const struct session *s, const struct kube_job *job);

/* kube_roles.c: the roles of a gang whose tasks are not alike, and how many they are; 0: it can't be told by roles. Where
 * not all are to start, those that come first are. And a task's place among all of them. And whether a job has fewer tasks of a role than are to run, so that it never starts.
 */
struct kube_role {
    uint32_t first; /* task of it */
    uint32_t members, min;
};
uint32_t kube_roles(const struct session *s, const struct kube_job *job, struct kube_role *roles);
bool kube_lacks_role(const struct session *s, const struct kube_job *job);
uint32_t kube_place_by_role(const struct session *s, uint32_t task, const struct kube_role *roles,
                            uint32_t n);

/* How many tasks of a job are still to run for its min, beside those that have succeeded; and of these, beside those that
 * run, how many are missing. At least 0.
 */
int64_t kube_needs(const struct session *s, const struct kube_job *job);
int64_t kube_misses(const struct session *s, const struct kube_job *job);

/* Whether jobs that have their min go behind those that lack it, and no task is stopped for another: as a gang some of it
 * couldn't be.
 */
bool kube_go_by_gangs(const struct session *s);

/* Whether the tasks of a job that are missing are to start together. */
bool kube_starts_whole(const struct session *s, const struct kube_job *job);

/* Whether actions look at a task that waits. */
bool kube_is_looked_at(const struct session *s, const struct kube_task *task);

/* kube_ask.c: what a task is submitted with: on its own, or as a member of a gang. Its texts are to be freed. */
enum {
    KUBE_NOW = 2 /* when a session is: what runs has run for a while */
};

struct kube_ask {
    struct sched_request request;
    uint32_t member;
    char id[32];
    char *jobspec;
    char *queue;
    struct sched_role role[SCHED_ROLES_MAX];
    char name[SCHED_ROLES_MAX][16];
    char *role_jobspec[SCHED_ROLES_MAX];
};

/* False: its queue is none, or there is no memory. */
bool kube_ask_for(const struct session *s, uint32_t i, struct kube_ask *ask);
void kube_ask_clear(struct kube_ask *ask);

/* Whether a task is ending; whether it is a member of a gang; whether its job's gang has started, and whether that is so
 * although nothing of it runs.
 */
bool kube_is_ending(const struct kube_task *task);
bool kube_is_member(const struct session *s, const struct kube_task *task);
bool kube_is_up(const struct session *s, const struct kube_job *job);
bool kube_is_ready_idle(const struct session *s, const struct kube_job *job);

/* Of a job that has others stopped for one of its tasks, which are not alike: the one for which it is tried. NULL: it is no
 * such job, or all have been tried.
 */
const struct kube_task *kube_whose_turn(const struct session *s, const struct kube_job *job);

/* kube_play.c: have run what had started before the session, and then play its actions. False after saying why. */
bool kube_play(struct session *s);

/* kube_compare.c: what a session has come to with what is expected of it. */
enum outcome kube_compare(const struct session *s, json_t *expect);

/* Of a job that is to wait for at most so long, and of all that don't say ("1h", "3m30s"): seconds; 0: it doesn't say. */
int64_t kube_may_wait(const struct kube_job *job);
int64_t kube_may_all_wait(const struct session *s);

/* A session; and one whose end is in the case then, to begin another one with. */
enum outcome kube_session(json_t *c);
enum outcome kube_session_on(json_t *c);

#endif
