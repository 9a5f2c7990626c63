/* Texts read as reasons: the ones that reason_text.c writes. */
#include <stdlib.h>
#include <string.h>

#include "sched/controllers/depend.h"
#include "sched/reason_words.h"

/* What follows a text's beginning; NULL: it begins otherwise. */
static char *after(char *text, const char *beginning)
{
    size_t n = strlen(beginning);
    return strncmp(text, beginning, n) == 0 ? text + n : NULL;
}

/* A whole number, or where `second` is not 0 seconds as ticks; false if all of a text is none. */
static bool read_number_or_time(const char *text, int64_t second, int64_t *number)
{
    const char *from = text;
    int64_t micro = 0;
    *number = 0;
    for (; *text >= '0' && *text <= '9'; text++)
        if (__builtin_mul_overflow(*number, 10, number) ||
            __builtin_add_overflow(*number, *text - '0', number))
            return false;
    if (second == 0 || __builtin_mul_overflow(*number, second, number))
        return second == 0 && *text == '\0' && text > from;
    int digits = 0;
    for (text += *text == '.'; *text >= '0' && *text <= '9' && digits < 6; text++, digits++)
        micro = 10 * micro + *text - '0';
    for (; digits < 6; digits++)
        micro *= 10;
    /* What was written is what is below: the ticks are the first that are as many. */
    int64_t ticks = (int64_t)(((__int128)micro * second + 999999) / 1000000);
    return *text == '\0' && text > from && !__builtin_add_overflow(*number, ticks, number);
}

static bool read_begin(struct sched_reason *r, char *text)
{
    int64_t at;
    text = after(text, begin);
    if (!text || !read_number_or_time(text, r->second, &at))
        return false;
    r->kind = SCHED_REASON_BEGIN;
    r->at = at;
    return true;
}

/* Whose limit it is, and what follows the account if it is that of one; OWNERS: nobody's. */
static size_t read_owner(char *whose, char **account, char **what)
{
    char *end = strchr(whose, ' ');
    size_t i = 0;
    *account = NULL;
    while (i < OWNERS && (!end || strlen(owners[i]) != (size_t)(end - whose) ||
                          strncmp(whose, owners[i], (size_t)(end - whose)) != 0))
        i++;
    if (i == SCHED_OF_ACCOUNT) {
        *account = end + 1;
        end = strchr(*account, ' ');
        if (!end || end == *account)
            return OWNERS;
    }
    *what = i < OWNERS ? end : NULL;
    return i;
}

/* "limit user core 8", "limit account physics core 8" */
static bool read_limit(struct sched_reason *r, char *text)
{
    char *whose = after(text, limit), *account, *what;
    size_t i = whose ? read_owner(whose, &account, &what) : OWNERS;
    char *most = i < OWNERS ? strrchr(what, ' ') : NULL;
    if (!most || most <= what + 1)
        return false;
    size_t length = (size_t)(most - what - 1);
    bool is_time = length == strlen(duration) && strncmp(what + 1, duration, length) == 0;
    int64_t number;
    if (!read_number_or_time(most + 1, is_time ? r->second : 0, &number))
        return false;
    *most = '\0';
    if (account)
        *what = '\0';
    r->kind = SCHED_REASON_LIMIT;
    r->limit = (struct sched_reason_limit){(enum sched_whose)i, what + 1, number, account};
    return true;
}

static struct sched_reason_job read_job(char *id)
{
    struct sched_reason_job job = {id, -1};
    size_t base;
    uint32_t member;
    if (depend_split(id, strlen(id), &base, &member)) {
        id[base] = '\0';
        job.member = member;
    }
    return job;
}

/* "57,58[3],singleton" */
static void read_jobs(struct sched_reason *r, char *list)
{
    for (char *next = list; next; list = next) {
        next = strchr(list, ',');
        if (next)
            *next++ = '\0';
        if (!next && strcmp(list, singleton) == 0)
            r->singleton = true;
        else if (r->n_jobs == SCHED_REASON_JOBS || (!next && strcmp(list, others) == 0))
            r->others = true;
        else
            r->job[r->n_jobs++] = read_job(list);
    }
}

/* "dependency 57,58[3],singleton", "dependency 57: never met" */
static bool read_dependency(struct sched_reason *r, char *text)
{
    char *list = after(text, dependency);
    char *colon = list ? strchr(list, ':') : NULL;
    if (!list || !*list || (colon && strcmp(colon, never_met) != 0))
        return false;
    r->kind = colon ? SCHED_REASON_NEVER_MET : SCHED_REASON_DEPENDENCY;
    if (colon) {
        *colon = '\0';
        r->job[r->n_jobs++] = read_job(list);
        return true;
    }
    read_jobs(r, list);
    return true;
}

/* "priority out of range: expected a number from -65536 to 65535" */
static bool read_rank(struct sched_reason *r, char *text)
{
    char *room = after(text, rank), *least = room ? after(room, expected) : NULL, *end;
    int64_t first, last;
    if (!room || (*room && !least))
        return false;
    r->kind = *room ? r->kind : SCHED_REASON_RANK;
    if (!*room)
        return true;
    first = strtoll(least, &end, 10);
    char *most = end > least ? after(end, to) : NULL;
    last = most ? strtoll(most, &end, 10) : 0;
    if (!most || end == most || *end)
        return false;
    r->kind = SCHED_REASON_RANK;
    r->has = first;
    r->of = last;
    return true;
}

/* "claims 6 of 8 cores, waits for 57,58[3]" */
static bool read_claim(struct sched_reason *r, char *text)
{
    char *has = after(text, claims);
    char *total = has ? strstr(has, of) : NULL;
    char *type = total ? strchr(total + strlen(of), ' ') : NULL;
    char *list = type ? strstr(type, waits) : NULL;
    size_t length = type ? (size_t)((list ? list : type + strlen(type)) - type) : 0;
    if (length < 3)
        return false;
    *total = *type = '\0';
    if (!read_number_or_time(has, 0, &r->has) ||
        !read_number_or_time(total + strlen(of), 0, &r->of))
        return false;
    bool many = r->of != 1;
    if (many && type[length - 1] != 's')
        return false;
    type[length - many] = '\0';
    r->kind = SCHED_REASON_CLAIM;
    r->type = type + 1;
    if (list)
        read_jobs(r, list + strlen(waits));
    return true;
}

/* "preempted for 57: its priority is lower, its gang goes on, 160 core-seconds lost" */
static bool read_preempted(struct sched_reason *r, char *text)
{
    char *id = after(text, preempted), *colon = id ? strstr(id, ": ") : NULL, *rest = NULL;
    size_t i = 0;
    for (; colon && i < RULES && !(rest = after(colon + 2, rules[i]));)
        i++;
    char *more = rest ? after(rest, goes_on) : NULL;
    char *number = rest ? after(more ? more : rest, ", ") : NULL;
    char *end = number ? strchr(number, ' ') : NULL;
    if (!end || (strcmp(end, core_seconds) != 0 && strcmp(end, core_second) != 0))
        return false;
    *end = '\0';
    if (!read_number_or_time(number, 0, &r->has)) {
        *end = ' ';
        return false;
    }
    *colon = '\0';
    r->kind = SCHED_REASON_PREEMPTED;
    r->may = (enum sched_may_stop)i;
    r->spare = more != NULL;
    if (strcmp(id, others) != 0)
        r->job[r->n_jobs++] = read_job(id);
    return true;
}

/* "block night recurs: no gap is that long", "block night recurs: give a time limit" */
static bool read_block_as(struct sched_reason *r, char *text, enum sched_reason_kind kind,
                          const char *says)
{
    size_t length = strlen(text), end = strlen(says);
    char *name = after(text, block);
    if (!name || length < strlen(block) + end || strcmp(text + length - end, says) != 0)
        return false;
    text[length - end] = '\0';
    r->kind = kind;
    r->block = name;
    return true;
}

static bool read_block(struct sched_reason *r, char *text)
{
    return read_block_as(r, text, SCHED_REASON_BLOCK, recurs) ||
           read_block_as(r, text, SCHED_REASON_BLOCK_RECURS, unlimited);
}

/* "block night until 3600" */
static bool read_set_aside(struct sched_reason *r, char *text)
{
    char *name = after(text, block), *at = NULL;
    for (char *next = name; next && (next = strstr(next, until)); next++)
        at = next;
    if (!at || !read_number_or_time(at + strlen(until), r->second, &r->at))
        return false;
    *at = '\0';
    r->kind = SCHED_REASON_SET_ASIDE;
    r->block = name;
    return true;
}

/* "3 of 6 members fit", "2 of 3 members are left" */
static bool read_members(struct sched_reason *r, char *text, enum sched_reason_kind kind,
                         const char *says)
{
    size_t length = strlen(text), end = strlen(says);
    char *need = strstr(text, of);
    if (!need || length < end || strcmp(text + length - end, says) != 0)
        return false;
    text[length - end] = '\0';
    *need = '\0';
    if (read_number_or_time(text, 0, &r->gang.have) &&
        read_number_or_time(need + strlen(of), 0, &r->gang.need)) {
        r->kind = kind;
        return true;
    }
    *need = of[0];
    text[length - end] = says[0];
    r->gang = (struct sched_reason_gang){0};
    return false;
}

/* One of a list of roles, which is cut there; NULL: it is none, else what follows it. */
static char *read_role(struct sched_reason *r, char *text)
{
    char *end = strstr(text, ", "), *next = end ? end + 2 : text + strlen(text);
    struct sched_reason_role *role = &r->role[r->n_roles];
    if (end)
        *end = '\0';
    if (!end && r->n_roles > 0 && strcmp(text, others) == 0) {
        r->others = true;
        return next;
    }
    char *have = strchr(text, ' '), *need = have ? strstr(have + 1, of) : NULL;
    if (!need || r->n_roles == SCHED_REASON_ROLES)
        return NULL;
    *have = *need = '\0';
    role->name = text;
    r->n_roles++;
    return read_number_or_time(have + 1, 0, &role->have) &&
                   read_number_or_time(need + strlen(of), 0, &role->need)
               ? next
               : NULL;
}

/* "too few fit: server 0 of 1, worker 4 of 6". What is none is read again from a copy. */
static bool read_roles(struct sched_reason *r, char *text)
{
    char *fit = after(text, too_few_fit), *left = after(text, too_few_left);
    char *at = fit ? fit : left, was[SCHED_REASON_TEXT];
    if (!at || *at == '\0')
        return false;
    memcpy(was, text, strlen(text) + 1);
    size_t length = strlen(text);
    while (at && *at)
        at = read_role(r, at);
    if (at) {
        r->kind = fit ? SCHED_REASON_GANG : SCHED_REASON_GANG_LEFT;
        return true;
    }
    memcpy(text, was, length + 1);
    memset(r->role, 0, sizeof(r->role));
    r->n_roles = 0;
    r->others = false;
    return false;
}

/* And "member 2 failed" */
static bool read_gang(struct sched_reason *r, char *text)
{
    char *number = after(text, one_member);
    char *end = number ? strchr(number, ' ') : NULL;
    if (!end || strcmp(end, failed) != 0)
        return read_members(r, text, SCHED_REASON_GANG, members_fit) ||
               read_members(r, text, SCHED_REASON_GANG_LEFT, members_left);
    *end = '\0';
    if (read_number_or_time(number, 0, &r->gang.have)) {
        r->kind = SCHED_REASON_GANG_FAILED;
        return true;
    }
    *end = failed[0];
    r->gang.have = 0;
    return false;
}

/* "class spare has 0 percent" */
static bool read_class(struct sched_reason *r, char *text)
{
    size_t length = strlen(text), end = strlen(shut);
    char *name = after(text, class);
    if (!name || length < strlen(class) + end || strcmp(text + length - end, shut) != 0)
        return false;
    text[length - end] = '\0';
    r->kind = SCHED_REASON_CLASS;
    r->words = name;
    return true;
}

static bool read_plain(struct sched_reason *r, const char *text)
{
    for (size_t i = 0; i < PLAIN; i++)
        if (plain[i] && strcmp(text, plain[i]) == 0) {
            r->kind = (enum sched_reason_kind)i;
            return true;
        }
    return false;
}

static void read_any(struct sched_reason *r, char *text)
{
    char *rest;
    if (read_plain(r, text) || read_begin(r, text) || read_limit(r, text) || read_rank(r, text) ||
        read_claim(r, text) || read_preempted(r, text) || read_dependency(r, text) ||
        read_block(r, text) || read_set_aside(r, text) || read_roles(r, text) ||
        read_gang(r, text) || read_class(r, text))
        return;
    if ((rest = after(text, resources))) {
        r->kind = SCHED_REASON_RESOURCES;
        r->type = rest;
        return;
    }
    r->kind = SCHED_REASON_REQUEST;
    if ((rest = after(text, unsatisfiable)))
        r->kind = SCHED_REASON_UNSATISFIABLE;
    else if ((rest = after(text, jobspec)))
        r->kind = SCHED_REASON_JOBSPEC;
    r->words = rest ? rest : text;
}

void sched_reason_read(struct sched_reason *r, char *text, int64_t second)
{
    char was[SCHED_REASON_TEXT], again[SCHED_REASON_TEXT];
    size_t length = strlen(text);
    *r = (struct sched_reason){.second = second};
    if (length < sizeof(was)) {
        memcpy(was, text, length + 1);
        read_any(r, text);
        if (strcmp(sched_reason_text(r, again), was) == 0)
            return;
        memcpy(text, was, length + 1); /* it reads like one, but none is written so */
    }
    *r = (struct sched_reason){.kind = SCHED_REASON_REQUEST, .words = text};
}

bool sched_reason_gang_is_over(const char *text)
{
    struct sched_reason r;
    char copy[SCHED_REASON_TEXT];
    if (!text || strlen(text) >= sizeof(copy))
        return false;
    memcpy(copy, text, strlen(text) + 1);
    sched_reason_read(&r, copy, 1);
    return r.kind == SCHED_REASON_GANG_FAILED || r.kind == SCHED_REASON_GANG_LEFT;
}
