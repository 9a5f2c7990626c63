/* A file of jobs that wait for each other: whatever it is, each job of the list waits for earlier ones, or there is an
 * error.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/client/job_graph.h"
#include "fuzz.h"

static void check_waits(const json_t *job, size_t place)
{
    const char *at = json_string_value(json_object_get(job, "dependency"));
    while (at && (at = strchr(at, '#')) != NULL)
        FUZZ_CHECK(strtoul(++at, NULL, 10) < place);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    berth_error_t err = {""};
    json_t *common = json_pack("{s:{}}", "environment");
    json_t *jobs = job_graph_read((const char *)data, size, "jobs.yaml", common, &err), *job;
    size_t i;
    FUZZ_CHECK(jobs || err.text[0]);
    json_array_foreach (jobs, i, job) {
        check_waits(job, i);
        FUZZ_CHECK(json_is_true(json_object_get(job, "environment")) == (i > 0));
    }
    json_decref(jobs);
    json_decref(common);
    return 0;
}
