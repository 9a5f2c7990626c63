#include "flux/r.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/errtext.h"
#include "config/seconds.h"

int r_ranks(const json_t *r, struct idset *ranks, berth_error_t *err)
{
    const json_t *lite = json_object_get(json_object_get(r, "execution"), "R_lite"), *entry;
    struct idset some = {0};
    size_t i;
    int rc = json_is_array(lite) ? 0 : errtext_set(err, EINVAL, "R: expected execution.R_lite");

    json_array_foreach (lite, i, entry) {
        const char *text = json_string_value(json_object_get(entry, "rank"));
        if (!text) {
            rc = errtext_set(err, EINVAL, "R: R_lite[%zu]: expected ranks", i);
            break;
        }
        idset_reset(&some);
        if (idset_decode(&some, text, strlen(text), err) == 0 && idset_unite(ranks, &some) == 0)
            continue;
        rc = errno == ENOMEM ? errtext_no_memory(err) : -1;
        break;
    }
    idset_clear(&some);
    return rc;
}

/* Seconds since 1970 in ticks, to the nearest; 0 for what is none. */
static int64_t nearest_tick(double seconds, int64_t second)
{
    return seconds > 0 && seconds < (double)SECONDS_MAX ? (int64_t)llround(seconds * (double)second)
                                                        : 0;
}

int r_times(const json_t *r, int64_t second, int64_t *at, int64_t *until)
{
    const json_t *execution = json_object_get(r, "execution");
    const json_t *start = json_object_get(execution, "starttime"),
                 *end = json_object_get(execution, "expiration");

    if (!json_is_number(start)) {
        errno = EINVAL;
        return -1;
    }
    *at = nearest_tick(json_number_value(start), second);
    *until = nearest_tick(json_number_value(end), second);
    if (*until == 0)
        *until = INT64_MAX;
    return 0;
}

static json_t *time_of(int64_t ticks, int64_t second)
{
    return second == 1 ? json_integer(ticks) : json_real((double)ticks / (double)second);
}

int r_set_times(json_t *r, int64_t second, int64_t at, int64_t until)
{
    json_t *execution = json_object_get(r, "execution");

    if (until == INT64_MAX)
        until = 0;
    if (!json_is_object(execution)) {
        errno = EINVAL;
        return -1;
    }
    if (json_object_set_new(execution, "starttime", time_of(at, second)) < 0 ||
        json_object_set_new(execution, "expiration", time_of(until, second)) < 0) {
        errno = ENOMEM;
        return -1;
    }
    return 0;
}

static const char *writer_of(const json_t *scheduling)
{
    const char *writer = json_string_value(json_object_get(scheduling, "writer"));
    return writer ? writer : "fluxion";
}

static bool is_fluxions(const char *writer)
{
    return strcmp(writer, "fluxion") == 0 || strcmp(writer, "fluxion:jgf") == 0 ||
           strcmp(writer, "fluxion:jgf_shorthand") == 0;
}

int r_check_scheduling(const json_t *r, berth_error_t *err)
{
    const json_t *scheduling = json_object_get(r, "scheduling");

    if (!scheduling || json_is_null(scheduling) || !is_fluxions(writer_of(scheduling)) ||
        json_is_object(json_object_get(scheduling, "graph")))
        return 0;
    return errtext_set(err, EINVAL, "R: scheduling: expected an object with a graph");
}

const json_t *r_readable(const json_t *r, const char **format)
{
    const json_t *scheduling = json_object_get(r, "scheduling");
    const char *writer = writer_of(scheduling);

    *format = strcmp(writer, "fluxion:jgf_shorthand") == 0 ? "jgf_shorthand" : "jgf";
    if (is_fluxions(writer) && json_object_get(scheduling, "graph"))
        return scheduling;
    *format = "rv1exec";
    return r;
}
