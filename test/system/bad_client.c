/* Clients that a server must bear, each for a test in a shell.
 *
 *     bad_client SOCKET slow          parts of requests that never become whole; until the server closes all of them
 *     bad_client SOCKET half          requests and streams of which one direction is closed
 *     bad_client SOCKET garbage       what is no HTTP, or HTTP of an absurd size; each must be answered or closed
 *     bad_client SOCKET many N PATH   N connections at once, then a request on each; prints how many got which status
 *     bad_client SOCKET deaf PATH     asks for much and reads nothing; until killed
 *     bad_client SOCKET keep N PATH   as many, but keeps the connections and reads no more; until killed
 *     bad_client SOCKET bodies N SIZE N bodies of so many bytes, none of them sent to its end, again whenever the server
 *                                     closes the first of them; until killed
 *
 * Status 0: the server did as it should.
 */
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define PATIENCE_MS 60000
#define MANY_MAX    4096

static const char *path;

static int reach(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
    if (fd < 0 || connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0) {
        perror("connect");
        exit(1);
    }
    return fd;
}

static bool say(int fd, const char *text, size_t n)
{
    while (n > 0) {
        ssize_t sent = send(fd, text, n, MSG_NOSIGNAL);
        if (sent < 0)
            return false;
        text += sent;
        n -= (size_t)sent;
    }
    return true;
}

/* The status of the answer; 0: closed without one; -1: nothing came. */
static int hear(int fd)
{
    char text[4096];
    struct pollfd at = {.fd = fd, .events = POLLIN};
    int status;

    if (poll(&at, 1, PATIENCE_MS) <= 0)
        return -1;
    ssize_t n = recv(fd, text, sizeof(text) - 1, 0);
    if (n <= 0)
        return 0;
    text[n] = '\0';
    return sscanf(text, "HTTP/1.%*d %d", &status) == 1 ? status : -1;
}

static int slow(void)
{
    static const char *const parts[] = {
        "",
        "G",
        "GET /v1/jobs HT",
        "GET /v1/jobs HTTP/1.1\r\nHost: x\r\nA: ",
        "POST /v1/jobs HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{\"comm",
        "POST /v1/jobs HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab"};
    int fds[sizeof(parts) / sizeof(parts[0])];
    size_t n = sizeof(parts) / sizeof(parts[0]);

    for (size_t i = 0; i < n; i++) {
        fds[i] = reach();
        say(fds[i], parts[i], strlen(parts[i]));
    }
    for (size_t i = 0; i < n; i++) {
        int status = hear(fds[i]);
        if (status != 0 && status != 408) {
            printf("part %zu: %d\n", i, status);
            return 1;
        }
    }
    return 0;
}

static int half(void)
{
    static const char get[] = "GET /v1/server HTTP/1.1\r\nHost: x\r\n\r\n";
    static const char events[] =
        "GET /v1/events?follow=1&since=1000000000 HTTP/1.1\r\nHost: x\r\n\r\n";
    int fd = reach();

    say(fd, get, sizeof(get) - 1);
    shutdown(fd, SHUT_WR);
    if (hear(fd) != 200)
        return puts("a request before its end of file is not answered"), 1;
    fd = reach();
    say(fd, events, sizeof(events) - 1);
    if (hear(fd) != 200)
        return puts("no stream"), 1;
    shutdown(fd, SHUT_WR);
    char rest[64];
    struct pollfd at = {.fd = fd, .events = POLLIN};
    while (poll(&at, 1, PATIENCE_MS) > 0)
        if (recv(fd, rest, sizeof(rest), 0) <= 0)
            return 0;
    return puts("a stream goes on for a client that has gone"), 1;
}

/* What was sent, until its answer is there: they wait together. */
static struct {
    const char *name;
    int fd;
} sent[32];
static size_t n_sent;

static void send_garbage(const char *name, const char *text, size_t n)
{
    sent[n_sent].name = name;
    sent[n_sent].fd = reach();
    say(sent[n_sent].fd, text, n);
    shutdown(sent[n_sent++].fd, SHUT_WR);
}

static int hear_garbage(void)
{
    int wrong = 0;
    for (size_t i = 0; i < n_sent; i++) {
        int status = hear(sent[i].fd);
        if (status == 0 || (status >= 400 && status < 600))
            continue;
        printf("%s: %d\n", sent[i].name, status);
        wrong++;
    }
    return wrong > 0;
}

static int garbage(void)
{
    static char large[1 << 20];
    static const char zeros[64];
    static const char *const texts[] = {
        "\r\n\r\n\r\n\r\n",
        "GET\r\n\r\n",
        "GET / HTTP/9.9\r\n\r\n",
        "\x16\x03\x01\x02\r\n\r\n",
        "POST /v1/jobs HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n",
        "POST /v1/jobs HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n",
        "POST /v1/jobs HTTP/1.1\r\nHost: x\r\nContent-Length: 70000000\r\n\r\n",
        "POST /v1/jobs HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        "POST /v1/jobs HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n\xff\xfe",
        "GET /v1/jobs/%00%ff HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET /v1/jobs?state=%zz&=&&limit=-1 HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET /v1/../../etc/passwd HTTP/1.1\r\nHost: x\r\n\r\n",
        "BREW /v1/jobs HTTP/1.1\r\nHost: x\r\n\r\n"};

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        send_garbage(texts[i], texts[i], strlen(texts[i]));
    send_garbage("zeros", zeros, sizeof(zeros));
    memset(large, 'a', sizeof(large));
    memcpy(large, "GET /", 5);
    send_garbage("a long line", large, sizeof(large));
    memcpy(large, "GET / HTTP/1.1\r\nA: ", 19);
    send_garbage("a long header", large, sizeof(large));
    return hear_garbage();
}

static int fds[MANY_MAX];

static int reach_all(int n)
{
    struct rlimit files;

    if (n > MANY_MAX)
        n = MANY_MAX;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    for (int i = 0; i < n; i++)
        fds[i] = reach();
    return n;
}

static int many(int n, const char *what)
{
    char request[512];
    int counts[600] = {0};
    int length = snprintf(request, sizeof(request), "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", what);

    n = reach_all(n);
    for (int i = 0; i < n; i++)
        say(fds[i], request, (size_t)length);
    for (int i = 0; i < n; i++) {
        int status = hear(fds[i]);
        counts[status > 0 && status < 600 ? status : 0]++;
    }
    for (int i = 0; i < 600; i++)
        if (counts[i])
            printf("%d %d\n", i, counts[i]);
    fflush(stdout);
    return counts[0] > 0;
}

static int keep(int n, const char *what)
{
    many(n, what);
    puts("kept");
    fflush(stdout);
    pause();
    return 0;
}

static void say_most(int fd, long bytes)
{
    static const char zeros[1 << 16];
    char head[200];
    int length =
        snprintf(head, sizeof(head),
                 "POST /v1/jobs HTTP/1.1\r\nHost: x\r\nContent-Length: %ld\r\n\r\n", bytes);

    if (!say(fd, head, (size_t)length))
        return;
    for (long left = bytes - 10, part; left > 0; left -= part) {
        part = left < (long)sizeof(zeros) ? left : (long)sizeof(zeros);
        if (!say(fd, zeros, (size_t)part))
            return;
    }
}

static void bodies(int n, long bytes)
{
    for (;;) {
        n = reach_all(n);
        for (int i = 0; i < n; i++)
            say_most(fds[i], bytes);
        puts("sent");
        fflush(stdout);
        hear(fds[0]);
        for (int i = 0; i < n; i++)
            close(fds[i]);
    }
}

static int deaf(const char *what)
{
    char request[512];
    int fd = reach();
    int length = snprintf(request, sizeof(request), "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", what);

    say(fd, request, (size_t)length);
    puts("asked");
    fflush(stdout);
    pause();
    return 0;
}

int main(int argc, char **argv)
{
    const char *what = argc > 2 ? argv[2] : "";

    path = argc > 1 ? argv[1] : "";
    if (strcmp(what, "slow") == 0)
        return slow();
    if (strcmp(what, "half") == 0)
        return half();
    if (strcmp(what, "garbage") == 0)
        return garbage();
    if (strcmp(what, "many") == 0 && argc == 5)
        return many(atoi(argv[3]), argv[4]);
    if (strcmp(what, "deaf") == 0 && argc == 4)
        return deaf(argv[3]);
    if (strcmp(what, "keep") == 0 && argc == 5)
        return keep(atoi(argv[3]), argv[4]);
    if (strcmp(what, "bodies") == 0 && argc == 5)
        bodies(atoi(argv[3]), atol(argv[4]));
    return 2;
}
