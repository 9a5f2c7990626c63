/* The keeper's journal: which runs may have been started, and how they ended.
 *
 * The file is only appended to, until a new journal with what still matters replaces it. Each record
 * follows a mark, its length and a checksum, so that a torn or damaged record is lost without those after
 * it.
 *
 * The journal is not synced. It must outlive the keeper and the server, and does so once it is written,
 * because the pages are the kernel's. A power failure can lose it, but then it doesn't matter: no process
 * survives a power failure, and runs of another boot are lost whatever the journal says. So a server must
 * ask in the same boot which runs were never started (engine.h).
 *
 * A task's process writes its own record (JOURNAL_TASK) before it becomes the command: a task without a
 * record has not run.
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
#define JOURNAL_TASK_MAX 96 /* bytes of a task's record, with its frame */

enum journal_kind {
    JOURNAL_HEAD = 1,
    JOURNAL_TASK,
    JOURNAL_END,
    JOURNAL_ACKNOWLEDGED,
    JOURNAL_USED,
};

struct journal_head {
    uint64_t id;                 /* of the directory */
    uint64_t base;               /* the events of the keeper that wrote it have higher numbers */
    uint64_t acknowledged;       /* all events up to this number */
    char boot[JOURNAL_BOOT_MAX]; /* the boot in which the records after it were written */
};

/* A process that was about to become task `index` of a run. It was made between `since` and `until`, in
 * clock ticks since boot as in /proc/PID/stat.
 */
struct journal_task {
    uint64_t key;
    uint32_t index;
    uint32_t tasks; /* of the run */
    pid_t pid;
    uint64_t since, until;
    int64_t at; /* us since 1970 */
};

/* How a run ended. Its start is another event, with the number `started`; 0: it was not started. */
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

/* The same for a process between fork and exec: write a task's record to `to`. Returns its length in
 * bytes.
 */
size_t journal_task_record(char to[JOURNAL_TASK_MAX], const struct journal_task *task);

/* Calls for the records that are whole, in order; NULL: records of this kind are skipped. Texts are valid
 * during the call. A return of -1 ends the reading.
 */
struct journal_reader {
    void *context;
    int (*head)(void *context, const struct journal_head *head);
    int (*task)(void *context, const struct journal_task *task);
    int (*end)(void *context, const struct journal_end *end);
    int (*acknowledged)(void *context, uint64_t number);
    int (*used)(void *context, const struct used_range *range);
};

/* Read n bytes of a journal, which may be any bytes. Returns 0, or -1 if the reader did. */
int journal_read(const char *bytes, size_t n, const struct journal_reader *reader);

/* The bytes of the journal in a directory; an empty one if there is none. 0, or -1 with errno. */
int journal_load(int directory, struct strbuf *bytes);

/* Replace the journal by a new one. Returns a descriptor to append to it, or -1 with errno and the old
 * one as it was.
 */
int journal_replace(int directory, const struct strbuf *bytes);

/* Reserve disk space for bytes that will be appended to the journal from an offset on. 0, or -1 with
 * errno; a file system that can't do this counts as one without space.
 */
int journal_reserve(int fd, size_t from, size_t bytes);

/* Open the journal for appending, and make an empty one if there is none. Returns a descriptor, or -1
 * with errno.
 */
int journal_open(int directory);

/* Append records. One that was written only in part is skipped when the journal is read. 0, or -1 with
 * errno.
 */
int journal_append(int fd, const char *bytes, size_t n);

#endif
