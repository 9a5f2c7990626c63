#include "sched/reason_copy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TEXTS (SCHED_REASON_JOBS + SCHED_REASON_ROLES + 7)

/* Where the texts of a reason are pointed to; they may be NULL. */
static void list_texts(struct sched_reason *r, const char **text[TEXTS])
{
    size_t n = 0;
    for (size_t i = 0; i < SCHED_REASON_JOBS; i++)
        text[n++] = &r->job[i].id;
    for (size_t i = 0; i < SCHED_REASON_ROLES; i++)
        text[n++] = &r->role[i].name;
    text[n++] = &r->limit.what;
    text[n++] = &r->limit.account;
    text[n++] = &r->type;
    text[n++] = &r->queue;
    text[n++] = &r->user;
    text[n++] = &r->block;
    text[n] = &r->words;
}

size_t reason_size(const struct sched_reason *reason)
{
    struct sched_reason r = *reason;
    const char **text[TEXTS];
    size_t size = sizeof(r);
    list_texts(&r, text);
    for (size_t i = 0; i < TEXTS; i++)
        size += *text[i] ? strlen(*text[i]) + 1 : 0;
    return size;
}

struct sched_reason *reason_write(const struct sched_reason *reason, void *memory)
{
    struct sched_reason *r = memory;
    char *at = (char *)memory + sizeof(*r);
    const char **text[TEXTS];
    *r = *reason;
    list_texts(r, text);
    for (size_t i = 0; i < TEXTS; i++) {
        if (!*text[i])
            continue;
        size_t length = strlen(*text[i]) + 1;
        *text[i] = memcpy(at, *text[i], length);
        at += length;
    }
    return r;
}

static bool is_same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

bool reason_is_same(const struct sched_reason *a, const struct sched_reason *b)
{
    struct sched_reason x = *a, y = *b;
    const char **of_x[TEXTS], **of_y[TEXTS];
    bool same = x.kind == y.kind && x.limit.whose == y.limit.whose &&
                x.limit.most == y.limit.most && x.n_jobs == y.n_jobs && x.n_roles == y.n_roles &&
                x.singleton == y.singleton && x.others == y.others && x.at == y.at &&
                x.has == y.has && x.of == y.of && x.second == y.second &&
                x.gang.have == y.gang.have && x.gang.need == y.gang.need && x.may == y.may &&
                x.spare == y.spare;
    list_texts(&x, of_x);
    list_texts(&y, of_y);
    for (size_t i = 0; i < TEXTS && same; i++)
        same = is_same_text(*of_x[i], *of_y[i]);
    for (size_t i = 0; i < x.n_jobs && same; i++)
        same = x.job[i].member == y.job[i].member;
    for (size_t i = 0; i < x.n_roles && same; i++)
        same = x.role[i].have == y.role[i].have && x.role[i].need == y.role[i].need;
    return same;
}

struct sched_reason *sched_reason_copy(const struct sched_reason *reason)
{
    void *memory = malloc(reason_size(reason));
    if (memory)
        return reason_write(reason, memory);
    errno = ENOMEM;
    return NULL;
}
