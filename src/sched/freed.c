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

int64_t freed_since(const struct freed *log, uint64_t place)
{
    if (log->n == 0 || log->note[log->n - 1].place < place)
        return INT64_MAX;
    size_t i = 0; /* the last one's place is late enough */
    while (log->note[i].place < place)
        i++;
    return log->note[i].from;
}

void freed_forget(struct freed *log, uint64_t place)
{
    size_t k = 0;
    while (k < log->n && log->note[k].place < place)
        k++;
    log->n -= k;
    memmove(&log->note[0], &log->note[k], log->n * sizeof(log->note[0]));
}
