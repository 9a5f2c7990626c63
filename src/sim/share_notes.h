/* What a scheduler says of shares, noted for a report (report/sharing.h). */
#ifndef SIM_SHARE_NOTES_H
#define SIM_SHARE_NOTES_H

#include "berth/sched.h"
#include "report/sharing.h"

/* Kept from one call to the next. All zeroes at first. */
struct share_notes {
    struct sharing_note *v;
    size_t cap;
};

void share_notes_clear(struct share_notes *notes);

/* Note the tree of shares as of now, in ticks of which so many are a second; nothing where there is none. Returns 0, or -1
 * with ENOMEM. O(nodes)
 */
int share_notes_take(struct share_notes *notes, sched_t *s, int64_t now, int64_t second,
                     struct sharing *sharing);

#endif
