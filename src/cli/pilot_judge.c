#include "cli/pilot_judge.h"

#include <string.h>
#include <time.h>

#include "base/hostlist.h"
#include "base/strbuf.h"
#include "cli/client/connection.h"

/* Add a name to a list of hosts of the change. */
static void put_host_name(struct hostlist *list, const json_t *node)
{
    const char *name = answer_text(node, "name");
    hostlist_append_host(list, name, strlen(name));
}

static void set_names(json_t *change, const char *key, struct hostlist *list)
{
    struct strbuf text = {0};
    hostlist_encode(list, &text);
    if (list->count > 0 && !text.failed)
        json_object_set_new(change, key, json_string(strbuf_text(&text)));
    strbuf_clear(&text);
    hostlist_clear(list);
}

static bool is_given_up(const json_t *node)
{
    return json_is_true(json_object_get(node, "given_up"));
}

static bool has_host(const char *nodes, const char *host)
{
    struct hostlist list = {0};
    bool has = hostlist_decode(&list, nodes, strlen(nodes), NULL) < 0 ||
               hostlist_find(&list, host, strlen(host)) >= 0;
    hostlist_clear(&list);
    return has;
}

/* Nodes that its job had and has no longer, while it goes on. */
static void judge_left(const json_t *pilot, const struct squeue_job *job, json_t *change)
{
    struct hostlist list = {0};
    const json_t *node;
    size_t i;
    bool all = strcmp(job->state, "NODE_FAIL") == 0;
    json_array_foreach (json_object_get(pilot, "nodes"), i, node) {
        bool gone = all || (strcmp(job->state, "RUNNING") == 0 &&
                            !has_host(job->nodes, answer_text(node, "host")));
        if (gone && !is_given_up(node))
            put_host_name(&list, node);
    }
    set_names(change, "given_up", &list);
}

/* Nodes that are over: those of a job that is, and those whose end has long passed. */
static void judge_lost(const json_t *pilot, bool over, int64_t now, json_t *change)
{
    struct hostlist list = {0};
    const json_t *node;
    size_t i;
    json_array_foreach (json_object_get(pilot, "nodes"), i, node) {
        double end = answer_number(node, "end");
        if ((over && !is_given_up(node)) || (end > 0 && (double)now >= end + PILOT_LATE))
            put_host_name(&list, node);
    }
    set_names(change, "lost", &list);
}

static void set_text(const json_t *pilot, json_t *change, const char *key, const char *text)
{
    if (strcmp(answer_text(pilot, key), text) != 0)
        json_object_set_new(change, key, json_string(text));
}

/* What Slurm says of a job that it has. */
static void judge_job(const json_t *pilot, const struct squeue_job *job, json_t *change)
{
    const json_t *node;
    size_t i;
    bool waits = strcmp(job->state, "PENDING") == 0;
    int64_t start = waits ? squeue_time(job->start) : 0, end = waits ? 0 : squeue_time(job->end);
    set_text(pilot, change, "job", job->job);
    set_text(pilot, change, "slurm", job->state);
    set_text(pilot, change, "reason", waits && *job->reason ? job->reason : "None");
    if (start != (int64_t)answer_number(pilot, "start") &&
        (start || answer_number(pilot, "start") > 0))
        json_object_set_new(change, "start", json_integer(start));
    json_array_foreach (json_object_get(pilot, "nodes"), i, node) {
        int64_t known = (int64_t)answer_number(node, "end");
        if (end > 0 && known != end && !squeue_is_final(job->state) && !is_given_up(node))
            json_object_set_new(change, "end", json_integer(end));
    }
}

/* Slurm has answered twice that there is no such job. */
static bool is_absent(const json_t *pilot, int64_t since, int64_t now)
{
    return since > 0 && now - since >= PILOT_TWICE &&
           (*answer_text(pilot, "job") || (double)now >= answer_number(pilot, "since") + PILOT_NEW);
}

json_t *pilot_judge(const json_t *pilot, const struct squeue_job *job, int64_t absent_since,
                    int64_t now)
{
    json_t *change = json_object();
    bool absent = !job && is_absent(pilot, absent_since, now);
    bool over = absent || (job && squeue_is_final(job->state));
    if (job) {
        judge_job(pilot, job, change);
        judge_left(pilot, job, change);
    }
    if (absent)
        set_text(pilot, change, "slurm", "gone");
    judge_lost(pilot, over && !json_object_get(change, "given_up"), now, change);
    if (over || (job && strcmp(job->state, "NODE_FAIL") == 0))
        json_object_set_new(change, "over", json_true());
    if (json_object_size(change) > 0)
        return change;
    json_decref(change);
    return NULL;
}
