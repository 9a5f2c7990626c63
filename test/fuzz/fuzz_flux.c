/* Any JSON is Flux's configuration with a configuration of the module's in it, or an error of one line; and R with ranks and
 * times, or none; and options of Fluxion's modules.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "flux/fluxion/options.h"
#include "flux/r.h"
#include "flux/settings.h"
#include "flux/slots.h"
#include "fuzz.h"

static void check_settings(const json_t *conf)
{
    berth_error_t err = {""};
    errno = 0;
    struct config *c = settings_read(conf, 1000000, &err);
    if (!c) {
        FUZZ_CHECK(errno == EINVAL || errno == ENOMEM || errno == EEXIST);
        FUZZ_CHECK(err.text[0] && !strchr(err.text, '\n'));
        return;
    }
    FUZZ_CHECK(c->sched.n_queues >= 1 && c->sched.second == 1000000);
    for (size_t i = 0; i < c->sched.n_queues; i++)
        FUZZ_CHECK(c->sched.queues[i].preemptible != SCHED_PREEMPT_REQUEUE);
    config_destroy(c);
}

static void check_r(json_t *r)
{
    struct idset ranks = {0};
    berth_error_t err;
    const char *format;
    int64_t at, until, again_at, again_until;

    if (r_ranks(r, &ranks, &err) == 0)
        FUZZ_CHECK(idset_check(&ranks));
    idset_clear(&ranks);
    FUZZ_CHECK(r_readable(r, &format) != NULL && format);
    if (r_times(r, 1000000, &at, &until) < 0)
        return;
    FUZZ_CHECK(at >= 0 && until > 0);
    FUZZ_CHECK(r_set_times(r, 1000000, at, until) == 0 &&
               r_times(r, 1000000, &again_at, &again_until) == 0);
    FUZZ_CHECK(again_at == at && again_until == until);
}

static void ignore(void *context, const char *policy)
{
    (void)context;
    (void)policy;
}

static void check_fluxion(json_t *value)
{
    struct resource_options options;
    berth_error_t err = {""};
    json_t *own = r_in_own_ranks(value), *params;

    FUZZ_CHECK(own);
    json_decref(own);
    if (resource_options_read(&options, "sched-fluxion-resource", value, 0, NULL, &err) < 0)
        FUZZ_CHECK(err.text[0]);
    resource_options_clear(&options);
    params = qmanager_options_read(value, 0, NULL, ignore, NULL, &err);
    if (params)
        json_decref(qmanager_options_conf(params, value));
    json_decref(params);
}

static void check_jobspec(json_t *value)
{
    berth_error_t err = {""};
    json_t *whole = slots_written_out(value), *again = whole ? slots_written_out(whole) : NULL;

    FUZZ_CHECK(whole && again == whole);
    json_decref(again);
    json_decref(whole);
    FUZZ_CHECK((r_check_graph_ranks(value, &err) < 0) == (err.text[0] != '\0'));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    json_t *value = json_loadb((const char *)data, size, 0, NULL);
    if (!value)
        return 0;
    check_settings(value);
    check_fluxion(value);
    check_r(value);
    check_jobspec(value);
    json_decref(value);
    return 0;
}
