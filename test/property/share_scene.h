/* Random scenes of a tree of shares beside its naive model. */
#ifndef PROPERTY_SHARE_SCENE_H
#define PROPERTY_SHARE_SCENE_H

#include "naive_share.h"
#include "random.h"

struct scene {
    struct naive_share m;
    struct share_tree *t;
    struct random r;
    int64_t now;
    int64_t largest;     /* amounts are up to this */
    int32_t heaviest;    /* weights are up to this */
    bool limits_lowered; /* somebody may have more than its capability now */
    uint64_t decisions;  /* a digest of all answers */
};

/* Make an empty tree, of small amounts, large ones, or such at the ends of the ranges. */
void scene_start(struct scene *s, uint64_t seed);

int64_t scene_draw(struct scene *s, int64_t low, int64_t high);
int64_t scene_draw_amount(struct scene *s);
void scene_draw_settings(struct scene *s, struct share_settings *set);
uint32_t scene_draw_leaf(struct scene *s); /* SHARE_NO_NODE: there is none but the root */

/* Steps, in the tree and in the model. */
void scene_add(struct scene *s);
void scene_job_comes(struct scene *s);
void scene_move(struct scene *s, uint32_t job, enum share_state to);

#endif
