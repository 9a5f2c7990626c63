/* Arrays of gangs: "a" is the name of all of its gangs, each of which is a submission of its own, "a.3". */
#include <errno.h>
#include <string.h>

#include "base/errtext.h"
#include "sim/play_priv.h"

bool play_find(const struct play *p, const char *id, size_t length, struct play_range *jobs)
{
    uint32_t number;
    if (intern_find(&p->arrays, id, length, &number)) {
        *jobs = p->gangs[number];
        return true;
    }
    if (!intern_find(&p->ids, id, length, &number))
        return false;
    const struct play_submission *s = &p->submissions[number];
    *jobs = (struct play_range){s->first, s->n, play_has_members(s)};
    return true;
}

/* Make an array of gangs without any. */
static int make_array(struct play *p, const char *name, size_t length, size_t first,
                      uint32_t *array)
{
    if (array_grow((void **)&p->gangs, &p->cap_gangs, (size_t)p->arrays.n + 1, sizeof(*p->gangs)) <
            0 ||
        intern_put(&p->arrays, name, length, array) < 0)
        return -1;
    p->gangs[*array] = (struct play_range){.first = first};
    return 0;
}

int play_join_array(struct play *p, uint32_t number, const char *name)
{
    struct play_submission *s = &p->submissions[number];
    size_t length = strlen(name);
    uint32_t array, job;
    bool is_there = intern_find(&p->arrays, name, length, &array);
    if (intern_find(&p->ids, name, length, &job) ||
        (is_there && p->gangs[array].first + p->gangs[array].n != s->first)) {
        errno = EEXIST;
        return -1;
    }
    if (!is_there && make_array(p, name, length, s->first, &array) < 0)
        return -1;
    p->gangs[array].n += s->n;
    s->array = array + 1;
    return 0;
}

/* Append the gangs of an array, "a.1:a.2:a.3". */
static void put_gangs(const struct play *p, const struct play_range *gangs, struct strbuf *out)
{
    size_t end = gangs->first + gangs->n;
    for (size_t job = gangs->first; job < end;) {
        uint32_t number = p->jobs[job].submission;
        if (job > gangs->first)
            strbuf_putc(out, ':');
        strbuf_put(out, intern_text(&p->ids, number), intern_length(&p->ids, number));
        job += p->submissions[number].n;
    }
}

char *play_dependency(const struct play *p, const char *text, berth_error_t *err)
{
    struct strbuf out = {0};
    bool is_job = false;
    for (; *text && out.len <= SCENARIO_LINE_MAX; text++) {
        uint32_t array;
        size_t length = strcspn(text, ":,");
        if (is_job && intern_find(&p->arrays, text, length, &array))
            put_gangs(p, &p->gangs[array], &out);
        else
            strbuf_put(&out, text, length);
        text += length;
        if (!*text)
            break;
        is_job = *text == ':';
        strbuf_putc(&out, *text);
    }
    if (out.len > SCENARIO_LINE_MAX) {
        strbuf_clear(&out);
        errtext_set(err, EINVAL,
                    "key \"dependency\": expected fewer names with those of all gangs");
        return NULL;
    }
    char *made = strbuf_steal(&out);
    if (!made)
        errtext_no_memory(err);
    return made;
}
