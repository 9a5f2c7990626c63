#include "cli/query/input.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FIRST_CAPACITY ((size_t)1 << 16)

/* Move the rest to the front, and make room for more and for a terminator. */
static int input_make_room(struct input *in)
{
    if (in->from > 0) {
        memmove(in->buffer, in->buffer + in->from, in->to - in->from);
        in->to -= in->from;
        in->from = 0;
    }
    if (in->to + 1 < in->capacity)
        return 0;
    size_t capacity = in->capacity ? 2 * in->capacity : FIRST_CAPACITY;
    char *buffer = realloc(in->buffer, capacity);
    if (!buffer)
        return -1;
    in->buffer = buffer;
    in->capacity = capacity;
    return 0;
}

static int input_fill(struct input *in)
{
    if (input_make_room(in) < 0)
        return -1;
    struct pollfd ready = {.fd = in->fd, .events = POLLIN};
    if (in->before_wait && poll(&ready, 1, 0) == 0)
        in->before_wait(in->context);
    ssize_t got;
    do
        got = read(in->fd, in->buffer + in->to, in->capacity - in->to - 1);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return -1;
    in->to += (size_t)got;
    in->ended = got == 0;
    return 0;
}

/* The next line in the buffer, if it is complete or no more input follows. */
static char *take_bytes(struct input *in, size_t *length, size_t *searched)
{
    if (!in->buffer)
        return NULL;
    char *line = in->buffer + in->from;
    size_t there = in->to - in->from;
    char *end = there > *searched ? memchr(line + *searched, '\n', there - *searched) : NULL;
    *searched = there;
    if (!end && (!in->ended || there == 0))
        return NULL;
    *length = end ? (size_t)(end - line) : there;
    in->from += *length + (end ? 1 : 0);
    line[*length] = '\0';
    return line;
}

enum input_status input_next(struct input *in, char **ret)
{
    size_t searched = 0, length;
    for (;;) {
        char *line = take_bytes(in, &length, &searched);
        if (line) {
            bool was_long = in->skipping || length > INPUT_LINE_MAX;
            in->skipping = false;
            in->number++;
            *ret = line;
            return was_long ? INPUT_LONG : memchr(line, '\0', length) ? INPUT_BINARY : INPUT_LINE;
        }
        if (in->to - in->from > INPUT_LINE_MAX) {
            in->skipping = true;
            in->from = in->to;
            searched = 0;
        }
        if (in->ended) {
            bool was_long = in->skipping;
            in->skipping = false;
            in->number += was_long;
            return was_long ? INPUT_LONG : INPUT_END;
        }
        if (input_fill(in) < 0)
            return INPUT_FAILED;
    }
}

void input_clear(struct input *in)
{
    free(in->buffer);
    in->buffer = NULL;
    in->capacity = in->from = in->to = 0;
}
