#include "cli/client/request.h"

#include <errno.h>
#include <inttypes.h>
#include <unistd.h>

#include "base/errtext.h"
#include "cli/client/request_priv.h"
#include "cli/client/script.h"
#include "config/members.h"

bool request_times_fit(const json_t *job)
{
    const json_t *limit = json_object_get(job, "limit"),
                 *estimate = json_object_get(job, "estimate");
    return !json_is_number(limit) || !json_is_number(estimate) ||
           json_number_value(estimate) <= json_number_value(limit);
}

int request_run_once(json_t *job, berth_error_t *err)
{
    const json_t *tasks = json_object_get(job, "tasks");
    if (!json_object_get(job, "script") || json_object_get(job, "batch") ||
        json_object_get(job, "jobspec"))
        return 0;
    return json_object_set_new(job, "batch", json_integer(tasks ? json_integer_value(tasks) : 1)) ==
                   0
               ? 0
               : errtext_no_memory(err);
}

const char *request_many(const struct request *r)
{
    return r->bulk ? "--bulk" : r->each ? "--each" : r->cc ? "--cc" : r->file ? "--file" : NULL;
}

const char *request_submits(const struct request *r)
{
    const char *many = request_many(r);
    bool is_gang = json_object_get(r->job, "gang") || json_object_get(r->job, "roles");
    return many                                          ? many
           : json_object_get(r->job, "test_only")        ? "--test-only"
           : is_gang && json_object_get(r->job, "array") ? "--array of gangs"
                                                         : NULL;
}

/* How many members the roles have, and how many of these start together. */
static int check_members(const struct reading *g, const json_t *roles)
{
    int64_t members = 0, least = 0;
    const json_t *role;
    size_t i;
    json_array_foreach (roles, i, role) {
        const json_t *count = json_object_get(role, "count"), *min = json_object_get(role, "min");
        int64_t n = count ? json_integer_value(count) : 1;
        members += n;
        least += min ? json_integer_value(min) : n;
    }
    if (members > MEMBERS_MAX)
        return errtext_set(g->err, EINVAL,
                           "--role: expected at most %d members in all, got %" PRId64, MEMBERS_MAX,
                           members);
    if (members < 2 || least < 1)
        return errtext_set(g->err, EINVAL,
                           "--role: expected two members or more, of which one starts");
    return 0;
}

/* Roles say themselves how many members they have, and what these ask for. */
static int check_roles(struct reading *g)
{
    static const struct {
        const char *key, *option;
    } others[] = {{"gang", "gang"},
                  {"min", "min"},
                  {"nodes", "nodes"},
                  {"tasks", "ntasks"},
                  {"cores", "cores-per-task"},
                  {"gpus", "gpus-per-task"},
                  {"memory", "mem"},
                  {"exclusive", "exclusive"},
                  {"gpu_memory", "gpu-memory"},
                  {"requires", "requires"},
                  {"jobspec", "jobspec"}};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (json_object_get(g->job, others[i].key))
            return errtext_set(g->err, EINVAL, "--role takes no --%s: each role says that itself",
                               others[i].option);
    return check_members(g, json_object_get(g->job, "roles"));
}

/* A gang has so many members, of which at most all start together. */
static int check_gang(struct reading *g)
{
    if (json_object_get(g->job, "roles"))
        return check_roles(g);
    const json_t *gang = json_object_get(g->job, "gang"), *min = json_object_get(g->job, "min");
    if (!gang && (min || json_object_get(g->job, "failure")))
        return errtext_set(g->err, EINVAL, "--%s is of a gang, expected --gang N beside it",
                           min ? "min" : "failure");
    if (min && json_integer_value(min) > json_integer_value(gang))
        return errtext_set(g->err, EINVAL, "--min is %lld, expected at most the %lld of --gang",
                           (long long)json_integer_value(min), (long long)json_integer_value(gang));
    return 0;
}

/* The request has the job that was read, unless something was wrong (rc < 0). Returns rc; errno stays. */
static int keep_job(struct request *r, struct reading *g, int rc)
{
    int saved = errno;
    if (rc == 0)
        r->job = json_incref(g->job);
    json_decref(g->job);
    json_decref(g->env);
    errno = saved;
    return rc;
}

static int read_request(struct request *r, int argc, char **argv, bool step, berth_error_t *err)
{
    struct reading g = {
        .r = r, .job = json_object(), .env = json_array(), .where = "", .step = step, .err = err};
    int rest = argc, rc = -1;

    *r = (struct request){.otherwise = r->otherwise};
    if (!g.job || !g.env) {
        errtext_no_memory(err);
        goto out;
    }
    rc = request_options_read(&g, argc, argv, &rest);
    if (rc < 0 || r->wants_help)
        goto out;
    if (r->bulk) {
        if (rest < argc || json_object_size(g.job) || json_array_size(g.env) || g.chdir)
            rc = errtext_set(err, EINVAL, "--bulk takes no command and no other option");
        goto out;
    }
    if (r->file && rest < argc)
        rc = errtext_set(err, EINVAL, "--file has its own jobs, and takes no command");
    else if (!r->file)
        rc = request_command(&g, argv + rest, argc - rest);
    if (rc == 0)
        rc = check_gang(&g);
    if (rc == 0 && !request_times_fit(g.job))
        rc = errtext_set(err, EINVAL, "%s", REQUEST_TIMES_WRONG);
    if (rc == 0)
        rc = request_surroundings(&g);
out:
    return keep_job(r, &g, rc);
}

int request_take(int key, json_t *job, berth_error_t *err)
{
    struct reading g = {.job = job, .where = "", .err = err};
    return request_value(&g, key);
}

int request_read(struct request *r, int argc, char **argv, berth_error_t *err)
{
    return read_request(r, argc, argv, false, err);
}

int request_read_step(struct request *r, int argc, char **argv, berth_error_t *err)
{
    return read_request(r, argc, argv, true, err);
}

int request_read_sbatch(struct request *r, char **words, int n, int total, const char *wrap,
                        berth_error_t *err)
{
    char *standard[] = {(char *)"-", NULL}, **script = n < total ? words + n : standard;
    struct reading g = {.r = r,
                        .job = json_object(),
                        .env = json_array(),
                        .where = "",
                        .wrap = wrap,
                        .slurm = words,
                        .n_slurm = n,
                        .err = err};
    int rc = g.job && g.env ? 0 : errtext_no_memory(err);

    *r = (struct request){0};
    if (rc == 0 && wrap)
        rc = request_wrap(&g, total - n);
    else if (rc == 0 && n < total && access(script[0], R_OK) == 0 && !script_is(script[0]))
        rc = errtext_set(err, EINVAL, "%s does not begin with #!, expected a script", script[0]);
    else if (rc == 0)
        rc = request_script(&g, script, n < total ? total - n : 1);
    if (rc == 0)
        rc = request_surroundings(&g);
    return keep_job(r, &g, rc);
}

void request_clear(struct request *r)
{
    json_decref(r->job);
    r->job = NULL;
}
