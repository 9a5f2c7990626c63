/* What may stand in a session: members that it may have, of which others are named, as nobody looks at them; and words. */
#include <stdio.h>
#include <string.h>

#include "kube.h"

enum { KNOWN_MAX = 16 };

/* The members of the objects in a list of a case, or of one that is an object. */
static const struct {
    const char *name;
    const char *members[KNOWN_MAX]; /* ends with NULL */
} lists[] = {
    {"config",
     {"actions", "tiers", "action_arguments", "tier_plugins_listed_but_not_registered", NULL}},
    {"queues",
     {"name", "weight", "state", "capability", "deserved", "guarantee", "priority", "parent",
      "hierarchy", "hierarchy_weights", "reclaimable", NULL}},
    {"nodes", {"name", "labels", "taints", "allocatable", NULL}},
    {"jobs",
     {"name", "queue", "min_available", "phase", "min_task_available", "min_resources",
      "priority_class", "priority", "annotations", "network_topology", "sub_group_policy", NULL}},
    {"tasks",
     {"name", "job", "status", "node", "request", "priority", "priority_class", "preemptable",
      "role", "labels", "node_selector", "affinity", "nominated_node", "preemption_policy", NULL}},
};

/* What some members may say. */
static const struct {
    const char *list, *member;
    const char *words[KNOWN_MAX]; /* ends with NULL */
} choices[] = {
    {"queues", "state", {"Open", "Closed", "Closing", "Unknown", NULL}},
    {"jobs", "phase", {"Pending", "Inqueue", "Running", "Completed", "Unknown", NULL}},
    {"tasks",
     "status",
     {"Pending", "Allocated", "Pipelined", "Binding", "Bound", "Running", "Releasing", "Succeeded",
      "Failed", "Unknown", NULL}},
};

static bool is_known(const char *const *members, const char *name)
{
    while (*members && strcmp(*members, name) != 0)
        members++;
    return *members != NULL;
}

void kube_name_unknown(json_t *c)
{
    for (size_t k = 0; k < sizeof(lists) / sizeof(*lists); k++) {
        json_t *list = json_object_get(c, lists[k].name), *entry, *value;
        json_t *each = json_is_object(list) ? json_pack("[O]", list) : json_incref(list);
        const char *member;
        size_t i;
        json_array_foreach (each, i, entry) {
            json_object_foreach (entry, member, value) {
                if (is_known(lists[k].members, member))
                    continue;
                if (json_is_object(list))
                    printf("not looked at: %s: %s.%s\n", kube_text(c, "id"), lists[k].name, member);
                else
                    printf("not looked at: %s: %s[%zu].%s\n", kube_text(c, "id"), lists[k].name, i,
                           member);
            }
        }
        json_decref(each);
    }
}

bool kube_check_words(json_t *c, char *why, size_t room)
{
    for (size_t k = 0; k < sizeof(choices) / sizeof(*choices); k++) {
        size_t i;
        json_t *entry;
        json_array_foreach (json_object_get(c, choices[k].list), i, entry) {
            const char *word = kube_text(entry, choices[k].member);
            if (word[0] == '\0' || is_known(choices[k].words, word))
                continue;
            snprintf(why, room, "%s[%zu].%s: unknown: %s", choices[k].list, i, choices[k].member,
                     word);
            return false;
        }
    }
    return true;
}
