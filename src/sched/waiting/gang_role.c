/* The roles of a gang: how a request tells of them, and how many of each are there. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sched/waiting/gang_array.h"

/* ---- Read ---- */

static bool is_good_role_name(const char *name)
{
    size_t n = name ? strlen(name) : 0;
    for (size_t i = 0; i < n; i++)
        if (!isalnum((unsigned char)name[i]) && !strchr("_-.", name[i]))
            return false;
    return n > 0 && n <= SCHED_ROLE_NAME_MAX;
}

static bool is_good(const struct sched_request *request, size_t i)
{
    const struct sched_role *role = &request->roles[i];
    for (size_t k = 0; k < i; k++)
        if (strcmp(request->roles[k].name, role->name) == 0)
            return false;
    return is_good_role_name(role->name) && role->jobspec && role->members >= 1 &&
           role->min <= role->members;
}

int gang_roles_read(const struct sched_request *request, struct sched_request *meant)
{
    uint64_t members = 0, min = 0;
    *meant = *request;
    if (request->n_roles == 0)
        return 0;
    bool is = request->n_roles <= SCHED_ROLES_MAX && !request->indices;
    for (size_t i = 0; is && i < request->n_roles; i++) {
        is = is_good_role_name(request->roles[i].name) && is_good(request, i);
        members += request->roles[i].members;
        min += request->roles[i].min;
    }
    if (!is || members < 2 || members > UINT32_MAX || min < 1 ||
        (request->members > 0 && request->members != members) ||
        (request->min > 0 && request->min != min)) {
        errno = EINVAL;
        return -1;
    }
    meant->members = (uint32_t)members;
    meant->min = (uint32_t)min;
    if (!request->jobspec) {
        meant->jobspec = request->roles[0].jobspec;
        meant->jobspec_length = request->roles[0].jobspec_length;
    }
    return 0;
}

int gang_texts_read(struct gang *gang, berth_error_t *err)
{
    for (uint32_t i = 0; i < gang->n_roles; i++)
        if (gang->role[i].text && shared_text_read(gang->role[i].text, err) < 0)
            return -1;
    return 0;
}

void gang_texts_rest(const sched_t *s, uint32_t slot)
{
    const struct gang *gang = gang_of(s, slot);
    for (uint32_t i = 0; gang && i < gang->n_roles; i++)
        if (gang->role[i].text)
            shared_text_rest(gang->role[i].text);
    shared_text_rest(s->jobs[slot].details->jobspec);
}

/* ---- Made ---- */

/* Returns 0, or -1 with ENOMEM. */
static int fill_role(sched_t *s, struct gang_role *role, const struct sched_role *from,
                     uint32_t first)
{
    *role = (struct gang_role){.first = first, .members = from->members, .min = from->min};
    role->name = queues_text(s->queues, from->name);
    role->text = shared_text_use(s->queues, from->jobspec, from->jobspec_length);
    return role->name && role->text ? 0 : -1;
}

struct gang *gang_create(sched_t *s, const struct sched_request *request, uint32_t size)
{
    size_t n = request->n_roles > 0 ? request->n_roles : 1;
    struct gang *gang = calloc(1, sizeof(*gang) + n * sizeof(gang->role[0]));
    if (!gang)
        return NULL;
    gang->min = request->min;
    gang->failure = request->failure;
    gang->first = gang->last = gang->leader = JOB_NONE;
    gang->n_roles = (uint32_t)n;
    gang->role[0] = (struct gang_role){.members = size, .min = request->min};
    for (size_t i = 0; i < request->n_roles; i++) {
        uint32_t first = i == 0 ? 0 : gang->role[i - 1].first + gang->role[i - 1].members;
        if (fill_role(s, &gang->role[i], &request->roles[i], first) == 0)
            continue;
        gang_destroy(s, gang);
        errno = ENOMEM;
        return NULL;
    }
    if (gang_array_join(s, gang, request) == 0)
        return gang;
    gang_destroy(s, gang);
    return NULL;
}

/* ---- Counted ---- */

struct gang_role *gang_role_of(struct gang *gang, uint32_t member)
{
    uint32_t low = 0, high = gang->n_roles;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        *(gang->role[middle].first <= member ? &low : &high) = middle;
    }
    return &gang->role[low];
}

struct shared_text *gang_text(const sched_t *s, uint32_t slot)
{
    const struct details *d = s->jobs[slot].details;
    struct gang *gang = gang_of(s, slot);
    struct shared_text *text = gang ? gang_role_of(gang, d->member)->text : NULL;
    return text ? text : d->jobspec;
}

uint32_t gang_missing(const struct gang *gang)
{
    uint32_t missing = 0;
    for (uint32_t i = 0; i < gang->n_roles; i++)
        missing += role_missing(&gang->role[i]);
    return missing;
}

const struct gang_role *gang_short_of(const struct gang *gang)
{
    for (uint32_t i = 0; i < gang->n_roles; i++)
        if (gang->role[i].running + gang->role[i].done < gang->role[i].min)
            return &gang->role[i];
    return NULL;
}

const struct gang_role *gang_lost_min(const struct gang *gang)
{
    for (uint32_t i = 0; i < gang->n_roles; i++)
        if (role_has(&gang->role[i]) < gang->role[i].min)
            return &gang->role[i];
    return NULL;
}

struct sched_reason gang_left_reason(const struct gang_role *role, uint64_t left)
{
    struct sched_reason why = {.kind = SCHED_REASON_GANG_LEFT};
    if (role->name) {
        why.role[why.n_roles++] = (struct sched_reason_role){role->name, (int64_t)left, role->min};
    } else {
        why.gang = (struct sched_reason_gang){(int64_t)left, role->min};
    }
    return why;
}

void gang_see_needed(sched_t *s, uint32_t slot, const struct idset *badly)
{
    const struct gang *gang = gang_of(s, slot);
    for (uint32_t i = 0; gang && gang->n_roles > 1 && i < gang->n_roles; i++) {
        const struct gang_role *role = &gang->role[i];
        uint64_t n = idset_count_in(badly, role->first, role->members) +
                     depend_ended_badly(s->queues->depend, slot, role->first, role->members);
        if (n > role->members - role->min)
            depend_need_all(s->queues->depend, slot);
    }
}

bool gang_leaves(const struct gang *gang)
{
    if (gang->stopping == 0)
        return false;
    for (uint32_t i = 0; i < gang->n_roles; i++)
        if (gang->role[i].stopping > 0 && role_has(&gang->role[i]) < gang->role[i].min)
            return true;
    return false;
}
