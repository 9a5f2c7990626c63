/* The tasks of a jobspec. */
#include "jobspec/build.h"
#include "jobspec/number.h"

enum task_key { COMMAND, SLOT, COUNT, DISTRIBUTION, ATTRIBUTES, TASK_KEYS };
static const char *const task_names[] = {"command", "slot", "count", "distribution", "attributes"};
static const struct doc_keys task_keys = {"a task", task_names, TASK_KEYS, 3};

/* In the order of enum jobspec_per. */
static const char *const per_names[] = {"per_slot", "per_resource", "total"};
static const struct doc_keys per_keys = {"the count of a task", per_names, 3, 0};

static const char *const per_resource_names[] = {"type", "count"};
static const struct doc_keys per_resource_keys = {"per_resource", per_resource_names, 2, 2};

static const char count_expected[] = "a number from 1 to 4294967295";

void tasks_need(struct need *need, const struct doc *d, uint32_t i)
{
    uint32_t nodes = d->node[i].end - i;
    need_array(need, d->node[i].count, sizeof(struct jobspec_task));
    /* Each argument needs a pointer and has a node. A command needs one pointer more at its end, and its
     * key is a node too.
     */
    need_array(need, nodes, sizeof(char *));
    /* A variable is two nodes. */
    need_array(need, nodes / 2, sizeof(struct jobspec_variable));
    need_text(need, d, i);
}

static int build_command(struct build *b, uint32_t i, struct jobspec_task *task)
{
    const struct doc *d = b->doc;
    if (d->node[i].kind != DOC_LIST)
        return doc_expected(d, i, "command", "a list of strings");
    if (d->node[i].count == 0)
        return doc_fault(d, i, "key \"command\": expected at least one string");
    const char **command = build_array(b, (size_t)d->node[i].count + 1, sizeof(*command));
    for (uint32_t a = i + 1; a < d->node[i].end; a = d->node[a].end) {
        if (build_string(b, a, "command", &command[task->ncommand]) < 0)
            return -1;
        task->ncommand++;
    }
    task->command = command;
    return 0;
}

static int build_number(struct build *b, uint32_t i, const char *key, struct jobspec_task *task)
{
    if (!doc_is_text(b->doc, i) || !number_u32(doc_text(b->doc, i), &task->count) ||
        task->count == 0)
        return doc_expected(b->doc, i, key, count_expected);
    return 0;
}

static int build_count(struct build *b, uint32_t i, struct jobspec_task *task)
{
    const struct doc *d = b->doc;
    uint32_t value[3];
    if (doc_fields(d, i, &per_keys, value) < 0)
        return -1;
    if (d->node[i].count != 1)
        return doc_fault(d, i,
                         "key \"count\": expected one of per_slot, per_resource and total, got %u",
                         (unsigned)d->node[i].count);
    task->per = JOBSPEC_PER_SLOT;
    while (value[task->per] == DOC_NONE)
        task->per++;
    uint32_t per = value[task->per];
    if (task->per != JOBSPEC_PER_RESOURCE)
        return build_number(b, per, per_names[task->per], task);
    if (doc_fields(d, per, &per_resource_keys, value) < 0 ||
        build_string(b, value[0], "type", &task->per_type) < 0)
        return -1;
    return build_number(b, value[1], "count", task);
}

/* Of a task's attributes only the environment is looked at. */
static int build_attributes(struct build *b, uint32_t i, struct jobspec_task *task)
{
    const struct doc *d = b->doc;
    if (i == DOC_NONE)
        return 0;
    if (d->node[i].kind != DOC_MAPPING)
        return doc_expected(d, i, "attributes", "a mapping");
    for (uint32_t key = i + 1; key < d->node[i].end; key = d->node[key + 1].end) {
        if (doc_is(d, key, "environment"))
            return environment_build(b, key + 1, &task->environment, &task->nenvironment);
    }
    return 0;
}

int tasks_build(struct build *b, uint32_t i)
{
    const struct doc *d = b->doc;
    if (d->node[i].kind != DOC_LIST)
        return doc_expected(d, i, "tasks", "a list of tasks");
    if (d->node[i].count == 0)
        return doc_fault(d, i, "key \"tasks\": expected at least one task");
    struct jobspec_task *task = build_array(b, d->node[i].count, sizeof(*task));
    b->spec->tasks = task;
    b->spec->ntasks = d->node[i].count;
    for (uint32_t t = i + 1; t < d->node[i].end; t = d->node[t].end, task++) {
        uint32_t value[TASK_KEYS];
        if (doc_fields(d, t, &task_keys, value) < 0 || build_command(b, value[COMMAND], task) < 0 ||
            build_string(b, value[SLOT], "slot", &task->slot) < 0 ||
            build_count(b, value[COUNT], task) < 0 ||
            build_string(b, value[DISTRIBUTION], "distribution", &task->distribution) < 0 ||
            build_attributes(b, value[ATTRIBUTES], task) < 0)
            return -1;
    }
    return 0;
}
