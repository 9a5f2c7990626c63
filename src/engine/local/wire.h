/* Numbers and texts as bytes, in the messages between keeper and engine and in the journal.
 *
 * Numbers are in the machine's byte order, since the same machine writes and reads them. A text comes
 * after its length and before a terminator, so that it can be used in place.
 */
#ifndef ENGINE_LOCAL_WIRE_H
#define ENGINE_LOCAL_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"

/* The bytes that are still to be read. */
struct wire {
    const char *at;
    size_t left;
    /* the bytes were too few or wrong; everything that is read from then on is 0 or "" */
    bool bad;
};

uint8_t wire_u8(struct wire *w);
uint32_t wire_u32(struct wire *w);
uint64_t wire_u64(struct wire *w);

/* A terminated text of *length bytes, in place. */
const char *wire_text(struct wire *w, size_t *length);

/* A text without a NUL inside; NULL if NULL was written. */
const char *wire_string(struct wire *w);

/* A number of items, each of which takes at least `bytes` bytes. */
size_t wire_count(struct wire *w, size_t bytes);

void wire_put_u8(struct strbuf *b, uint8_t n);
void wire_put_u32(struct strbuf *b, uint32_t n);
void wire_put_u64(struct strbuf *b, uint64_t n);
void wire_put_text(struct strbuf *b, const char *text, size_t length);
void wire_put_string(struct strbuf *b, const char *text); /* may be NULL */

/* Between keeper and engine, each message comes after its length. */
#define WIRE_MESSAGE_MAX ((size_t)32 << 20)

/* Begin a message and end it; what is appended between is its content. */
size_t wire_begin(struct strbuf *b);
void wire_end(struct strbuf *b, size_t begun);

/* Find the first message in bytes that were received. 1: it is complete, with its content and the bytes
 * it takes; 0: it is not complete; -1: this is not a message.
 */
int wire_next(const char *bytes, size_t n, struct wire *message, size_t *taken);

#endif
