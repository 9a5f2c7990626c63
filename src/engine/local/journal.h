/* The keeper's journal: which runs may have been started, and how they ended.
 *
 * A file that is only appended to, until it is written anew with what still matters and takes the place
 * of the old one. Each record stands behind a mark, its length and a checksum, so that what is torn or
 * damaged costs that record and none that follows.
 *
 * It is not synced. It has to outlive the keeper and the server, which it does as soon as it is written,
 * since the pages are the system's; what only a power failure can take away, a power failure has made
 * pointless: no process outlives it, and another boot's runs are lost whatever the journal says. A server
 * that asks what was never started must therefore ask in the same boot (engine.h).
 *
 * A task's process writes its own record (JOURNAL_TASK) before it becomes the command: what has no record
 * has not run.
 */
#ifndef ENGINE_LOCAL_JOURNAL_H
#define ENGINE_LOCAL_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/strbuf.h"
#include "engine/engine.h"
#include "engine/local/used_keys.h"

#define JOURNAL_FILE     "keeper.journal"
#define JOURNAL_NEW      "keeper.journal.new"
#define JOURNAL_BOOT_MAX 64
#define JOURNAL_TASK_MAX 96 /* bytes of the record of a task, with its frame */

enum journal_kind {
    JOURNAL_HEAD = 1,
    JOURNAL_TASK,
    JOURNAL_END,
    JOURNAL_ACKNOWLEDGED,
    JOURNAL_USED,
};

struct journal_head {
    uint64_t id;                 /* of the directory */
    uint64_t base;               /* the events of its keeper have higher numbers */
    uint64_t acknowledged;       /* all events up to this number */
    char boot[JOURNAL_BOOT_MAX]; /* the machine's boot in which what follows was written */
};

/* A process that was about to become task `index` of a run. When it was made, in clock ticks since boot as
 * /proc/PID/stat has it, lies between two times.
 */
struct journal_task {
    uint64_t key;
    uint32_t index;
    uint32_t tasks; /* of the run */
    pid_t pid;
    uint64_t since, until;
    int64_t at; /* us since 1970 */
};

/* How a run ended; that it was started is an event of its own, `started` its number, 0: it was not. */
struct journal_end {
    struct engine_event event;
    uint64_t started;
    int64_t started_at;
};

/* Each appends one record. */
void journal_put_head(struct strbuf *b, const struct journal_head *head);
void journal_put_task(struct strbuf *b, const struct journal_task *task);
void journal_put_end(struct strbuf *b, const struct journal_end *end);
void journal_put_acknowledged(struct strbuf *b, uint64_t number);
void journal_put_used(struct strbuf *b, const struct used_range *range);

/* The same for a process between fork and exec: the record of a task, its bytes in to. Returns their
 * number.
 */
size_t journal_task_record(char to[JOURNAL_TASK_MAX], const struct journal_task *task);

/* What is told of each record that is whole, in order; NULL: nothing of its kind. Texts are valid during
 * the call. A return of -1 ends the reading.
 */
struct journal_reader {
    void *context;
    int (*head)(void *context, const struct journal_head *head);
    int (*task)(void *context, const struct journal_task *task);
    int (*end)(void *context, const struct journal_end *end);
    int (*acknowledged)(void *context, uint64_t number);
    int (*used)(void *context, const struct used_range *range);
};

/* Read n bytes of a journal, whatever they are. Returns 0, or -1 as the reader did. */
int journal_read(const char *bytes, size_t n, const struct journal_reader *reader);

/* The bytes of the journal in a directory; an empty one if there is none. 0, or -1 with errno. */
int journal_load(int directory, struct strbuf *bytes);

/* Write a new journal in the place of the old one. Returns a descriptor to append to it, or -1 with errno
 * and the old one as it was.
 */
int journal_renew(int directory, const struct strbuf *bytes);

/* Set aside so many bytes of the disk from a place in the journal on, for what will be appended. 0, or -1
 * with errno; a file system that can't is none that has no room.
 */
int journal_reserve(int fd, size_t from, size_t bytes);

/* A descriptor to append to the journal that is there; an empty one is made if there is none. -1 with
 * errno.
 */
int journal_open(int directory);

/* Append records that have been made. What was written only in part is passed over when it
 * is read. 0, or -1 with errno. */
int journal_append(int fd, const char *bytes, size_t n);

#endif
