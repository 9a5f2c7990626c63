#include "cli/client/environment.h"

#include <fnmatch.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

extern char **environ;

/* Of a job that this may run in: they are not those of a new one. */
static const char *const own[] = {"BERTH_JOB_ID",      "BERTH_JOB_NAME",   "BERTH_QUEUE",
                                  "BERTH_ARRAY_INDEX", "BERTH_ARRAY_SIZE", "BERTH_TASK_INDEX",
                                  "BERTH_TASKS",       "BERTH_CPUS",       "BERTH_NODES",
                                  "BERTH_R",           "BERTH_ATTEMPT"};

static bool is_own(const char *text, size_t length)
{
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
        if (strlen(own[i]) == length && memcmp(own[i], text, length) == 0)
            return true;
    return false;
}

static void set(json_t *to, const char *text)
{
    const char *sign = strchr(text, '=');
    char *name = sign && sign > text ? strndup(text, (size_t)(sign - text)) : NULL;

    if (name)
        json_object_set_new(to, name, json_string(sign + 1));
    free(name);
}

static void leave_out(json_t *from, const char *pattern)
{
    const char *name;
    json_t *value;
    void *next;

    json_object_foreach_safe(from, next, name, value) if (fnmatch(pattern, name, 0) == 0)
        json_object_del(from, name);
}

json_t *environment_make(const json_t *rules)
{
    json_t *all = json_object();
    const json_t *rule;
    size_t i;

    if (!all)
        return NULL;
    for (char **at = environ; *at; at++)
        if (!is_own(*at, strcspn(*at, "=")))
            set(all, *at);
    json_array_foreach(rules, i, rule)
    {
        const char *text = json_string_value(rule);
        const char *value;
        if (text[0] == '-')
            leave_out(all, text + 1);
        else if (strchr(text, '='))
            set(all, text);
        else if ((value = getenv(text)))
            json_object_set_new(all, text, json_string(value));
    }
    return all;
}
