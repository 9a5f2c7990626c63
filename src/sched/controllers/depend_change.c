/* A job waits for something else than before. */
#include <errno.h>

#include "base/errtext.h"
#include "sched/controllers/depend_priv.h"

/* Why a job must not wait for all that: 0, or -1 with EINVAL and a text. */
static int check_change(const struct entry *e, const struct needs *needs, const char *expression,
                        berth_error_t *err)
{
    for (uint32_t i = 0; i < needs->n; i++) {
        const struct edge *edge = &needs->edge[i];
        if (edge->verdict == VERDICT_OPEN && edge->entry->number > e->number)
            return errtext_set(err, EINVAL, "dependency %.100s: it was submitted after %.100s",
                               edge->entry->id.text, e->id.text);
    }
    return needs->never
               ? errtext_set(err, EINVAL, "dependency %.200s: it can never be met", expression)
               : 0;
}

/* Whether a job or array stands before it in its row. */
static bool is_behind_another(const struct depend *depend, uint32_t slot)
{
    const struct job *job = &depend->job[slot];
    uint32_t i = job->row ? slot : DEPEND_NONE;
    while (i != DEPEND_NONE && depend->job[i].entry == job->entry)
        i = depend->job[i].row_prev;
    return i != DEPEND_NONE;
}

int depend_change(struct depend *depend, uint32_t slot, const char *expression, berth_error_t *err)
{
    struct job *job = &depend->job[slot];
    struct needs *needs;
    if (depend_needs_create(depend, expression, job->entry->id.text, &needs, err) < 0)
        return -1;
    if (needs)
        depend_needs_link(needs);
    if (needs && check_change(job->entry, needs, expression, err) < 0) {
        depend_needs_destroy(depend, needs);
        errno = EINVAL;
        return -1;
    }
    depend_needs_destroy(depend, job->needs);
    job->needs = NULL;
    if (!needs)
        return 0;
    needs->slot = slot;
    needs->singleton = needs->singleton && is_behind_another(depend, slot);
    needs->unmet += needs->singleton;
    if (needs->unmet > 0)
        job->needs = needs;
    else
        depend_needs_destroy(depend, needs);
    return 0;
}
