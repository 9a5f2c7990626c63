/* The keeper's side of output that the server's host has a file for and this node has not (spool.h).
 *
 * What a run writes is read from its file, and sent in order. Some of it may be under way at a time; the rest waits in
 * the file, so a connection that is slow or away costs disk space, and no memory. What the server has is given back to
 * the disk. A run that has ended is told as ended once all of it is there, or when the server could not write it for
 * PATIENCE.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/local/keeper.h"
#include "engine/local/spool.h"

#define CHUNK      32768U              /* bytes in a message */
#define WINDOW     ((uint64_t)262144)  /* bytes of a file under way */
#define ALL_MOST   ((uint64_t)1048576) /* ... of all */
#define LOOK_LEAST 20000 /* us until files are looked at again; doubled while nothing comes */
#define LOOK_MOST  500000
#define RETRY      1000000             /* us after the server could not write */
#define PATIENCE   60000000            /* us of that, once a run has ended */
#define PUNCH      ((uint64_t)1048576) /* bytes that are given back at once */

struct spool {
    struct spool *next;
    uint64_t key;
    int stream;
    char *path;
    mode_t mode;
    bool append;
    bool again;  /* the server has opened it before */
    bool asked;  /* on this link */
    bool opened; /* on this link */
    bool done;
    uint64_t written, sent, punched;
    int64_t failing; /* us of the steady clock: since when the server can't write; 0: it can */
    int64_t retry_at;
};

static struct spool *find_spool(const struct keeper *k, uint64_t key, int stream)
{
    struct spool *s = k->spools;
    while (s && (s->key != key || s->stream != stream))
        s = s->next;
    return s;
}

/* Where it belongs, as the task has noted: "t644/path". */
static char *read_place(const struct keeper *k, uint64_t key, int stream, bool *again)
{
    char name[SPOOL_NAME], text[PATH_MAX + 5];
    spool_name(name, key, stream, ".to");
    int fd = openat(k->directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    *again = fd < 0;
    if (fd < 0) {
        spool_name(name, key, stream, ".at");
        fd = openat(k->directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    }
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
    if (fd >= 0)
        close(fd);
    if (n < 5 || text[4] != '/')
        return NULL;
    text[n] = '\0';
    return strdup(text);
}

static int add_spool(struct keeper *k, uint64_t key, int stream)
{
    bool again;
    if (find_spool(k, key, stream))
        return 0;
    char *place = read_place(k, key, stream, &again);
    struct spool *s = place ? calloc(1, sizeof(*s)) : NULL;
    if (!s) {
        free(place);
        return -1;
    }
    s->append = place[0] == 'a';
    s->mode = (mode_t)strtoul((const char[]){place[1], place[2], place[3], '\0'}, NULL, 8);
    memmove(place, place + 4, strlen(place + 4) + 1);
    s->path = place;
    s->again = again;
    s->key = key;
    s->stream = stream;
    s->next = k->spools;
    k->spools = s;
    k->output_at = 0;
    return 0;
}

static void remove_files(const struct keeper *k, uint64_t key, int stream)
{
    static const char *const suffixes[] = {"", ".to", ".at"};
    char name[SPOOL_NAME];
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++) {
        spool_name(name, key, stream, suffixes[i]);
        unlinkat(k->directory, name, 0);
    }
}

void keeper_find_output(struct keeper *k, const struct run *run)
{
    char name[SPOOL_NAME];
    for (int i = 0; run->may_spool && i < SPOOL_STREAMS; i++) {
        spool_name(name, run->key, i, "");
        if (faccessat(k->directory, name, F_OK, 0) == 0)
            add_spool(k, run->key, i);
    }
}

void keeper_find_all_output(struct keeper *k)
{
    uint64_t key;
    int stream;
    int fd = openat(k->directory, SPOOL_FOLDER, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folder = fd < 0 ? NULL : fdopendir(fd);
    const struct dirent *entry;
    if (fd >= 0 && !folder)
        close(fd);
    while (folder && (entry = readdir(folder))) {
        if (!spool_name_read(entry->d_name, &key, &stream))
            continue;
        struct run *run = keeper_find(k, key);
        if (run && run->phase != PHASE_ENDED && add_spool(k, key, stream) == 0)
            run->may_spool = true;
        else if (!keeper_is_held(k, key))
            remove_files(k, key, stream);
    }
    if (folder)
        closedir(folder);
}

bool keeper_make_spool(struct keeper *k)
{
    k->has_spool_folder =
        k->has_spool_folder || mkdirat(k->directory, SPOOL_FOLDER, 0700) == 0 || errno == EEXIST;
    return k->has_spool_folder;
}

bool keeper_output_opened(const struct keeper *k, const struct run *run)
{
    for (const struct spool *s = run->may_spool ? k->spools : NULL; s; s = s->next)
        if (s->key == run->key && !s->again && !s->done)
            return false;
    return true;
}

bool keeper_output_done(struct keeper *k, const struct run *run)
{
    bool done = true;
    for (const struct spool *s = run->may_spool ? k->spools : NULL; s; s = s->next)
        done = done && (s->key != run->key || s->done);
    if (!done)
        k->output_at = 0;
    return done;
}

void keeper_forget_output(struct keeper *k, const struct run *run)
{
    struct spool **at = &k->spools;
    while (run->may_spool && *at) {
        struct spool *s = *at;
        if (s->key != run->key) {
            at = &s->next;
            continue;
        }
        *at = s->next;
        remove_files(k, s->key, s->stream);
        free(s->path);
        free(s);
    }
}

void keeper_output_unlinked(struct keeper *k)
{
    for (struct spool *s = k->spools; s; s = s->next) {
        s->asked = s->opened = false;
        s->sent = s->written;
    }
    k->output_at = 0;
}

/* ---- Sending ---- */

static void put_some(struct keeper *k, struct spool *s, const char *bytes, size_t n)
{
    message_put_output(
        &k->out,
        &(struct message_output){
            .key = s->key, .stream = (uint8_t)s->stream, .at = s->sent, .bytes = bytes, .n = n});
    s->sent += n;
}

/* Send more of a file. Returns whether all that it has was sent. */
static bool send_more(struct keeper *k, struct spool *s, uint64_t *under_way)
{
    char name[SPOOL_NAME], bytes[CHUNK];
    spool_name(name, s->key, s->stream, "");
    int fd = openat(k->directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    ssize_t n = fd < 0 ? 0 : 1;
    while (n > 0 && k->out.len < 2 * CHUNK && s->sent - s->written < WINDOW &&
           *under_way < ALL_MOST) {
        n = pread(fd, bytes, sizeof(bytes), (off_t)s->sent);
        if (n > 0) {
            put_some(k, s, bytes, (size_t)n);
            *under_way += (uint64_t)n;
            k->output_wait = LOOK_LEAST;
        }
    }
    if (fd >= 0)
        close(fd);
    return n <= 0;
}

static void put_open(struct keeper *k, struct spool *s)
{
    message_put_output(&k->out, &(struct message_output){.key = s->key,
                                                         .stream = (uint8_t)s->stream,
                                                         .path = s->path,
                                                         .mode = s->mode,
                                                         .append = s->append,
                                                         .again = s->again});
    s->asked = true;
}

/* All of it is there, or it never will be. The run, which has ended then, is told as ended. */
static void finish_spool(struct keeper *k, struct spool *s)
{
    struct run *run = keeper_find(k, s->key);
    s->done = true;
    if (run)
        keeper_say_started(k, run);
    if (run && run->phase == PHASE_OUTPUT)
        keeper_finish(k, run);
}

static void give_up(struct keeper *k, struct spool *s, const char *why)
{
    struct run *run = keeper_find(k, s->key);
    char *note = NULL;
    if (run && !run->note && asprintf(&note, "its output is not complete: %s", why) >= 0)
        run->note = note;
    finish_spool(k, s);
}

void keeper_put_output(struct keeper *k)
{
    uint64_t under_way = 0;
    bool more = false; /* it goes on once there is room, or an answer */
    int64_t now = keeper_steady();
    if (!k->spools || k->link < 0 || now < k->output_at)
        return;
    for (const struct spool *s = k->spools; s; s = s->next)
        under_way += s->sent - s->written;
    for (struct spool *s = k->spools, *next; s; s = next) {
        next = s->next;
        const struct run *run = keeper_find(k, s->key);
        if (s->done || !run || run->phase == PHASE_ENDED || now < s->retry_at)
            continue;
        if (!s->asked)
            put_open(k, s);
        bool all = s->opened && send_more(k, s, &under_way);
        more = more || (s->opened && !all);
        if (all && s->written == s->sent && run->phase == PHASE_OUTPUT)
            finish_spool(k, s);
    }
    k->output_wait = k->output_wait < LOOK_LEAST      ? LOOK_LEAST
                     : k->output_wait < LOOK_MOST / 2 ? 2 * k->output_wait
                                                      : LOOK_MOST;
    k->output_at = more ? 0 : now + k->output_wait;
}

/* ---- What the server answers ---- */

static void note_opened(struct keeper *k, struct spool *s)
{
    char from[SPOOL_NAME], to[SPOOL_NAME];
    s->opened = true;
    if (s->again)
        return;
    spool_name(from, s->key, s->stream, ".to");
    spool_name(to, s->key, s->stream, ".at");
    renameat(k->directory, from, k->directory, to);
    s->again = true;
    struct run *run = keeper_find(k, s->key);
    if (run)
        keeper_say_started(k, run);
}

/* What the server has need not be kept. */
static void punch(const struct keeper *k, struct spool *s)
{
    char name[SPOOL_NAME];
    if (s->written - s->punched < PUNCH)
        return;
    spool_name(name, s->key, s->stream, "");
    int fd = openat(k->directory, name, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return;
    fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)s->punched,
              (off_t)(s->written - s->punched));
    close(fd);
    s->punched = s->written;
}

static void take_trouble(struct keeper *k, struct spool *s, const char *why)
{
    const struct run *run = keeper_find(k, s->key);
    int64_t now = keeper_steady();
    s->asked = s->opened = false;
    s->sent = s->written;
    s->retry_at = now + RETRY;
    if (!s->failing)
        s->failing = now;
    if (run && run->phase == PHASE_OUTPUT && now - s->failing >= PATIENCE)
        give_up(k, s, why);
}

int keeper_output_written(struct keeper *k, struct wire *w)
{
    struct message_written written;
    if (message_written(w, &written))
        return -1;
    struct spool *s = find_spool(k, written.key, written.stream);
    k->output_at = 0;
    if (!s || s->done)
        return 0;
    if (written.at == MESSAGE_ALL_WRITTEN) {
        note_opened(k, s);
        finish_spool(k, s);
        return 0;
    }
    if (!s->opened && s->asked)
        s->sent = written.at; /* where the server goes on */
    if (written.at > s->sent) {
        errno = EPROTO;
        return -1;
    }
    s->failing = written.at > s->written ? 0 : s->failing;
    s->written = written.at;
    if (written.trouble) {
        take_trouble(k, s, written.trouble);
        return 0;
    }
    note_opened(k, s);
    punch(k, s);
    return 0;
}

/* ---- The end of the keeper ---- */

void keeper_end_output(struct keeper *k)
{
    if (k->output_until == 0 || keeper_steady() < k->output_until)
        return;
    k->output_until = 0;
    for (struct spool *s = k->spools, *next; s; s = next) {
        next = s->next;
        if (!s->done)
            give_up(k, s, "the node has left before the server had all of it");
    }
}
