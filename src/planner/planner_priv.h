/* How a planner is stored, for the files that change it (planner.c) and that ask it (planner_fit.c).
 *
 * A calendar with up to FEW_SPANS spans has no profile: a question builds the step function on the stack.
 * The first NEAR_SPANS spans are in the planner itself, so that most calendars are one allocation. The
 * load is kept, and not what is free, so that a change of the total changes nothing else.
 */
#ifndef PLANNER_PLANNER_PRIV_H
#define PLANNER_PLANNER_PRIV_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#include "berth/planner.h"
#include "planner/profile.h"
#include "planner/spans.h"

#pragma GCC visibility push(hidden)

enum {
    NEAR_SPANS = 2,
    FEW_SPANS = 4, /* 2 * FEW_SPANS + 1 <= PROFILE_VIEW_MAX */
    TYPE_ROOM = 24 /* with it a planner fills an allocation of 192 bytes */
};

_Static_assert(2 * FEW_SPANS + 1 <= PROFILE_VIEW_MAX, "few spans must fit a view");

/* The running earliest-fit iteration. */
struct query {
    int64_t on_or_after;
    int64_t from; /* candidates before this are done with; INT64_MAX: all are */
    uint64_t duration;
    int64_t request;
};

struct planner_t {
    int64_t start;
    int64_t end;
    int64_t total;
    int64_t counter; /* ids given out */
    int64_t visited; /* the span iteration's last id */
    struct query query;
    uint32_t n;    /* entries in the span table, removed ones included */
    uint32_t cap;  /* its capacity; the profile exists when it is over FEW_SPANS */
    uint32_t live; /* spans */
    bool querying;
    bool empty;        /* made by planner_new_empty and not assigned to since */
    bool type_apart;   /* type has its own allocation */
    uint8_t type_room; /* size of type_here */
    union {
        struct span near[NEAR_SPANS];
        struct {
            struct span *spans;
            struct profile profile;
        } far;
    };
    char *type;
    char type_here[];
};

static inline int planner_fail(int errnum)
{
    errno = errnum;
    return -1;
}

static inline bool planner_unusable(const planner_t *p)
{
    return !p || p->empty;
}

static inline struct span *planner_spans(const planner_t *p)
{
    return p->cap > NEAR_SPANS ? p->far.spans : (struct span *)p->near;
}

static inline bool planner_has_profile(const planner_t *p)
{
    return p->cap > FEW_SPANS;
}

/* A profile of few spans. */
const struct profile *planner_view(const planner_t *p, struct profile_view *view);

/* The profile to ask: the planner's own, or, for few spans, one made in *view. */
static inline const struct profile *planner_profile(const planner_t *p, struct profile_view *view)
{
    return planner_has_profile(p) ? &p->far.profile : planner_view(p, view);
}

/* The largest load under which `request` units are free; a request of none is always met. */
static inline int64_t planner_load_limit(const planner_t *p, int64_t request)
{
    return request == 0 ? INT64_MAX : p->total - request;
}

static inline int64_t planner_free_under(const planner_t *p, int64_t load)
{
    return load < p->total ? p->total - load : 0;
}

/* True if [at, at + duration) ends after the window; `at` must not be after its end. */
static inline bool planner_outlasts(const planner_t *p, int64_t at, uint64_t duration)
{
    return duration > (uint64_t)p->end - (uint64_t)at;
}

/* 0 if so many units are free throughout [at, at + duration); otherwise -1 with errno, the arguments being
 * checked in the order of the interface.
 */
int planner_free_during(const planner_t *p, int64_t at, uint64_t duration, uint64_t request);

#pragma GCC visibility pop

#endif
