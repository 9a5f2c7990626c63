/* The messages between engine and keeper, one after the other over their socket.
 *
 * The engine sends START, SIGNAL and ACKNOWLEDGE. The keeper begins with HELLO and then sends EVENT. Where a
 * keeper is on another node, the agent between says LEFT once nothing of that node runs any more. Where that node has
 * not the folder of a run's output, the keeper sends OUTPUT, and the engine answers each with WRITTEN. What
 * is read comes from outside: whatever the bytes are, reading them takes memory in proportion to their
 * number, and returns 0, or -1 with EPROTO (or ENOMEM).
 */
#ifndef ENGINE_LOCAL_MESSAGES_H
#define ENGINE_LOCAL_MESSAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "engine/engine.h"
#include "engine/local/used_keys.h"
#include "engine/local/wire.h"

#define MESSAGE_VERSION   1
#define MESSAGE_TASKS_MAX 65536

enum message_kind {
    MESSAGE_START = 1,
    MESSAGE_SIGNAL,
    MESSAGE_ACKNOWLEDGE,
    MESSAGE_HELLO,
    MESSAGE_EVENT,
    MESSAGE_LEFT,
    MESSAGE_OUTPUT,
    MESSAGE_WRITTEN,
};

/* A run as it was read. Its texts are in the message. */
struct message_run {
    struct engine_run run;
    const char **strings; /* argv, env and the env of the tasks, each ended by NULL */
    struct engine_task *tasks;
    gid_t *groups;
    struct engine_hooks hooks;
};

struct message_signal {
    uint64_t key;
    int signal;
    bool tree;
};

/* What a run has written. First the file is opened, then bytes follow in their order. */
struct message_output {
    uint64_t key;
    uint8_t stream;   /* 0: its output, 1: its errors, where they have a file of their own */
    const char *path; /* to open this file, absolute; NULL: bytes */
    mode_t mode;      /* of opening: of a file that is made */
    bool append;      /* the same: what the file has stays; else it is emptied */
    bool again;       /* the same: an earlier WRITTEN said that it was opened */
    uint64_t at;      /* of bytes: so many of the run came before them */
    const char *bytes;
    size_t n;
};

#define MESSAGE_ALL_WRITTEN UINT64_MAX

struct message_written {
    uint64_t key;
    uint8_t stream;
    uint64_t
        at; /* so many bytes are in the file; MESSAGE_ALL_WRITTEN: no more are wanted, the run's end is known */
    const char *trouble; /* why there are not more; NULL: there is none */
};

/* What the keeper says first. It owns its texts and arrays. */
struct message_hello {
    pid_t pid;
    char *notice;   /* or NULL */
    uint64_t *keys; /* keys of runs whose end has not been acknowledged */
    size_t n_keys;
    struct used_keys used; /* keys of runs whose end has been acknowledged */
};

/* Each appends one message. The buffer remembers a failure. */
void message_put_start(struct strbuf *b, const struct engine_run *run);
void message_put_signal(struct strbuf *b, const struct message_signal *signal);
void message_put_acknowledge(struct strbuf *b, uint64_t number);
void message_put_hello(struct strbuf *b, const struct message_hello *hello);
void message_put_event(struct strbuf *b, const struct engine_event *event);
void message_put_left(struct strbuf *b);
void message_put_output(struct strbuf *b, const struct message_output *output);
void message_put_written(struct strbuf *b, const struct message_written *written);

/* Append and read the content of an event, which the journal uses too. */
void message_put_event_content(struct strbuf *b, const struct engine_event *event);
int message_event_content(struct wire *w, struct engine_event *event);

/* Each reads what follows the kind of a message. */
int message_start(struct wire *w, struct message_run *run);
int message_signal(struct wire *w, struct message_signal *signal);
int message_acknowledge(struct wire *w, uint64_t *number);
int message_hello(struct wire *w, struct message_hello *hello);
int message_event(struct wire *w, struct engine_event *event);
int message_output(struct wire *w, struct message_output *output);
int message_written(struct wire *w, struct message_written *written);

/* These keep errno. */
void message_run_clear(struct message_run *run);
void message_hello_clear(struct message_hello *hello);

#endif
