/* The routes of shares: who deserves how much, and has how much; and a correction of what one has used. */
#include <errno.h>
#include <math.h>

#include "berth/sched_admin.h"
#include "config/keys.h"
#include "report/queue_rows.h"
#include "server/api/api.h"

#define USAGE_MAX 1e15

struct correction {
    const char *division, *queue, *account, *user;
    json_t *usage;
};

static const struct key keys[] = {
    KEY_OF(struct correction, division, KEY_TEXT, .needed = false),
    KEY_OF(struct correction, queue, KEY_TEXT, .needed = false),
    KEY_OF(struct correction, account, KEY_TEXT, .needed = false),
    KEY_OF(struct correction, user, KEY_TEXT, .needed = false),
    KEY_OF(struct correction, usage, KEY_ANY, .needed = true),
};

static int set_usage(struct call *c, const struct correction *to, berth_error_t *err)
{
    static const struct key_place place = {"request", 0};
    const struct sched_share_name node = {to->division, to->queue, to->account, to->user};
    double usage = json_is_number(to->usage) ? json_number_value(to->usage) : -1;
    if (!(usage >= 0 && usage <= USAGE_MAX))
        return keys_wrong(&place, "", "usage", to->usage, "a number from 0 to 1e15", err);
    double whole = floor(usage);
    return sched_share_set_usage(c->s->sched, c->s->clock.now, &node, (int64_t)whole,
                                 (uint32_t)floor((usage - whole) * 4294967296.0), err);
}

void api_shares_patch(struct call *c)
{
    const struct key_table table = {"", keys, sizeof(keys) / sizeof(*keys)};
    const struct key_place place = {"request", 0};
    struct correction to = {0};
    berth_error_t why = {""};
    if (!json_is_object(c->body)) {
        api_refuse(c, 400, NULL, "expected an object");
        return;
    }
    if (keys_read(c->body, &table, &place, &to, &why) < 0 || set_usage(c, &to, &why) < 0) {
        if (errno == ENOENT)
            api_refuse(c, 404, NULL, "%s", why.text);
        else
            api_wrong(c, &why);
        return;
    }
    c->s->unsaved.urgent = true;
    api_event_body(c, "usage", NULL, NULL);
    api_done(c);
}

void api_shares_get(struct call *c)
{
    const server_t *s = c->s;
    if (share_rows_put(c->out, s->sched, s->clock.now, s->size.memory_unit) < 0)
        api_no_memory(c->reply);
}
