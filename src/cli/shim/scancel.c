/* scancel: cancelling jobs, and sending them signals. */
#include <stdio.h>
#include <string.h>

#include "cli/client/named_jobs.h"
#include "cli/shim/shim.h"

enum what { STATES, USER, QUEUE, NAME, ME, SIGNAL, CLUSTERS, NOTHING, HELP, VERSION };

static const struct foreign_option options[] = {
    {"state", 't', FOREIGN_NEEDED, STATES, NULL},      {"user", 'u', FOREIGN_NEEDED, USER, NULL},
    {"partition", 'p', FOREIGN_NEEDED, QUEUE, NULL},   {"name", 'n', FOREIGN_NEEDED, NAME, NULL},
    {"jobname", 0, FOREIGN_NEEDED, NAME, NULL},        {"me", 0, FOREIGN_NONE, ME, NULL},
    {"signal", 's', FOREIGN_NEEDED, SIGNAL, NULL},     {"batch", 'b', FOREIGN_NONE, NOTHING, NULL},
    {"full", 'f', FOREIGN_NONE, NOTHING, NULL},        {"quiet", 'Q', FOREIGN_NONE, NOTHING, NULL},
    {"verbose", 'v', FOREIGN_NONE, NOTHING, NULL},     {"hurry", 'H', FOREIGN_NONE, NOTHING, NULL},
    {"clusters", 'M', FOREIGN_NEEDED, CLUSTERS, NULL}, {"help", 0, FOREIGN_NONE, HELP, NULL},
    {"version", 'V', FOREIGN_NONE, VERSION, NULL},
};

struct scancel {
    struct shim_ids ids;
    json_t *filter;
    const char *signal;
    bool none; /* only jobs in states that they never have here */
    bool help, version;
};

static bool take_scancel_value(struct scancel *c, int what, const char *value)
{
    static const char *const keys[] = {[USER] = "user", [QUEUE] = "queue", [NAME] = "name"};
    struct strbuf states = {0};
    bool fine;
    switch (what) {
    case STATES:
        fine = shim_states(value, &states, &c->none) &&
               (states.len == 0 ||
                json_object_set_new(c->filter, "state", json_string(strbuf_text(&states))) == 0);
        strbuf_clear(&states);
        return fine;
    case USER:
    case QUEUE:
    case NAME:
        return json_object_set_new(c->filter, keys[what], json_string(value)) == 0;
    case ME:
        return json_object_set_new(c->filter, "user", json_string(shim_me())) == 0;
    case SIGNAL:
        c->signal = value;
        return true;
    default:
        c->help = c->help || what == HELP;
        c->version = c->version || what == VERSION;
        return true;
    }
}

static int ask_to_cancel(struct scancel *c)
{
    json_t *more = c->signal ? json_pack("{s:s}", "signal", c->signal) : NULL;
    json_t *filter = json_object_size(c->filter) ? c->filter : NULL;
    int rc = 0;
    if (c->none)
        rc = 0;
    else if (!filter && c->ids.n == 0)
        rc = shim_failed("scancel", "No job identification provided");
    else
        rc = named_jobs_ask(c->signal ? "signal" : "cancel", c->ids.words, (int)c->ids.n, filter,
                            more, false);
    json_decref(more);
    return rc;
}

int shim_scancel(int argc, char **argv)
{
    struct scancel c = {.filter = json_object()};
    struct foreign_words walk = {.tool = "scancel", .where = "", .v = argv + 1, .n = argc - 1};
    const struct foreign_option *option;
    const char *value;
    berth_error_t err = {""};
    int rc, status = c.filter ? 0 : shim_failed("scancel", "out of memory");

    while (status == 0) {
        rc =
            foreign_next(&walk, options, sizeof(options) / sizeof(*options), &option, &value, &err);
        if (rc < 0)
            status = shim_failed("scancel", "%s", err.text);
        else if (rc > 0 && option->what == CLUSTERS)
            status = shim_cluster("scancel", value);
        else if (rc > 0 && !take_scancel_value(&c, option->what, value))
            status = shim_failed("scancel", "--%s is '%.60s', which is none", option->name, value);
        else if (rc == 0 && walk.at == walk.n)
            break;
        else if (rc == 0 && shim_ids_add(&c.ids, walk.v[walk.at++]) < 0)
            status = shim_failed("scancel", "Invalid job id %.60s", walk.v[walk.at - 1]);
    }
    if (status == 0 && c.help)
        status = puts("usage: scancel [-s SIGNAL] [-u USER] [-n NAME] [-t STATES] [JOB]...") < 0;
    else if (status == 0)
        status = c.version ? shim_version() : ask_to_cancel(&c);
    shim_ids_clear(&c.ids);
    json_decref(c.filter);
    return status;
}
