/* One line for the waiting members of an array. */
#include <errno.h>

#include "base/idset.h"
#include "cli/client/connection.h"
#include "cli/shim/fields.h"

/* Whether it is one of an array that waits, as such Slurm has one line for all of it. */
static bool is_waiting_member(const json_t *job)
{
    return json_is_integer(json_object_get(job, "member")) && answer_number(job, "start") <= 0 &&
           answer_number(job, "end") <= 0;
}

/* An array whose waiting members are being folded. */
struct folding {
    json_t *first; /* of them; NULL: there is none yet */
    struct idset members;
};

/* Tell the first which they are. 0, or -1 with ENOMEM. */
static int tell_members(struct folding *f)
{
    struct strbuf text = {0};
    int rc = 0;
    if (f->first) {
        idset_encode(&f->members, false, &text);
        rc = json_object_set_new(f->first, SHIM_MEMBERS, json_string(strbuf_text(&text)));
    }
    strbuf_clear(&text);
    idset_reset(&f->members);
    f->first = NULL;
    return rc;
}

json_t *shim_fold(json_t *jobs)
{
    struct folding f = {.first = NULL};
    json_t *folded = json_array(), *job;
    size_t i;
    int rc = folded ? 0 : -1;
    json_array_foreach (jobs, i, job) {
        bool waits = is_waiting_member(job);
        if (rc == 0 && f.first && answer_number(job, "id") != answer_number(f.first, "id"))
            rc = tell_members(&f);
        if (rc == 0 && (!waits || !f.first))
            rc = json_array_append(folded, job);
        if (waits && !f.first)
            f.first = job;
        if (rc == 0 && waits)
            rc = idset_add(&f.members, (uint32_t)answer_number(job, "member"));
    }
    rc = rc == 0 ? tell_members(&f) : rc;
    idset_clear(&f.members);
    if (rc == 0)
        return folded;
    json_decref(folded);
    errno = ENOMEM;
    return NULL;
}
