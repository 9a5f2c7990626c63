/* The messages between engine and keeper. */
#include "engine/local/messages.h"

#include <errno.h>
#include <stdlib.h>

/* The flags of a run. */
enum {
    APPEND = 1,
    AS_USER = 2,
    SCRIPT = 4,
    ATTACH = 8,
    SHARED = 16,
    ATTACH_FAR = 32,
    HOOKS = 64,
    DENIED = 128,
};

#define PROOF 0x10000U /* beside the umask: proofs follow the files */

/* The flags of output. */
enum {
    OPENS = 1,
    APPENDS = 2,
    AGAIN = 4,
};

static size_t count_strings(const char *const *list)
{
    size_t n = 0;
    while (list && list[n])
        n++;
    return n;
}

static void put_strings(struct strbuf *b, const char *const *list)
{
    size_t n = count_strings(list);
    wire_put_u32(b, (uint32_t)n);
    for (size_t i = 0; i < n; i++)
        wire_put_string(b, list[i]);
}

/* Those of this machine are not those of other nodes. */
static bool has_hooks(const struct engine_run *run)
{
    return run->hooks && !run->node;
}

static uint32_t pointers_of(const struct engine_run *run)
{
    size_t n = count_strings(run->argv) + 1 + count_strings(run->env) + 1;
    if (has_hooks(run))
        n += count_strings(run->hooks->env) + 1;
    for (size_t i = 0; i < run->n_tasks; i++)
        n += count_strings(run->tasks[i].env) + 1;
    return n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
}

void message_put_start(struct strbuf *b, const struct engine_run *run)
{
    size_t begun = wire_begin(b);
    wire_put_u8(b, MESSAGE_START);
    wire_put_u64(b, run->key);
    wire_put_u8(b, (uint8_t)((run->append ? APPEND : 0) | (run->as_user ? AS_USER : 0) |
                             (run->script ? SCRIPT : 0) | (run->attach ? ATTACH : 0) |
                             (run->shared ? SHARED : 0) | (has_hooks(run) ? HOOKS : 0) |
                             (run->attach && run->node ? ATTACH_FAR : 0) |
                             (run->denied ? DENIED : 0)));
    wire_put_u32(b, (uint32_t)(run->umask & 07777) | (run->output_proof ? PROOF : 0));
    wire_put_u32(b, (uint32_t)run->uid);
    wire_put_u32(b, (uint32_t)run->gid);
    wire_put_u64(b, (uint64_t)run->memory);
    wire_put_u64(b, (uint64_t)run->processes);
    if (run->script)
        wire_put_text(b, run->script, run->script_length);
    if (run->attach) {
        wire_put_string(b, run->attach);
        wire_put_u8(b, (uint8_t)run->attach_as);
    }
    wire_put_string(b, run->directory);
    wire_put_string(b, run->input);
    wire_put_string(b, run->output);
    wire_put_string(b, run->error);
    if (run->output_proof) {
        wire_put_string(b, run->output_proof);
        wire_put_string(b, run->error_proof);
    }
    wire_put_string(b, run->cpus);
    if (run->denied)
        wire_put_string(b, run->denied);
    wire_put_u32(b, (uint32_t)run->n_groups);
    for (size_t i = 0; i < run->n_groups; i++)
        wire_put_u32(b, (uint32_t)run->groups[i]);
    wire_put_u32(b, pointers_of(run));
    put_strings(b, run->argv);
    put_strings(b, run->env);
    if (has_hooks(run)) {
        wire_put_string(b, run->hooks->prologue);
        wire_put_string(b, run->hooks->epilogue);
        wire_put_u64(b, (uint64_t)run->hooks->limit);
        put_strings(b, run->hooks->env);
    }
    wire_put_u32(b, (uint32_t)run->n_tasks);
    for (size_t i = 0; i < run->n_tasks; i++) {
        wire_put_string(b, run->tasks[i].cpus);
        put_strings(b, run->tasks[i].env);
    }
    wire_end(b, begun);
}

/* Where the pointers to strings go. */
struct room {
    const char **at;
    size_t left;
};

static const char *const *read_strings(struct wire *w, struct room *room)
{
    size_t n = wire_count(w, 5);
    const char **list = room->at;
    if (n >= room->left) {
        w->bad = true;
        return NULL;
    }
    for (size_t i = 0; i < n; i++) {
        list[i] = wire_string(w);
        if (!list[i])
            w->bad = true;
    }
    list[n] = NULL;
    room->at += n + 1;
    room->left -= n + 1;
    return list;
}

static int no_memory(void)
{
    errno = ENOMEM;
    return -1;
}

static int read_groups(struct wire *w, struct message_run *r)
{
    size_t n = wire_count(w, 4);
    r->groups = calloc(n ? n : 1, sizeof(*r->groups));
    if (!r->groups)
        return no_memory();
    for (size_t i = 0; i < n; i++)
        r->groups[i] = wire_u32(w);
    r->run.groups = r->groups;
    r->run.n_groups = n;
    return 0;
}

static void read_hooks(struct wire *w, struct room *room, struct message_run *r)
{
    r->hooks.prologue = wire_string(w);
    r->hooks.epilogue = wire_string(w);
    r->hooks.limit = (int64_t)wire_u64(w);
    r->hooks.env = read_strings(w, room);
    r->run.hooks = &r->hooks;
    w->bad = w->bad || r->hooks.limit <= 0;
}

static int read_lists(struct wire *w, struct message_run *r, bool hooks)
{
    size_t pointers = wire_count(w, 1);
    r->strings = calloc(pointers ? pointers : 1, sizeof(*r->strings));
    if (!r->strings)
        return no_memory();
    struct room room = {r->strings, pointers};
    r->run.argv = read_strings(w, &room);
    if (!w->bad)
        r->run.env = read_strings(w, &room);
    if (!w->bad && hooks)
        read_hooks(w, &room, r);
    size_t n = wire_count(w, 8);
    if (w->bad || n == 0 || n > MESSAGE_TASKS_MAX) {
        w->bad = true;
        return 0;
    }
    r->tasks = calloc(n, sizeof(*r->tasks));
    if (!r->tasks)
        return no_memory();
    for (size_t i = 0; i < n && !w->bad; i++) {
        r->tasks[i].cpus = wire_string(w);
        r->tasks[i].env = read_strings(w, &room);
    }
    r->run.tasks = r->tasks;
    r->run.n_tasks = n;
    return 0;
}

static int done(const struct wire *w)
{
    if (!w->bad && w->left == 0)
        return 0;
    errno = EPROTO;
    return -1;
}

static void read_attach(struct wire *w, struct engine_run *run)
{
    run->attach = wire_string(w);
    uint8_t as = wire_u8(w);
    if (!run->attach || as > ENGINE_TERMINAL)
        w->bad = true;
    else
        run->attach_as = (enum engine_attach)as;
}

int message_start(struct wire *w, struct message_run *r)
{
    *r = (struct message_run){.run.key = wire_u64(w)};
    struct engine_run *run = &r->run;
    w->bad = w->bad || run->key > ENGINE_KEY_MAX;
    uint8_t flags = wire_u8(w);
    run->append = flags & APPEND;
    run->shared = flags & SHARED;
    run->attach_far = flags & ATTACH_FAR;
    run->as_user = flags & AS_USER;
    uint32_t mask = wire_u32(w);
    run->umask = (mode_t)(mask & 07777);
    run->uid = wire_u32(w);
    run->gid = wire_u32(w);
    run->memory = (int64_t)wire_u64(w);
    run->processes = (int64_t)wire_u64(w);
    if (flags & SCRIPT)
        run->script = wire_text(w, &run->script_length);
    if (flags & ATTACH)
        read_attach(w, run);
    run->directory = wire_string(w);
    run->input = wire_string(w);
    run->output = wire_string(w);
    run->error = wire_string(w);
    if (mask & PROOF) {
        run->output_proof = wire_string(w);
        run->error_proof = wire_string(w);
        w->bad = w->bad || !run->output_proof;
    }
    run->cpus = wire_string(w);
    if (flags & DENIED)
        run->denied = wire_string(w);
    int rc = read_groups(w, r) || read_lists(w, r, flags & HOOKS) ? -1 : done(w);
    if (rc == 0 && (!run->directory || !run->output || (!run->argv[0] && !run->script))) {
        errno = EPROTO;
        rc = -1;
    }
    if (rc)
        message_run_clear(r);
    return rc;
}

void message_run_clear(struct message_run *r)
{
    int saved = errno;
    free(r->strings);
    free(r->tasks);
    free(r->groups);
    *r = (struct message_run){0};
    errno = saved;
}

void message_put_signal(struct strbuf *b, const struct message_signal *signal)
{
    size_t begun = wire_begin(b);
    wire_put_u8(b, MESSAGE_SIGNAL);
    wire_put_u64(b, signal->key);
    wire_put_u32(b, (uint32_t)signal->signal);
    wire_put_u8(b, signal->tree);
    wire_end(b, begun);
}

int message_signal(struct wire *w, struct message_signal *signal)
{
    signal->key = wire_u64(w);
    uint32_t number = wire_u32(w);
    signal->tree = wire_u8(w) != 0;
    if (number < 1 || number > 64)
        w->bad = true;
    signal->signal = (int)(number & 127);
    return done(w);
}

void message_put_acknowledge(struct strbuf *b, uint64_t number)
{
    size_t begun = wire_begin(b);
    wire_put_u8(b, MESSAGE_ACKNOWLEDGE);
    wire_put_u64(b, number);
    wire_end(b, begun);
}

int message_acknowledge(struct wire *w, uint64_t *number)
{
    *number = wire_u64(w);
    return done(w);
}

void message_put_hello(struct strbuf *b, const struct message_hello *hello)
{
    size_t begun = wire_begin(b);
    wire_put_u8(b, MESSAGE_HELLO);
    wire_put_u32(b, MESSAGE_VERSION);
    wire_put_u32(b, (uint32_t)hello->pid);
    wire_put_string(b, hello->notice);
    wire_put_u32(b, (uint32_t)hello->n_keys);
    for (size_t i = 0; i < hello->n_keys; i++)
        wire_put_u64(b, hello->keys[i]);
    wire_put_u32(b, (uint32_t)hello->used.n);
    for (size_t i = 0; i < hello->used.n; i++) {
        wire_put_u64(b, hello->used.v[i].lo);
        wire_put_u64(b, hello->used.v[i].hi);
    }
    wire_end(b, begun);
}

static int read_hello(struct wire *w, struct message_hello *hello)
{
    hello->pid = (pid_t)wire_u32(w);
    const char *notice = wire_string(w);
    hello->n_keys = wire_count(w, 8);
    hello->keys = calloc(hello->n_keys + 1, sizeof(*hello->keys));
    hello->notice = notice ? strdup(notice) : NULL;
    if (!hello->keys || (notice && !hello->notice))
        return no_memory();
    for (size_t i = 0; i < hello->n_keys; i++)
        hello->keys[i] = wire_u64(w);
    size_t n = wire_count(w, 16);
    for (size_t i = 0; i < n; i++) {
        uint64_t lo = wire_u64(w);
        uint64_t hi = wire_u64(w);
        if (lo > hi)
            w->bad = true;
        else if (used_keys_add(&hello->used, lo, hi))
            return -1;
    }
    return done(w);
}

int message_hello(struct wire *w, struct message_hello *hello)
{
    *hello = (struct message_hello){0};
    if (wire_u32(w) != MESSAGE_VERSION) {
        errno = EPROTO;
        return -1;
    }
    if (read_hello(w, hello)) {
        message_hello_clear(hello);
        return -1;
    }
    return 0;
}

void message_hello_clear(struct message_hello *hello)
{
    int saved = errno;
    free(hello->notice);
    free(hello->keys);
    used_keys_clear(&hello->used);
    *hello = (struct message_hello){0};
    errno = saved;
}

void message_put_event_content(struct strbuf *b, const struct engine_event *event)
{
    wire_put_u8(b, (uint8_t)event->what);
    wire_put_u64(b, event->key);
    wire_put_u64(b, event->number);
    wire_put_u64(b, (uint64_t)event->at);
    wire_put_u32(b, (uint32_t)event->pid);
    wire_put_u32(b, (uint32_t)event->exit_status);
    wire_put_u32(b, (uint32_t)event->exit_signal);
    wire_put_u64(b, (uint64_t)event->peak_memory);
    wire_put_u64(b, (uint64_t)event->cpu_time);
    wire_put_string(b, event->text);
}

int message_event_content(struct wire *w, struct engine_event *event)
{
    uint8_t what = wire_u8(w);
    if (what > ENGINE_DECLINED)
        w->bad = true;
    *event = (struct engine_event){.what = w->bad ? ENGINE_LOST : (enum engine_what)what};
    event->key = wire_u64(w);
    event->number = wire_u64(w);
    event->at = (int64_t)wire_u64(w);
    event->pid = (pid_t)wire_u32(w);
    event->exit_status = (int)(wire_u32(w) & 255);
    event->exit_signal = (int)(wire_u32(w) & 127);
    event->peak_memory = (int64_t)wire_u64(w);
    event->cpu_time = (int64_t)wire_u64(w);
    event->text = wire_string(w);
    return w->bad ? -1 : 0;
}

void message_put_event(struct strbuf *b, const struct engine_event *event)
{
    size_t begun = wire_begin(b);
    wire_put_u8(b, MESSAGE_EVENT);
    message_put_event_content(b, event);
    wire_end(b, begun);
}

int message_event(struct wire *w, struct engine_event *event)
{
    message_event_content(w, event);
    return done(w);
}

void message_put_left(struct strbuf *b)
{
    size_t begun = wire_begin(b);
    wire_put_u8(b, MESSAGE_LEFT);
    wire_end(b, begun);
}

void message_put_output(struct strbuf *b, const struct message_output *output)
{
    size_t begun = wire_begin(b);
    wire_put_u8(b, MESSAGE_OUTPUT);
    wire_put_u64(b, output->key);
    wire_put_u8(b, output->stream);
    wire_put_u8(b, (uint8_t)((output->path ? OPENS : 0) | (output->append ? APPENDS : 0) |
                             (output->again ? AGAIN : 0)));
    if (output->path) {
        wire_put_u32(b, (uint32_t)output->mode);
        wire_put_string(b, output->path);
    } else {
        wire_put_u64(b, output->at);
        wire_put_text(b, output->bytes, output->n);
    }
    wire_end(b, begun);
}

int message_output(struct wire *w, struct message_output *output)
{
    *output = (struct message_output){.key = wire_u64(w), .stream = wire_u8(w)};
    uint8_t flags = wire_u8(w);
    output->append = flags & APPENDS;
    output->again = flags & AGAIN;
    if (flags & OPENS) {
        output->mode = (mode_t)(wire_u32(w) & 0666);
        output->path = wire_string(w);
        w->bad = w->bad || !output->path || output->path[0] != '/';
    } else {
        output->at = wire_u64(w);
        output->bytes = wire_text(w, &output->n);
    }
    w->bad = w->bad || output->key > ENGINE_KEY_MAX || output->stream > 1 ||
             output->at > (uint64_t)INT64_MAX;
    return done(w);
}

void message_put_written(struct strbuf *b, const struct message_written *written)
{
    size_t begun = wire_begin(b);
    wire_put_u8(b, MESSAGE_WRITTEN);
    wire_put_u64(b, written->key);
    wire_put_u8(b, written->stream);
    wire_put_u64(b, written->at);
    wire_put_string(b, written->trouble);
    wire_end(b, begun);
}

int message_written(struct wire *w, struct message_written *written)
{
    *written = (struct message_written){.key = wire_u64(w), .stream = wire_u8(w)};
    written->at = wire_u64(w);
    written->trouble = wire_string(w);
    w->bad = w->bad || written->stream > 1;
    return done(w);
}
