#include "server/daemon/loop.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>
#include <uv.h>

#include "base/errtext.h"
#include "server/daemon/watch.h"
#include "server/http/http.h"

#define PER_USER       256  /* connections per user */
#define STOP_MS        1000 /* time to send the last replies */
#define REQUEST_LOGGED 1000 /* bytes of a body */

struct loop {
    uv_loop_t uv;
    struct daemon *daemon;
    server_t *server;
    struct http *http;
    int clock; /* timerfd for the next turn */
    bool dirty, stopping;
    /* the error of the last turn, logged once */
    char failure[sizeof(((berth_error_t *)NULL)->text)];
    uv_poll_t engine, due;
    uv_check_t check;
    uv_idle_t again; /* keeps the loop from waiting */
    uv_timer_t stop;
    uv_signal_t term, interrupt, reload, child;
    struct watch watch;
};

static void on_idle(uv_idle_t *handle)
{
    (void)handle;
}

/* Run a turn before the loop waits again. */
static void call_for_turn(struct loop *l)
{
    l->dirty = true;
    uv_idle_start(&l->again, on_idle);
}

/* Whether a request has changed what is there for all users: the log says who made it. */
static bool is_administration(const struct server_request *request,
                              const struct server_reply *reply)
{
    static const char *const paths[] = {"/v1/resources", "/v1/queues/", "/v1/blocks",
                                        "/v1/classes/", "/v1/server/reload"};
    if (strcmp(request->method, "GET") == 0 || reply->status >= 300)
        return false;
    for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++)
        if (strncmp(request->path, paths[i], strlen(paths[i])) == 0)
            return true;
    return false;
}

static void log_administration(struct loop *l, const struct server_request *request)
{
    size_t length = request->length < REQUEST_LOGGED ? request->length : REQUEST_LOGGED;
    daemon_log(l->daemon, "user %u: %s %s %.*s", (unsigned)request->peer.uid, request->method,
               request->path, (int)length, request->body);
}

static void take_request(void *context, const struct server_request *request,
                         struct server_reply *reply)
{
    struct loop *l = context;

    server_request(l->server, request, reply);
    call_for_turn(l);
    if (is_administration(request, reply))
        log_administration(l, request);
    if (server_is_stopping(l->server) && !l->stopping) {
        daemon_log(l->daemon, "stopping: requested by user %u", (unsigned)request->peer.uid);
        l->stopping = true;
    }
}

static void fail_request(void *context, const berth_error_t *why, struct server_reply *reply)
{
    struct loop *l = context;
    server_failed(l->server, why, reply);
}

static void log_notice(void *context, const char *text)
{
    daemon_log(((struct loop *)context)->daemon, "%s", text);
}

static void on_engine(uv_poll_t *handle, int status, int events)
{
    struct loop *l = handle->data;
    berth_error_t err;

    (void)status;
    (void)events;
    if (server_engine(l->server, &err) < 0)
        daemon_log(l->daemon, "%s", err.text);
    call_for_turn(l);
}

static void on_due(uv_poll_t *handle, int status, int events)
{
    struct loop *l = handle->data;
    uint64_t times;
    ssize_t ignored = read(l->clock, &times, sizeof(times));

    (void)ignored;
    (void)status;
    (void)events;
    call_for_turn(l);
}

static void set_clock(struct loop *l, int64_t due)
{
    struct itimerspec at = {0};

    if (due != INT64_MAX) {
        if (due < 1)
            due = 1;
        at.it_value.tv_sec = (time_t)(due / 1000000);
        at.it_value.tv_nsec = (long)(due % 1000000) * 1000;
    }
    timerfd_settime(l->clock, TFD_TIMER_ABSTIME, &at, NULL);
}

static void on_stop(uv_timer_t *timer)
{
    uv_stop(timer->loop);
}

static void begin_stop(struct loop *l)
{
    if (uv_is_active((uv_handle_t *)&l->stop))
        return;
    daemon_notify("STOPPING=1");
    http_drain(l->http);
    uv_timer_start(&l->stop, on_stop, STOP_MS, 0);
    /* End streams; waiting requests have been answered. */
    http_turned(l->http, NULL);
}

/* Run a turn, after all requests and events that are there. */
static void run_turn(struct loop *l)
{
    int64_t due = INT64_MAX;
    berth_error_t err;
    int rc = server_turn(l->server, &due, &err);

    if (rc < 0 && strcmp(l->failure, err.text) != 0) {
        daemon_log(l->daemon, "%s", err.text);
        memcpy(l->failure, err.text, sizeof(l->failure));
    } else if (rc == 0 && l->failure[0]) {
        daemon_log(l->daemon, "the store is writable again");
        l->failure[0] = '\0';
    }
    set_clock(l, due);
    http_turned(l->http, rc < 0 ? &err : NULL);
    watch_want(&l->watch, server_has_pilots(l->server));
}

static void on_check(uv_check_t *handle)
{
    struct loop *l = handle->data;

    if (l->dirty) {
        l->dirty = false;
        run_turn(l);
    }
    if (!l->dirty)
        uv_idle_stop(&l->again);
    if (l->stopping) {
        begin_stop(l);
        if (http_busy(l->http) == 0)
            uv_stop(&l->uv);
    }
}

static void on_term(uv_signal_t *handle, int signal)
{
    struct loop *l = handle->data;

    daemon_log(l->daemon, "stopping: %s", strsignal(signal));
    l->stopping = true;
}

static void on_child(uv_signal_t *handle, int signal)
{
    struct loop *l = handle->data;

    (void)signal;
    watch_want(&l->watch, server_has_pilots(l->server));
}

static void on_reload(uv_signal_t *handle, int signal)
{
    struct loop *l = handle->data;
    struct server_request request = {.method = "POST",
                                     .path = "/v1/server/reload",
                                     .body = "",
                                     .peer = {geteuid(), getegid(), getpid()}};
    struct server_reply reply = {0};

    (void)signal;
    daemon_reopen_log(l->daemon);
    http_listen_again(l->http);
    server_request(l->server, &request, &reply);
    call_for_turn(l);
    if (reply.status >= 300)
        daemon_log(l->daemon, "reload: %s", strbuf_text(&reply.body));
    else
        daemon_log(l->daemon, "configuration reloaded");
    strbuf_clear(&reply.body);
    server_stream_close(reply.stream);
}

static void loop_init_handles(struct loop *l, struct engine *engine)
{
    int fd = engine->ops->fd(engine);

    uv_check_init(&l->uv, &l->check);
    uv_idle_init(&l->uv, &l->again);
    uv_timer_init(&l->uv, &l->stop);
    uv_signal_init(&l->uv, &l->term);
    uv_signal_init(&l->uv, &l->interrupt);
    uv_signal_init(&l->uv, &l->reload);
    uv_signal_init(&l->uv, &l->child);
    uv_poll_init(&l->uv, &l->due, l->clock);
    l->check.data = l->again.data = l->stop.data = l->term.data = l->interrupt.data =
        l->child.data = l->reload.data = l->due.data = l->engine.data = l;
    uv_check_start(&l->check, on_check);
    uv_poll_start(&l->due, UV_READABLE, on_due);
    uv_signal_start(&l->term, on_term, SIGTERM);
    uv_signal_start(&l->interrupt, on_term, SIGINT);
    uv_signal_start(&l->reload, on_reload, SIGHUP);
    uv_signal_start(&l->child, on_child, SIGCHLD);
    if (fd >= 0) {
        uv_poll_init(&l->uv, &l->engine, fd);
        l->engine.data = l;
        uv_poll_start(&l->engine, UV_READABLE, on_engine);
    }
}

static void close_handle(uv_handle_t *handle, void *arg)
{
    (void)arg;
    if (!uv_is_closing(handle))
        uv_close(handle, NULL);
}

int loop_run(struct daemon *d, server_t *server, struct engine *engine, berth_error_t *err)
{
    struct loop l = {.daemon = d,
                     .server = server,
                     .dirty = true,
                     .watch = {.directory = d->directory, .socket = d->socket}};
    struct http_handler handler = {
        .context = &l, .request = take_request, .failed = fail_request, .notice = log_notice};
    int rc = uv_loop_init(&l.uv);

    if (rc < 0)
        return errtext_set(err, -rc, "cannot start the event loop: %s", uv_strerror(rc));
    l.clock = timerfd_create(CLOCK_BOOTTIME, TFD_NONBLOCK | TFD_CLOEXEC);
    if (l.clock < 0) {
        errtext_set(err, errno, "timerfd: %s", strerror(errno));
        uv_loop_close(&l.uv);
        return -1;
    }
    l.http =
        http_open(&l.uv, d->socket, d->for_all ? 0666 : 0600, PER_USER, geteuid(), &handler, err);
    if (!l.http) {
        int saved = errno;
        close(l.clock);
        uv_loop_close(&l.uv);
        errno = saved;
        return -1;
    }
    loop_init_handles(&l, engine);
    /* The first turn comes before the starter hears that it is ready. */
    on_engine(&l.engine, 0, 0);
    run_turn(&l);
    daemon_ready(d);
    call_for_turn(&l);
    uv_run(&l.uv, UV_RUN_DEFAULT);

    http_close(l.http);
    uv_walk(&l.uv, close_handle, NULL);
    uv_run(&l.uv, UV_RUN_DEFAULT);
    http_free(l.http);
    close(l.clock);
    uv_loop_close(&l.uv);
    return 0;
}
