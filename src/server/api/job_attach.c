/* Attached jobs: a client passes its standard input or a terminal on, over a socket of its own. */
#include <string.h>
#include <sys/un.h>

#include "server/api/job_reader.h"

static bool is_way(const char *as)
{
    return strcmp(as, "input") == 0 || strcmp(as, "keyboard") == 0 || strcmp(as, "terminal") == 0;
}

int job_read_attach(struct job_reader *r)
{
    static const char what[] = "attach: ";
    static const size_t longest = sizeof(((struct sockaddr_un *)0)->sun_path) - 1;
    struct {
        const char *socket, *as;
    } in = {0};
    static const struct key keys[] = {
        {.name = "socket", .type = KEY_TEXT, .at = 0, .needed = true},
        {.name = "as", .type = KEY_TEXT, .at = sizeof(const char *), .needed = true}};
    const struct key_table table = {what, keys, 2};
    if (!r->ask.attach)
        return 0;
    if (keys_read(r->ask.attach, &table, &r->place, &in, r->err) < 0)
        return -1;
    if (*in.socket != '/' || strlen(in.socket) > longest)
        return keys_wrong(&r->place, what, "socket", json_object_get(r->ask.attach, "socket"),
                          "an absolute path of at most 107 bytes", r->err);
    if (!is_way(in.as))
        return keys_wrong(&r->place, what, "as", json_object_get(r->ask.attach, "as"),
                          "\"input\", \"keyboard\" or \"terminal\"", r->err);
    if (r->ask.input)
        return job_wrong(r, "attach", NULL, "either this or input");
    if (r->job->members > 1)
        return job_wrong(r, "attach", NULL, "a job that is no array");
    r->attach = in.socket;
    r->attach_as = in.as;
    return 0;
}

int job_put_attach(struct job_reader *r, struct json_out *out)
{
    if (!r->attach)
        return 0;
    if (r->member.tasks > 1 && strcmp(r->attach_as, "terminal") == 0)
        return job_wrong(r, "attach", NULL, "a job with one task, as it has one terminal");
    json_put_text(out, "attach", r->attach);
    json_put_text(out, "attach_as", r->attach_as);
    return 0;
}
