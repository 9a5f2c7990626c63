/* Cases of kube-batch and Volcano, played through the tree of shares: what kube_*.c share. */
#ifndef CONFORMANCE_KUBE_H
#define CONFORMANCE_KUBE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "share/tree.h"

enum outcome {
    PASSED,
    PASSED_EQUAL, /* the case records an arbitrary choice among equals, and Berth's is another of them */
    FAILED,
    LEFT_OUT
};

/* The resources that a case names: thousandths of a cpu, bytes of memory, thousandths of others but pods. */
struct kube_names {
    const char *name[SHARE_DIMENSIONS_MAX];
    uint32_t n;
};

struct kube_queue {
    json_t *is;
    const char *name, *parent; /* parent: "" where there is none */
    uint32_t node;             /* in the tree */
    struct share_settings settings;
    bool open;
};

struct kube_node {
    json_t *is;
    const char *name;
    int64_t there_is[SHARE_DIMENSIONS_MAX];
};

struct kube_job {
    json_t *is;
    const char *name, *phase;
    struct kube_queue *queue;            /* NULL: not there */
    int64_t least[SHARE_DIMENSIONS_MAX]; /* asked for before it is let in */
    int64_t min_available, priority;
    bool asks;     /* `least` is given */
    uint32_t node; /* in the tree, below its queue's; SHARE_NO_NODE: it is in none */
};

struct kube_task {
    json_t *is;
    const char *name, *status, *node; /* node: "" where there is none, or none of the case */
    struct kube_job *job;             /* NULL: not there */
    int64_t request[SHARE_DIMENSIONS_MAX];
    int64_t priority;
};

/* What a case begins with. Texts belong to the case. */
struct kube_world {
    struct kube_names names;
    json_t *tiers; /* lists of plugins */
    struct kube_queue *queues;
    struct kube_node *nodes;
    struct kube_job *jobs;
    struct kube_task *tasks;
    size_t n_queues, n_nodes, n_jobs, n_tasks;
    int64_t total[SHARE_DIMENSIONS_MAX];
};

/* kube_shape.c: whether a case is as what plays it expects, and has these members, of which the last is NULL. If not,
 * `why` says what is wrong.
 */
bool kube_check_shape(json_t *c, const char *const *members, char *why, size_t room);

/* kube_known.c: print a line for each member of a session's objects that is none that they may have, and isn't looked at; and
 * whether its words are those that there are. If not, `why` says which one isn't.
 */
void kube_name_unknown(json_t *c);
bool kube_check_words(json_t *c, char *why, size_t room);

/* kube_read.c: read a case. False after saying why: it names more resources than a tree has dimensions, or there is more of
 * one than a tree counts.
 */
bool kube_read(struct kube_world *w, json_t *c);
void kube_clear(struct kube_world *w);

/* The plugin in the tiers of a case, or NULL. */
json_t *kube_plugin(const struct kube_world *w, const char *name);

/* True if tasks of this status have what they ask for. */
bool kube_has_started(const char *status);

const char *kube_text(json_t *object, const char *key);

/* The ids of n things as text, as R has them: "0", "0-7". n > 0. Returns `text`. */
const char *kube_ids(int64_t n, char *text, size_t size);

/* An integer member of an object, brought into the range of those that a double has exactly, or what it is without. */
int64_t kube_integer(json_t *object, const char *key, int64_t otherwise);

/* Have an amount for each resource, from a request ("cpu", ...) or from a vector of results ("milli_cpu",
 * "scalars", ...), and what it is where a resource is not named.
 */
void kube_amounts(const struct kube_names *names, json_t *amounts, int64_t otherwise, int64_t *out);

/* Add the resources that a vector names. False if there are too many. */
bool kube_add_names(struct kube_names *names, json_t *amounts);

/* What tasks of a job have, by status: those that have started, or those that wait. */
void kube_sum(const struct kube_world *w, const struct kube_job *job, bool started, int64_t *sum);

/* Whether a task has been on a node since before the session. */
bool kube_runs(const struct kube_task *task);

/* kube_votes.c: whether a job is let in: by the votes of the first tier in which a plugin that is asked has a say, all of
 * which are to be for it. `vote` is asked of each of these, by its name.
 */
enum kube_vote { KUBE_HAS_NO_SAY, KUBE_IS_FOR, KUBE_IS_AGAINST };
typedef enum kube_vote (*kube_voter)(void *of, const char *plugin);
bool kube_votes_admit(const struct kube_world *w, kube_voter vote, void *of);

/* kube_admit.c: what a job counts with in its queue; what is used and reserved in all. */
void kube_counted(const struct kube_world *w, const struct kube_job *job, int64_t *sum);
void kube_used(const struct kube_world *w, int64_t *used);

/* What may be let in by the plugin `overcommit`; whether an amount is within a limit besides
 * what is taken; and whether it is within the quotas of the job's name space, besides what is taken there.
 */
void kube_overcommit(const struct kube_world *w, json_t *plugin, int64_t *limit);
bool kube_admits(const struct kube_world *w, const int64_t *asked, const int64_t *taken,
                 const int64_t *limit);
bool kube_quotas_admit(const struct kube_world *w, json_t *quotas, const struct kube_job *job,
                       const int64_t *taken);

/* Say what is wrong with the case at hand. Returns FAILED. */
enum outcome kube_wrong(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* What plays a case of one kind. */
enum outcome kube_proportion_deserved(json_t *c);
enum outcome kube_queue_share(json_t *c);
enum outcome kube_enqueueable(json_t *c);
enum outcome kube_seed_scenario(json_t *c);
enum outcome kube_multi_cycle(json_t *c);
enum outcome kube_victim_count(json_t *c);
enum outcome kube_victim_tiers(json_t *c);
enum outcome kube_plugin_order(json_t *c);
enum outcome kube_job_readiness(json_t *c);

#endif
