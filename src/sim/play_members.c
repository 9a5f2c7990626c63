/* The jobs of a submission: what they are called, and which members of an array there are. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/idset.h"
#include "sim/play_priv.h"

bool play_has_members(const struct play_submission *s)
{
    return s->n > 1 || s->indices;
}

const char *play_name(const struct play *p, size_t job, struct strbuf *buffer)
{
    uint32_t number = p->jobs[job].submission;
    const struct play_submission *s = &p->submissions[number];
    strbuf_reset(buffer);
    strbuf_put(buffer, intern_text(&p->ids, number), intern_length(&p->ids, number));
    if (play_has_members(s)) {
        strbuf_putc(buffer, '[');
        strbuf_put_uint(buffer, p->jobs[job].member);
        strbuf_putc(buffer, ']');
    }
    return strbuf_text(buffer);
}

const char *play_name_all(struct play *p, size_t job)
{
    const struct play_job *j = &p->jobs[job];
    const struct play_submission *s = &p->submissions[j->submission];
    struct idset set = {0};
    if (!play_is_together(p, job))
        return play_name(p, job, &p->name);
    for (uint32_t i = 0; i < s->n; i++)
        if (p->jobs[s->first + i].state == PLAY_WAITING && play_is_together(p, s->first + i) &&
            idset_add(&set, p->jobs[s->first + i].member) < 0) {
            idset_clear(&set);
            return NULL;
        }
    strbuf_reset(&p->name);
    strbuf_puts(&p->name, intern_text(&p->ids, j->submission));
    strbuf_putc(&p->name, '[');
    idset_encode_steps(&set, &p->name);
    strbuf_putc(&p->name, ']');
    idset_clear(&set);
    return strbuf_text(&p->name);
}

int play_add(struct play *p, const char *id, uint32_t n, uint32_t *number)
{
    struct play_range taken;
    if (play_find(p, id, strlen(id), &taken)) {
        errno = EEXIST;
        return -1;
    }
    if (array_grow((void **)&p->submissions, &p->cap_submissions, (size_t)p->ids.n + 1,
                   sizeof(*p->submissions)) < 0 ||
        array_grow((void **)&p->jobs, &p->cap_jobs, p->n_jobs + n, sizeof(*p->jobs)) < 0 ||
        intern_put(&p->ids, id, strlen(id), number) < 0)
        return -1;
    p->submissions[*number] =
        (struct play_submission){.first = (uint32_t)p->n_jobs, .n = n, .handle = -1, .runtime = -1};
    for (uint32_t i = 0; i < n; i++)
        p->jobs[p->n_jobs++] = (struct play_job){.handle = -1,
                                                 .submission = *number,
                                                 .member = i,
                                                 .submit = p->d.now,
                                                 .promised = -1,
                                                 .start = -1,
                                                 .end = -1};
    p->d.live += n;
    return 0;
}

int play_note_indices(struct play *p, uint32_t number)
{
    struct play_submission *s = &p->submissions[number];
    const struct play_job *job = &p->jobs[s->first];
    struct strbuf text = {0};
    struct idset set = {0};
    int rc = 0;
    if (job[s->n - 1].member < s->n)
        return 0;
    for (uint32_t i = 0; i < s->n && rc == 0; i++)
        rc = idset_add(&set, job[i].member);
    idset_encode_steps(&set, &text);
    idset_clear(&set);
    s->indices = strbuf_steal(&text);
    if (rc == 0 && s->indices)
        return 0;
    errno = ENOMEM;
    return -1;
}

size_t play_member(const struct play *p, uint32_t number, uint64_t index)
{
    const struct play_submission *s = &p->submissions[number];
    size_t low = s->first, high = s->first + s->n;
    if (!s->indices)
        return index < s->n ? low + index : SIZE_MAX;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (p->jobs[middle].member < index)
            low = middle + 1;
        else
            high = middle;
    }
    return low < s->first + s->n && p->jobs[low].member == index ? low : SIZE_MAX;
}
