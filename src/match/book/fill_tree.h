/* The trees of fill.h: children of a group in order. A tree is a search tree by that order and a heap by numbers that
 * vertices have by their place, well mixed, so that it is as deep as a random one: O(log children) expected. It needs no
 * memory beside that of the fills.
 */
#ifndef MATCH_FILL_TREE_H
#define MATCH_FILL_TREE_H

#include <stdint.h>

#include "match/book/fill.h"

__extension__ typedef __int128 fill_wide;

/* Below 0 if x goes before y, given the scores to compare first; 0 if they are the same. */
int fill_order(const struct match *m, const struct fill *x, int64_t x_score, const struct fill *y,
               int64_t y_score);

/* Put a fill into the tree of its group, and take it out again. */
void fill_tree_put(struct match *m, uint32_t i);
void fill_tree_take(struct match *m, uint32_t i);

/* The first of a group, the one after another, and the first of the fullest that is at most so full, for pack; FILL_NONE. */
uint32_t fill_tree_first(const struct match *m, uint32_t group);
uint32_t fill_tree_next(const struct match *m, uint32_t i);
uint32_t fill_tree_at_most(const struct match *m, uint32_t group, int64_t full);

#endif
