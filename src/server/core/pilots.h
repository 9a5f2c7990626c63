/* Pilots: jobs of another scheduler's in which agents lend their nodes, and these nodes in the machine.
 *
 * They are kept in the settings:
 *
 *     "pilots": {"made": the highest number ever used,
 *                "list": [{"pilot", "kind", "nodes", "options", "tag", "job", "ending", "since", "slurm", "reason", "start",
 *                          "node": {"cores", "gpus", "memory"}: what each of its nodes has at least; absent: unknown,
 *                          "came": how many of them have come so far}],
 *                "nodes": [{"id", "pilot", "name", "vertex", "job", "end", "memory", "cores": [CPUs], "gpus": [names],
 *                           "given_up", "properties"}]}
 *
 * A node that another scheduler rules (engine.h) is one of them, of pilot 0; only it has properties.
 *
 * A node is in the machine from its first hello until it has left and no job holds anything of it.
 */
#ifndef SERVER_CORE_PILOTS_H
#define SERVER_CORE_PILOTS_H

#include "server/core/state.h"

struct graph;

#define PILOTS_MOST 1000 /* at a time */

/* A new pilot, whose agents are let in. `options` are shown to people; by `tag` its job is told from others. `folder`
 * has room for PATH_MAX bytes. Returns it, or NULL with errno and a text.
 */
json_t *pilot_add(server_t *s, const char *kind, int64_t nodes, const char *options,
                  const char *tag, char *folder, berth_error_t *err);

/* The pilot of a number, or NULL. */
json_t *pilot_find(const server_t *s, int64_t pilot);

/* Start nothing more on its nodes; it goes once they have left. `lost`: it is certain that nothing of it runs any
 * more. 0, or -1 with ENOMEM.
 */
int pilot_drain(server_t *s, json_t *pilot);
void pilot_remove(server_t *s, json_t *pilot, bool lost);

/* What Slurm says of its job; NULL, and -1 of a time: nothing new. */
struct pilot_told {
    const char *job, *slurm, *reason; /* its number; its state and why it waits, in Slurm's words */
    int64_t start, end;               /* us since 1970; 0: unknown */
    const char *given_up; /* nodes that are no longer in it, though what runs there may go on */
    const char *lost;     /* nodes on which nothing runs any more */
    bool over;            /* there is no job any more: it goes when its nodes have */
};

/* Follow that. 0, or -1 with ENOMEM, or EINVAL for a list of nodes that is none (pilots_told.c). */
int pilot_told(server_t *s, json_t *pilot, const struct pilot_told *told);

/* Nothing runs any more on a node that is not heard of, by its name in the machine: what ran there is lost. 0, or -1
 * with EINVAL and a text: there is no such node, or it is heard of.
 */
int pilots_lose(server_t *s, const char *vertex, berth_error_t *err);

/* It has no job any more: without nodes it goes now. */
void pilot_end(server_t *s, int64_t pilot);

/* Set aside the nodes of all pilots for the time after they are taken back, as far as that is known; and for how many
 * ends there may be blocks (pilots_ends.c).
 */
void pilots_block_ends(server_t *s);
size_t pilots_blocks_left(const server_t *s);

/* The part of the settings, made if need be. NULL with ENOMEM. */
json_t *pilots_all(server_t *s);

/* Whether it has nodes in the machine; and whether a job holds something of one. */
bool pilot_has_nodes(const server_t *s, int64_t pilot);
bool pilots_node_held(server_t *s, const json_t *node);

/* All pilots, and all nodes, or NULL. */
json_t *pilots_list(const server_t *s);
json_t *pilots_nodes(const server_t *s);

/* The node of a pilot with this name in the machine, or NULL. */
const json_t *pilots_node_named(const server_t *s, const char *vertex);

/* ---- For pilots.c and ruled.c ---- */

/* A node by its id, which is probably the i-th: the engine tells them in the same order each time. */
json_t *pilots_find_near(const server_t *s, const char *id, size_t i);

/* Note its status, unless it has that. */
void pilots_set_status(server_t *s, json_t *node, enum resource_status status);

/* What an administrator has said of it; else RESOURCE_UP. */
enum resource_status pilots_status_said(const server_t *s, const json_t *node);

/* Texts as an array. NULL with ENOMEM. */
json_t *pilots_list_of(char *const *texts, size_t n);

/* The same with nodes that another scheduler rules, in one change of the machine. */
int ruled_attach(server_t *s, json_t *const *nodes, size_t n, berth_error_t *err);

/* Let all of a list join that are not there yet; and put those back that the settings have (ruled.c). */
void ruled_join_new(server_t *s, const struct engine_node *nodes, size_t n);
void ruled_attach_all(server_t *s);

/* Take over what is told of a node that another scheduler rules; it is number `at` of those that are told (ruled.c). */
void ruled_follow(server_t *s, const struct engine_node *from, size_t at);

/* All n that are told of have been followed. Where there are any, the others that another scheduler ruled have left, while there
 * was no server, say. O(n), and O(n * nodes) where some have.
 */
void ruled_follow_absent(server_t *s, const struct engine_node *nodes, size_t n);

/* Drop the nodes that none of the present engines has. */
void ruled_forget_others(server_t *s);

/* Why such a node is not in use; NULL: that is not known, or it is none. */
const char *ruled_reason(const server_t *s, const char *vertex, bool *drained);

/* Whether a node (NULL: none) is such a one. */
bool node_is_ruled(const json_t *node);

/* ---- */

/* Whether it is connected. */
bool pilots_node_up(const server_t *s, const char *id);

/* A graph (JGF) of the way to n new nodes and of these; of the way to n that another scheduler rules; and to n others without
 * a pilot that have what `node` has, named "BASE-0", ... NULL with ENOMEM (pilot_graph.c).
 */
char *pilot_graph(const server_t *s, json_t *const *nodes, size_t n);
char *ruled_graph(const server_t *s, json_t *const *nodes, size_t n);
char *spare_graph(const server_t *s, const json_t *node, const char *base, int64_t n);

/* Whether a vertex is a node, or of a node, that only may come. */
bool graph_is_spare(const struct graph *g, uint32_t vertex);

/* Whether something of the machine has this name (pilot_graph.c). */
bool pilot_name_taken(const server_t *s, const char *vertex);

/* The same of the names of n nodes, or one before it in the list has its name. 0, or -1 with ENOMEM. O(vertices + n). */
int pilot_names_taken(const server_t *s, const struct engine_node *const *nodes, size_t n,
                      bool *taken);

#endif
