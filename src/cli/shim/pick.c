/* The options by which squeue and sacct pick jobs. */
#include <pwd.h>
#include <stdio.h>
#include <string.h>

#include "cli/foreign/slurm_values.h"
#include "cli/shim/shim.h"

static const char cluster[] = "berth"; /* as scontrol show config has it */

int shim_cluster(const char *command, const char *list)
{
    for (const char *at = list;;) {
        size_t n = strcspn(at, ",");
        bool here = (n == strlen(cluster) && strncmp(at, cluster, n) == 0) ||
                    (n == 3 && strncmp(at, "all", n) == 0);
        if (!here)
            return shim_failed(command, "there is no cluster '%.*s', only '%s'",
                               (int)(n < 60 ? n : 60), at, cluster);
        if (!at[n])
            return 0;
        at += n + 1;
    }
}

/* The name of a user by that or by its number; NULL: the system knows none. */
static const char *find_user(const char *word)
{
    int64_t uid;
    const struct passwd *user = getpwnam(word);
    if (!user && slurm_whole(word, &uid))
        user = getpwuid((uid_t)uid);
    return user ? user->pw_name : NULL;
}

/* Jobs of a name that the system does not know are looked for all the same: it may have known it once. */
static void take_users(const char *command, const char *list, struct strbuf *out)
{
    char word[256];
    strbuf_reset(out);
    for (const char *at = list; *at;) {
        size_t n = strcspn(at, ",");
        snprintf(word, sizeof(word), "%.*s", (int)(n < sizeof(word) ? n : sizeof(word) - 1), at);
        const char *name = n > 0 ? find_user(word) : "";
        if (!name)
            shim_failed(command, "Invalid user: %.60s", word);
        strbuf_puts(out, out->len ? "," : "");
        strbuf_puts(out, name ? name : word);
        at += n + (at[n] == ',');
    }
}

static bool take_pick(const char *command, struct shim_select *select, int what, const char *value)
{
    switch (what) {
    case SHIM_IDS:
        return shim_ids_add(&select->ids, value) == 0;
    case SHIM_STATES:
        return shim_states(value, &select->states, &select->none);
    case SHIM_USERS:
        take_users(command, value, &select->users);
        return true;
    case SHIM_QUEUES:
        select->queue = value;
        return true;
    case SHIM_NAMES:
        select->name = value;
        return true;
    case SHIM_ACCOUNTS:
        select->account = value;
        return true;
    default:
        return hostlist_append(&select->nodes, value, strlen(value), NULL) == 0 &&
               hostlist_count(&select->nodes) > 0;
    }
}

static const char *expected_pick(int what)
{
    return what == SHIM_IDS      ? "jobs such as 17,18_[1-3]"
           : what == SHIM_STATES ? "states such as PD,running, or all"
                                 : "nodes such as node[1-3]";
}

int shim_pick(const char *command, struct shim_select *select, const struct foreign_option *option,
              const char *value)
{
    if (option->what == SHIM_CLUSTERS)
        return shim_cluster(command, value);
    if (take_pick(command, select, option->what, value))
        return 0;
    return shim_failed(command, "--%s is '%.60s', expected %s", option->name, value,
                       expected_pick(option->what));
}
