/* Numbers and texts in bytes, as keeper and engine tell them to each other and as the journal keeps them.
 *
 * Numbers are in the machine's own order: what is written here is read by the same machine. Texts have
 * their length before them and a terminator behind them, so that they can be used where they lie.
 */
#ifndef ENGINE_LOCAL_WIRE_H
#define ENGINE_LOCAL_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"

/* What is still to be read. */
struct wire {
    const char *at;
    size_t left;
    /* more was asked for than was there, or something else; all that follows is 0 or "" */
    bool bad;
};

uint8_t wire_u8(struct wire *w);
uint32_t wire_u32(struct wire *w);
uint64_t wire_u64(struct wire *w);

/* A text of *length bytes, with a terminator behind it, where it lies. */
const char *wire_text(struct wire *w, size_t *length);

/* A text that has no other terminator; NULL where none was written. */
const char *wire_string(struct wire *w);

/* A number of things of which each takes at least so many bytes. */
size_t wire_count(struct wire *w, size_t bytes);

void wire_put_u8(struct strbuf *b, uint8_t n);
void wire_put_u32(struct strbuf *b, uint32_t n);
void wire_put_u64(struct strbuf *b, uint64_t n);
void wire_put_text(struct strbuf *b, const char *text, size_t length);
void wire_put_string(struct strbuf *b, const char *text); /* which may be NULL */

/* Between keeper and engine each message stands behind its length. */
#define WIRE_MESSAGE_MAX ((size_t)32 << 20)

/* Begin a message; what is appended until the end is its content. */
size_t wire_begin(struct strbuf *b);
void wire_end(struct strbuf *b, size_t begun);

/* The first message of what has come in. 1 and its content and the bytes it takes; 0: it is not all there;
 * -1: this is no message.
 */
int wire_next(const char *bytes, size_t n, struct wire *message, size_t *taken);

#endif
