/* power_disk: a disk for a virtual machine that loses what was not flushed when the power goes.
 *
 * usage: power_disk SOCKET FILE SEED
 *
 * Serves FILE to one client by the NBD protocol. Like a real disk it acknowledges writes when they are in
 * its cache, which a flush (or a write with FUA) brings to the file. If the client goes without saying
 * goodbye, as a machine whose power is cut does, each write in the cache may be lost: all, those after a
 * random one, or each by chance; and the last that is kept may be torn at a sector. It then says in a line
 * how many writes were lost, and ends.
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define SECTOR      512
#define REQUEST_MAX ((uint32_t)32 << 20)
#define FLUSH_TIME  20                 /* ms */
#define CACHE_MAX   ((size_t)64 << 20) /* bytes; as a disk's, it is written out when it is full */

#define OPTION_MAGIC  0x49484156454F5054ull /* "IHAVEOPT" */
#define OPTION_REPLY  0x3e889045565a9ull
#define REQUEST_MAGIC 0x25609513u
#define REPLY_MAGIC   0x67446698u

enum { OPTION_NAME = 1, OPTION_ABORT = 2, OPTION_INFO = 6, OPTION_GO = 7 };
enum { COMMAND_READ, COMMAND_WRITE, COMMAND_GOODBYE, COMMAND_FLUSH };
enum { HAS_FLAGS = 1, SEND_FLUSH = 4, SEND_FUA = 8, FUA = 1 };

/* A write that is not yet in the file; in the order in which they came. */
struct pending {
    uint64_t offset;
    uint32_t length;
    char *bytes;
};

struct disk {
    int client;
    int file;
    uint64_t size;
    char *view; /* what the client sees: the file, and what is pending over it */
    struct pending *pending;
    size_t n_pending, cap_pending, cached;
    uint64_t random;
};

struct request {
    uint32_t magic;
    uint16_t flags;
    uint16_t type;
    uint64_t handle;
    uint64_t offset;
    uint32_t length;
} __attribute__((packed));

static void die(const char *what)
{
    fprintf(stderr, "power_disk: %s: %s\n", what, strerror(errno));
    exit(1);
}

static bool get(int fd, void *to, size_t n)
{
    for (char *at = to; n > 0;) {
        ssize_t got = read(fd, at, n);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        at += got;
        n -= (size_t)got;
    }
    return true;
}

static bool put(int fd, const void *from, size_t n)
{
    for (const char *at = from; n > 0;) {
        ssize_t done = send(fd, at, n, MSG_NOSIGNAL);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return false;
        at += done;
        n -= (size_t)done;
    }
    return true;
}

/* splitmix64 */
static uint64_t draw(struct disk *d)
{
    uint64_t z = d->random += 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

static void write_file(struct disk *d, const struct pending *p, uint32_t length)
{
    if (pwrite(d->file, p->bytes, length, (off_t)p->offset) != (ssize_t)length)
        die("write");
}

static void forget(struct disk *d)
{
    for (size_t i = 0; i < d->n_pending; i++)
        free(d->pending[i].bytes);
    d->n_pending = 0;
    d->cached = 0;
}

static void flush(struct disk *d)
{
    for (size_t i = 0; i < d->n_pending; i++)
        write_file(d, &d->pending[i], d->pending[i].length);
    forget(d);
}

/* As long as a spinning disk takes. False: the power went meanwhile. */
static bool flush_slowly(struct disk *d)
{
    struct pollfd client = {.fd = d->client, .events = POLLRDHUP};
    if (d->n_pending > 0 && poll(&client, 1, FLUSH_TIME) > 0)
        return false;
    flush(d);
    return true;
}

static void cut_power(struct disk *d)
{
    size_t n = d->n_pending, kept = 0, until = n;
    unsigned how =
        (unsigned)(draw(d) % 3); /* nothing stays, what came first, what it happens to be */
    if (how == 0)
        until = 0;
    else if (how == 1 && n)
        until = (size_t)(draw(d) % n);
    for (size_t i = 0; i < until; i++) {
        const struct pending *p = &d->pending[i];
        uint32_t sectors = p->length / SECTOR;
        if (how == 2 && draw(d) % 2)
            continue;
        bool torn = i + 1 == until || draw(d) % 16 == 0;
        write_file(d, p, torn ? (uint32_t)(draw(d) % (sectors + 1)) * SECTOR : p->length);
        kept++;
    }
    forget(d);
    printf("power cut: %zu writes were in the disk's cache, %zu of them lost\n", n, n - kept);
}

static bool take_write(struct disk *d, const struct request *r)
{
    if (d->n_pending == d->cap_pending) {
        d->cap_pending = d->cap_pending ? 2 * d->cap_pending : 256;
        d->pending = realloc(d->pending, d->cap_pending * sizeof(*d->pending));
        if (!d->pending)
            die("memory");
    }
    struct pending p = {r->offset, r->length, malloc(r->length)};
    if (!p.bytes)
        die("memory");
    if (!get(d->client, p.bytes, p.length)) {
        free(p.bytes);
        return false;
    }
    memcpy(d->view + p.offset, p.bytes, p.length);
    d->pending[d->n_pending++] = p;
    d->cached += p.length;
    if ((r->flags & FUA) || d->cached > CACHE_MAX)
        flush(d);
    return true;
}

static bool reply(struct disk *d, const struct request *r, const void *bytes, size_t n)
{
    char head[16];
    uint32_t magic = htobe32(REPLY_MAGIC), none = 0;
    memcpy(head, &magic, 4);
    memcpy(head + 4, &none, 4);
    memcpy(head + 8, &r->handle, 8);
    return put(d->client, head, sizeof(head)) && put(d->client, bytes, n);
}

/* True: it said goodbye. */
static bool serve(struct disk *d)
{
    struct request r;
    while (get(d->client, &r, sizeof(r))) {
        r.flags = be16toh(r.flags);
        r.type = be16toh(r.type);
        r.offset = be64toh(r.offset);
        r.length = be32toh(r.length);
        if (be32toh(r.magic) != REQUEST_MAGIC || r.length > REQUEST_MAX || r.offset > d->size ||
            r.length > d->size - r.offset)
            return false;
        if (r.type == COMMAND_GOODBYE)
            return true;
        if (r.type == COMMAND_WRITE && !take_write(d, &r))
            return false;
        if (r.type == COMMAND_FLUSH && !flush_slowly(d))
            return false;
        bool reads = r.type == COMMAND_READ;
        if (!reply(d, &r, reads ? d->view + r.offset : NULL, reads ? r.length : 0))
            return false;
    }
    return false;
}

static bool answer(int fd, uint32_t option, uint32_t type, const void *bytes, uint32_t n)
{
    char head[20];
    uint64_t magic = htobe64(OPTION_REPLY);
    uint32_t numbers[3] = {htobe32(option), htobe32(type), htobe32(n)};
    memcpy(head, &magic, 8);
    memcpy(head + 8, numbers, 12);
    return put(fd, head, sizeof(head)) && put(fd, bytes, n);
}

/* The client asks for the one export there is, and then begins. */
static bool negotiate(struct disk *d)
{
    const uint16_t style = htobe16(3); /* fixed newstyle, no padding of zeros */
    const uint16_t flags = htobe16(HAS_FLAGS | SEND_FLUSH | SEND_FUA);
    const uint64_t size = htobe64(d->size);
    char info[12] = {0}, data[4096];
    uint32_t client, head[2];
    uint64_t magic;
    memcpy(info + 2, &size, 8);
    memcpy(info + 10, &flags, 2);
    if (!put(d->client, "NBDMAGICIHAVEOPT", 16) || !put(d->client, &style, 2) ||
        !get(d->client, &client, 4))
        return false;
    while (get(d->client, &magic, 8) && get(d->client, head, 8)) {
        uint32_t option = be32toh(head[0]), length = be32toh(head[1]);
        if (be64toh(magic) != OPTION_MAGIC || length > sizeof(data) ||
            !get(d->client, data, length) || option == OPTION_ABORT)
            return false;
        if (option == OPTION_NAME)
            return put(d->client, info + 2, 10);
        if (option == OPTION_GO || option == OPTION_INFO) {
            if (!answer(d->client, option, 3, info, sizeof(info)) ||
                !answer(d->client, option, 1, NULL, 0))
                return false;
            if (option == OPTION_GO)
                return true;
        } else if (!answer(d->client, option, 0x80000001u, NULL, 0)) { /* unsupported */
            return false;
        }
    }
    return false;
}

static int await_client(const char *path)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    snprintf(name.sun_path, sizeof(name.sun_path), "%s", path);
    unlink(path);
    if (listener < 0 || bind(listener, (struct sockaddr *)&name, sizeof(name)) ||
        listen(listener, 1))
        die(path);
    int client = accept(listener, NULL, NULL);
    if (client < 0)
        die("accept");
    close(listener);
    return client;
}

int main(int argc, char **argv)
{
    struct disk d = {0};
    struct stat st;
    if (argc != 4) {
        fprintf(stderr, "usage: power_disk SOCKET FILE SEED\n");
        return 2;
    }
    d.random = strtoull(argv[3], NULL, 10);
    d.file = open(argv[2], O_RDWR | O_CLOEXEC);
    if (d.file < 0 || fstat(d.file, &st))
        die(argv[2]);
    d.size = (uint64_t)st.st_size;
    d.view = mmap(NULL, d.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, d.file, 0);
    if (d.view == MAP_FAILED)
        die("mmap");
    d.client = await_client(argv[1]);
    if (negotiate(&d) && serve(&d))
        flush(&d);
    else
        cut_power(&d);
    free(d.pending);
    return 0;
}
