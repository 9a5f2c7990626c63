/* Who is stopped for others, and for whom: what the plugins of a session say about that. */
#include <string.h>

#include "kube_session.h"

static bool is_kube_batch(const struct session *s)
{
    return strcmp(kube_text(s->c, "system"), "kube-batch") == 0;
}

/* Of a tier's plugins, whether one has a function enabled. */
static bool is_in_tier(json_t *tier, const char *name, const char *function)
{
    size_t i;
    json_t *plugin;
    json_array_foreach (tier, i, plugin) {
        if (strcmp(kube_text(plugin, "name"), name) == 0 &&
            json_is_true(json_object_get(json_object_get(plugin, "enabled"), function)))
            return true;
    }
    return false;
}

/* Which plugins say whether a job starves: those of the first tier in which one does, all of which are to agree. */
struct deciding {
    bool gang;     /* as long as it has less than its min */
    bool priority; /* as long as a task of it waits */
};

static struct deciding who_decides(const struct session *s)
{
    struct deciding by = {0};
    for (size_t i = 0; i < json_array_size(s->w.tiers) && !by.gang && !by.priority; i++) {
        json_t *tier = json_array_get(s->w.tiers, i);
        by.gang = is_in_tier(tier, "gang", "jobStarving");
        by.priority = is_in_tier(tier, "priority", "jobStarving");
    }
    return by;
}

bool kube_starves_beyond_min(const struct session *s)
{
    return kube_may_stop(s, "preempt") && (is_kube_batch(s) || !who_decides(s).gang);
}

bool kube_starves_below_min(const struct session *s)
{
    return (kube_may_stop(s, "preempt") || kube_may_stop(s, "reclaim")) && !is_kube_batch(s) &&
           who_decides(s).gang;
}

bool kube_stops_equals(const struct session *s)
{
    return kube_may_stop(s, "preempt") && !kube_enabled(&s->w, "priority", "preemptable") &&
           !kube_enabled(&s->w, "drf", "preemptable");
}

/* Which plugins say who ends for a job of its own queue: those of the first tier in which one does. */
static struct choice {
    bool priority, drf;
} who_chooses(const struct session *s)
{
    struct choice by = {0};
    for (size_t i = 0; i < json_array_size(s->w.tiers) && !by.priority && !by.drf; i++) {
        json_t *tier = json_array_get(s->w.tiers, i);
        by.priority = is_in_tier(tier, "priority", "preemptable");
        by.drf = is_in_tier(tier, "drf", "preemptable");
    }
    return by;
}

bool kube_takes_from_richer(const struct session *s)
{
    return kube_may_stop(s, "preempt") && who_chooses(s).drf;
}

bool kube_takes_by_both(const struct session *s)
{
    return kube_takes_from_richer(s) && who_chooses(s).priority;
}

bool kube_is_critical(const struct session *s, const struct kube_task *task)
{
    static const char space[] = "kube-system/";
    static const char *const classes[] = {"system-cluster-critical", "system-node-critical"};
    bool asked =
        (kube_has_action(s, "preempt") && kube_enabled(&s->w, "conformance", "preemptable")) ||
        (kube_has_action(s, "reclaim") && kube_enabled(&s->w, "conformance", "reclaimable"));
    bool is = strncmp(task->name, space, strlen(space)) == 0;
    for (size_t i = 0; i < sizeof(classes) / sizeof(*classes); i++)
        is |= strcmp(kube_text(task->is, "priority_class"), classes[i]) == 0 ||
              (task->job && strcmp(kube_text(task->job->is, "priority_class"), classes[i]) == 0);
    return asked && is;
}
