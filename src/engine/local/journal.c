/* The keeper's journal: its records and its file. */
#include "engine/local/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "engine/local/messages.h"
#include "engine/local/wire.h"

#define MARK       0x4a4b4242u /* "BBKJ" */
#define RECORD_MAX 4096
#define FRAME      12 /* mark, length, checksum */

/* CRC-32 of IEEE 802.3, four bits at a time. */
static uint32_t checksum(const char *bytes, size_t n)
{
    static const uint32_t table[16] = {
        0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
        0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
        0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
    };
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < n; i++) {
        crc ^= (unsigned char)bytes[i];
        crc = crc >> 4 ^ table[crc & 15];
        crc = crc >> 4 ^ table[crc & 15];
    }
    return ~crc;
}

static size_t begin_entry(struct strbuf *b)
{
    size_t begun = b->len;
    wire_put_u32(b, MARK);
    wire_put_u32(b, 0);
    wire_put_u32(b, 0);
    return begun;
}

static void seal(char *frame, size_t n)
{
    uint32_t length = (uint32_t)(n - FRAME);
    uint32_t crc = checksum(frame + FRAME, length);
    memcpy(frame + 4, &length, sizeof(length));
    memcpy(frame + 8, &crc, sizeof(crc));
}

static void end(struct strbuf *b, size_t begun)
{
    if (!b->failed)
        seal(b->data + begun, b->len - begun);
}

void journal_put_head(struct strbuf *b, const struct journal_head *head)
{
    size_t begun = begin_entry(b);
    wire_put_u8(b, JOURNAL_HEAD);
    wire_put_u64(b, head->id);
    wire_put_u64(b, head->base);
    wire_put_u64(b, head->acknowledged);
    wire_put_string(b, head->boot);
    end(b, begun);
}

size_t journal_task_record(char to[JOURNAL_TASK_MAX], const struct journal_task *task)
{
    const uint32_t mark = MARK;
    const uint64_t fields[6] = {
        task->key,
        (uint64_t)task->index << 32 | task->tasks,
        (uint64_t)(uint32_t)task->pid,
        task->since,
        task->until,
        (uint64_t)task->at,
    };
    size_t n = FRAME;
    memcpy(to, &mark, sizeof(mark));
    to[n++] = JOURNAL_TASK;
    memcpy(to + n, fields, sizeof(fields));
    n += sizeof(fields);
    seal(to, n);
    return n;
}

void journal_put_task(struct strbuf *b, const struct journal_task *task)
{
    char record[JOURNAL_TASK_MAX];
    strbuf_put(b, record, journal_task_record(record, task));
}

void journal_put_end(struct strbuf *b, const struct journal_end *e)
{
    size_t begun = begin_entry(b);
    wire_put_u8(b, JOURNAL_END);
    wire_put_u64(b, e->started);
    wire_put_u64(b, (uint64_t)e->started_at);
    message_put_event_content(b, &e->event);
    end(b, begun);
}

void journal_put_acknowledged(struct strbuf *b, uint64_t number)
{
    size_t begun = begin_entry(b);
    wire_put_u8(b, JOURNAL_ACKNOWLEDGED);
    wire_put_u64(b, number);
    end(b, begun);
}

void journal_put_used(struct strbuf *b, const struct used_range *range)
{
    size_t begun = begin_entry(b);
    wire_put_u8(b, JOURNAL_USED);
    wire_put_u64(b, range->lo);
    wire_put_u64(b, range->hi);
    end(b, begun);
}

static int read_head(struct wire *w, const struct journal_reader *reader)
{
    struct journal_head head = {.id = wire_u64(w)};
    head.base = wire_u64(w);
    head.acknowledged = wire_u64(w);
    const char *boot = wire_string(w);
    if (w->bad || !boot || strlen(boot) >= sizeof(head.boot))
        return 0;
    memcpy(head.boot, boot, strlen(boot));
    return reader->head ? reader->head(reader->context, &head) : 0;
}

static int read_task(struct wire *w, const struct journal_reader *reader)
{
    struct journal_task task = {.key = wire_u64(w)};
    uint64_t place = wire_u64(w);
    task.index = (uint32_t)(place >> 32);
    task.tasks = (uint32_t)place;
    task.pid = (pid_t)wire_u64(w);
    task.since = wire_u64(w);
    task.until = wire_u64(w);
    task.at = (int64_t)wire_u64(w);
    if (w->bad || task.pid <= 0 || task.tasks > MESSAGE_TASKS_MAX || task.index >= task.tasks)
        return 0;
    return reader->task ? reader->task(reader->context, &task) : 0;
}

static int read_end(struct wire *w, const struct journal_reader *reader)
{
    struct journal_end e = {.started = wire_u64(w)};
    e.started_at = (int64_t)wire_u64(w);
    if (message_event_content(w, &e.event) || e.event.what == ENGINE_STARTED)
        return 0;
    return reader->end ? reader->end(reader->context, &e) : 0;
}

static int read_range(struct wire *w, const struct journal_reader *reader)
{
    struct used_range range = {wire_u64(w), 0};
    range.hi = wire_u64(w);
    if (w->bad || range.lo > range.hi || !reader->used)
        return 0;
    return reader->used(reader->context, &range);
}

/* Read a record whose checksum is right; a record of an unknown kind is skipped. */
static int read_record(struct wire *w, const struct journal_reader *reader)
{
    uint64_t number;
    switch (wire_u8(w)) {
    case JOURNAL_HEAD:
        return read_head(w, reader);
    case JOURNAL_TASK:
        return read_task(w, reader);
    case JOURNAL_END:
        return read_end(w, reader);
    case JOURNAL_ACKNOWLEDGED:
        number = wire_u64(w);
        return w->bad || !reader->acknowledged ? 0 : reader->acknowledged(reader->context, number);
    case JOURNAL_USED:
        return read_range(w, reader);
    default:
        return 0;
    }
}

/* The length of the record at a position, or 0 if there is none. */
static size_t record_at(const char *bytes, size_t n)
{
    uint32_t frame[3];
    if (n < FRAME)
        return 0;
    memcpy(frame, bytes, sizeof(frame));
    if (frame[0] != MARK || frame[1] == 0 || frame[1] > RECORD_MAX || frame[1] > n - FRAME ||
        checksum(bytes + FRAME, frame[1]) != frame[2])
        return 0;
    return frame[1];
}

int journal_read(const char *bytes, size_t n, const struct journal_reader *reader)
{
    size_t at = 0;
    while (at < n) {
        size_t length = record_at(bytes + at, n - at);
        if (length == 0) {
            at++; /* torn: the next mark may be anywhere */
            continue;
        }
        struct wire w = {.at = bytes + at + FRAME, .left = length};
        if (read_record(&w, reader))
            return -1;
        at += FRAME + length;
    }
    return 0;
}

int journal_load(int directory, struct strbuf *bytes)
{
    int fd = openat(directory, JOURNAL_FILE, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return errno == ENOENT ? 0 : -1;
    ssize_t n = 1;
    while (n > 0) {
        if (!strbuf_room(bytes, 65536)) {
            close(fd);
            errno = ENOMEM;
            return -1;
        }
        n = read(fd, bytes->data + bytes->len, 65536);
        if (n > 0)
            bytes->len += (size_t)n;
        else if (n < 0 && errno == EINTR)
            n = 1;
    }
    int saved = errno;
    close(fd);
    errno = saved;
    return n < 0 ? -1 : 0;
}

int journal_reserve(int fd, size_t from, size_t bytes)
{
    int rc;
    do
        rc = fallocate(fd, FALLOC_FL_KEEP_SIZE, (off_t)from, (off_t)bytes);
    while (rc < 0 && errno == EINTR);
    return rc == 0 || errno == EOPNOTSUPP || errno == ENOSYS ? 0 : -1;
}

int journal_open(int directory)
{
    return openat(directory, JOURNAL_FILE, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW,
                  0600);
}

int journal_append(int fd, const char *bytes, size_t n)
{
    ssize_t done;
    do
        done = write(fd, bytes, n);
    while (done < 0 && errno == EINTR);
    if (done == (ssize_t)n)
        return 0;
    /* A record written in part does no harm: its checksum shows that when it is read. */
    if (done >= 0)
        errno = ENOSPC;
    return -1;
}

int journal_replace(int directory, const struct strbuf *bytes)
{
    int fd = openat(directory, JOURNAL_NEW,
                    O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return -1;
    if (journal_append(fd, bytes->data, bytes->len) ||
        renameat(directory, JOURNAL_NEW, directory, JOURNAL_FILE)) {
        int saved = errno;
        close(fd);
        unlinkat(directory, JOURNAL_NEW, 0);
        errno = saved;
        return -1;
    }
    return fd;
}
