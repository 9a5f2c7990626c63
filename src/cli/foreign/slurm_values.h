/* Values as Slurm's tools take them, and the same as `berth submit` takes them.
 *
 * Writers append to a buffer. Each returns whether the text is one; if not, the buffer may hold a part. */
#ifndef CLI_FOREIGN_SLURM_VALUES_H
#define CLI_FOREIGN_SLURM_VALUES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strbuf.h"

#define SLURM_TYPE_SIZE 64

/* A whole number, at most 10^9. */
bool slurm_whole(const char *text, int64_t *n);

/* "10" minutes, "MM:SS", "HH:MM:SS", "D-HH", "D-HH:MM", "D-HH:MM:SS"; 0, UNLIMITED and INFINITE are no limit, -1. */
bool slurm_seconds(const char *text, int64_t *seconds);

/* "512" is MB; K, M, G, T. */
bool slurm_bytes(const char *text, int64_t *bytes);

/* "5" is the one member 5; "1-5%2", "1,3", "0-9:3" mean the same in both. */
void slurm_array(const char *text, struct strbuf *out);

/* GPUs of a list such as "gpu:a100:2" (of --gpus: "a100:2" or "2"), and their type, "" if none is named, or if the list
 * has several, of which *several tells. False also if it names anything else.
 */
struct slurm_gpus {
    int64_t n;
    char type[SLURM_TYPE_SIZE];
    bool several;
};
bool slurm_gpus_read(const char *text, bool gres, struct slurm_gpus *gpus);

/* "USR1@60", "B:USR1@60", "10": without what stands before the signal, a part of the text; and the seconds, 60 if
 * none are given. NULL: it is none.
 */
const char *slurm_signal(const char *text, int64_t *seconds);

/* "now+1hour", "16:00", "2026-12-31T08:00", "midnight". */
bool slurm_begin(const char *text, struct strbuf *out);

/* A constraint (RFC 31) in JSON of -C, -w and -x, each NULL if it is not given; at least one is. */
bool slurm_constraint(const char *features, const char *hosts, const char *not_hosts,
                      struct strbuf *out);

/* A pattern of a file's name. Members of an array share an id here, so that %j becomes both. In a step, %t stays.
 * *width: whether a width, as in %4a, was left out.
 */
bool slurm_file(const char *text, bool array, bool step, const char *host, struct strbuf *out,
                bool *width);

#endif
