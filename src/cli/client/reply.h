/* A reply of HTTP/1.1, read as it arrives. It understands only what our server sends: a status line, fields,
 * and a body with a length, in chunks, or up to the end of the connection. The bytes may be anything; invalid
 * replies are refused.
 */
#ifndef CLI_CLIENT_REPLY_H
#define CLI_CLIENT_REPLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Takes the body of a reply, piece by piece, with its status; returning nonzero ends it. */
struct client_taker {
    void *context;
    int (*take)(void *context, long status, const char *bytes, size_t n);
};

#define REPLY_LINE 8192 /* the most bytes of a line */

enum reply_part {
    REPLY_STATUS,
    REPLY_FIELDS,
    REPLY_BODY, /* of a known length */
    REPLY_REST, /* until the connection ends */
    REPLY_CHUNK_SIZE,
    REPLY_CHUNK,
    REPLY_CHUNK_END,
    REPLY_TRAILER,
    REPLY_DONE
};

struct reply {
    enum reply_part part;
    long status;
    uint64_t left; /* bytes of the body or chunk to come */
    bool has_length, chunked;
    bool closes;     /* the connection can't be used again */
    unsigned fields; /* header fields so far */
    size_t n;
    char line[REPLY_LINE];
};

void reply_init(struct reply *r);

/* Read the next bytes; what follows the end of the reply is left. Returns how many were read, or -1 with
 * errno: EPROTO if this is not a valid reply, ECANCELED if the taker has ended it.
 */
ptrdiff_t reply_take(struct reply *r, const char *bytes, size_t n,
                     const struct client_taker *taker);

/* The connection has ended: whether the reply is complete. */
bool reply_end(struct reply *r);

#endif
