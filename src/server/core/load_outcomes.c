/* Dependencies on what has ended: the core learns of it when the store is loaded, and when a job is submitted. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "berth/sched_snapshot.h"
#include "server/core/bulk.h"
#include "server/core/load.h"
#include "server/core/members.h"
#include "server/core/priv.h"
#include "server/core/roles.h"

/* What a job's members have come to, for those that depend on it. */
struct outcomes {
    struct idset ok, failed;
    const struct job_roles *roles; /* of its gang; NULL */
    bool is_short;                 /* one of them has too few left */
};

/* Of those in a range that exist. */
static int outcome_add(struct outcomes *o, uint32_t first, uint32_t last, enum store_state state)
{
    return idset_add_range(state == STORE_DONE ? &o->ok : &o->failed, first, last);
}

/* Tell the core; the outcomes are cleared. Returns 0, or -1 with errno. */
static int outcomes_restore(server_t *s, const char *id, uint32_t members, const char *indices,
                            struct outcomes *o)
{
    struct strbuf ok = {0}, failed = {0};
    struct idset all = {0};
    bool lacks = indices && (idset_decode_steps(&all, indices, strlen(indices), NULL) < 0 ||
                             idset_pick(&o->ok, &all) < 0 || idset_pick(&o->failed, &all) < 0);
    idset_clear(&all);
    failed.failed = lacks;
    idset_encode_steps(&o->ok, &ok);
    idset_encode_steps(&o->failed, &failed);
    o->is_short = o->roles && job_roles_short(o->roles, &o->failed);
    struct sched_ended ended = {.id = id, .members = members, .indices = indices};
    ended.ok = strbuf_text(&ok);
    ended.failed = strbuf_text(&failed);
    int rc = -1;
    if (members == 1)
        rc = sched_restore_ended(s->sched, id, 0, 1, o->ok.n > 0);
    else if (!ok.failed && !failed.failed)
        rc = sched_restore_ended_members(s->sched, &ended);
    int saved = ok.failed || failed.failed ? ENOMEM : errno;
    strbuf_clear(&ok);
    strbuf_clear(&failed);
    idset_clear(&o->ok);
    idset_clear(&o->failed);
    errno = saved;
    return rc < 0 && errno != EINVAL ? -1 : 0;
}

/* Read what the members of a stored job have come to. Returns 0, or -1 with errno. */
static int read_outcomes(server_t *s, int64_t id, struct outcomes *o)
{
    struct store_member member;
    struct store_cursor *cursor = store_find_members(s->store, id, NULL);
    int rc = cursor ? 1 : -1;
    while (rc > 0) {
        rc = store_next(cursor, NULL, &member, NULL);
        uint32_t last = member.last > member.member ? member.last : member.member;
        if (rc < 0 && errno == EAGAIN)
            rc = 1;
        else if (rc > 0 && outcome_add(o, member.member, last, member.state) < 0)
            rc = -1;
    }
    int saved = errno;
    store_cursor_close(cursor);
    errno = saved;
    return rc;
}

/* A gang whose others go on has ended well where enough of its members have. */
static void restore_enough(server_t *s, const char *id, struct job_gang gang, bool is_short)
{
    if (gang.min > 0 && !is_short && gang.failure != SCHED_FAIL_ALL)
        sched_restore_enough(s->sched, id, gang.min);
}

/* Restore the ended members of a stored job. 1: done; 0: there is no such job; -1. */
static int restore_ended_members(server_t *s, int64_t id, const char *name)
{
    struct store_job job;
    struct outcomes o = {0};
    if (store_read_job(s->store, id, &job, NULL) < 0)
        return errno == ENOENT ? 0 : -1;
    uint32_t members = job.members;
    char *indices = job.indices ? strdup(job.indices) : NULL;
    struct job_parts parts;
    job_parts(job.request, &parts);
    struct job_gang gang = job_gang_read(&parts);
    struct job_roles *roles;
    int rc = job_roles_read(parts.roles, &roles);
    o.roles = roles;
    if (rc == 0)
        rc = job.indices && !indices ? -1 : read_outcomes(s, id, &o);
    if (rc == 0)
        rc = outcomes_restore(s, name, members, indices, &o);
    if (rc == 0)
        restore_enough(s, name, gang, o.is_short);
    free(roles);
    int saved = errno;
    idset_clear(&o.ok);
    idset_clear(&o.failed);
    free(indices);
    errno = saved;
    return rc < 0 ? -1 : 1;
}

/* Restore an ended job, once. 1: the core knows it; 0: there is no such job; -1. */
static int restore_ended_job(server_t *s, int64_t id)
{
    char name[24];
    uint32_t number;
    snprintf(name, sizeof(name), "%" PRId64, id);
    if (intern_find(&s->ended_ids, name, strlen(name), &number))
        return 1;
    int rc = id < s->table.next ? restore_ended_members(s, id, name) : 0;
    if (rc > 0 && intern_put(&s->ended_ids, name, strlen(name), &number) < 0)
        return -1;
    return rc;
}

/* The ids in "afterok:1:2[3],singleton". */
int dependency_restore_ended(server_t *s, const char *dependency, int64_t job, int64_t *unknown)
{
    int64_t first = bulk_first_id(s, job);
    *unknown = 0;
    for (const char *at = dependency; at && *at; at += strcspn(at, ":,")) {
        bool is_id = *at == ':';
        at += *at == ':' || *at == ',';
        char *end;
        errno = 0;
        int64_t id = is_id ? strtoll(at, &end, 10) : 0;
        if (!is_id || errno != 0 || id < 1 || (id >= first && id < job) || job_lookup(s, id))
            continue;
        int rc = restore_ended_job(s, id);
        if (rc < 0)
            return -1;
        if (rc == 0 && *unknown == 0)
            *unknown = id;
    }
    return 0;
}

/* 1: history has dropped the job; 0: it has not; -1. */
static int was_dropped(server_t *s, const char *id)
{
    struct store_job job;
    int64_t number = strtoll(id, NULL, 10);
    if (job_lookup(s, number) || store_read_job(s->store, number, &job, NULL) == 0)
        return 0;
    return errno == ENOENT ? 1 : -1;
}

int dependency_remove_dropped(server_t *s, char *dependency)
{
    char *to = dependency;
    for (const char *at = dependency; at && *at; at += *at == ',') {
        char *type = to;
        size_t n = strcspn(at, ":,");
        if (to > dependency)
            *to++ = ',';
        memmove(to, at, n);
        to += n;
        at += n;
        bool any = *at != ':';
        for (; *at == ':'; at += n) {
            int dropped = was_dropped(s, at + 1);
            if (dropped < 0)
                return -1;
            n = 1 + strcspn(at + 1, ":,");
            if (dropped)
                continue;
            any = true;
            memmove(to, at, n);
            to += n;
        }
        if (!any)
            to = type;
    }
    if (to)
        *to = '\0';
    return 0;
}

/* Restore what members of a live job have come to. */
static int restore_outcomes(server_t *s, const struct job *job, const char *id)
{
    struct outcomes o = {.roles = job->roles};
    struct strbuf indices = {0};
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && (i = member_next_own(job, i)) < job->members; i++)
        if (!member_is_live(member_record(job, i)))
            rc = outcome_add(&o, i, i, (enum store_state)member_record(job, i)->state);
    for (const struct mass *mass = job->masses; rc == 0 && mass; mass = mass->next)
        for (uint32_t k = 0; rc == 0 && k < mass->spans.n; k++)
            rc = outcome_add(&o, mass->spans.v[k].lo, mass->spans.v[k].hi,
                             (enum store_state)mass->as.state);
    idset_encode_steps(&job->indices, &indices);
    if (rc == 0 && !indices.failed)
        rc = outcomes_restore(s, id, job->members,
                              job->indices.n > 0 ? strbuf_text(&indices) : NULL, &o);
    else
        rc = -1;
    if (rc == 0)
        restore_enough(s, id, job->gang, o.is_short);
    int saved = indices.failed ? ENOMEM : errno;
    idset_clear(&o.ok);
    idset_clear(&o.failed);
    strbuf_clear(&indices);
    errno = saved;
    return rc;
}

int load_outcomes(server_t *s, struct job *job, const struct job_parts *parts)
{
    char id[24];
    char *dependency;
    snprintf(id, sizeof(id), "%" PRId64, job->id);
    if (job->live < member_count(job) && restore_outcomes(s, job, id) < 0)
        return -1;
    if (json_part_copy(parts->dependency, &dependency) < 0)
        return -1;
    int64_t unknown;
    int rc = dependency ? dependency_restore_ended(s, dependency, job->id, &unknown) : 0;
    free(dependency);
    return rc;
}
