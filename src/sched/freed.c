/* Fronts of notes (freed.h). */
#include "sched/freed.h"

#include <string.h>

/* Room for one more note: the two whose joining claims the least that is new to either, by `from`. */
static void front_tighten(struct front *front)
{
    size_t best = 0;
    for (size_t i = 1; i + 1 < front->n; i++)
        if (front->note[i].from - front->note[i + 1].from <
            front->note[best].from - front->note[best + 1].from)
            best = i;
    front->note[best].from = front->note[best + 1].from;
    memmove(&front->note[best + 1], &front->note[best + 2],
            (front->n - best - 2) * sizeof(front->note[0]));
    front->n--;
}

void front_add(struct front *front, struct note note)
{
    /* Those after `at` begin earlier. */
    size_t at = 0;
    while (at < front->n && front->note[at].from > note.from)
        at++;
    for (size_t i = at; i < front->n; i++)
        if (front->note[i].most >= note.most)
            return;
    size_t covered = at;
    while (covered > 0 && front->note[covered - 1].most <= note.most)
        covered--;
    size_t end = at < front->n && front->note[at].from == note.from ? at + 1 : at;
    memmove(&front->note[covered], &front->note[end], (front->n - end) * sizeof(note));
    front->n -= end - covered;
    at = covered;
    if (front->n == FRONT_MAX) {
        front_tighten(front);
        front_add(front, note);
        return;
    }
    memmove(&front->note[at + 1], &front->note[at], (front->n - at) * sizeof(note));
    front->note[at] = note;
    front->n++;
}

void front_join(struct front *front, const struct front *other)
{
    for (size_t i = 0; i < other->n; i++)
        front_add(front, other->note[i]);
}

int64_t front_match(const struct front *front, int64_t units, int64_t start)
{
    int64_t from = INT64_MAX;
    for (size_t i = 0; i < front->n; i++)
        if (units <= front->note[i].most && start > front->note[i].from &&
            front->note[i].from < from)
            from = front->note[i].from;
    return from;
}

size_t front_bounds(const struct front *front, struct queue_bound *bound)
{
    for (size_t i = 0; i < front->n; i++)
        bound[i] = (struct queue_bound){front->note[i].most, -front->note[i].from - 1};
    return front->n;
}
