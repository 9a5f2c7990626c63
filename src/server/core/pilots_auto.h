/* Pilots that the server wants by itself: the rule, what it goes by, and what follows (pilot/plan.h).
 *
 * The rule is that of the last command, or else of the configuration. It is kept with the pilots in the settings:
 *
 *     "auto": {"rule": {...} or false: a command ended it; absent: as configured
 *              "node": {"cores", "gpus", "memory"}: as the last node was that came, "made": of how many kinds so far,
 *              "spent": us of nodes, of pilots that are over,
 *              "failures", "failed_at", "refused": asks in a row that came to nothing, and why the last did}
 *
 * The server asks nobody itself: `berth pilot watch` looks at the plan, asks Slurm, and tells what came of it.
 */
#ifndef SERVER_CORE_PILOTS_AUTO_H
#define SERVER_CORE_PILOTS_AUTO_H

#include "pilot/plan.h"
#include "server/core/pilots.h"

struct auto_rule {
    struct pilot_rule rule;          /* ticks, bytes */
    const char *partition, *options; /* NULL: none */
    bool is_configured;              /* else a command's */
};

/* The rule; false: there is none. Its texts are valid until the next auto_rule_set or reload of the configuration. */
bool auto_rule_get(const server_t *s, struct auto_rule *rule);

/* Set it, NULL: have none, whatever is configured. 0, or -1 with ENOMEM. */
int auto_rule_set(server_t *s, const struct auto_rule *rule);

/* An ask was refused or has come to nothing: why. 0, or -1 with ENOMEM. */
int auto_failed(server_t *s, const char *why);

/* The state that is kept; NULL: none. */
const json_t *auto_state(const server_t *s);

/* What waits and is there. */
struct auto_look {
    struct pilot_case in;
    struct pilot_plan plan;
    struct pilot_want *want;
    struct auto_of {
        const struct job *job;
        bool alone; /* the want is one member, `member`; else those that wait in the job's entry */
        uint32_t member;
    } * of; /* of each want */
    struct pilot_seen *pilot;
    struct pilot_node *node;
    size_t cap_wants, cap_of, cap_pilots, cap_nodes;
};

#define AUTO_LOOK_MOST 5000 /* jobs that wait, the first ones, that a plan goes by */

/* Make a plan by a rule, and note which pilots are of use. Clear it in any case; then the rule need not be there any
 * more. 0, or -1 with ENOMEM. O(pilot_plan + vertices + what runs hold).
 */
int auto_look(server_t *s, const struct pilot_rule *rule, struct auto_look *look);
void auto_look_clear(struct auto_look *look);

/* What becomes of a member that waits; NULL: the plan does not go by it. */
const struct pilot_verdict *auto_verdict(const struct auto_look *look, const struct job *job,
                                         uint32_t member);

/* Keep what becomes of jobs, for listings; and what it is of a member that waits (-1: its job is none of an array), in
 * brief: "pilot 3: Priority". False: nothing is known of it, or nodes that are up will do.
 */
void auto_keep(server_t *s, const struct auto_look *look);
bool auto_reason(const server_t *s, int64_t id, int64_t member, char text[SCHED_REASON_TEXT]);

/* ---- What pilots.c tells ---- */

/* A node of a pilot has come for the first time; a pilot goes. */
void auto_joined(server_t *s, json_t *pilot, const json_t *node);
void auto_gone(server_t *s, const json_t *pilot);

/* ---- Nodes that may come (pilots_spare.c) ---- */

/* Have as many nodes in the machine, all down, as pilots may bring, PILOT_NODES_MOST of those added by hand, so that jobs
 * which only fit there can wait for them. Call it when the rule, what a node has, or a pilot may have changed. O(pilots)
 * where nothing has, else O(vertices) for each that has.
 */
void spares_follow(server_t *s);

/* Whether there are any. */
bool spares_are(const server_t *s);

/* Whether nodes of a pilot that have not come are in the machine. */
bool pilot_counts(const server_t *s, int64_t pilot);

#endif
