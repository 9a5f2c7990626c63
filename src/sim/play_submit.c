/* A job of a scenario, submitted. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/errtext.h"
#include "berth/sched_query.h"
#include "config/machine_open.h"
#include "sim/play_priv.h"

/* The path of a file that an event names. The caller frees it; NULL with ENOMEM. */
static char *file_name(const struct play *p, const char *name)
{
    const char *folder = p->options.folder;
    struct strbuf path = {0};
    if (folder && *name != '/') {
        strbuf_puts(&path, folder);
        if (path.len > 0 && path.data[path.len - 1] != '/')
            strbuf_putc(&path, '/');
    }
    strbuf_puts(&path, name);
    return strbuf_steal(&path);
}

static int read_all(int fd, struct strbuf *text, size_t max)
{
    for (;;) {
        if (!strbuf_room(text, 65536)) {
            errno = ENOMEM;
            return -1;
        }
        ssize_t got = read(fd, text->data + text->len, text->cap - text->len);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return (int)got;
        text->len += (size_t)got;
        if (text->len > max) {
            errno = EFBIG;
            return -1;
        }
    }
}

char *play_read_file(const struct play *p, const char *name, size_t max, size_t *length,
                     berth_error_t *err)
{
    struct strbuf text = {0};
    char *path = file_name(p, name);
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    int rc = fd < 0 ? -1 : read_all(fd, &text, max);
    int saved = errno;
    if (fd >= 0)
        close(fd);
    *length = text.len;
    char *bytes = rc < 0 ? NULL : strbuf_steal(&text);
    if (!bytes)
        errtext_set(err, rc < 0 ? saved : ENOMEM, "%s: %s", path ? path : name,
                    strerror(rc < 0 ? saved : ENOMEM));
    strbuf_clear(&text);
    free(path);
    return bytes;
}

/* The text of a job's jobspec. */
static char *jobspec_text(const struct play *p, const struct scenario_submit *s, size_t *length,
                          berth_error_t *err)
{
    char *text;
    json_t *jobspec = s->job.jobspec;
    if (json_is_string(jobspec))
        return play_read_file(p, json_string_value(jobspec), JOBSPEC_TEXT_MAX, length, err);
    if (jobspec)
        text = json_dumps(jobspec, JSON_COMPACT);
    else
        text = scenario_jobspec(s, s->job.memory ? config_memory_unit(p->options.machine) : 0, err);
    if (!text && jobspec)
        errtext_set(err, ENOMEM, "out of memory");
    *length = text ? strlen(text) : 0;
    return text;
}

static const struct config_user *find_user(const struct play *p, const char *name)
{
    for (size_t i = 0; name && i < p->config->n_users; i++)
        if (strcmp(p->config->users[i].name, name) == 0)
            return &p->config->users[i];
    return NULL;
}

/* Submit a request to the core, and note the handles of its members. */
static int submit(struct play *p, uint32_t number, struct sched_request *request)
{
    const struct play_submission *s = &p->submissions[number];
    request->tag = number;
    sched_job_t first = sched_submit(p->d.sched, p->d.now, request);
    if (first < 0)
        return -1;
    for (uint32_t i = 0; i < s->n; i++) {
        sched_job_t handle = s->n > 1 ? sched_member(p->d.sched, first, i) : first;
        if (handle < 0 || play_know(p, s->first + i, handle) < 0)
            return -1;
        p->jobs[s->first + i].held = request->hold;
    }
    return 0;
}

static struct sched_request request_of(const struct scenario_submit *s)
{
    const struct job_keys *k = &s->job;
    return (struct sched_request){
        .duration = k->duration,
        .priority = k->priority,
        .id = s->id,
        .queue = k->queue,
        .user = s->user,
        .name = k->name,
        .dependency = k->dependency,
        .begin = s->begin,
        .hold = k->hold,
        .preemptible_after = k->preemptible_after,
        .members = (uint32_t)k->array,
    };
}

int play_submit(struct play *p, const struct scenario_event *e, berth_error_t *err)
{
    const struct scenario_submit *s = &e->submit;
    struct sched_request request = request_of(s);
    const struct config_user *user = find_user(p, s->user);
    const char **groups = NULL;
    uint32_t number;
    berth_error_t why = {""};
    char *text = jobspec_text(p, s, &request.jobspec_length, &why);
    if (!text)
        return play_refuse(p, e, errno, why.text, err);
    request.jobspec = text;
    int rc = keys_texts(s->groups, &groups, &request.n_groups);
    request.groups = groups;
    if (!s->groups && user) {
        request.groups = user->groups;
        request.n_groups = user->n_groups;
    }
    if (rc == 0)
        rc = play_add(p, s->id, s->job.array > 1 ? (uint32_t)s->job.array : 1, &number);
    if (rc < 0 && errno == EEXIST) {
        snprintf(why.text, sizeof(why.text), "there is a job \"%s\" already", s->id);
    } else if (rc == 0) {
        struct play_submission *new = &p->submissions[number];
        new->runtime = s->runtime;
        new->ends = (enum scenario_end)s->status;
        rc = play_intern(p, s->job.queue, &new->queue);
        if (rc == 0)
            rc = play_intern(p, s->user, &new->user);
        if (rc == 0)
            rc = submit(p, number, &request);
    }
    if (rc < 0)
        play_refuse(p, e, errno, *why.text ? why.text : strerror(errno), err);
    free(groups);
    free(text);
    return rc;
}
