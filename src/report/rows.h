/* Which processors a job had, for a picture.
 *
 * The processors of a flat machine have no names, so a schedule only says how many a job takes. Here each
 * job gets the lowest gap that holds it in one piece, or else the lowest free processors in several
 * pieces.
 */
#ifndef REPORT_ROWS_H
#define REPORT_ROWS_H

#include "berth/error.h"
#include "report/schedule.h"

struct rows_piece {
    size_t job; /* index in the schedule */
    int64_t first, count;
};

struct rows {
    /* In order of start; the pieces of a job are consecutive, lowest first. */
    struct rows_piece *pieces;
    size_t n;
};

/* Assign at most max pieces. Returns 0; rows_clear frees them. Or -1 with errno and a text, *ret
 * empty: E2BIG if more would be needed, EINVAL if the schedule uses more processors than there are,
 * ENOMEM.
 */
int rows_assign(const struct schedule *schedule, size_t max, struct rows *ret, berth_error_t *err);

void rows_clear(struct rows *rows);

#endif
