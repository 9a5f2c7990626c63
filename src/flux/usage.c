/* What shares have used, kept in the KVS: a list of objects as of sched_usage, under the module's name. It is written when
 * the module goes and every few minutes, so that a broker that is killed loses no more than that.
 */
#include <errno.h>
#include <string.h>

#include "berth/sched_snapshot.h"
#include "flux/module.h"

#define KEY   "sched-berth.usage"
#define EVERY 300. /* seconds */

/* One node. NULL: it has used nothing, is of no account, or there is no memory. */
static json_t *saved(const sched_t *sched, size_t i)
{
    struct sched_usage u;

    if (sched_usage(sched, i, &u) < 0)
        return NULL;
    return json_pack("{s:s* s:s* s:s* s:s* s:s s:I}", "division", u.node.division, "queue",
                     u.node.queue, "account", u.node.account, "user", u.node.user, "amount",
                     u.amount, "at", (json_int_t)u.at);
}

/* Write it, if anything has changed. NULL: nothing has, or an error that is told in the log. */
static flux_future_t *save(struct module *m)
{
    const uint32_t *nodes;
    flux_kvs_txn_t *txn = NULL;
    flux_future_t *f = NULL;

    if (!m->sched || sched_usages_changed(m->sched, &nodes) == 0)
        return NULL;
    json_t *list = json_array();
    for (size_t i = 0; list && i < sched_usages(m->sched); i++)
        json_array_append_new(list, saved(m->sched, i));
    if (list && (txn = flux_kvs_txn_create()) && flux_kvs_txn_pack(txn, 0, KEY, "O", list) == 0)
        f = flux_kvs_commit(m->h, NULL, 0, txn);
    if (f)
        sched_usages_kept(m->sched);
    else
        flux_log_error(m->h, "usage of shares");
    flux_kvs_txn_destroy(txn);
    json_decref(list);
    return f;
}

static void saved_cb(flux_future_t *f, void *arg)
{
    const struct module *m = arg;

    if (flux_future_get(f, NULL) < 0)
        flux_log(m->h, LOG_ERR, "usage of shares: %s", future_strerror(f, errno));
    flux_future_destroy(f);
}

static void timer_cb(flux_reactor_t *r, flux_watcher_t *w, int revents, void *arg)
{
    struct module *m = arg;
    flux_future_t *f = save(m);

    (void)r;
    (void)w;
    (void)revents;
    if (f && flux_future_then(f, -1., saved_cb, m) < 0)
        flux_future_destroy(f);
}

int module_watch_usage(struct module *m)
{
    m->usage = flux_timer_watcher_create(flux_get_reactor(m->h), EVERY, EVERY, timer_cb, m);
    if (!m->usage)
        return -1;
    flux_watcher_start(m->usage);
    return 0;
}

void module_save_usage(struct module *m)
{
    flux_future_t *f;

    flux_watcher_destroy(m->usage);
    if (m->usage && (f = save(m)))
        saved_cb(f, m);
}

/* Nodes of the tree that are no more have used nothing. Returns 0, or -1 with a text. */
static int restore_entry(struct module *m, const json_t *entry, berth_error_t *err)
{
    struct sched_usage u = {0};
    const char *amount;
    json_int_t at;

    if (json_unpack((json_t *)entry, "{s?s s?s s?s s?s s:s s:I}", "division", &u.node.division,
                    "queue", &u.node.queue, "account", &u.node.account, "user", &u.node.user,
                    "amount", &amount, "at", &at) < 0 ||
        strlen(amount) > SCHED_USAGE_DIGITS) {
        snprintf(err->text, sizeof(err->text), "an entry is malformed");
        return -1;
    }
    u.at = at < m->now ? at : m->now;
    snprintf(u.amount, sizeof(u.amount), "%s", amount);
    return sched_restore_usage(m->sched, &u, err) < 0 && errno != ENOENT ? -1 : 0;
}

bool module_load_usage(struct module *m)
{
    flux_future_t *f = flux_kvs_lookup(m->h, NULL, 0, KEY);
    json_t *list, *entry;
    berth_error_t err = {""};
    size_t i;
    bool any = false;

    if (f && flux_kvs_lookup_get_unpack(f, "o", &list) == 0) {
        json_array_foreach (list, i, entry) {
            any = true;
            if (restore_entry(m, entry, &err) < 0)
                flux_log(m->h, LOG_ERR, "usage of shares: %s", err.text);
        }
    } else if (errno != ENOENT) {
        flux_log_error(m->h, "usage of shares");
    }
    flux_future_destroy(f);
    return any;
}
