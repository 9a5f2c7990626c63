/* Any bytes are messages between engine and keeper, or are refused; what was read is read again as it was. */
#include "fuzz.h"

#include <errno.h>
#include <string.h>

#include "engine/local/messages.h"

/* What has been read is written, and read again. */
struct again {
    struct strbuf b;
    struct wire w;
};

static void begin(struct again *a, enum message_kind kind)
{
    size_t taken;
    FUZZ_CHECK(wire_next(a->b.data, a->b.len, &a->w, &taken) == 1 && taken == a->b.len);
    FUZZ_CHECK(wire_u8(&a->w) == kind);
}

static size_t count(const char *const *list)
{
    size_t n = 0;
    while (list[n])
        n++;
    return n;
}

static int run(struct wire *w)
{
    struct message_run r;
    struct message_run s;
    struct again a = {.b = {0}};
    if (message_start(w, &r))
        return -1;
    FUZZ_CHECK(r.run.n_tasks > 0 && r.run.directory && r.run.output);
    FUZZ_CHECK(r.run.argv[0] || r.run.script);
    message_put_start(&a.b, &r.run);
    begin(&a, MESSAGE_START);
    FUZZ_CHECK(message_start(&a.w, &s) == 0);
    FUZZ_CHECK(s.run.key == r.run.key && s.run.n_tasks == r.run.n_tasks);
    FUZZ_CHECK(count(s.run.argv) == count(r.run.argv) && count(s.run.env) == count(r.run.env));
    FUZZ_CHECK(strcmp(s.run.output, r.run.output) == 0 && s.run.n_groups == r.run.n_groups);
    for (size_t i = 0; i < r.run.n_tasks; i++)
        FUZZ_CHECK(count(s.run.tasks[i].env) == count(r.run.tasks[i].env));
    message_run_clear(&s);
    message_run_clear(&r);
    strbuf_clear(&a.b);
    return 0;
}

static int hello(struct wire *w)
{
    struct message_hello h;
    struct message_hello other;
    struct again a = {.b = {0}};
    if (message_hello(w, &h))
        return -1;
    FUZZ_CHECK(used_keys_check(&h.used));
    message_put_hello(&a.b, &h);
    begin(&a, MESSAGE_HELLO);
    FUZZ_CHECK(message_hello(&a.w, &other) == 0);
    FUZZ_CHECK(other.n_keys == h.n_keys && other.used.n == h.used.n && other.pid == h.pid);
    message_hello_clear(&h);
    message_hello_clear(&other);
    strbuf_clear(&a.b);
    return 0;
}

static int event(struct wire *w)
{
    struct engine_event e;
    struct engine_event other;
    struct again a = {.b = {0}};
    if (message_event(w, &e))
        return -1;
    FUZZ_CHECK(e.what <= ENGINE_USED);
    message_put_event(&a.b, &e);
    begin(&a, MESSAGE_EVENT);
    FUZZ_CHECK(message_event(&a.w, &other) == 0);
    FUZZ_CHECK(other.number == e.number && other.cpu_time == e.cpu_time && !other.text == !e.text);
    strbuf_clear(&a.b);
    return 0;
}

static int output(struct wire *w)
{
    struct message_output o, other;
    struct again a = {.b = {0}};
    if (message_output(w, &o))
        return -1;
    FUZZ_CHECK(o.stream <= 1 && (!o.path || o.path[0] == '/') && o.at <= (uint64_t)INT64_MAX);
    message_put_output(&a.b, &o);
    begin(&a, MESSAGE_OUTPUT);
    FUZZ_CHECK(message_output(&a.w, &other) == 0);
    FUZZ_CHECK(other.key == o.key && other.n == o.n && other.at == o.at && other.mode == o.mode);
    FUZZ_CHECK(!other.path == !o.path && other.append == o.append && other.again == o.again);
    strbuf_clear(&a.b);
    return 0;
}

static int written(struct wire *w)
{
    struct message_written m, other;
    struct again a = {.b = {0}};
    if (message_written(w, &m))
        return -1;
    message_put_written(&a.b, &m);
    begin(&a, MESSAGE_WRITTEN);
    FUZZ_CHECK(message_written(&a.w, &other) == 0);
    FUZZ_CHECK(other.key == m.key && other.at == m.at && !other.trouble == !m.trouble);
    strbuf_clear(&a.b);
    return 0;
}

static int message(struct wire *w)
{
    struct message_signal signal;
    uint64_t number;
    int rc;
    switch (wire_u8(w)) {
    case MESSAGE_START:
        return run(w);
    case MESSAGE_SIGNAL:
        rc = message_signal(w, &signal);
        FUZZ_CHECK(rc || (signal.signal >= 1 && signal.signal <= 64));
        return rc;
    case MESSAGE_ACKNOWLEDGE:
        return message_acknowledge(w, &number);
    case MESSAGE_HELLO:
        return hello(w);
    case MESSAGE_EVENT:
        return event(w);
    case MESSAGE_OUTPUT:
        return output(w);
    case MESSAGE_WRITTEN:
        return written(w);
    default:
        errno = EPROTO;
        return -1;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *bytes = (const char *)data;
    struct wire w;
    size_t taken;
    for (size_t at = 0; wire_next(bytes + at, size - at, &w, &taken) > 0; at += taken) {
        FUZZ_CHECK(taken <= size - at);
        errno = 0;
        if (message(&w))
            FUZZ_CHECK(errno == EPROTO);
    }
    return 0;
}
