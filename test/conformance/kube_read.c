/* Reads the worlds that cases of kube-batch and Volcano begin with. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kube.h"

const char *kube_text(json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

const char *kube_ids(int64_t n, char *text, size_t size)
{
    if (n == 1)
        snprintf(text, size, "0");
    else
        snprintf(text, size, "0-%lld", (long long)n - 1);
    return text;
}

static bool add_name(struct kube_names *names, const char *name)
{
    if (strcmp(name, "milli_cpu") == 0)
        name = "cpu";
    for (uint32_t d = 0; d < names->n; d++)
        if (strcmp(names->name[d], name) == 0)
            return true;
    if (names->n == SHARE_DIMENSIONS_MAX)
        return false;
    names->name[names->n++] = name;
    return true;
}

bool kube_add_names(struct kube_names *names, json_t *amounts)
{
    const char *name;
    json_t *value;
    json_object_foreach (amounts, name, value) {
        bool scalars = strcmp(name, "scalars") == 0;
        if (scalars ? !kube_add_names(names, value) : !add_name(names, name))
            return false;
    }
    return true;
}

static int64_t amount_of(json_t *value, double unit)
{
    if (json_is_string(value)) /* "inf" */
        return SHARE_UNLIMITED;
    double amount = json_number_value(value) * unit;
    return amount >= (double)SHARE_MOST ? SHARE_UNLIMITED : amount < 0 ? 0 : llround(amount);
}

void kube_amounts(const struct kube_names *names, json_t *amounts, int64_t otherwise, int64_t *out)
{
    for (uint32_t d = 0; d < names->n; d++) {
        const char *name = names->name[d];
        bool cpu = strcmp(name, "cpu") == 0;
        bool plain = cpu || strcmp(name, "memory") == 0 || strcmp(name, "pods") == 0;
        json_t *value = json_object_get(amounts, name);
        json_t *result = cpu ? json_object_get(amounts, "milli_cpu")
                             : json_object_get(json_object_get(amounts, "scalars"), name);
        out[d] = value    ? amount_of(value, plain ? 1 : 1000)
                 : result ? amount_of(result, 1)
                          : otherwise;
    }
}

static const struct {
    const char *list, *member;
} named_in[] = {{"nodes", "allocatable"},    {"queues", "guarantee"}, {"queues", "capability"},
                {"queues", "deserved"},      {"tasks", "request"},    {"jobs", "min_resources"},
                {"namespace_quotas", "hard"}};

static bool read_names(struct kube_names *names, json_t *c)
{
    for (size_t k = 0; k < sizeof(named_in) / sizeof(*named_in); k++) {
        size_t i;
        json_t *entry;
        json_array_foreach (json_object_get(c, named_in[k].list), i, entry) {
            if (!kube_add_names(names, json_object_get(entry, named_in[k].member)))
                return false;
        }
    }
    return strcmp(kube_text(c, "kind"), "session") != 0 || add_name(names, "pods");
}

int64_t kube_integer(json_t *object, const char *key, int64_t otherwise)
{
    const double most = (double)(INT64_C(1) << 53);
    json_t *value = json_object_get(object, key);
    double number = json_number_value(value);
    if (!json_is_number(value))
        return otherwise;
    return (int64_t)(number > most ? most : number < -most ? -most : number);
}

static int32_t small_integer(json_t *object, const char *key, int32_t otherwise)
{
    int64_t n = kube_integer(object, key, otherwise);
    return (int32_t)(n > INT32_MAX ? INT32_MAX : n < INT32_MIN ? INT32_MIN : n);
}

static void read_queue(const struct kube_world *w, json_t *entry, struct kube_queue *q)
{
    q->is = entry;
    q->name = kube_text(entry, "name");
    q->parent = kube_text(entry, "parent");
    q->open = !json_object_get(entry, "state") || strcmp(kube_text(entry, "state"), "Open") == 0;
    struct share_settings *s = &q->settings;
    share_default_settings(s);
    s->weight = small_integer(entry, "weight", 1);
    s->priority = small_integer(entry, "priority", 0);
    /* Volcano keeps a guarantee for its queue, asked for or not. */
    s->keeps_guarantee = true;
    kube_amounts(&w->names, json_object_get(entry, "guarantee"), 0, s->guarantee);
    kube_amounts(&w->names, json_object_get(entry, "capability"), SHARE_UNLIMITED, s->capability);
    kube_amounts(&w->names, json_object_get(entry, "deserved"), SHARE_UNSET, s->deserved);
}

static void read_nodes(struct kube_world *w, json_t *c)
{
    size_t i;
    json_t *entry;
    json_array_foreach (json_object_get(c, "nodes"), i, entry) {
        struct kube_node *n = &w->nodes[i];
        n->is = entry;
        n->name = kube_text(entry, "name");
        kube_amounts(&w->names, json_object_get(entry, "allocatable"), 0, n->there_is);
    }
}

/* What an object says itself, or else its class. */
static int64_t priority_of(json_t *c, json_t *object, int64_t otherwise)
{
    json_t *classes = json_object_get(c, "priority_classes");
    int64_t of_class = kube_integer(classes, kube_text(object, "priority_class"), otherwise);
    return kube_integer(object, "priority", of_class);
}

static void read_jobs(struct kube_world *w, json_t *c)
{
    size_t i;
    json_t *entry;
    json_array_foreach (json_object_get(c, "jobs"), i, entry) {
        struct kube_job *job = &w->jobs[i];
        job->is = entry;
        job->name = kube_text(entry, "name");
        job->phase = kube_text(entry, "phase");
        job->min_available = kube_integer(entry, "min_available", 0);
        job->priority = priority_of(c, entry, 0);
        job->asks = json_object_size(json_object_get(entry, "min_resources")) > 0;
        kube_amounts(&w->names, json_object_get(entry, "min_resources"), 0, job->least);
        for (size_t q = 0; q < w->n_queues; q++)
            if (strcmp(w->queues[q].name, kube_text(entry, "queue")) == 0)
                job->queue = &w->queues[q];
    }
}

/* The node on which a task is, if it is there. */
static const char *node_of(const struct kube_world *w, json_t *entry)
{
    for (size_t i = 0; i < w->n_nodes; i++)
        if (strcmp(w->nodes[i].name, kube_text(entry, "node")) == 0)
            return w->nodes[i].name;
    return "";
}

/* A task asks for one pod besides what it says. */
static void read_tasks(struct kube_world *w, json_t *c)
{
    size_t i;
    json_t *entry;
    json_array_foreach (json_object_get(c, "tasks"), i, entry) {
        struct kube_task *task = &w->tasks[i];
        task->is = entry;
        task->name = kube_text(entry, "name");
        task->status = kube_text(entry, "status");
        task->node = node_of(w, entry);
        task->priority = priority_of(c, entry, 1);
        kube_amounts(&w->names, json_object_get(entry, "request"), 0, task->request);
        for (uint32_t d = 0; d < w->names.n; d++)
            if (strcmp(w->names.name[d], "pods") == 0)
                task->request[d] = 1;
        for (size_t j = 0; j < w->n_jobs; j++)
            if (strcmp(w->jobs[j].name, kube_text(entry, "job")) == 0)
                task->job = &w->jobs[j];
    }
}

/* Add amounts of one of a case's nodes, jobs or tasks to their sum. False if that is more than a tree counts. */
static bool add(const struct kube_world *w, const int64_t *amounts, int64_t *sum)
{
    for (uint32_t d = 0; d < w->names.n; d++) {
        if (amounts[d] > SHARE_MOST - sum[d])
            return false;
        sum[d] += amounts[d];
    }
    return true;
}

static bool add_up(struct kube_world *w)
{
    int64_t jobs[SHARE_DIMENSIONS_MAX] = {0}, tasks[SHARE_DIMENSIONS_MAX] = {0};
    bool good = true;
    for (size_t i = 0; i < w->n_nodes; i++)
        good = good && add(w, w->nodes[i].there_is, w->total);
    for (size_t i = 0; i < w->n_jobs; i++)
        good = good && add(w, w->jobs[i].least, jobs);
    for (size_t i = 0; i < w->n_tasks; i++)
        good = good && add(w, w->tasks[i].request, tasks);
    return good;
}

bool kube_read(struct kube_world *w, json_t *c)
{
    *w = (struct kube_world){.tiers = json_object_get(json_object_get(c, "config"), "tiers")};
    w->n_queues = json_array_size(json_object_get(c, "queues"));
    w->n_nodes = json_array_size(json_object_get(c, "nodes"));
    w->n_jobs = json_array_size(json_object_get(c, "jobs"));
    w->n_tasks = json_array_size(json_object_get(c, "tasks"));
    w->queues = calloc(w->n_queues + 1, sizeof(*w->queues));
    w->nodes = calloc(w->n_nodes + 1, sizeof(*w->nodes));
    w->jobs = calloc(w->n_jobs + 1, sizeof(*w->jobs));
    w->tasks = calloc(w->n_tasks + 1, sizeof(*w->tasks));
    if (!w->queues || !w->nodes || !w->jobs || !w->tasks || !read_names(&w->names, c)) {
        kube_clear(w);
        kube_wrong("there are more than %d resources, or there is no memory", SHARE_DIMENSIONS_MAX);
        return false;
    }
    size_t i;
    json_t *entry;
    json_array_foreach (json_object_get(c, "queues"), i, entry) {
        read_queue(w, entry, &w->queues[i]);
    }
    read_nodes(w, c);
    read_jobs(w, c);
    read_tasks(w, c);
    if (add_up(w))
        return true;
    kube_clear(w);
    kube_wrong("nodes, jobs or tasks have more of a resource than 2^60 units together");
    return false;
}

void kube_clear(struct kube_world *w)
{
    free(w->queues);
    free(w->nodes);
    free(w->jobs);
    free(w->tasks);
    *w = (struct kube_world){0};
}

json_t *kube_plugin(const struct kube_world *w, const char *name)
{
    size_t i, j;
    json_t *tier, *plugin;
    json_array_foreach (w->tiers, i, tier) {
        json_array_foreach (tier, j, plugin) {
            if (strcmp(kube_text(plugin, "name"), name) == 0)
                return plugin;
        }
    }
    return NULL;
}

bool kube_has_started(const char *status)
{
    static const char *const started[] = {"Allocated", "Binding", "Bound", "Running"};
    for (size_t i = 0; i < sizeof(started) / sizeof(*started); i++)
        if (strcmp(status, started[i]) == 0)
            return true;
    return false;
}
