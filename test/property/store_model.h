/* A naive store: everything in arrays, copied whole for a transaction, told as a text to compare. */
#ifndef PROPERTY_STORE_MODEL_H
#define PROPERTY_STORE_MODEL_H

#include "base/strbuf.h"
#include "server/store/store.h"

enum { MODEL_JOBS = 96, MODEL_MEMBERS = 4, MODEL_EVENTS = 512, MODEL_VALUES = 5 };

struct model_member {
    bool known;
    enum store_state state;
    int64_t end_wall;
    int64_t order; /* of its end among all */
    int tag;       /* tells the other fields */
    bool in_range; /* its row is of a range, */
    bool together; /* of which it is not the first */
};

struct model_job {
    bool there;
    int members, tag, environment, script;
    int64_t priority;
    bool held;
    struct model_member member[MODEL_MEMBERS];
};

struct model {
    struct model_job job[MODEL_JOBS]; /* by number - 1 */
    int64_t jobs, events, ends;
    int64_t event_job[MODEL_EVENTS]; /* by number - 1; -1: dropped */
    int value;
    int listed[MODEL_VALUES]; /* values of one prefix; 0: there is none */
};

/* Whether an array has a member: some lack their second one. */
bool model_has(const struct model_job *job, int member);

/* The job and the member that these fields stand for; texts are valid until the next call. */
void model_fill_job(const struct model *m, int64_t id, struct store_job *out);
void model_fill_member(const struct model *m, int64_t id, int member, struct store_member *out);

void model_set_member(struct model *m, int64_t id, int member, enum store_state state,
                      int64_t end_wall, int tag);
/* Whether members may end together, as they are not stored yet; and let them. */
bool model_fits_range(const struct model_job *job, int first, int last);
void model_set_range(struct model *m, int64_t id, int first, int last, enum store_state state,
                     int64_t end_wall, int tag);
bool model_is_over(const struct model_job *job, int64_t before);
void model_retain(struct model *m, int64_t before);

enum { MODEL_UID = 1000, MODEL_USERS = 3 };

/* What is stored of a user's jobs, counted anew; and jobs that are over dropped until it is no more than
 * that.
 */
int64_t model_used(const struct model *m, uint32_t uid);
void model_trim(struct model *m, uint32_t uid, int64_t bytes);

/* All that is in it, and the same of a store, as texts. */
void model_tell(const struct model *m, struct strbuf *out);
int model_tell_store(store_t *s, struct strbuf *out, berth_error_t *err);

#endif
