/* Reader of scenarios: what happens to a scheduler, an event a line, as berth-scenario(5) describes.
 *
 * A line is a JSON object with "at", a time, and one other key that says what happens then. Blank lines and
 * those that begin with # are skipped. Times never go back. Lines are read one by one, so that a file may
 * be of any length.
 */
#ifndef SIM_SCENARIO_H
#define SIM_SCENARIO_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "berth/error.h"
#include "config/gang_keys.h"
#include "config/job_keys.h"
#include "config/role_keys.h"

#define SCENARIO_LINE_MAX  ((size_t)1 << 26) /* bytes of a line: a machine may stand in it */
#define SCENARIO_ID_MAX    255               /* bytes of a job's name */
#define SCENARIO_NODES_MAX 100000            /* nodes that an event adds */

enum scenario_kind {
    SCENARIO_SUBMIT,
    SCENARIO_CANCEL,
    SCENARIO_END,
    SCENARIO_PRIORITY,
    SCENARIO_HOLD,
    SCENARIO_RELEASE,
    SCENARIO_DURATION,
    SCENARIO_QUEUE,
    SCENARIO_UPDATE,
    SCENARIO_AT_ONCE,
    SCENARIO_QUEUE_START,
    SCENARIO_QUEUE_PAUSE,
    SCENARIO_QUEUE_DRAIN,
    SCENARIO_QUEUE_STOP,
    SCENARIO_DOWN,
    SCENARIO_FAIL,
    SCENARIO_UP,
    SCENARIO_DRAIN,
    SCENARIO_ATTACH,
    SCENARIO_ADD_NODES,
    SCENARIO_REMOVE,
    SCENARIO_PROPERTY,
    SCENARIO_BLOCK,
    SCENARIO_UNBLOCK,
    SCENARIO_CONFIG,
    SCENARIO_EXPECT,
    SCENARIO_KINDS
};

/* The job that an event is about: "a", or a member of an array, "a[3]". */
struct scenario_job {
    const char *id; /* not terminated */
    size_t length;
    int64_t member; /* -1: the whole job */
};

enum scenario_end { SCENARIO_DONE, SCENARIO_FAILED };

struct scenario_submit {
    const char *id, *user;
    struct gang_keys gang;
    json_t *groups;      /* an array of strings; NULL: as configured for the user */
    struct job_keys job; /* its jobspec is a file's name or an object */
    int64_t begin;       /* ticks; 0: at once */
    int64_t deadline;    /* ticks; 0: none is named */
    int64_t runtime;     /* ticks; -1: its duration */
    int64_t stopping;    /* ticks that it takes to end when it is preempted */
    int status;          /* how it ends: enum scenario_end */
};

struct scenario_block {
    const char *name, *resources;
    int64_t start, duration, every;
    json_t *users, *queues, *jobs; /* NULL: none */
};

struct scenario_event {
    int64_t at;
    uint64_t line;
    enum scenario_kind kind;
    json_t *json;            /* the whole object, that everything below belongs to */
    struct scenario_job job; /* of cancel, end, priority, hold ... */
    const char *text;        /* a queue, resources, the name of a block, or a file */
    const char *key, *value; /* of property; value NULL: it is removed */
    int64_t number; /* priority, limit (0: it stays), members at once, nodes to add, or ticks that a
                              * cancelled job takes to end */
    int64_t estimate; /* of duration; 0: none is given */
    int status;       /* of end: enum scenario_end, or -1: as the job's submission says */
    json_t *object;   /* of attach (text is NULL then) and expect */
    struct scenario_submit submit; /* of update, what its job asks for */
    struct scenario_block block;
};

/* What a job is expected to be. */
enum scenario_state {
    SCENARIO_IS_PENDING, /* waits, for whatever */
    SCENARIO_IS_BLOCKED, /* waits for something else than resources, held ones included */
    SCENARIO_IS_HELD,
    SCENARIO_IS_RESERVED,
    SCENARIO_IS_RUNNING,
    SCENARIO_IS_DONE,
    SCENARIO_IS_FAILED,
    SCENARIO_IS_CANCELLED,
    SCENARIO_IS_REJECTED,
    SCENARIO_IS_PREEMPTED
};

struct scenario_expected {
    int state;                                    /* enum scenario_state; -1: any */
    int64_t start, end;                           /* -1: any */
    const char *reason, *resources, *how, *queue; /* NULL: any */
};

const char *scenario_state_name(enum scenario_state state);

/* The key of an event, "submit". */
const char *scenario_kind_name(enum scenario_kind kind);

struct scenario;

/* Open a file, or standard input where path is "-"; or take a text in memory, which must stay. `name` is
 * for errors. NULL with errno and a text.
 */
struct scenario *scenario_open(const char *path, berth_error_t *err);
struct scenario *scenario_from_text(const char *name, const char *text, size_t length,
                                    berth_error_t *err);
void scenario_close(struct scenario *s);

/* The name for errors. */
const char *scenario_name(const struct scenario *s);

/* Events begin no earlier; those that give no time are at this one. */
void scenario_begin_at(struct scenario *s, int64_t at);

/* The next event. Returns 1, 0 at the end, or -1 with errno and a text "NAME:LINE: ...": EINVAL, ENOMEM or
 * what reading has met. An event that was returned is to be cleared.
 */
int scenario_next(struct scenario *s, struct scenario_event *event, berth_error_t *err);
void scenario_event_clear(struct scenario_event *event);

/* Split "a[3]" into the job's name and the member. False if it is neither that nor a name. */
bool scenario_job_parse(const char *text, struct scenario_job *job);

/* Read one of the values of `expect`, a word or an object. Returns 0, or -1 with EINVAL and a text. */
int scenario_expected_read(json_t *value, const struct key_place *place,
                           struct scenario_expected *expected, berth_error_t *err);

/* The text of a jobspec for the short form: nodes, cores, ... of a submission or a role, to be freed. A unit of the
 * machine's memory has so many bytes; 0: it has none. NULL with EINVAL or ENOMEM and a text.
 */
char *scenario_jobspec(const struct job_keys *k, struct job_units units, berth_error_t *err);

#endif
