#include "match/walk/policy.h"

#include <errno.h>
#include <string.h>

#include "base/errtext.h"
#include "base/number.h"

#define DESCENDING .within = ORDER_DESCENDING, .slots = ORDER_DESCENDING, .graph = ORDER_DESCENDING

/* Orders that a row does not say are ascending. */
static const struct {
    const char *name, *also; /* NULL: it has one name */
    struct policy policy;
} named[] = {
    {.name = "first", .policy = {DESCENDING, .node_centric = true, .first = true}},
    {.name = "firstnodex",
     .policy = {DESCENDING, .node_centric = true, .node_exclusive = true, .first = true}},
    {.name = "high", .policy = {DESCENDING}},
    {.name = "low", .policy = {.score = SCORE_ID}},
    {.name = "hinode", .policy = {DESCENDING, .node_centric = true}},
    {.name = "lonode", .policy = {.node_centric = true}},
    {.name = "hinodex", .policy = {DESCENDING, .node_centric = true, .node_exclusive = true}},
    {.name = "lonodex", .policy = {.node_centric = true, .node_exclusive = true}},
    {.name = "locality",
     .policy = {.within = ORDER_DESCENDING, .slots = ORDER_DESCENDING, .graph = ORDER_RUNS}},
    {.name = "variation", .policy = {.score = SCORE_PERFORMANCE, .slots = ORDER_DESCENDING}},
    {.name = "pack",
     .also = "binpack",
     .policy = {.score = SCORE_NONE, .first = true, .fill = FILL_FULLEST, .by_use = 1}},
    {.name = "spread",
     .policy = {.score = SCORE_NONE, .first = true, .fill = FILL_EMPTIEST, .by_use = 1}},
    {.name = "balance",
     .policy = {.score = SCORE_NONE, .first = true, .fill = FILL_EMPTIEST, .by_balance = 1}},
    {.name = "nodeorder", /* with the weights that it has by default */
     .policy =
         {.score = SCORE_NONE, .first = true, .fill = FILL_EMPTIEST, .by_use = 1, .by_balance = 1}},
};

enum { PACK, SPREAD, BALANCE, WEIGHTS };
static const char *const weight_names[WEIGHTS] = {"pack", "spread", "balance"};

struct options {
    bool high, low, node_centric, node_exclusive, first;
    int32_t weight[WEIGHTS]; /* 0: not said */
};

static bool is(const char *text, size_t length, const char *word)
{
    return strlen(word) == length && memcmp(text, word, length) == 0;
}

/* A weight, from 1 to POLICY_WEIGHT_MAX; 0 if it is none. */
static int32_t weight_in(const char *value, size_t length)
{
    int32_t weight = 0;

    for (size_t i = 0; i < length; i++) {
        if (!is_digit(value[i]) || weight > POLICY_WEIGHT_MAX)
            return 0;
        weight = weight * 10 + (value[i] - '0');
    }
    return weight <= POLICY_WEIGHT_MAX ? weight : 0;
}

/* One option: key, "=", value. */
static int parse_option(struct options *o, const char *text, size_t length, berth_error_t *err)
{
    static const char *const keys[] = {"node_centric", "node_exclusive", "stop_on_1_matches"};
    bool *const flags[] = {&o->node_centric, &o->node_exclusive, &o->first};
    const char *equals = memchr(text, '=', length);
    size_t key = equals ? (size_t)(equals - text) : length;
    const char *value = equals ? equals + 1 : text + length;
    size_t rest = (size_t)(text + length - value);

    if (is(text, key, "policy")) {
        if (!is(value, rest, "high") && !is(value, rest, "low"))
            return errtext_set(err, EINVAL,
                               "policy key within custom policy accepts only low or high");
        *(is(value, rest, "high") ? &o->high : &o->low) = true;
        return 0;
    }
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        if (!is(text, key, keys[i]))
            continue;
        if (!is(value, rest, "true") && !is(value, rest, "false"))
            return errtext_set(err, EINVAL, "Policy option %s requires true or false, got %.*s",
                               keys[i], (int)rest, value);
        *flags[i] = is(value, rest, "true");
        return 0;
    }
    for (size_t i = 0; i < WEIGHTS; i++) {
        if (!is(text, key, weight_names[i]))
            continue;
        o->weight[i] = weight_in(value, rest);
        if (o->weight[i] > 0)
            return 0;
        return errtext_set(err, EINVAL,
                           "policy option %s: expected a weight from 1 to %d, got %.*s",
                           weight_names[i], POLICY_WEIGHT_MAX, (int)rest, value);
    }
    return errtext_set(err, EINVAL, "invalid policy option: %.*s", (int)key, text);
}

static int use_weights(struct policy *p, const struct options *o, const char *text,
                       berth_error_t *err)
{
    bool pack = o->weight[PACK] > 0;

    if ((pack && o->weight[SPREAD] > 0) || o->high || o->low || o->node_centric ||
        o->node_exclusive || o->first)
        return errtext_set(
            err, EINVAL, "policy \"%s\": expected weights of pack or spread, and of balance, alone",
            text);
    *p = (struct policy){.score = SCORE_NONE,
                         .first = true,
                         .fill = pack ? FILL_FULLEST : FILL_EMPTIEST,
                         .by_use = pack ? o->weight[PACK] : o->weight[SPREAD],
                         .by_balance = o->weight[BALANCE]};
    return 0;
}

int policy_parse(struct policy *p, const char *text, berth_error_t *err)
{
    struct options o = {0};

    for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++)
        if (strcmp(text, named[i].name) == 0 ||
            (named[i].also && strcmp(text, named[i].also) == 0)) {
            *p = named[i].policy;
            return 0;
        }
    for (const char *word = text;;) {
        size_t length = strcspn(word, " ");
        if (parse_option(&o, word, length, err) < 0)
            return -1;
        if (!word[length])
            break;
        word += length + 1;
    }
    if (o.weight[PACK] > 0 || o.weight[SPREAD] > 0 || o.weight[BALANCE] > 0)
        return use_weights(p, &o, text, err);
    if (!o.high && !o.low)
        return errtext_set(err, EINVAL,
                           "policy \"%s\": expected policy=low or policy=high among its options",
                           text);
    enum policy_order order = o.high ? ORDER_DESCENDING : ORDER_ASCENDING;
    *p = (struct policy){.score = SCORE_ID,
                         .within = order,
                         .slots = order,
                         .graph = order,
                         .node_centric = o.node_centric,
                         .node_exclusive = o.node_exclusive,
                         .first = o.first};
    return 0;
}
