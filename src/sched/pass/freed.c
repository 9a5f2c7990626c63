/* The log of what was freed (freed.h). */
#include "sched/pass/freed.h"

#include <string.h>

_Static_assert(FREED_MAX >= 2, "two notes become one");

void freed_add(struct freed *log, int64_t from, int64_t until)
{
    while (log->n > 0 && log->note[log->n - 1].from >= from) {
        log->n--;
        until = until > log->note[log->n].until ? until : log->note[log->n].until;
    }
    if (log->n ==
        FREED_MAX) { /* the oldest two: whoever has seen less believes the earlier instant */
        log->note[1].from = log->note[0].from;
        if (log->note[1].until < log->note[0].until)
            log->note[1].until = log->note[0].until;
        log->n--;
        memmove(&log->note[0], &log->note[1], log->n * sizeof(log->note[0]));
    }
    log->note[log->n].place = log->place++;
    log->note[log->n].from = from;
    log->note[log->n].until = until;
    log->n++;
}

int64_t freed_until(const struct freed *log, uint64_t place)
{
    int64_t until = INT64_MIN;
    for (size_t i = log->n; i > 0 && log->note[i - 1].place >= place; i--)
        until = until > log->note[i - 1].until ? until : log->note[i - 1].until;
    return until;
}

void freed_forget(struct freed *log, uint64_t place)
{
    size_t k = 0;
    while (k < log->n && log->note[k].place < place)
        k++;
    log->n -= k;
    memmove(&log->note[0], &log->note[k], log->n * sizeof(log->note[0]));
}
