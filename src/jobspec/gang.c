/* The system attribute "gang": members that start together, each of which has all resources, or those of its role. */
#include <string.h>

#include "jobspec/build.h"
#include "jobspec/number.h"

enum gang_key { MEMBERS, MIN, FAILURE, ROLES, GANG_KEYS };
static const char *const gang_names[] = {"members", "min", "failure", "roles"};
static const struct doc_keys gang_keys = {"a gang", gang_names, GANG_KEYS, 0};

enum role_key { ROLE_COUNT, ROLE_MIN, ROLE_KEYS };
static const char *const role_names[] = {"count", "min"};
static const struct doc_keys role_keys = {"a role", role_names, ROLE_KEYS, 0};

/* In the order of enum jobspec_failure. */
static const char *const failure_names[] = {"all", "go-on", "replace"};

void gang_need(struct need *need, const struct doc *d, uint32_t i)
{
    need_array(need, d->node[i].end - i, sizeof(struct jobspec_role));
    need_text(need, d, i);
}

/* A number of members from `least` to `most`. */
static int build_members(struct build *b, uint32_t i, const char *key, uint32_t least,
                         uint32_t most, uint32_t *to)
{
    const struct doc *d = b->doc;
    if (!doc_is_text(d, i) || !number_u32(doc_text(d, i), to) || *to < least)
        return doc_expected(d, i, key,
                            least > 1    ? "a number from 2 to 1000000"
                            : least == 1 ? "a number of members, at least 1"
                                         : "a number of members, at least 0");
    if (*to > most)
        return doc_expected(d, i, key,
                            most == JOBSPEC_MEMBERS_MAX ? "a number up to 1000000"
                                                        : "at most as many as there are members");
    return 0;
}

static int build_failure(struct build *b, uint32_t i, enum jobspec_failure *to)
{
    for (uint32_t k = 0; doc_is_text(b->doc, i) && k < 3; k++)
        if (strcmp(doc_text(b->doc, i), failure_names[k]) == 0) {
            *to = (enum jobspec_failure)k;
            return 0;
        }
    return doc_expected(b->doc, i, "failure", "all, go-on or replace");
}

/* ---- Roles ---- */

/* The top of the resources with a slot of this label; JOBSPEC_NONE: there is none, or several have one. */
static uint32_t find_top(const jobspec_t *spec, const char *label)
{
    uint32_t top = JOBSPEC_NONE, found = JOBSPEC_NONE;
    for (uint32_t i = 0; i < spec->nresources; i++) {
        const struct jobspec_resource *r = &spec->resources[i];
        if (r->depth == 0)
            top = i;
        if (r->kind != JOBSPEC_SLOT || strcmp(r->label, label) != 0)
            continue;
        if (found != JOBSPEC_NONE)
            return JOBSPEC_NONE;
        found = top;
    }
    return found;
}

static bool has_task(const jobspec_t *spec, const char *label)
{
    for (uint32_t i = 0; i < spec->ntasks; i++)
        if (strcmp(spec->tasks[i].slot, label) == 0)
            return true;
    return false;
}

/* A role's value is how many members it has, or a mapping, or nothing: one member. */
static int build_role(struct build *b, uint32_t key, struct jobspec_role *to)
{
    const struct doc *d = b->doc;
    uint32_t i = key + 1, value[ROLE_KEYS] = {i, DOC_NONE};
    to->count = 1;
    to->name = build_text(b, key);
    to->resource = find_top(b->spec, to->name);
    if (to->resource == JOBSPEC_NONE || !has_task(b->spec, to->name))
        return doc_fault(d, key, "role \"%.40s\": expected the label of one slot, with a task",
                         to->name);
    if (d->node[i].kind == DOC_MAPPING && doc_fields(d, i, &role_keys, value) < 0)
        return -1;
    bool is_given = value[ROLE_COUNT] != DOC_NONE && !doc_is_null(d, value[ROLE_COUNT]);
    if (is_given &&
        build_members(b, value[ROLE_COUNT], "count", 1, JOBSPEC_MEMBERS_MAX, &to->count) < 0)
        return -1;
    to->min = to->count;
    return value[ROLE_MIN] == DOC_NONE
               ? 0
               : build_members(b, value[ROLE_MIN], "min", 0, to->count, &to->min);
}

static int build_roles(struct build *b, uint32_t i, struct jobspec_gang *gang)
{
    const struct doc *d = b->doc;
    uint32_t tops = 0, n = 0;
    if (d->node[i].kind != DOC_MAPPING || d->node[i].count == 0 ||
        d->node[i].count > JOBSPEC_ROLES_MAX)
        return doc_expected(d, i, "roles",
                            "a mapping from 1 to 16 labels of slots to numbers of members");
    struct jobspec_role *to = build_array(b, d->node[i].count, sizeof(*to));
    for (uint32_t key = i + 1; key < d->node[i].end; key = d->node[key + 1].end, n++) {
        if (build_role(b, key, &to[n]) < 0)
            return -1;
        for (uint32_t k = 0; k < n; k++)
            if (to[k].resource == to[n].resource)
                return doc_fault(d, key, "role \"%.40s\": expected resources of its own",
                                 to[n].name);
        gang->members += to[n].count;
        gang->min += to[n].min;
        if (gang->members > JOBSPEC_MEMBERS_MAX)
            break;
    }
    for (uint32_t k = 0; k < b->spec->nresources; k++)
        tops += b->spec->resources[k].depth == 0;
    if (gang->members < 2 || gang->members > JOBSPEC_MEMBERS_MAX || gang->min == 0)
        return doc_expected(d, i, "roles", "2 to 1000000 members, of which one starts");
    if (tops != n)
        return doc_expected(d, i, "roles", "a role for all resources at the top");
    gang->roles = to;
    gang->nroles = n;
    return 0;
}

/* ---- The gang ---- */

static int build_mapping(struct build *b, uint32_t i, struct jobspec_gang *gang)
{
    const struct doc *d = b->doc;
    uint32_t value[GANG_KEYS];
    if (doc_fields(d, i, &gang_keys, value) < 0)
        return -1;
    if (value[FAILURE] != DOC_NONE && build_failure(b, value[FAILURE], &gang->failure) < 0)
        return -1;
    if (value[ROLES] == DOC_NONE) {
        if (value[MEMBERS] == DOC_NONE)
            return doc_fault(d, i, "key \"gang\": expected members or roles");
        if (build_members(b, value[MEMBERS], "members", 2, JOBSPEC_MEMBERS_MAX, &gang->members) < 0)
            return -1;
        gang->min = gang->members;
        return value[MIN] == DOC_NONE
                   ? 0
                   : build_members(b, value[MIN], "min", 1, gang->members, &gang->min);
    }
    if (value[MEMBERS] != DOC_NONE || value[MIN] != DOC_NONE)
        return doc_expected(d, value[ROLES], "roles", "neither members nor min beside it");
    return build_roles(b, value[ROLES], gang);
}

int gang_build(struct build *b, uint32_t i)
{
    const struct doc *d = b->doc;
    struct jobspec_gang *gang = &b->spec->gang;
    if (d->node[i].kind == DOC_MAPPING)
        return build_mapping(b, i, gang);
    if (build_members(b, i, "gang", 2, JOBSPEC_MEMBERS_MAX, &gang->members) < 0)
        return -1;
    gang->min = gang->members;
    return 0;
}
