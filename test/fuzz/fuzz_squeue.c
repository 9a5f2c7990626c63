/* Whatever Slurm answers about a pilot is a line or is none, and what follows from it names only what is known: nodes of
 * the pilot, each given up or lost at most once. A pilot is over only by a state of its own job that says so.
 */
#include <jansson.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/hostlist.h"
#include "cli/pilot_judge.h"
#include "fuzz.h"

#define NOW 1000000

static const char known[] =
    "{\"pilot\": 1, \"job\": \"7\", \"slurm\": \"RUNNING\", \"reason\": \"None\", \"start\": null, "
    "\"since\": 999000, \"nodes\": ["
    "{\"name\": \"n1\", \"host\": \"n1\", \"end\": 2000000, \"given_up\": false},"
    "{\"name\": \"n2.1\", \"host\": \"n2\", \"end\": 2000000, \"given_up\": false},"
    "{\"name\": \"n3\", \"host\": \"n3\", \"end\": 999900, \"given_up\": true}]}";

static void check_names(const json_t *names, bool may_be_given_up)
{
    static const char *const nodes[] = {"n1", "n2.1", "n3"};
    struct hostlist list = {0};
    const char *text = json_string_value(names);
    int64_t found = 0;
    if (!names)
        return;
    FUZZ_CHECK(text && hostlist_decode(&list, text, strlen(text), NULL) == 0);
    for (size_t i = 0; i < (may_be_given_up ? 3 : 2); i++)
        found += hostlist_find(&list, nodes[i], strlen(nodes[i])) >= 0;
    FUZZ_CHECK(found == list.count);
    hostlist_clear(&list);
}

static void check_change(const json_t *change, const struct squeue_job *job)
{
    const char *key;
    json_t *value;
    json_object_foreach ((json_t *)(uintptr_t)change, key, value) {
        bool is_text = strcmp(key, "job") == 0 || strcmp(key, "slurm") == 0 ||
                       strcmp(key, "reason") == 0 || strcmp(key, "given_up") == 0 ||
                       strcmp(key, "lost") == 0;
        bool is_time = strcmp(key, "start") == 0 || strcmp(key, "end") == 0;
        bool is_over = strcmp(key, "over") == 0 && json_is_true(value);
        FUZZ_CHECK(is_over || (is_text && json_is_string(value)) ||
                   (is_time && (json_is_null(value) || json_number_value(value) >= 0)));
        FUZZ_CHECK(!is_over ||
                   (strcmp(job->state, "RUNNING") != 0 && strcmp(job->state, "PENDING") != 0));
    }
    check_names(json_object_get(change, "given_up"), false);
    check_names(json_object_get(change, "lost"), true);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static json_t *pilot;
    struct squeue_job job;
    char *line = strndup((const char *)data, size);
    FUZZ_CHECK(line);
    if (!pilot)
        pilot = json_loads(known, 0, NULL);
    FUZZ_CHECK(pilot);
    FUZZ_CHECK(squeue_time(line) >= 0);
    if (squeue_read(line, &job) == 0) {
        json_t *change = pilot_judge(pilot, &job, 0, NOW);
        if (change)
            check_change(change, &job);
        json_decref(change);
    }
    free(line);
    return 0;
}
