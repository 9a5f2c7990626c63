/* Classes of waiting time, by which a picture colours jobs: no wait, and four spans of growing length. */
#ifndef REPORT_WAITCLASS_H
#define REPORT_WAITCLASS_H

#include <stdint.h>

#include "report/human.h"

#define WAITCLASS_COUNT 5

struct waitclass {
    int64_t
        bound[WAITCLASS_COUNT - 1]; /* class k holds waits below bound[k]; bound[0] is 1 second */
};

/* Choose bounds that divide the waits of a schedule, the longest of which is max_wait. */
struct waitclass waitclass_choose(int64_t max_wait);

int waitclass_of(const struct waitclass *classes, int64_t wait);

/* "none", "under 1h", "1h to 8h", "1d and more" */
char *waitclass_label(const struct waitclass *classes, int class, char buf[2 * HUMAN_SIZE]);

#endif
