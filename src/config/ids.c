#include "config/ids.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"

static int not_a_job(const char *word, berth_error_t *err)
{
    return errtext_set(err, EINVAL, "'%s' is not a job, expected 17, 17[2] or a range 3-7", word);
}

static bool take_job_number(const char **text, int64_t *number)
{
    const char *at = *text;
    int64_t value = 0;

    if (*at < '0' || *at > '9')
        return false;
    for (; *at >= '0' && *at <= '9'; at++) {
        if (value > INT64_MAX / 10 - 1)
            return false;
        value = value * 10 + (*at - '0');
    }
    *text = at;
    *number = value;
    return true;
}

static int read_word(struct ids_range *range, const char *word, berth_error_t *err)
{
    const char *at = word;
    int64_t member;

    if (!take_job_number(&at, &range->first) || range->first < 1)
        return not_a_job(word, err);
    range->last = range->first;
    if (*at == '-') {
        at++;
        if (!take_job_number(&at, &range->last) || range->last < range->first || *at)
            return not_a_job(word, err);
    } else if (*at == '.') {
        at++;
        if (!take_job_number(&at, &member) || member > IDSET_ID_MAX || *at)
            return not_a_job(word, err);
        range->has_members = true;
        if (idset_add(&range->members, (uint32_t)member) < 0)
            return errtext_set(err, errno, "out of memory");
    } else if (*at == '[') {
        range->has_members = true;
        if (idset_decode_steps(&range->members, at, strlen(at), NULL) < 0)
            return errno == ENOMEM ? errtext_no_memory(err) : not_a_job(word, err);
        if (range->members.count == 0)
            return not_a_job(word, err);
    } else if (*at) {
        return not_a_job(word, err);
    }
    return 0;
}

int ids_read(struct ids *ids, char *const *words, size_t n, berth_error_t *err)
{
    *ids = (struct ids){0};
    ids->v = calloc(n + 1, sizeof(*ids->v));
    if (!ids->v)
        return errtext_no_memory(err);
    for (; ids->n < n; ids->n++)
        if (read_word(&ids->v[ids->n], words[ids->n], err) < 0) {
            idset_clear(&ids->v[ids->n].members);
            ids_clear(ids);
            return -1;
        }
    return 0;
}

int ids_read_one(const char *word, int64_t *id, int64_t *member, berth_error_t *err)
{
    struct ids_range range = {0};
    int rc = read_word(&range, word, err);

    if (rc == 0 && (range.first != range.last || (range.has_members && range.members.count != 1)))
        rc = errtext_set(err, EINVAL, "'%s' is more than one job, expected 17 or 17[2]", word);
    if (rc == 0) {
        *id = range.first;
        *member = range.has_members ? (int64_t)idset_first(&range.members) : -1;
    }
    idset_clear(&range.members);
    return rc;
}

static int each_member(const struct ids_range *range,
                       int (*visit)(void *context, int64_t id, int64_t member, bool ranged),
                       void *context)
{
    for (uint32_t i = 0; i < range->members.n; i++)
        for (int64_t m = range->members.v[i].lo; m <= range->members.v[i].hi;
             m += range->members.v[i].gap + 1) {
            int rc = visit(context, range->first, m, range->members.count > 1);
            if (rc != 0)
                return rc;
        }
    return 0;
}

int ids_each(const struct ids *ids,
             int (*visit)(void *context, int64_t id, int64_t member, bool ranged), void *context)
{
    int rc = 0;

    for (size_t i = 0; i < ids->n && rc == 0; i++) {
        const struct ids_range *range = &ids->v[i];
        if (range->has_members) {
            rc = each_member(range, visit, context);
            continue;
        }
        for (int64_t id = range->first; id <= range->last && rc == 0; id++)
            rc = visit(context, id, -1, range->last > range->first);
    }
    return rc;
}

bool ids_has(const struct ids *ids, int64_t id, int64_t member)
{
    for (size_t i = 0; i < ids->n; i++) {
        const struct ids_range *range = &ids->v[i];
        if (id >= range->first && id <= range->last &&
            (!range->has_members || (member >= 0 && idset_has(&range->members, (uint32_t)member))))
            return true;
    }
    return false;
}

void ids_clear(struct ids *ids)
{
    int saved = errno;
    for (size_t i = 0; i < ids->n; i++)
        idset_clear(&ids->v[i].members);
    free(ids->v);
    *ids = (struct ids){0};
    errno = saved;
}
