/* What the files of scenes (queue_scene.h) share. */
#ifndef PROPERTY_QUEUE_INNER_H
#define PROPERTY_QUEUE_INNER_H

#include "queue_scene.h"

extern const char *const scene_users[], *const scene_queues[];

static inline int64_t scene_draw(struct scene *c, int64_t low, int64_t high)
{
    return random_between(&c->random, low, high);
}

static inline bool scene_chance(struct scene *c, int of)
{
    return scene_draw(c, 1, of) == 1;
}

/* Whether the last call is to be made again. */
extern bool scene_again;

/* Make a call of the core, as often as the test wants it; `failed` says whether it did. */
#define CALL(c, failed, call)                                                                      \
    do {                                                                                           \
        if ((c)->options.arm)                                                                      \
            (c)->options.arm(c);                                                                   \
        (call);                                                                                    \
        scene_again = (c)->options.again && (c)->options.again(c, failed);                         \
        SCENE_CHECK(c, !(c)->sched || sched_check((c)->sched));                                    \
    } while (scene_again)

/* Write to the log: a line; the queues and their limits. */
void scene_note(struct scene *c, const char *format, ...);
void scene_note_config(struct scene *c);

/* Submit a job, or an array of some. */
void scene_submit(struct scene *c);

/* ---- queue_draw.c: what is drawn ---- */

void scene_point_config(struct scene *c, struct scene_config *to);
void scene_draw_block(struct scene *c, struct scene_block *b, const char *name);
void scene_draw_config(struct scene *c, struct scene_config *to, struct scene_block *block);
void scene_draw_queue(struct scene *c, struct scene_config *to, int i);
void scene_draw_job(struct scene *c, struct scene_job *j);
void scene_draw_limit(struct scene *c, struct scene_job *j);
void scene_draw_machine(struct scene *c);

/* ---- queue_events.c: what happens ---- */

void scene_event(struct scene *c);

/* ---- queue_holding.c: what jobs hold, and what they may ---- */

void holding_read(const struct scene *c, struct holding *h, const char *text);
bool scene_in_part(const struct scene *c, int queue, int node);
bool holding_satisfies(const struct scene *c, const struct scene_job *j, const struct holding *h);
bool block_permits(const struct scene *c, const struct sched_block *b, const struct scene_job *j);
bool block_is_in_way(const struct sched_block *b, int64_t from, int64_t until);
void holding_check_blocks(const struct scene *c, const struct scene_job *j);
bool limit_rule_of(const struct sched_limit *own, size_t n_own, const struct sched_limit *other,
                   size_t n_other, const char *what, int64_t *most);
bool holding_over(const struct scene *c, const struct scene_job *j, const struct holding *h);
bool holding_over_job(const struct scene *c, const struct scene_job *j, const struct holding *h);
bool scene_limited(const struct scene *c, const struct scene_job *j);

/* Whether what is up could not run it, were it idle. */
bool scene_needs_down(const struct scene *c, const struct scene_job *j);

#endif
