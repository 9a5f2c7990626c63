#include "sched/waiting/gang_array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

struct gang_array {
    struct dict_entry entry;
    uint32_t gangs; /* that are known */
    uint32_t most, running;
    struct heap let;    /* gangs that wait and may go on, the last one first; */
    struct heap kept;   /* and others, the first one first */
    struct gang **gang; /* by number; those that are gone are never looked at */
    uint32_t numbers;
    size_t cap;
    struct gang_array **link,
        *next; /* in a list of those to be settled; link NULL: it is in none */
    char name[];
};

static struct gang_array *array_at(struct dict_entry *entry)
{
    return entry ? (struct gang_array *)((char *)entry - offsetof(struct gang_array, entry)) : NULL;
}

static struct gang_array *array_new(struct queues *n, const char *name, uint32_t most)
{
    size_t length = strlen(name);
    struct gang_array *a = NULL;
    if (dict_reserve(&n->gang_arrays) == 0)
        a = calloc(1, sizeof(*a) + length + 1);
    if (!a)
        return NULL;
    memcpy(a->name, name, length);
    a->entry = (struct dict_entry){.text = a->name, .length = length};
    a->most = most;
    dict_put(&n->gang_arrays, &a->entry);
    return a;
}

static void forget_settling(struct gang_array *a)
{
    if (!a->link)
        return;
    *a->link = a->next;
    if (a->next)
        a->next->link = a->link;
    a->link = NULL;
}

static void settle_later(sched_t *s, struct gang_array *a)
{
    struct gang_array **first = &s->queues->due_arrays;
    if (a->link)
        return;
    a->next = *first;
    a->link = first;
    if (a->next)
        a->next->link = &a->next;
    *first = a;
}

static void array_free(struct queues *n, struct gang_array *a)
{
    if (a->gangs > 0)
        return;
    forget_settling(a);
    dict_take(&n->gang_arrays, &a->entry);
    heap_clear(&a->let);
    heap_clear(&a->kept);
    free(a->gang);
    free(a);
}

int gang_array_join(sched_t *s, struct gang *gang, const struct sched_request *request)
{
    struct queues *n = s->queues;
    const char *name = request->gangs;
    if (!name || request->gangs_at_once == 0)
        return 0;
    struct gang_array *a = array_at(dict_find(&n->gang_arrays, name, strlen(name)));
    if (!a)
        a = array_new(n, name, request->gangs_at_once);
    if (!a ||
        array_grow((void **)&a->gang, &a->cap, (size_t)a->numbers + 1, sizeof(*a->gang)) < 0 ||
        heap_reserve(&a->let, a->numbers + 1) < 0 || heap_reserve(&a->kept, a->numbers + 1) < 0) {
        if (a)
            array_free(n, a);
        errno = ENOMEM;
        return -1;
    }
    gang->array = a;
    gang->place = (struct gang_place){.number = a->numbers, .may_go = true};
    a->gang[a->numbers++] = gang;
    a->gangs++;
    return 0;
}

/* ---- Its place ---- */

static void leave_place(struct gang *gang)
{
    struct gang_array *a = gang->array;
    a->running -= gang->place.stands == GANG_RUNS;
    if (gang->place.stands == GANG_WAITS)
        heap_take(gang->place.may_go ? &a->let : &a->kept, gang->place.number);
}

static void take_place(struct gang *gang)
{
    struct gang_array *a = gang->array;
    const struct gang_place *p = &gang->place;
    a->running += p->stands == GANG_RUNS;
    if (p->stands == GANG_WAITS &&
        p->may_go) /* there is memory for it, as gang_array_join has seen to */
        heap_put(&a->let, p->number, p->priority, ~p->order);
    else if (p->stands == GANG_WAITS)
        heap_put(&a->kept, p->number, ~p->priority, p->order);
}

void gang_array_leave(sched_t *s, struct gang *gang)
{
    struct gang_array *a = gang->array;
    if (!a)
        return;
    leave_place(gang);
    gang->array = NULL;
    a->gangs--;
    settle_later(s, a);
    array_free(s->queues, a);
}

void gang_array_changed(sched_t *s, uint32_t slot)
{
    struct gang *gang = gang_of(s, slot);
    if (gang && gang->array)
        gang_due(s, gang);
}

/* What a gang does now, and its place if it waits. O(its slots x roles). */
static struct gang_place place_now(const sched_t *s, const struct gang *gang)
{
    struct gang_place now = {.number = gang->place.number, .may_go = true, .priority = INT64_MIN};
    if (gang->running > 0)
        now.stands = GANG_RUNS;
    for (uint32_t i = gang->first; i != JOB_NONE && now.stands != GANG_RUNS;
         i = s->jobs[i].details->gang_behind) {
        const struct job *job = &s->jobs[i];
        if (job->state == SCHED_RESERVED && job->is_preempting)
            now.stands = GANG_RUNS;
        if (!job_is_waiting(job) || job->details->blocked & GANG_AWAY)
            continue;
        now.stands = now.stands == GANG_RUNS ? GANG_RUNS : GANG_WAITS;
        now.order = job->details->of->order;
        if (job->details->priority > now.priority)
            now.priority = job->details->priority;
    }
    if (now.stands == GANG_WAITS && (gang->is_over || !gang_has_enough_free(s, gang)))
        now.stands = GANG_ABSENT;
    return now;
}

void gang_array_see(sched_t *s, struct gang *gang)
{
    if (!gang->array)
        return;
    struct gang_place now = place_now(s, gang);
    if (gang->place.stands == GANG_WAITS && now.stands == GANG_WAITS)
        now.may_go = gang->place.may_go;
    leave_place(gang);
    gang->place = now;
    take_place(gang);
    settle_later(s, gang->array);
}

/* ---- Whose turn it is ---- */

static void change_turn(sched_t *s, struct gang_array *a, const struct heap *from)
{
    struct gang *gang = a->gang[from->v[0].item];
    leave_place(gang);
    gang->place.may_go = !gang->place.may_go;
    take_place(gang);
    gang_due(s, gang);
}

/* Whether the first of those that are kept goes before the last of those that may go on. */
static bool is_out_of_order(const struct gang_array *a)
{
    const struct heap_entry *kept = a->kept.v, *let = a->let.v;
    if (a->let.n == 0 || a->kept.n == 0)
        return false;
    return ~kept->key != let->key ? ~kept->key > let->key : kept->order < ~let->order;
}

static void settle_array(sched_t *s, struct gang_array *a)
{
    while (a->let.n > 0 && (uint64_t)a->let.n + a->running > a->most)
        change_turn(s, a, &a->let);
    while (a->kept.n > 0 && (uint64_t)a->let.n + a->running < a->most)
        change_turn(s, a, &a->kept);
    while (is_out_of_order(a)) {
        change_turn(s, a, &a->let);
        change_turn(s, a, &a->kept);
    }
}

void gang_arrays_settle(sched_t *s)
{
    while (s->queues->due_arrays) {
        struct gang_array *a = s->queues->due_arrays;
        forget_settling(a);
        settle_array(s, a);
    }
}

bool gang_is_of_array(const struct gang *gang)
{
    return gang->array != NULL;
}

bool gang_waits_turn(const struct gang *gang)
{
    return gang->array && !gang->place.may_go;
}

const char *gang_array_name(const struct gang *gang, uint32_t *most)
{
    *most = gang->array ? gang->array->most : 0;
    return gang->array ? gang->array->name : NULL;
}
