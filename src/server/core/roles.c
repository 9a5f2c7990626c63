#include "server/core/roles.h"

#include <stdlib.h>
#include <string.h>

#include "config/members.h"
#include "server/core/members.h"

static bool read_role_name(struct json_part part, char name[SCHED_ROLE_NAME_MAX + 1])
{
    struct strbuf text = {0};
    bool is = json_part_text(part, &text) && text.len > 0 && text.len <= SCHED_ROLE_NAME_MAX;
    memcpy(name, strbuf_text(&text), is ? text.len + 1 : 0);
    strbuf_clear(&text);
    return is;
}

/* Returns whether it is one. */
static bool read_one(struct json_part object, uint32_t first, struct job_role *role)
{
    static const char *const keys[] = {"role", "count", "min", "nodes", "cores", "gpus", "tasks"};
    struct json_part v[7];
    int64_t number[7] = {0};
    json_find(object, keys, 7, v);
    for (size_t i = 1; i < 7; i++)
        if (!json_part_int(v[i], &number[i]) || number[i] < 0)
            return false;
    if (number[1] < 1 || number[1] > MEMBERS_MAX - first || number[2] > number[1])
        return false;
    *role = (struct job_role){.first = first,
                              .count = (uint32_t)number[1],
                              .min = (uint32_t)number[2],
                              .nodes = number[3],
                              .cores = number[4],
                              .gpus = number[5],
                              .tasks = number[6]};
    return read_role_name(v[0], role->name);
}

int job_roles_read(struct json_part list, struct job_roles **roles)
{
    struct json_part object, none;
    struct json_scan scan;
    struct job_roles *v;
    uint32_t first = 0;
    *roles = NULL;
    if (!list.at || !json_scan_begin(&scan, list))
        return 0;
    v = calloc(1, sizeof(*v) + SCHED_ROLES_MAX * sizeof(v->role[0]));
    if (!v)
        return -1;
    bool is = true;
    while (is && json_scan_next(&scan, &none, &object)) {
        is = v->n < SCHED_ROLES_MAX && read_one(object, first, &v->role[v->n]);
        first += is ? v->role[v->n++].count : 0;
    }
    if (is && v->n > 0) {
        *roles = v;
        return 0;
    }
    free(v);
    return 0;
}

struct json_part job_roles_part(struct json_part list, size_t i)
{
    struct json_part object = {0}, none;
    struct json_scan scan;
    if (!list.at || !json_scan_begin(&scan, list))
        return object;
    while (json_scan_next(&scan, &none, &object))
        if (i-- == 0)
            return object;
    return (struct json_part){0};
}

const struct job_role *job_role_of(const struct job *job, uint32_t member)
{
    for (size_t i = job->roles ? job->roles->n : 0; i-- > 0;)
        if (member >= job->roles->role[i].first)
            return &job->roles->role[i];
    return NULL;
}

void job_roles_count(const struct job *job, uint32_t succeeded[SCHED_ROLES_MAX])
{
    memset(succeeded, 0, SCHED_ROLES_MAX * sizeof(*succeeded));
    for (uint32_t i = 0; job->roles && (i = member_next_own(job, i)) < job->members; i++)
        if (member_record(job, i)->state == STORE_DONE)
            succeeded[job_role_of(job, i) - job->roles->role]++;
}

bool job_roles_short(const struct job_roles *roles, const struct idset *badly)
{
    for (size_t i = 0; i < roles->n; i++) {
        const struct job_role *role = &roles->role[i];
        if (idset_count_in(badly, role->first, role->count) > role->count - role->min)
            return true;
    }
    return false;
}

bool job_roles_enough(const struct job_roles *roles, const struct idset *succeeded)
{
    for (size_t i = 0; i < roles->n; i++) {
        const struct job_role *role = &roles->role[i];
        if (idset_count_in(succeeded, role->first, role->count) < role->min)
            return false;
    }
    return true;
}
