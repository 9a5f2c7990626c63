/* A new pilot: first the server lets its agents in, then Slurm is asked for its job, then the server is told. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "base/errtext.h"
#include "cli/pilot_auto.h"
#include "cli/pilot_shape.h"
#include "cli/pilot_slurm.h"
#include "server/daemon/paths.h"

#define TAG_BYTES 8

/* What no other pilot has, of this server's or of any other. */
static void make_tag(char tag[2 * TAG_BYTES + 1])
{
    unsigned char bytes[TAG_BYTES] = {0};
    ssize_t ignored = getrandom(bytes, sizeof(bytes), 0);
    (void)ignored;
    for (size_t i = 0; i < TAG_BYTES; i++)
        snprintf(tag + 2 * i, 3, "%02x", bytes[i]);
}

/* What its nodes have, so that jobs can wait for them. */
static void put_shape(json_t *body, const struct pilot_new *p)
{
    struct pilot_shape shape = pilot_shape_ask(p->partition, p->more);
    if (shape.cores == 0)
        return;
    json_object_set_new(body, "cores", json_integer((json_int_t)shape.cores));
    json_object_set_new(body, "gpus", json_integer((json_int_t)shape.gpus));
    json_object_set_new(body, "memory", json_integer((json_int_t)shape.memory));
}

static json_t *request_of(const struct pilot_new *p)
{
    struct strbuf text = {0};
    char tag[2 * TAG_BYTES + 1];
    make_tag(tag);
    for (size_t i = 0; p->more[i]; i++) {
        strbuf_puts(&text, i > 0 ? " " : "");
        strbuf_puts(&text, p->more[i]);
    }
    json_t *body =
        json_pack("{s:s, s:I, s:s, s:b, s:I}", "kind", "slurm", "nodes", (json_int_t)p->nodes,
                  "tag", tag, "auto", p->is_auto, "time", (json_int_t)p->minutes * 60);
    if (text.len > 0)
        json_object_set_new(body, "options", json_string(strbuf_text(&text)));
    strbuf_clear(&text);
    if (!p->is_auto && !slurm_asks_for_parts(p->more))
        put_shape(body, p);
    return body;
}

/* The server has let its agents in; now their job. */
static int submit_agent_job(struct connection *connection, struct pilot_new *p, const json_t *made,
                            berth_error_t *err)
{
    char agent[PATH_MAX], path[64];
    struct strbuf job = {0};
    berth_error_t ignored;
    struct slurm_ask slurm = {.folder = answer_text(made, "folder"),
                              .agent = agent,
                              .comment = answer_text(made, "comment"),
                              .pilot = (int64_t)answer_number(made, "pilot"),
                              .nodes = p->nodes,
                              .minutes = p->minutes,
                              .partition = p->partition,
                              .more = p->more};
    snprintf(path, sizeof(path), "/v1/pilots/%lld", (long long)slurm.pilot);
    int rc = paths_program("berth-agent", agent, err);
    rc = rc < 0 ? rc : slurm_submit(&slurm, &job, err);
    if (rc == 0 && p->tells && slurm_check(strbuf_text(&job), err) < 0) {
        slurm_cancel(strbuf_text(&job), &ignored);
        errno = EINVAL;
        rc = -1;
    }
    if (rc < 0) {
        p->unsure = errno == ETIMEDOUT;
        strbuf_clear(&job);
        if (!p->unsure)
            connection_ask(connection, "DELETE", path, NULL, NULL, &ignored);
        else if (p->tells)
            fprintf(stderr,
                    "berth pilot: pilot %lld is kept, since Slurm may have its job all the same\n",
                    (long long)slurm.pilot);
        return -1;
    }
    json_t *body = json_pack("{s:s}", "job", strbuf_text(&job));
    rc = connection_ask(connection, "PATCH", path, body, NULL, err);
    if (rc == 0 && p->tells)
        printf("pilot %lld, Slurm's job %s\n", (long long)slurm.pilot, strbuf_text(&job));
    json_decref(body);
    strbuf_clear(&job);
    return rc;
}

int pilot_make(struct connection *connection, struct pilot_new *p, berth_error_t *err)
{
    json_t *made = NULL, *body = request_of(p);
    int rc = connection_ask(connection, "POST", "/v1/pilots", body, &made, err);
    if (rc == 0)
        rc = submit_agent_job(connection, p, made, err);
    json_decref(made);
    json_decref(body);
    return rc;
}
