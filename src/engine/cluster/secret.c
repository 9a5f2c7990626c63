#include "engine/cluster/secret.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <limits.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sodium.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/errtext.h"
#include "base/strbuf.h"

#define TEXT_MOST 8192 /* bytes of the file with addresses */

/* Open a file that is the user's own, and nobody else's to read or write. */
static int open_own(const char *path, berth_error_t *err)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return errtext_set(err, errno, "%s: %s", path, strerror(errno));
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
        (st.st_mode & 077) == 0)
        return fd;
    close(fd);
    return errtext_set(err, EPERM, "%s: expected a file of user %lu that nobody else may use", path,
                       (unsigned long)geteuid());
}

int secret_read(const char *directory, uint64_t pilot, uint8_t key[NOISE_KEY], berth_error_t *err)
{
    char path[PATH_MAX];
    if (secret_path(path, directory, pilot, "/key"))
        return errtext_set(err, errno, "%s: %s", directory, strerror(errno));
    int fd = open_own(path, err);
    if (fd < 0)
        return -1;
    ssize_t n = read(fd, key, NOISE_KEY);
    close(fd);
    return n == NOISE_KEY ? 0 : errtext_set(err, EINVAL, "%s: expected 32 bytes", path);
}

static void put_address(struct strbuf *b, const struct sockaddr *a)
{
    char text[INET6_ADDRSTRLEN];
    const void *bytes = a->sa_family == AF_INET
                            ? (const void *)&((const struct sockaddr_in *)(const void *)a)->sin_addr
                            : &((const struct sockaddr_in6 *)(const void *)a)->sin6_addr;
    if (inet_ntop(a->sa_family, bytes, text, sizeof(text))) {
        strbuf_puts(b, text);
        strbuf_putc(b, '\n');
    }
}

/* Those that others can reach go first. */
static void put_addresses(struct strbuf *b, const struct ifaddrs *all, bool loopback)
{
    for (const struct ifaddrs *i = all; i; i = i->ifa_next) {
        const struct sockaddr *a = i->ifa_addr;
        if (!a || !(i->ifa_flags & IFF_UP) || !(i->ifa_flags & IFF_LOOPBACK) == loopback)
            continue;
        if (a->sa_family == AF_INET)
            put_address(b, a);
        /* An address of one link means nothing elsewhere. */
        if (a->sa_family == AF_INET6 &&
            !IN6_IS_ADDR_LINKLOCAL(&((const struct sockaddr_in6 *)(const void *)a)->sin6_addr))
            put_address(b, a);
    }
}

int addresses_write(const char *directory, uint16_t port, berth_error_t *err)
{
    char path[PATH_MAX], fresh[PATH_MAX];
    struct ifaddrs *all;
    struct strbuf b = {0};
    int a = snprintf(path, sizeof(path), "%s/server", directory);
    int c = snprintf(fresh, sizeof(fresh), "%s/server.%ld", directory, (long)getpid());
    if (a < 0 || a >= PATH_MAX || c < 0 || c >= PATH_MAX)
        return errtext_set(err, ENAMETOOLONG, "%s: %s", directory, strerror(ENAMETOOLONG));
    if (getifaddrs(&all))
        return errtext_set(err, errno, "the addresses of this host: %s", strerror(errno));
    strbuf_put_uint(&b, port);
    strbuf_putc(&b, '\n');
    put_addresses(&b, all, false);
    put_addresses(&b, all, true);
    freeifaddrs(all);
    unlink(fresh);
    errno = ENOMEM;
    int rc = b.failed || secret_write(fresh, b.data, b.len) || rename(fresh, path) ? -1 : 0;
    int saved = errno;
    strbuf_clear(&b);
    return rc ? errtext_set(err, saved, "%s: %s", path, strerror(saved)) : 0;
}

static int add_address(struct addresses *to, const char *text, uint16_t port)
{
    struct sockaddr_in *v4 = (struct sockaddr_in *)(void *)&to->v[to->n];
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)(void *)&to->v[to->n];
    to->v[to->n] = (struct sockaddr_storage){.ss_family = AF_UNSPEC};
    if (inet_pton(AF_INET, text, &v4->sin_addr) == 1) {
        v4->sin_family = AF_INET;
        v4->sin_port = htons(port);
        to->length[to->n++] = sizeof(*v4);
        return 0;
    }
    if (inet_pton(AF_INET6, text, &v6->sin6_addr) != 1)
        return -1;
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(port);
    to->length[to->n++] = sizeof(*v6);
    return 0;
}

/* A line of at most `size` - 1 bytes. */
static const char *next_line(const char **at, const char *end, char *line, size_t size)
{
    const char *stop = memchr(*at, '\n', (size_t)(end - *at));
    size_t n = stop ? (size_t)(stop - *at) : size;
    if (n >= size || memchr(*at, '\0', n))
        return NULL;
    memcpy(line, *at, n);
    line[n] = '\0';
    *at = stop + 1;
    return line;
}

int addresses_decode(const char *text, size_t n, struct addresses *to, berth_error_t *err)
{
    char line[INET6_ADDRSTRLEN + 1];
    const char *at = text, *end = text + n;
    unsigned long port = 0;
    to->n = 0;
    if (n > 0 && next_line(&at, end, line, sizeof(line)) && line[0] &&
        strspn(line, "0123456789") == strlen(line))
        port = strtoul(line, NULL, 10);
    if (port < 1 || port > 65535)
        return errtext_set(err, EINVAL, "line 1: expected a port");
    for (int number = 2; at < end && to->n < ADDRESSES_MOST; number++)
        if (!next_line(&at, end, line, sizeof(line)) || add_address(to, line, (uint16_t)port))
            return errtext_set(err, EINVAL, "line %d: expected an address", number);
    return 0;
}

int addresses_read(const char *directory, struct addresses *to, berth_error_t *err)
{
    char path[PATH_MAX], text[TEXT_MOST];
    berth_error_t why;
    int length = snprintf(path, sizeof(path), "%s/server", directory);
    if (length < 0 || length >= PATH_MAX)
        return errtext_set(err, ENAMETOOLONG, "%s: %s", directory, strerror(ENAMETOOLONG));
    int fd = open_own(path, err);
    if (fd < 0)
        return -1;
    ssize_t n = read(fd, text, sizeof(text));
    close(fd);
    if (n < 0)
        return errtext_set(err, errno, "%s: %s", path, strerror(errno));
    return addresses_decode(text, (size_t)n, to, &why) < 0
               ? errtext_set(err, EINVAL, "%s: %s", path, why.text)
               : 0;
}

bool addresses_changed(const char *directory, struct addresses_version *seen)
{
    char path[PATH_MAX];
    struct stat st;
    struct addresses_version now = {0};
    int length = snprintf(path, sizeof(path), "%s/server", directory);
    if (length > 0 && length < PATH_MAX && stat(path, &st) == 0)
        now = (struct addresses_version){st.st_ino, st.st_mtim.tv_sec, st.st_mtim.tv_nsec};
    if (now.inode == seen->inode && now.seconds == seen->seconds &&
        now.nanoseconds == seen->nanoseconds)
        return false;
    *seen = now;
    return now.inode != 0;
}
