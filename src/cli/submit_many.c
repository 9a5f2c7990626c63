#include "cli/submit_many.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/errtext.h"
#include "base/strbuf.h"
#include "cli/client/job_graph.h"
#include "cli/client/terminal.h"
#include "config/file_text.h"

#define BULK_MAX ((size_t)64 << 20) /* the most that a server accepts */
#define BLOCK    ((size_t)1 << 20)

static int read_bulk_file(const char *path, struct strbuf *text, berth_error_t *err)
{
    bool standard = strcmp(path, "-") == 0;
    int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = 1;

    if (fd < 0)
        return errtext_set(err, errno, "%s: %s", path, strerror(errno));
    while (n > 0 && text->len <= BULK_MAX && strbuf_room(text, BLOCK)) {
        n = read(fd, text->data + text->len, BLOCK);
        if (n < 0 && errno == EINTR)
            n = 1;
        else if (n > 0)
            text->len += (size_t)n;
    }
    int saved = errno;
    if (!standard)
        close(fd);
    if (text->failed)
        return errtext_no_memory(err);
    if (n < 0)
        return errtext_set(err, saved, "%s: %s", path, strerror(saved));
    if (text->len > BULK_MAX)
        return errtext_set(err, EFBIG, "%s is too large, expected at most %zu bytes", path,
                           BULK_MAX);
    return 0;
}

int submit_bulk(struct connection *s, const char *path, bool json, berth_error_t *err)
{
    struct strbuf text = {0};
    json_t *answer = NULL;
    const json_t *ids, *id;
    size_t i;
    int rc = read_bulk_file(path, &text, err);

    if (rc == 0)
        rc = connection_ask_text(s, "POST", "/v1/jobs", text.data ? text.data : "", text.len,
                                 &answer, err);
    if (rc == 0 && json) {
        answer_print(answer);
    } else if (rc == 0) {
        ids = json_object_get(answer, "ids");
        json_array_foreach (ids, i, id)
            printf("%" JSON_INTEGER_FORMAT "\n", json_integer_value(id));
        if (!ids)
            printf("%" JSON_INTEGER_FORMAT "\n", json_integer_value(json_object_get(answer, "id")));
    }
    int saved = errno;
    if (rc < 0 && saved == EINVAL) {
        berth_error_t why = *err;
        errtext_set(err, saved, "%s: %s", strcmp(path, "-") == 0 ? "standard input" : path,
                    why.text);
    }
    json_decref(answer);
    strbuf_clear(&text);
    errno = saved;
    return rc;
}

static json_t *read_graph(const struct request *r, berth_error_t *err)
{
    bool standard = strcmp(r->file, "-") == 0;
    const char *name = standard ? "standard input" : r->file;
    struct text text = {0};
    json_t *jobs = NULL;
    int rc = standard ? text_read_rest(&text, STDIN_FILENO, BULK_MAX)
                      : text_read(&text, r->file, BULK_MAX);
    if (rc < 0)
        errtext_set(err, errno, "%s: %s", name, strerror(errno));
    else
        jobs = job_graph_read(text.length ? text.bytes : "", text.length, name, r->job, err);
    text_clear(&text);
    return jobs;
}

json_t *submit_list(const struct request *r, const struct each *each, berth_error_t *err)
{
    return r->file ? read_graph(r, err) : each_jobs(each, r->job, err);
}

/* As lists beside each other. */
static void print_list(const json_t *jobs, json_t *answer, bool named)
{
    json_t *names = json_array(), *job;
    size_t i;
    json_array_foreach ((json_t *)jobs, i, job) {
        json_array_append(names, json_object_get(job, "name"));
    }
    if (named)
        json_object_set(answer, "names", names);
    answer_print(answer);
    json_decref(names);
}

static void print_ids(const json_t *jobs, const json_t *answer, bool named)
{
    const json_t *id;
    size_t i;
    json_array_foreach (json_object_get(answer, "ids"), i, id) {
        printf("%" JSON_INTEGER_FORMAT, json_integer_value(id));
        if (named) {
            putchar(' ');
            terminal_print(stdout, answer_text(json_array_get(jobs, i), "name"));
        }
        putchar('\n');
    }
}

int submit_many(struct connection *s, const json_t *jobs, bool named, bool json, berth_error_t *err)
{
    json_t *answer = NULL;
    if (connection_ask(s, "POST", "/v1/jobs", jobs, &answer, err) < 0)
        return -1;
    if (json)
        print_list(jobs, answer, named);
    else
        print_ids(jobs, answer, named);
    json_decref(answer);
    return 0;
}
