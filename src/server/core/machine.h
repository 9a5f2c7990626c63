/* The machine, its queues and classes, its blocks and the nodes of pilots. */
#ifndef SERVER_CORE_MACHINE_H
#define SERVER_CORE_MACHINE_H

#include "server/core/state.h"

/* ---- The machine and its queues (machine.c) ---- */

/* Read the configuration; create the machine and the core. */
int machine_open(server_t *s, berth_error_t *err);
int machine_reload(server_t *s, berth_error_t *err);
/* Where the wall clock was set, move all blocks with it. 0, or -1 with ENOMEM: call it again. */
int machine_follow_clock(server_t *s);
const struct sched_queue_config *machine_queue(const server_t *s, const char *name);

/* The limit on processes and threads of a job with so many cores; 0: none. */
int64_t machine_processes(const server_t *s, int64_t cores);

/* ---- Classes of queues (classes.c) ---- */

/* The settings of a queue's classes, as set or else as configured, which the caller destroys. NULL with errno
 * (ENOENT: it has none) and a text.
 */
classes_t *settings_classes(const server_t *s, const char *queue, berth_error_t *err);

/* Replace members of them, as classes_save has them; and go back to what is configured. The next pass goes by that.
 * 0, or -1 with errno and a text, and nothing is changed.
 */
int settings_classes_change(server_t *s, const char *queue, json_t *changes, berth_error_t *err);
int settings_classes_remove(server_t *s, const char *queue, berth_error_t *err);

/* A configuration with the classes that were set, which needs to hold only while the core copies it. */
struct class_overlay {
    struct sched_config sched;
    struct sched_queue_config *queues;
    classes_t **settings; /* n */
    size_t n;
    struct class_lists {
        struct sched_class classes[CLASSES_MAX];
        struct sched_class_pattern patterns[CLASSES_REQUESTORS];
    } * memory;
};
int class_overlay_make(server_t *s, const struct sched_config *config, struct class_overlay *o,
                       berth_error_t *err);
void class_overlay_clear(struct class_overlay *o);

/* As sched_configure, with them. */
int classes_configure(server_t *s, const struct sched_config *config, berth_error_t *err);

/* Administrators' changes, kept across restarts. */
int settings_queue(server_t *s, const char *queue, bool enabled, bool started);
int settings_resources(server_t *s, const char *resources, const char *status, const char *reason);
void settings_of_queue(const server_t *s, const char *queue, bool *enabled, bool *started);

/* They have changed: the commit of this turn stores them. */
void settings_note_change(server_t *s);

/* ---- Blocks that administrators add (blocks.c) ---- */

/* Add a block to the settings and set it. It is an object with name, resources, start (us since 1970),
 * duration and every (us; 0: once) and lists of texts users, queues, jobs; a reference is kept. Returns 0, or
 * -1 with a text and nothing changed: EEXIST, there is one of that name; as sched_block.
 */
int settings_block_add(server_t *s, json_t *block, berth_error_t *err);

/* ENOENT: there is none; EEXIST: it is one of the configuration. */
int settings_block_remove(server_t *s, const char *name, berth_error_t *err);

/* Set those of the settings, after a start; after a reload, those that could not be set before, or all. */
void settings_apply_blocks(server_t *s, sched_t *sched);
void settings_retry_blocks(server_t *s, bool all);

/* Whether a configuration has none of their names: 0, or -1 with EEXIST and a text. */
int settings_check_blocks(const server_t *s, const struct config *config, berth_error_t *err);

/* What to add to the wall time of a block for its ticks, us: by the clocks as they are; as it was when the
 * server was closed, if that is about the same; and to go by that from now on.
 */
int64_t blocks_offset(const server_t *s);
void blocks_load_offset(server_t *s);
void blocks_set_offset(server_t *s, int64_t offset);

/* The wall time at which a block begins or ends, us since 1970, by its tick. */
int64_t blocks_wall_time(const server_t *s, int64_t ticks);

/* Add that to the starts of a configuration that was just read. */
void blocks_shift(struct config *config, int64_t by);

/* ---- Nodes of pilots (pilots.h has what requests need) ---- */

/* Count again what the machine has. -1 with ENOMEM and a text. */
int machine_measure(server_t *s, berth_error_t *err);

/* Bytes in a unit of memory: the configured machine's; where that lists none, MiB if nodes are lent, and else 0. */
int64_t machine_memory_unit(const server_t *s);

/* Put the nodes of the settings back into the machine, before the jobs; tell the engine which of their runs it
 * may hear of, once the jobs are there; and let nodes come, go up and down and leave as the engine has them.
 */
void pilots_attach(server_t *s);
int pilots_expect(server_t *s, berth_error_t *err);
void pilots_follow(server_t *s);

/* Whether a job that runs holds something of a pilot's node (pilots_expect.c). */
bool pilots_have(server_t *s, sched_job_t handle);

#endif
