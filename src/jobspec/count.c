/* Counts: which are acceptable, and the largest of them. */
#include <errno.h>
#include <string.h>

#include "base/idset.h"
#include "berth/jobspec.h"
#include "jobspec/count.h"
#include "jobspec/number.h"

const char *count_fault(const struct jobspec_count *c)
{
    if (c->min < 1)
        return "a minimum of at least 1";
    if (c->max < c->min)
        return "a maximum that is not below the minimum";
    switch (c->op) {
    case JOBSPEC_ADD:
        return c->operand >= 1 ? NULL : "an operand of at least 1 for '+'";
    case JOBSPEC_MULTIPLY:
        return c->operand >= 2 ? NULL : "an operand of at least 2 for '*'";
    case JOBSPEC_POWER:
        if (c->operand < 2)
            return "an operand of at least 2 for '^'";
        return c->min >= 2 ? NULL : "a minimum of at least 2 for '^'";
    default:
        return "one of the operators '+', '*' and '^'";
    }
}

/* What follows a range's minimum and maximum: [:operand[:operator]]. Returns its end, or NULL. */
static const char *scan_step(const char *p, struct jobspec_count *c)
{
    if (*p != ':')
        return p;
    p = number_scan(p + 1, &c->operand);
    if (!p || *p != ':')
        return p;
    if (p[1] != '+' && p[1] != '*' && p[1] != '^')
        return NULL;
    c->op = (enum jobspec_operator)p[1];
    return p + 2;
}

/* A number, or a range min-max or min+ with what follows it. Returns its end, or NULL. */
static const char *scan_range(const char *p, struct jobspec_count *c)
{
    *c = (struct jobspec_count){.operand = 1, .op = JOBSPEC_ADD};
    p = number_scan(p, &c->min);
    if (!p)
        return NULL;
    c->max = c->min;
    if (*p == '+') {
        c->max = UINT32_MAX;
        return scan_step(p + 1, c);
    }
    if (*p != '-')
        return p;
    p = number_scan(p + 1, &c->max);
    return p ? scan_step(p, c) : NULL;
}

/* A list of counts: a set without 0. Returns how many runs it has, or -1. */
static int64_t parse_list(const char *text, struct jobspec_count *count, struct jobspec_run *runs,
                          uint32_t nruns)
{
    struct idset ids = {0};
    if (idset_decode(&ids, text, strlen(text), NULL) < 0) {
        errno = errno == ENOMEM ? ENOMEM : EINVAL;
        return -1;
    }
    int64_t needed = ids.n > 1 ? ids.n : 0; /* "1-3,4" is no more than a range */
    struct jobspec_count c = {.min = idset_first(&ids), .max = idset_last(&ids)};
    if (needed == 0) {
        c.operand = 1;
        c.op = JOBSPEC_ADD;
    } else {
        c.op = JOBSPEC_LIST;
        c.runs = needed <= nruns ? runs : NULL;
        c.nruns = needed <= nruns ? ids.n : 0;
    }
    if (c.min < 1) {
        errno = EINVAL;
        needed = -1;
    } else {
        for (uint32_t i = 0; i < c.nruns; i++)
            runs[i] = (struct jobspec_run){ids.v[i].lo, ids.v[i].hi};
        *count = c;
    }
    idset_clear(&ids);
    return needed;
}

int64_t jobspec_count_parse(const char *text, struct jobspec_count *count, struct jobspec_run *runs,
                            uint32_t nruns)
{
    if (strchr(text, ','))
        return parse_list(text, count, runs, nruns);
    struct jobspec_count c;
    bool bracket = *text == '[';
    const char *p = scan_range(text + bracket, &c);
    if (p && bracket)
        p = *p == ']' ? p + 1 : NULL;
    bool single = text[strspn(text, "0123456789")] == '\0';
    if (!p || *p || (!single && count_fault(&c))) {
        errno = EINVAL;
        return -1;
    }
    *count = c;
    return 0;
}

/* base to the power of exponent, or limit + 1 if that is more than limit. */
static uint64_t power(uint64_t base, uint32_t exponent, uint32_t limit)
{
    uint64_t value = base;
    while (--exponent > 0 && value <= limit)
        value *= base;
    return value <= limit ? value : (uint64_t)limit + 1;
}

static uint32_t largest_in(const struct jobspec_run *runs, uint32_t n, uint32_t top)
{
    uint32_t low = 0; /* runs before it begin at or below top */
    uint32_t high = n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (runs[middle].first <= top)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return 0;
    return runs[low - 1].last < top ? runs[low - 1].last : top;
}

uint32_t jobspec_calc_count(const struct jobspec_count *count, uint32_t qualified)
{
    if (count->min > count->max || count->min > qualified)
        return 0;
    uint32_t top = qualified < count->max ? qualified : count->max;
    uint64_t value = count->min;
    switch (count->op) {
    case JOBSPEC_ADD:
        return count->operand < 2 ? top : top - (top - count->min) % count->operand;
    case JOBSPEC_MULTIPLY:
        if (count->operand >= 2 && count->min >= 1) {
            while (value * count->operand <= top)
                value *= count->operand;
        }
        return (uint32_t)value;
    case JOBSPEC_POWER:
        if (count->operand >= 2 && count->min >= 2) {
            for (uint64_t next; (next = power(value, count->operand, top)) <= top;)
                value = next;
        }
        return (uint32_t)value;
    case JOBSPEC_LIST:
        return largest_in(count->runs, count->nruns, top);
    }
    return 0;
}

uint32_t jobspec_count_max(const struct jobspec_count *count)
{
    return jobspec_calc_count(count, UINT32_MAX);
}
