#include "share/class_select.h"

#include <stdlib.h>

#include "base/heap.h"

static int64_t next_size(const struct class_job *job)
{
    return job->sizes ? job->sizes[job->taken] : 1;
}

/* The first job in the heap has its next task started, or is out of the round. Returns what the task takes, 0
 * if there is none.
 */
static int64_t start_next_of_first(struct heap *h, struct class_job *jobs, int64_t units,
                                   uint64_t turn)
{
    uint32_t first = h->v[0].item;
    struct class_job *job = &jobs[first];
    int64_t size = next_size(job), running = h->v[0].key;
    if (size > units) {
        heap_take(h, first);
        return 0;
    }
    job->taken++;
    if (job->taken < job->waiting)
        heap_move(h, first, running + size, turn);
    else
        heap_take(h, first);
    return size;
}

int64_t class_select_starts(struct class_job *jobs, size_t n, int64_t units, uint32_t *order)
{
    struct heap h = {0};
    int64_t tasks = 0;
    for (size_t i = 0; i < n; i++)
        jobs[i].taken = 0;
    if (heap_reserve(&h, (uint32_t)n) < 0) {
        heap_clear(&h);
        return -1;
    }
    for (size_t i = 0; i < n; i++)
        if (jobs[i].waiting > 0)
            heap_put(&h, (uint32_t)i, jobs[i].running, i); /* there is room, so this can't fail */
    for (uint64_t turn = n; h.n > 0 && units > 0; turn++) {
        uint32_t first = h.v[0].item;
        int64_t size = start_next_of_first(&h, jobs, units, turn);
        if (size > 0)
            order[tasks++] = first;
        units -= size;
    }
    heap_clear(&h);
    return tasks;
}

static int by_start(const void *left, const void *right)
{
    const struct class_running *a = left, *b = right;
    if (a->started != b->started)
        return a->started > b->started ? -1 : 1;
    return a->id > b->id ? -1 : a->id < b->id;
}

int64_t class_select_stops(struct class_running *tasks, size_t n, int64_t units,
                           const struct class_stop_rule *rule)
{
    int64_t stopped = 0;
    if (n > 0)
        qsort(tasks, n, sizeof(*tasks), by_start);
    for (size_t i = 0; i < n; i++) {
        int64_t ran = rule->now - tasks[i].started;
        bool may = ran >= rule->shortest && (rule->longest == 0 || ran <= rule->longest);
        tasks[i].stop = may && tasks[i].units <= units - stopped;
        stopped += tasks[i].stop ? tasks[i].units : 0;
    }
    return stopped;
}
