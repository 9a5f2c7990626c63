/* The nodes of a tree of shares as they are told (berth/sched_shares.h). */
#ifndef SCHED_SHARES_TOLD_H
#define SCHED_SHARES_TOLD_H

#include <stddef.h>
#include <stdint.h>

#include "berth/sched_shares.h"

/* A node of the tree, by its number there. */
struct told_link {
    uint32_t first, next; /* below it, and beside it; SHARE_NO_NODE */
    uint32_t parent;
    uint32_t setup; /* of the setup the node that it is; SETUP_NONE: it is a user */
    size_t index;   /* among those that are told */
};

/* As sched_shares_now, of a scheduler that has shares; *link, by node, is the caller's to free. */
int shares_tell(sched_t *s, int64_t now, struct sched_share_report *report,
                struct told_link **link);

#endif
