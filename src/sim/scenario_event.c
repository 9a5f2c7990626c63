/* What an event of a scenario says: the table of kinds, and how the value of each is read. */
#include "sim/scenario_event.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "berth/sched_config.h"
#include "config/seconds.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static const char *const end_words[] = {
    [SCENARIO_DONE] = "done", [SCENARIO_FAILED] = "failed", NULL};

static const char *const state_words[] = {[SCENARIO_IS_PENDING] = "pending",
                                          [SCENARIO_IS_BLOCKED] = "blocked",
                                          [SCENARIO_IS_HELD] = "held",
                                          [SCENARIO_IS_RESERVED] = "reserved",
                                          [SCENARIO_IS_RUNNING] = "running",
                                          [SCENARIO_IS_DONE] = "done",
                                          [SCENARIO_IS_FAILED] = "failed",
                                          [SCENARIO_IS_CANCELLED] = "cancelled",
                                          [SCENARIO_IS_REJECTED] = "rejected",
                                          [SCENARIO_IS_PREEMPTED] = "preempted",
                                          NULL};

static const struct key submit_keys[] = {
    KEY_OF(struct scenario_submit, id, KEY_TEXT, .needed = true),
    KEY_OF(struct scenario_submit, user, KEY_TEXT),
    KEY_OF(struct scenario_submit, groups, KEY_TEXTS),
    KEY_OF(struct scenario_submit, runtime, KEY_SECONDS),
    KEY_OF(struct scenario_submit, stopping, KEY_SECONDS),
    JOB_KEYS(struct scenario_submit, job, SCENARIO_COUNT_MAX, 0, SCENARIO_COUNT_MAX,
             (SECONDS_MAX * SECONDS_TICKS)),
    KEY_AS(struct scenario_submit, job.preemptible_after, "preemptible-after", KEY_SECONDS),
    KEY_OF(struct scenario_submit, status, KEY_WORD, .words = end_words),
    GANG_KEYS(struct scenario_submit, gang),
    KEY_AS(struct scenario_submit, gang.roles, "roles", KEY_ARRAY),
};
static const struct key_table submit_table = {"submit: ", submit_keys, LENGTH(submit_keys)};

/* The name of a job becomes job.id until it is split. */
#define PAIR_ID KEY_AS(struct scenario_event, job.id, "id", KEY_TEXT, .needed = true)

static const struct key priority_keys[] = {
    PAIR_ID,
    KEY_AS(struct scenario_event, number, "value", KEY_WHOLE, .needed = true,
           .min = -SCHED_PRIORITY_MAX, .max = SCHED_PRIORITY_MAX),
};
static const struct key_table priority_table = {"priority: ", priority_keys, LENGTH(priority_keys)};

static const struct key duration_keys[] = {
    PAIR_ID,
    KEY_AS(struct scenario_event, number, "value", KEY_DURATION, .max = SECONDS_MAX * SECONDS_TICKS,
           .word = "unlimited"),
    KEY_AS(struct scenario_event, estimate, "estimate", KEY_DURATION,
           .max = SECONDS_MAX * SECONDS_TICKS, .word = "unknown"),
};
static const struct key_table duration_table = {"duration: ", duration_keys, LENGTH(duration_keys)};

static const struct key queue_keys[] = {
    PAIR_ID,
    KEY_AS(struct scenario_event, text, "value", KEY_TEXT, .needed = true),
};
static const struct key_table queue_table = {"queue: ", queue_keys, LENGTH(queue_keys)};

static const struct key update_keys[] = {
    PAIR_ID,
    ASK_KEYS(struct scenario_event, submit.job, SCENARIO_COUNT_MAX, 0, SCENARIO_COUNT_MAX),
    KEY_AS(struct scenario_event, submit.job.nodes_max, "nodes_max", KEY_WHOLE, .min = 1,
           .max = SCENARIO_COUNT_MAX),
};
static const struct key_table update_table = {"update: ", update_keys, LENGTH(update_keys)};

static const struct key at_once_keys[] = {
    PAIR_ID,
    KEY_AS(struct scenario_event, number, "value", KEY_WHOLE, .needed = true,
           .max = SCENARIO_COUNT_MAX),
};
static const struct key_table at_once_table = {"at-once: ", at_once_keys, LENGTH(at_once_keys)};

static const struct key end_keys[] = {
    PAIR_ID,
    KEY_OF(struct scenario_event, status, KEY_WORD, .words = end_words),
};
static const struct key_table end_table = {"end: ", end_keys, LENGTH(end_keys)};

static const struct key cancel_keys[] = {
    PAIR_ID,
    KEY_AS(struct scenario_event, number, "stopping", KEY_SECONDS),
};
static const struct key_table cancel_table = {"cancel: ", cancel_keys, LENGTH(cancel_keys)};

static const struct key property_keys[] = {
    KEY_AS(struct scenario_event, text, "resources", KEY_TEXT, .needed = true),
    KEY_OF(struct scenario_event, key, KEY_TEXT, .needed = true),
    KEY_AS(struct scenario_event, object, "value", KEY_ANY),
};
static const struct key_table property_table = {"property: ", property_keys, LENGTH(property_keys)};

static const struct key expected_keys[] = {
    KEY_OF(struct scenario_expected, state, KEY_WORD, .words = state_words),
    KEY_OF(struct scenario_expected, start, KEY_SECONDS),
    KEY_OF(struct scenario_expected, end, KEY_SECONDS),
    KEY_OF(struct scenario_expected, reason, KEY_TEXT),
    KEY_OF(struct scenario_expected, resources, KEY_TEXT),
    KEY_OF(struct scenario_expected, how, KEY_TEXT),
    KEY_OF(struct scenario_expected, queue, KEY_TEXT),
};
static const struct key_table expected_table = {"expect: ", expected_keys, LENGTH(expected_keys)};

typedef int event_reader(struct scenario_event *e, json_t *value, const struct key_place *place,
                         berth_error_t *err);

static event_reader read_submit, read_job_id, read_id_and_value, read_event_text, read_attach,
    read_count, read_property, read_update, read_expect;

#define RESOURCES_EXPECTED "resources, such as \"node[0-3]\""

static const struct kind {
    const char *name;
    event_reader *read;
    const char *object;            /* what is expected if the value is to be an object */
    const char *text;              /* of read_event_text: what is expected */
    const struct key_table *table; /* of read_id_and_value */
} kinds[SCENARIO_KINDS] = {
    [SCENARIO_SUBMIT] = {"submit", read_submit, .object = "an object"},
    [SCENARIO_CANCEL] = {"cancel", read_id_and_value, .table = &cancel_table},
    [SCENARIO_END] = {"end", read_id_and_value, .table = &end_table},
    [SCENARIO_PRIORITY] = {"priority", read_id_and_value, .table = &priority_table},
    [SCENARIO_HOLD] = {"hold", read_job_id, .table = NULL},
    [SCENARIO_RELEASE] = {"release", read_job_id, .table = NULL},
    [SCENARIO_DURATION] = {"duration", read_id_and_value, .table = &duration_table},
    [SCENARIO_QUEUE] = {"queue", read_id_and_value, .table = &queue_table},
    [SCENARIO_UPDATE] = {"update", read_update, .object = "an object"},
    [SCENARIO_AT_ONCE] = {"at-once", read_id_and_value, .table = &at_once_table},
    [SCENARIO_QUEUE_START] = {"queue-start", read_event_text, .text = "the name of a queue"},
    [SCENARIO_QUEUE_PAUSE] = {"queue-pause", read_event_text, .text = "the name of a queue"},
    [SCENARIO_QUEUE_DRAIN] = {"queue-drain", read_event_text, .text = "the name of a queue"},
    [SCENARIO_QUEUE_STOP] = {"queue-stop", read_event_text, .text = "the name of a queue"},
    [SCENARIO_DOWN] = {"down", read_event_text, .text = RESOURCES_EXPECTED},
    [SCENARIO_FAIL] = {"fail", read_event_text, .text = RESOURCES_EXPECTED},
    [SCENARIO_UP] = {"up", read_event_text, .text = RESOURCES_EXPECTED},
    [SCENARIO_DRAIN] = {"drain", read_event_text, .text = RESOURCES_EXPECTED},
    [SCENARIO_ATTACH] = {"attach", read_attach, .table = NULL},
    [SCENARIO_ADD_NODES] = {"add-nodes", read_count, .table = NULL},
    [SCENARIO_REMOVE] = {"remove", read_event_text, .text = RESOURCES_EXPECTED},
    [SCENARIO_PROPERTY] = {"property", read_property, .object = "an object"},
    [SCENARIO_BLOCK] = {"block", scenario_block_read, .object = "an object"},
    [SCENARIO_UNBLOCK] = {"unblock", read_event_text, .text = "the name of a block"},
    [SCENARIO_CONFIG] = {"config", read_event_text, .text = "the name of a file"},
    [SCENARIO_EXPECT] = {"expect", read_expect, .object = "an object of jobs and their states"},
};

const char *scenario_state_name(enum scenario_state state)
{
    return state_words[state];
}

const char *scenario_kind_name(enum scenario_kind kind)
{
    return kinds[kind].name;
}

/* The bytes of a job's name, without those that would confuse dependencies, members or people. */
static bool is_id(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)text[i] <= ' ' || text[i] == 0x7f || strchr("[]:,\"", text[i]))
            return false;
    return length > 0 && length <= SCENARIO_ID_MAX;
}

bool scenario_job_parse(const char *text, struct scenario_job *job)
{
    const char *bracket = strchr(text, '[');
    *job = (struct scenario_job){text, bracket ? (size_t)(bracket - text) : strlen(text), -1};
    if (!is_id(text, job->length))
        return false;
    if (!bracket)
        return true;
    const char *digit = bracket + 1;
    size_t n = strspn(digit, "0123456789");
    if (n == 0 || n > 7 || strcmp(digit + n, "]") != 0 || (n > 1 && *digit == '0'))
        return false;
    job->member = strtol(digit, NULL, 10);
    return true;
}

#define ID_EXPECTED     "a name of a job, without blanks and []:,\""
#define MEMBER_EXPECTED "a job, such as \"a\", or a member of an array, \"a[3]\""

static int wrong_kind(const struct scenario_event *e, const json_t *found,
                      const struct key_place *place, const char *expected, berth_error_t *err)
{
    return keys_wrong(place, "", kinds[e->kind].name, found, expected, err);
}

/* The time that a key of a submission names; 0: it is not there. */
static int read_submit_time(const struct scenario_event *e, const char *key, const json_t *found,
                            const struct key_place *place, int64_t *at, berth_error_t *err)
{
    if (!found || seconds_read(found, at))
        return 0;
    if (!job_keys_after(found, at))
        return keys_wrong(place, "submit: ", key, found,
                          "seconds, or a time from now on such as \"+1h\"", err);
    *at += e->at;
    return 0;
}

/* What a job asks for, or the members of each of its roles. */
static int read_asked(const struct scenario_submit *s, json_t *value, const struct key_place *place,
                      berth_error_t *err)
{
    struct members members;
    if (job_keys_members(&s->job, "submit: ", place, &members, err) < 0)
        return -1;
    members_clear(&members);
    if (!s->gang.roles)
        return scenario_ask_check(&s->job, value, "submit: ", place, err);
    struct role_keys *roles;
    const char *beside = job_keys_asked(value);
    if (beside)
        return keys_wrong(place, "submit: ", beside, json_object_get(value, beside),
                          "nothing beside roles, which each say that", err);
    int n = scenario_roles(s->gang.roles, place, &roles, err);
    free(roles);
    return n < 0 ? -1 : 0;
}

static int read_submit(struct scenario_event *e, json_t *value, const struct key_place *place,
                       berth_error_t *err)
{
    struct scenario_submit *s = &e->submit;
    s->runtime = -1;
    if (keys_read(value, &submit_table, place, s, err) < 0)
        return -1;
    if (!is_id(s->id, strlen(s->id)))
        return keys_wrong(place, "submit: ", "id", json_object_get(value, "id"), ID_EXPECTED, err);
    return read_submit_time(e, "begin", s->job.begin, place, &e->submit.begin, err) < 0 ||
                   read_submit_time(e, "deadline", s->job.deadline, place, &e->submit.deadline,
                                    err) < 0 ||
                   gang_keys_check(&s->gang, value, true, "submit: ", place, err) < 0
               ? -1
               : read_asked(s, value, place, err);
}

static int read_job_id(struct scenario_event *e, json_t *value, const struct key_place *place,
                       berth_error_t *err)
{
    if (json_is_string(value) && scenario_job_parse(json_string_value(value), &e->job))
        return 0;
    return wrong_kind(e, value, place, MEMBER_EXPECTED, err);
}

static int read_id_and_value(struct scenario_event *e, json_t *value, const struct key_place *place,
                             berth_error_t *err)
{
    e->status = -1;
    bool may_be_id = e->kind == SCENARIO_END || e->kind == SCENARIO_CANCEL;
    if (may_be_id && json_is_string(value))
        return read_job_id(e, value, place, err);
    if (!json_is_object(value))
        return wrong_kind(
            e, value, place,
            e->kind == SCENARIO_END      ? MEMBER_EXPECTED ", or an object with id and status"
            : e->kind == SCENARIO_CANCEL ? MEMBER_EXPECTED ", or an object with id and stopping"
                                         : "an object with id and value",
            err);
    if (keys_read(value, kinds[e->kind].table, place, e, err) < 0)
        return -1;
    if (!scenario_job_parse(e->job.id, &e->job))
        return keys_wrong(place, kinds[e->kind].table->what, "id", json_object_get(value, "id"),
                          MEMBER_EXPECTED, err);
    if (e->kind == SCENARIO_DURATION && e->number == 0 && e->estimate == 0)
        return keys_wrong(place, duration_table.what, "value", json_object_get(value, "value"),
                          "a new limit here, or an estimate", err);
    return 0;
}

static int read_update(struct scenario_event *e, json_t *value, const struct key_place *place,
                       berth_error_t *err)
{
    if (keys_read(value, &update_table, place, e, err) < 0)
        return -1;
    if (!scenario_job_parse(e->job.id, &e->job))
        return keys_wrong(place, update_table.what, "id", json_object_get(value, "id"),
                          MEMBER_EXPECTED, err);
    return scenario_ask_check(&e->submit.job, value, update_table.what, place, err);
}

static int read_event_text(struct scenario_event *e, json_t *value, const struct key_place *place,
                           berth_error_t *err)
{
    e->text = json_string_value(value);
    if (json_string_length(value) > 0)
        return 0;
    return wrong_kind(e, value, place, kinds[e->kind].text, err);
}

static int read_attach(struct scenario_event *e, json_t *value, const struct key_place *place,
                       berth_error_t *err)
{
    if (json_is_object(value)) {
        e->object = value;
        return 0;
    }
    e->text = json_string_value(value);
    if (json_string_length(value) > 0)
        return 0;
    return wrong_kind(e, value, place, "a graph (JGF), or the name of a file with one", err);
}

static int read_count(struct scenario_event *e, json_t *value, const struct key_place *place,
                      berth_error_t *err)
{
    e->number = json_integer_value(value);
    if (json_is_integer(value) && e->number >= 1 && e->number <= SCENARIO_NODES_MAX)
        return 0;
    return wrong_kind(e, value, place, "a whole number from 1 to 100000", err);
}

static int read_property(struct scenario_event *e, json_t *value, const struct key_place *place,
                         berth_error_t *err)
{
    if (!json_object_get(value, "value"))
        return keys_wrong(place, "property: ", "value", NULL,
                          "a string, or null to take the property away", err);
    if (keys_read(value, &property_table, place, e, err) < 0)
        return -1;
    if (e->object && !json_is_string(e->object))
        return keys_wrong(place, "property: ", "value", e->object,
                          "a string, or null to take the property away", err);
    e->value = json_string_value(e->object);
    e->object = NULL;
    return 0;
}

int scenario_expected_read(json_t *value, const struct key_place *place,
                           struct scenario_expected *expected, berth_error_t *err)
{
    *expected = (struct scenario_expected){.state = -1, .start = -1, .end = -1};
    if (json_is_object(value))
        return keys_read(value, &expected_table, place, expected, err);
    for (int i = 0; json_is_string(value) && state_words[i]; i++) {
        if (strcmp(json_string_value(value), state_words[i]) == 0) {
            expected->state = i;
            return 0;
        }
    }
    return keys_wrong(place, "", "expect", value,
                      "a state: pending, blocked, held, reserved, running, done, failed, "
                      "cancelled, rejected or preempted; or an object",
                      err);
}

static int read_expect(struct scenario_event *e, json_t *value, const struct key_place *place,
                       berth_error_t *err)
{
    const char *id;
    json_t *expectation;
    struct scenario_expected expected;
    struct scenario_job job;
    json_object_foreach (value, id, expectation) {
        if (!scenario_job_parse(id, &job))
            return keys_wrong(place, "expect: ", id, expectation,
                              "before the colon " MEMBER_EXPECTED, err);
        if (scenario_expected_read(expectation, place, &expected, err) < 0)
            return -1;
    }
    e->object = value;
    return 0;
}

static int find_kind(const char *name)
{
    for (int i = 0; i < SCENARIO_KINDS; i++)
        if (strcmp(kinds[i].name, name) == 0)
            return i;
    return -1;
}

/* Find the key that says what happens. */
static int read_kind(struct scenario_event *e, json_t *object, const struct key_place *place,
                     berth_error_t *err)
{
    const char *name;
    json_t *value;
    char why[sizeof(err->text)];
    int found = -1;
    json_object_foreach (object, name, value) {
        if (strcmp(name, "at") == 0)
            continue;
        int kind = find_kind(name);
        if (kind < 0) {
            size_t used =
                (size_t)snprintf(why, sizeof(why), "unknown key \"%.40s\", expected", name);
            for (int i = 0; i < SCENARIO_KINDS && used < sizeof(why); i++)
                used += (size_t)snprintf(why + used, sizeof(why) - used, " %s", kinds[i].name);
            return keys_failed(place, EINVAL, why, err);
        }
        if (found >= 0) {
            snprintf(why, sizeof(why), "\"%s\" and \"%s\" in one line, expected a line for each",
                     kinds[found].name, name);
            return keys_failed(place, EINVAL, why, err);
        }
        found = kind;
    }
    if (found < 0)
        return keys_failed(place, EINVAL,
                           "no event: expected a key such as \"submit\" beside \"at\"", err);
    e->kind = (enum scenario_kind)found;
    return 0;
}

int scenario_event_read(struct scenario_event *e, json_t *object, const struct key_place *place,
                        berth_error_t *err)
{
    if (read_kind(e, object, place, err) < 0)
        return -1;
    const struct kind *kind = &kinds[e->kind];
    json_t *value = json_object_get(object, kind->name);
    if (kind->object && !json_is_object(value))
        return wrong_kind(e, value, place, kind->object, err);
    return kind->read(e, value, place, err);
}
