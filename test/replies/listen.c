/* Notes what berthd answers: preloaded into it (LD_PRELOAD), it appends a line for each reply of JSON to the file
 * BERTH_REPLIES, with method, path, status and body apart by tabs. The body is on one line: JSON has line ends
 * between its words only. test/replies/check.py reads them.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What was asked last on a connection that was at this address. */
struct asked {
    const struct MHD_Connection *connection;
    char what[512]; /* method, tab, path */
};

/* A response, until it has been sent. */
struct answer {
    const struct MHD_Response *response;
    char *body;
    size_t length;
    char what[512];
    unsigned status;
    bool json;
    MHD_ContentReaderCallback read;
    void *context;
    MHD_ContentReaderFreeCallback release;
};

/* Both are as long as ever so many were there at once. */
static struct asked **asked;
static struct answer **answers; /* NULL: that place is free */
static size_t n_asked, n_answers;
static MHD_AccessHandlerCallback handler;

static void *real(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

static void *longer(void *array, size_t n)
{
    void *more = realloc(array, n * sizeof(void *));
    if (!more)
        abort();
    return more;
}

static void *zeroed(size_t size)
{
    void *made = calloc(1, size);
    if (!made)
        abort();
    return made;
}

static struct asked *find_asked(const struct MHD_Connection *connection)
{
    for (size_t i = 0; i < n_asked; i++)
        if (asked[i]->connection == connection)
            return asked[i];
    asked = longer(asked, n_asked + 1);
    asked[n_asked] = zeroed(sizeof(**asked));
    asked[n_asked]->connection = connection;
    return asked[n_asked++];
}

static struct answer *find_answer(const struct MHD_Response *response)
{
    for (size_t i = 0; i < n_answers; i++)
        if (answers[i] && answers[i]->response == response)
            return answers[i];
    return NULL;
}

static struct answer *new_answer(void)
{
    size_t i = 0;
    while (i < n_answers && answers[i])
        i++;
    if (i == n_answers)
        answers = longer(answers, ++n_answers);
    return answers[i] = zeroed(sizeof(struct answer));
}

static void forget(struct answer *a)
{
    for (size_t i = 0; i < n_answers; i++)
        if (answers[i] == a)
            answers[i] = NULL;
    free(a->body);
    free(a);
}

static void append(struct answer *a, const char *bytes, size_t n)
{
    char *body = realloc(a->body, a->length + n + 1);
    if (!body)
        abort();
    a->body = body;
    memcpy(a->body + a->length, bytes, n);
    a->length += n;
}

/* A line is one write, so that those of several servers do not mix. */
static void note(const struct answer *a)
{
    const char *path = getenv("BERTH_REPLIES");
    int fd = a->json && path ? open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600) : -1;
    char *line = fd < 0 ? NULL : malloc(a->length + sizeof(a->what) + 32);
    if (line) {
        size_t n = (size_t)sprintf(line, "%s\t%u\t", a->what, a->status), begin = n;
        if (a->length)
            memcpy(line + n, a->body, a->length);
        n += a->length;
        for (size_t i = begin; i < n; i++)
            if (line[i] == '\n')
                line[i] = ' ';
        line[n++] = '\n';
        if (write(fd, line, n) < 0)
            perror("BERTH_REPLIES");
    }
    free(line);
    if (fd >= 0)
        close(fd);
}

static enum MHD_Result handle(void *context, struct MHD_Connection *connection, const char *url,
                              const char *method, const char *version, const char *data,
                              size_t *size, void **own)
{
    struct asked *q = find_asked(connection);
    snprintf(q->what, sizeof(q->what), "%s\t%s", method, url);
    for (char *at = strchr(q->what, '\t') + 1; *at; at++)
        if ((unsigned char)*at < ' ')
            *at = '?'; /* tabs and line ends are ours */
    return handler(context, connection, url, method, version, data, size, own);
}

struct MHD_Daemon *MHD_start_daemon(unsigned flags, uint16_t port, MHD_AcceptPolicyCallback accept,
                                    void *accept_context, MHD_AccessHandlerCallback handle_request,
                                    void *context, ...)
{
    va_list args;
    handler = handle_request;
    va_start(args, context);
    struct MHD_Daemon *daemon =
        MHD_start_daemon_va(flags, port, accept, accept_context, handle, context, args);
    va_end(args);
    return daemon;
}

struct MHD_Response *MHD_create_response_from_buffer(size_t size, void *buffer,
                                                     enum MHD_ResponseMemoryMode mode)
{
    struct MHD_Response *(*make)(size_t, void *, enum MHD_ResponseMemoryMode) =
        real("MHD_create_response_from_buffer");
    struct MHD_Response *response = make(size, buffer, mode);
    if (response) {
        struct answer *a = new_answer();
        a->response = response;
        append(a, buffer, size);
    }
    return response;
}

static ssize_t read_more(void *context, uint64_t position, char *to, size_t most)
{
    struct answer *a = context;
    ssize_t n = a->read(a->context, position, to, most);
    if (n > 0 && a->json)
        append(a, to, (size_t)n);
    if (n == MHD_CONTENT_READER_END_OF_STREAM)
        note(a);
    return n;
}

static void release(void *context)
{
    struct answer *a = context;
    if (a->release)
        a->release(a->context);
    forget(a);
}

struct MHD_Response *MHD_create_response_from_callback(uint64_t size, size_t block,
                                                       MHD_ContentReaderCallback read,
                                                       void *context,
                                                       MHD_ContentReaderFreeCallback free_it)
{
    struct MHD_Response *(*make)(uint64_t, size_t, MHD_ContentReaderCallback, void *,
                                 MHD_ContentReaderFreeCallback) =
        real("MHD_create_response_from_callback");
    struct answer *a = new_answer();
    a->read = read;
    a->context = context;
    a->release = free_it;
    struct MHD_Response *response = make(size, block, read_more, a, release);
    a->response = response;
    return response;
}

enum MHD_Result MHD_add_response_header(struct MHD_Response *response, const char *name,
                                        const char *value)
{
    enum MHD_Result (*add)(struct MHD_Response *, const char *, const char *) =
        real("MHD_add_response_header");
    struct answer *a = find_answer(response);
    if (a && strcmp(name, "Content-Type") == 0)
        a->json = strcmp(value, "application/json") == 0;
    return add(response, name, value);
}

enum MHD_Result MHD_queue_response(struct MHD_Connection *connection, unsigned status,
                                   struct MHD_Response *response)
{
    enum MHD_Result (*queue)(struct MHD_Connection *, unsigned, struct MHD_Response *) =
        real("MHD_queue_response");
    struct answer *a = find_answer(response);
    if (a) {
        memcpy(a->what, find_asked(connection)->what, sizeof(a->what));
        a->status = status;
    }
    if (a && !a->read) {
        note(a);
        forget(a);
    }
    return queue(connection, status, response);
}

/* One that was never queued is not answered, and its address is soon another's. */
void MHD_destroy_response(struct MHD_Response *response)
{
    void (*destroy)(struct MHD_Response *) = real("MHD_destroy_response");
    struct answer *a = find_answer(response);
    if (a && !a->read)
        forget(a);
    destroy(response);
}
