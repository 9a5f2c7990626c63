/* Any bytes are events that keep the reader's promises, or an error of one line that names the place. What
 * can be made of an event's short form is a jobspec.
 */
#include <errno.h>
#include <string.h>

#include "berth/jobspec.h"
#include "config/seconds.h"
#include "fuzz.h"
#include "sim/scenario_event.h"

static void check_form(const struct job_keys *k)
{
    berth_error_t err;
    if (k->jobspec)
        return;
    char *text = scenario_jobspec(k, (struct job_units){INT64_C(1) << 30, INT64_C(1) << 20}, &err);
    FUZZ_CHECK(text);
    jobspec_t *spec = jobspec_parse(text, strlen(text), NULL, &err);
    FUZZ_CHECK(spec ||
               k->requires); /* a constraint may be wrong, and is told when it is submitted */
    jobspec_destroy(spec);
    free(text);
}

static void check_roles(json_t *array)
{
    struct role_keys *roles;
    berth_error_t err;
    int n = scenario_roles(array, &(struct key_place){0}, &roles, &err);
    FUZZ_CHECK(n >= 1);
    for (int i = 0; i < n; i++) {
        FUZZ_CHECK(roles[i].min >= 0 && roles[i].min <= roles[i].count);
        check_form(&roles[i].ask);
    }
    free(roles);
}

/* The members of an array, or the one that a job is. */
static void check_members(const struct job_keys *k)
{
    struct members members;
    berth_error_t err;
    FUZZ_CHECK(job_keys_members(k, "", &(struct key_place){0}, &members, &err) == 0);
    FUZZ_CHECK(idset_check(&members.indices) && members.indices.count > 0);
    FUZZ_CHECK(idset_last(&members.indices) < MEMBERS_MAX && members.most <= MEMBERS_MAX);
    members_clear(&members);
}

static void check_submit(const struct scenario_submit *s)
{
    FUZZ_CHECK(s->id && *s->id && strlen(s->id) <= SCENARIO_ID_MAX);
    FUZZ_CHECK(s->runtime >= -1 && s->stopping >= 0 && s->job.limit >= 0 && s->begin >= 0);
    check_members(&s->job);
    if (s->gang.roles)
        check_roles(s->gang.roles);
    else
        check_form(&s->job);
}

static void check_event(const struct scenario_event *e, int64_t before)
{
    FUZZ_CHECK(e->at >= before && e->at <= SECONDS_MAX * SECONDS_TICKS);
    FUZZ_CHECK(e->line > 0 && (int)e->kind >= 0 && e->kind < SCENARIO_KINDS);
    FUZZ_CHECK(json_object_get(e->json, scenario_kind_name(e->kind)));
    if (e->kind == SCENARIO_SUBMIT)
        check_submit(&e->submit);
    if (e->job.id)
        FUZZ_CHECK(e->job.length > 0 && e->job.member >= -1);
    if (e->kind == SCENARIO_BLOCK)
        FUZZ_CHECK(e->block.name && e->block.resources && e->block.duration > 0);
    if (e->kind == SCENARIO_DURATION)
        FUZZ_CHECK(e->number > 0 || e->estimate > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    berth_error_t err = {""};
    struct scenario_event e;
    int64_t before = 0;
    int rc;
    struct scenario *s = scenario_from_text("fuzz", (const char *)data, size, &err);
    FUZZ_CHECK(s);
    while ((rc = scenario_next(s, &e, &err)) > 0) {
        check_event(&e, before);
        before = e.at;
        scenario_event_clear(&e);
    }
    if (rc < 0) {
        FUZZ_CHECK(errno == EINVAL || errno == ENOMEM);
        FUZZ_CHECK(strncmp(err.text, "fuzz:", 5) == 0);
        FUZZ_CHECK(!strchr(err.text, '\n'));
    }
    scenario_close(s);
    return 0;
}
