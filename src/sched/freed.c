/* The log of what was freed (freed.h). */
#include "sched/freed.h"

#include <string.h>

void freed_add(struct freed *log, int64_t from)
{
    while (log->n > 0 && log->note[log->n - 1].from >= from)
        log->n--;
    if (log->n ==
        FREED_MAX) { /* the oldest two: whoever has seen less believes the earlier instant */
        log->note[1].from = log->note[0].from;
        log->n--;
        memmove(&log->note[0], &log->note[1], log->n * sizeof(log->note[0]));
    }
    log->note[log->n].place = log->place++;
    log->note[log->n].from = from;
    log->n++;
}

void freed_forget(struct freed *log, uint64_t place)
{
    size_t k = 0;
    while (k < log->n && log->note[k].place < place)
        k++;
    log->n -= k;
    memmove(&log->note[0], &log->note[k], log->n * sizeof(log->note[0]));
}
