/* What a submission asks for in the short form. With "tasks", or with a memory size as text, it means the
 * same as for a server; else cores, gpus and memory are per node, as in older scenarios.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/errtext.h"
#include "sim/scenario_event.h"

int scenario_form(const struct scenario_submit *s, int64_t unit, struct short_form *form,
                  struct job_fault *fault)
{
    const struct job_keys *k = &s->job;
    int64_t bytes;
    if (k->tasks > 0 || json_is_string(k->memory))
        return job_keys_form(k, unit, form, &bytes, fault);
    if (job_keys_form_by_node(k, form, fault) < 0)
        return -1;
    if (k->nodes > 0 || form->cores > 0 || form->gpus > 0 || form->memory > 0)
        return 0;
    *fault = (struct job_fault){"nodes", NULL, "nodes, tasks, cores, gpus, memory or a jobspec"};
    return -1;
}

char *scenario_jobspec(const struct scenario_submit *s, int64_t unit, berth_error_t *err)
{
    struct strbuf text = {0};
    struct short_form form;
    struct job_fault fault;
    if (scenario_form(s, unit, &form, &fault) < 0) {
        errtext_set(err, EINVAL, "submit: key \"%s\": expected %s", fault.key, fault.expected);
        return NULL;
    }
    job_keys_put(&s->job, form, &text);
    char *jobspec = strbuf_steal(&text);
    if (!jobspec)
        errtext_set(err, ENOMEM, "out of memory");
    return jobspec;
}
