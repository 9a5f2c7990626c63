#include "config/file_text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FIRST_READ ((size_t)1 << 16)

/* A file may have no size, as a pipe does, so it is read until it ends. */
int text_read_rest(struct text *text, int fd, size_t max)
{
    text->length = 0;
    for (;;) {
        if (text->length == text->capacity) {
            size_t capacity = text->capacity ? 2 * text->capacity : FIRST_READ;
            char *bytes = realloc(text->bytes, capacity);
            if (!bytes)
                return -1;
            text->bytes = bytes;
            text->capacity = capacity;
        }
        ssize_t got = read(fd, text->bytes + text->length, text->capacity - text->length);
        if (got == 0)
            return 0;
        if (got > 0)
            text->length += (size_t)got;
        else if (errno != EINTR)
            return -1;
        if (text->length > max) {
            errno = EFBIG;
            return -1;
        }
    }
}

int text_read(struct text *text, const char *path, size_t max)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    int rc = text_read_rest(text, fd, max);
    int saved = errno;
    close(fd);
    errno = saved;
    return rc;
}

void text_clear(struct text *text)
{
    int saved = errno;
    free(text->bytes);
    errno = saved;
    memset(text, 0, sizeof(*text));
}
