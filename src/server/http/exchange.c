/* One request and its reply: the callbacks of libmicrohttpd. */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/errtext.h"
#include "base/json_out.h"
#include "server/http/priv.h"

#define BLOCK     65536   /* bytes read from a stream at once */
#define HEAVY     1048576 /* bytes of a body after which memory is returned */
#define QUERY_MAX 24576   /* limits of a query: bytes, and parts */
#define PARTS_MAX 64

/* libmicrohttpd keeps the parts of a query beside the head of the request, and cannot answer when they fill
 * its memory: so this answer is sent directly. No route has more than a few parameters.
 */
static const char too_long[] =
    "HTTP/1.1 414 URI Too Long\r\n"
    "Content-Type: application/json\r\nContent-Length: 95\r\nConnection: close\r\n\r\n"
    "{\"error\":{\"message\":\"the query is too long, expected at most 64 parts and 24 KiB\","
    "\"key\":null}}\n";

static bool is_too_long(const char *query)
{
    int parts = 0;
    if (!query || strlen(query) > QUERY_MAX)
        return query != NULL;
    for (; query; parts++) {
        query = strchr(query, '&');
        query = query ? query + 1 : NULL;
    }
    return parts > PARTS_MAX;
}

/* Refuse a request for its path or query: a status, or 0. */
static int refuse_uri(struct MHD_Connection *connection, const char *uri, const char *query)
{
    const char *nul = strstr(uri, "%00"); /* it would cut off the path */

    if (is_too_long(query)) {
        int fd = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
        send(fd, too_long, sizeof(too_long) - 1, MSG_DONTWAIT | MSG_NOSIGNAL);
        shutdown(fd, SHUT_RDWR);
        return 414;
    }
    return nul && (!query || nul < query) ? 400 : 0;
}

void *exchange_begin(void *cls, const char *uri, struct MHD_Connection *connection)
{
    struct http *h = cls;
    struct exchange *x = calloc(1, sizeof(*x));
    const char *mark = strchr(uri, '?');

    if (!x)
        return NULL;
    x->http = h;
    x->connection = connection;
    if (mark && !(x->query = strdup(mark + 1))) {
        free(x);
        return NULL;
    }
    x->refused = refuse_uri(connection, uri, mark);
    h->busy++;
    return x;
}

/* Suspend an exchange in a list. */
static void suspend(struct exchange *x, struct exchanges *list)
{
    x->list = list;
    TAILQ_INSERT_TAIL(list, x, link);
    MHD_suspend_connection(x->connection);
}

static void list_remove(struct exchange *x)
{
    if (x->list)
        TAILQ_REMOVE(x->list, x, link);
    x->list = NULL;
}

static void drop_body(struct exchange *x)
{
    if (x->accounted)
        http_users_sent(&x->http->users, x->client->peer.uid, x->accounted);
    x->accounted = 0;
    strbuf_clear(&x->body);
}

static void hang_up_closed(uv_handle_t *handle)
{
    free(handle);
}

static void stop_watching(struct client *c)
{
    if (!c || !c->hang_up)
        return;
    uv_poll_stop(c->hang_up);
    uv_close((uv_handle_t *)c->hang_up, hang_up_closed);
    c->hang_up = NULL;
    c->parked = NULL;
}

void exchange_end(void *cls, struct MHD_Connection *connection, void **context,
                  enum MHD_RequestTerminationCode code)
{
    struct exchange *x = *context;

    (void)cls;
    (void)connection;
    (void)code;
    *context = NULL;
    if (!x)
        return;
    list_remove(x);
    stop_watching(x->client);
    drop_body(x);
    if (x->held)
        http_users_release(&x->http->users, x->client->peer.uid, x->held);
    free(x->query);
    if (x->streams)
        http_users_streamed(&x->http->users, x->client->peer.uid);
    strbuf_clear(&x->reply.body);
    strbuf_clear(&x->out);
    server_stream_close(x->reply.stream);
    server_work_abandon(x->reply.work);
    x->http->busy--;
    if (x->client)
        client_expect(x->client);
    free(x);
}

/* Make the reply an error. */
static void reply_error(struct exchange *x, int status, const char *message)
{
    struct strbuf *b = &x->reply.body;

    struct json_out out = {.text = b};
    strbuf_reset(b);
    json_open(&out, NULL, '{');
    json_open(&out, "error", '{');
    json_put_string(&out, "message", message);
    json_put_null(&out, "key");
    strbuf_puts(b, "}}\n");
    x->reply.status = status;
    x->reply.type = "application/json";
    x->reply.wait = false;
    x->state = EXCHANGE_READY;
}

static void refuse_request(struct exchange *x)
{
    if (x->refused == 400)
        reply_error(x, 400, "the path contains a NUL");
    else if (x->refused == 413)
        reply_error(x, 413, "the body is too large, expected at most 67108864 bytes");
    else
        reply_error(x, 503, "too many bytes are being sent at once: try again");
}

/* Read the next piece of a stream. */
static void read_stream(struct exchange *x)
{
    uint64_t begin = uv_hrtime();

    strbuf_reset(&x->out);
    x->sent = 0;
    x->more = server_stream_read(x->reply.stream, &x->out, BLOCK);
    if (x->out.failed)
        x->more = -1;
    http_users_work(&x->http->users, x->client->peer.uid, uv_hrtime() - begin);
}

static bool may_work(const struct exchange *x)
{
    return x->http->draining || http_users_may_work(&x->http->users, x->client->peer.uid);
}

/* The peer of a parked stream has gone; libmicrohttpd ignores suspended connections. */
static void on_hang_up(uv_poll_t *handle, int status, int events)
{
    struct client *c = handle->data;
    struct exchange *x = c->parked;

    (void)status;
    (void)events;
    stop_watching(c);
    if (x) {
        x->gone = true;
        exchange_look(x, true);
        http_pump(c->http);
    }
}

static void watch_hang_up(struct exchange *x)
{
    struct client *c = x->client;

    c->hang_up = calloc(1, sizeof(*c->hang_up));
    if (!c->hang_up)
        return;
    if (uv_poll_init(x->http->loop, c->hang_up, c->fd) < 0) {
        free(c->hang_up);
        c->hang_up = NULL;
        return;
    }
    c->hang_up->data = c;
    c->parked = x;
    uv_poll_start(c->hang_up, UV_DISCONNECT, on_hang_up);
}

static void park(struct exchange *x)
{
    watch_hang_up(x);
    suspend(x, &x->http->parked);
}

static ssize_t send_stream(void *cls, uint64_t position, char *to, size_t max)
{
    struct exchange *x = cls;
    size_t n;

    (void)position;
    if (x->gone)
        return MHD_CONTENT_READER_END_WITH_ERROR;
    /* The body comes before the stream. */
    if (x->reply.body.len > 0) {
        x->out = x->reply.body;
        x->reply.body = (struct strbuf){0};
        x->more = 1;
    }
    do {
        if (x->sent == x->out.len && x->more == 1 && may_work(x))
            read_stream(x);
    } while (x->out.len == 0 && x->more == 1 && x->http->draining);
    n = x->out.len - x->sent;
    if (n == 0) {
        if (x->more > 0 && !x->http->draining) {
            park(x);
            if (x->more == 1)
                http_look_again(x->http);
            return 0;
        }
        return x->more < 0 ? MHD_CONTENT_READER_END_WITH_ERROR : MHD_CONTENT_READER_END_OF_STREAM;
    }
    if (n > max)
        n = max;
    memcpy(to, x->out.data + x->sent, n);
    x->sent += n;
    if (x->sent == x->out.len && x->more == 2)
        x->more = 1; /* ask again when this is sent */
    return (ssize_t)n;
}

static void unpark(struct exchange *x)
{
    list_remove(x);
    stop_watching(x->client);
    MHD_resume_connection(x->connection);
}

void exchange_resume(struct exchange *x)
{
    list_remove(x);
    MHD_resume_connection(x->connection);
}

void exchange_look(struct exchange *x, bool end)
{
    if (!end && !may_work(x)) {
        x->more = 1;
        http_look_again(x->http);
        return;
    }
    read_stream(x);
    if (x->out.len > 0 || x->more <= 0 || end)
        unpark(x);
    else if (x->more == 1)
        http_look_again(x->http);
}

void exchange_turned(struct exchange *x, const berth_error_t *failure)
{
    if (!x->reply.work)
        exchange_wake(x, failure);
    else if (server_work_done(x->reply.work, &x->reply))
        exchange_wake(x, NULL);
}

void exchange_wake(struct exchange *x, const berth_error_t *failure)
{
    list_remove(x);
    server_work_abandon(x->reply.work);
    x->reply.work = NULL;
    if (failure) {
        server_stream_close(x->reply.stream);
        x->reply.stream = NULL;
        strbuf_reset(&x->reply.body);
        x->http->handler.failed(x->http->handler.context, failure, &x->reply);
    }
    x->state = EXCHANGE_READY;
    MHD_resume_connection(x->connection);
}

/* Replace the reply by an error. */
static void replace_reply(struct exchange *x, const char *message)
{
    server_stream_close(x->reply.stream);
    x->reply.stream = NULL;
    reply_error(x, 503, message);
}

static enum MHD_Result send_reply(struct exchange *x)
{
    struct server_reply *reply = &x->reply;
    struct MHD_Response *response;

    if (reply->body.failed)
        replace_reply(x, "out of memory");
    if (reply->stream && !x->streams) {
        x->streams = http_users_stream(&x->http->users, x->client->peer.uid);
        if (!x->streams)
            replace_reply(x,
                          "too many lists and streams of events are open, yours or all together: "
                          "read or close some first");
    }
    if (reply->stream)
        response = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK, send_stream, x, NULL);
    else
        response = MHD_create_response_from_buffer(reply->body.len, reply->body.data,
                                                   MHD_RESPMEM_PERSISTENT);
    if (!response)
        return MHD_NO;
    x->more = 1;
    if (x->client && !x->held) {
        x->held = reply->body.len;
        http_users_hold(&x->http->users, x->client->peer.uid, x->held);
    }
    MHD_add_response_header(response, "Content-Type",
                            reply->type ? reply->type : "application/json");
    if (reply->stream)
        MHD_add_response_header(response, "Cache-Control", "no-cache");
    if (reply->status == 429 || reply->status == 503)
        MHD_add_response_header(response, "Retry-After", "1");
    if (x->http->draining || x->refused)
        MHD_add_response_header(response, "Connection", "close");
    enum MHD_Result rc = MHD_queue_response(x->connection, (unsigned)reply->status, response);
    MHD_destroy_response(response);
    x->state = EXCHANGE_SENDING;
    return rc;
}

/* The head was read. Requests refused here are closed after the reply. */
static enum MHD_Result take_head(struct exchange *x)
{
    const char *length =
        MHD_lookup_connection_value(x->connection, MHD_HEADER_KIND, "Content-Length");
    unsigned long long n = length ? strtoull(length, NULL, 10) : 0;

    x->client =
        MHD_get_connection_info(x->connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
    if (!x->client || x->refused == 414)
        return MHD_NO;
    x->state = EXCHANGE_BODY;
    if (n > HTTP_BODY_MAX) {
        x->refused = 413;
        refuse_request(x);
    }
    return x->state == EXCHANGE_READY ? send_reply(x) : MHD_YES;
}

static void read_body(struct exchange *x, const char *bytes, size_t n)
{
    struct http *h = x->http;
    size_t counted = 0;

    if (x->refused)
        return;
    if (x->body.len + n > HTTP_BODY_MAX)
        x->refused = 413;
    else if (!http_users_send(&h->users, x->client->peer.uid, x->body.len, n, &counted))
        x->refused = 503;
    else
        strbuf_put(&x->body, bytes, n);
    x->accounted += counted;
    if (x->body.failed)
        x->refused = 503;
    if (x->refused) {
        drop_body(x);
        return;
    }
    if (x->body.len > HEAVY)
        h->heavy = true;
}

/* Write the query, with "since" replaced by the number of the last event seen. */
static void put_query(struct strbuf *out, const char *query, const char *last)
{
    bool resumes = last && *last && last[strspn(last, "0123456789")] == '\0';

    if (resumes) {
        strbuf_puts(out, "since=");
        strbuf_puts(out, last);
    }
    for (size_t n; query && *query; query += n + (query[n] == '&')) {
        n = strcspn(query, "&");
        if (n == 0 || (resumes && strncmp(query, "since=", 6) == 0))
            continue;
        if (out->len)
            strbuf_putc(out, '&');
        strbuf_put(out, query, n);
    }
}

static enum MHD_Result handle_request(struct exchange *x, const char *method, const char *url)
{
    struct http *h = x->http;
    struct strbuf query = {0};
    const char *last = MHD_lookup_connection_value(x->connection, MHD_HEADER_KIND, "Last-Event-ID");

    client_served(x->client);
    if (x->refused) {
        refuse_request(x);
        return send_reply(x);
    }
    if (!http_users_may_ask(&h->users, x->client->peer.uid)) {
        reply_error(x, 503, "too many replies are unread: read them first");
        drop_body(x);
        return send_reply(x);
    }
    if (!may_work(x)) {
        suspend(x, &h->deferred);
        http_look_again(h);
        return MHD_YES;
    }
    put_query(&query, x->query, last);
    struct server_request request = {.method = method,
                                     .path = url,
                                     .query = query.len ? strbuf_text(&query) : NULL,
                                     .body = x->body.len ? strbuf_text(&x->body) : "",
                                     .length = x->body.len,
                                     .peer = x->client->peer};
    uint64_t begin = uv_hrtime();
    h->handler.request(h->handler.context, &request, &x->reply);
    http_users_work(&h->users, x->client->peer.uid, uv_hrtime() - begin);
    strbuf_clear(&query);
    drop_body(x);
    if (!x->reply.wait)
        return send_reply(x);
    x->state = EXCHANGE_WAITING;
    suspend(x, &h->waiting);
    return MHD_YES;
}

enum MHD_Result exchange_answer(void *cls, struct MHD_Connection *connection, const char *url,
                                const char *method, const char *version, const char *upload,
                                size_t *upload_size, void **context)
{
    struct exchange *x = *context;

    (void)cls;
    (void)connection;
    (void)version;
    if (!x)
        return MHD_NO;
    switch (x->state) {
    case EXCHANGE_NEW:
        return take_head(x);
    case EXCHANGE_BODY:
        if (*upload_size == 0)
            return handle_request(x, method, url);
        read_body(x, upload, *upload_size);
        *upload_size = 0;
        return MHD_YES;
    case EXCHANGE_READY:
        return send_reply(x);
    case EXCHANGE_WAITING:
    case EXCHANGE_SENDING:
        break;
    }
    return MHD_YES;
}
