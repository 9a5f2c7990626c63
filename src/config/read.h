/* What the readers of the sections of a configuration share.
 *
 * The file's text is a tree of nodes (jobspec/doc.h); what comes out lies in one arena. Readers return 0, or
 * -1 with EINVAL or ENOMEM and a text.
 */
#ifndef CONFIG_READ_H
#define CONFIG_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/intern.h"
#include "base/strbuf.h"
#include "config/config.h"
#include "jobspec/doc.h"

struct reading {
    struct doc doc;
    struct arena *arena;
    struct config *config; /* what is read so far */
    int64_t second;        /* ticks in one */
    struct intern queues;  /* their names; a queue's number is its place in config->sched.queues */
    struct intern divisions; /* the same of config->sched.shares.divisions, */
    struct intern accounts;  /* and of config->sched.accounts */
    bool has_policy;         /* the section match says one */
};

/* The sections; i is the value of the key, or DOC_NONE if it is missing: then there are only defaults. */
int read_engine(struct reading *r, uint32_t i, uint32_t resources); /* both keys */
int read_resources(struct reading *r, uint32_t i);
int read_licenses(struct reading *r, uint32_t i);
int read_match(struct reading *r, uint32_t i);
int read_users(struct reading *r, uint32_t i);
int read_queues(struct reading *r, uint32_t i);
int read_shares(struct reading *r, uint32_t i);
int read_accounts(struct reading *r, uint32_t i);
int read_blocks(struct reading *r, uint32_t i);
int read_trace(struct reading *r, uint32_t i);
int read_server(struct reading *r, uint32_t i);
int read_pilots(struct reading *r, uint32_t i);

/* A queue's limits and their exceptions. What the queue already has stays unless it is given. */
int read_limits(struct reading *r, uint32_t i, struct sched_queue_config *queue);
int read_account_limits(struct reading *r, uint32_t i, struct sched_account *account);

/* Users and their weights. */
int read_weights(struct reading *r, uint32_t i, const struct sched_weight **weights, size_t *n);

/* The key `classes` of a queue's shares. */
int read_classes(struct reading *r, uint32_t i, struct sched_classes *c);

/* A key `order` of shares; none: it stays empty. `policy`: the match policy that plugins in it choose together, NULL where
 * they choose none; or NULL, where they are not asked.
 */
int read_order(const struct reading *r, uint32_t i, struct sched_share_order *by,
               const char **policy);

/* A queue's key `shares`. */
int read_queue_shares(struct reading *r, uint32_t i, struct sched_queue_config *queue);

/* A zeroed array of n elements; NULL with ENOMEM. */
void *reading_array(struct reading *r, size_t n, size_t size);

/* ---- Values: i is the node, key its name in error texts. For DOC_NONE, *ret stays as it is. ---- */

#define COUNT_MAX INT64_C(1000000000000000)

/* A text that is not empty. */
int value_text(struct reading *r, uint32_t i, const char *key, const char **ret);

/* A text for a shell; a number, true, yes and the like are none unless they have quotes. */
int value_command(struct reading *r, uint32_t i, const char *key, const char **ret);

/* A name: 1 to 255 bytes without blanks, commas and control characters. Also for keys. */
int value_name(struct reading *r, uint32_t i, const char *key, const char **ret);

/* A list of names without duplicates. */
int value_names(struct reading *r, uint32_t i, const char *key, const char *const **ret, size_t *n);

/* The words of the key claims-admit, by value, and those of preempts, of which the second one says for what it is; ended by
 * NULL.
 */
extern const char *const config_claims_admit[];
extern const char *const config_preempts[];
size_t config_preempts_word(unsigned preempts);

/* Those of the key actions, by enum sched_action; ended by NULL. */
extern const char *const config_actions[];

/* One of some words, ended by NULL: its index. */
int value_word(const struct reading *r, uint32_t i, const char *key, const char *const *words,
               size_t *ret);

/* Yes or no, or as YAML has them, true or false. */
int value_switch(const struct reading *r, uint32_t i, const char *key, bool *ret);

/* The name of an existing queue: its number. */
int value_queue(const struct reading *r, uint32_t i, const char *key, uint32_t *ret);

/* A whole number from min to max; "unlimited", if allowed, is SCHED_UNLIMITED. */
int value_number(const struct reading *r, uint32_t i, const char *key, int64_t min, int64_t max,
                 bool unlimited, int64_t *ret);

/* Bytes above 0, as quantity_size reads them, at most 8 TiB; or "unlimited". */
int value_size(const struct reading *r, uint32_t i, const char *key, int64_t *ret);

/* A time in ticks, rounded up: seconds with up to six decimals, or such a number followed by s, m, h, d or w.
 */
enum time_kind {
    TIME_POSITIVE,
    TIME_ZERO_TOO,
    TIME_UNLIMITED_TOO, /* and zero */
    TIME_OR_UNLIMITED,  /* these are above zero, or the word, which is SCHED_UNLIMITED */
    TIME_OR_UNKNOWN,
    TIME_OR_NONE
};
int value_time(const struct reading *r, uint32_t i, const char *key, enum time_kind kind,
               int64_t *ret);

/* A date, as date_read reads it, in ticks since 1970; or such a time. */
int value_date(const struct reading *r, uint32_t i, const char *key, int64_t *ret);

/* A list of properties or a constraint (RFC 31): its JSON. */
int value_constraint(struct reading *r, uint32_t i, const char *key, const char **ret);

/* Report that a key does not belong here, at its value: "key ...: expected WHERE". */
int value_misplaced(const struct reading *r, uint32_t i, const char *key, const char *where);

/* Whether queues under a policy have a reservation-depth, and a max-reservation-depth. */
bool policy_takes_depth(const struct sched_policy *policy);
bool policy_takes_bound(const struct sched_policy *policy);

/* Append a UTF-8 text in double quotes, valid as JSON and as YAML: characters that can't be printed are
 * escaped.
 */
void quote(struct strbuf *b, const char *text, size_t length);

#endif
