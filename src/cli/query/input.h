/* Lines of commands from a file descriptor. */
#ifndef CLI_QUERY_INPUT_H
#define CLI_QUERY_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INPUT_LINE_MAX ((size_t)1 << 20) /* bytes of a line */

enum input_status {
    INPUT_END,    /* no more lines */
    INPUT_LINE,   /* a line */
    INPUT_LONG,   /* a line longer than INPUT_LINE_MAX, which was skipped */
    INPUT_BINARY, /* a line with a zero byte, which was skipped */
    INPUT_FAILED  /* errno says why there are no more lines */
};

struct input {
    int fd;
    /* Called before a read that may have to wait, so that the answers so far become visible. */
    void (*before_wait)(void *context);
    void *context;
    uint64_t number; /* of the line that was returned last, from 1 */
    char *buffer;
    size_t capacity, from, to; /* from..to has not been returned yet */
    bool skipping;             /* the rest of an overlong line */
    bool ended;
};

/* The next line, terminated and without its newline; valid until the next call. The last line needs no
 * newline.
 */
enum input_status input_next(struct input *in, char **line);

void input_clear(struct input *in);

#endif
