/* The text of a file. Its memory is reused for the next file. */
#ifndef CONFIG_FILE_TEXT_H
#define CONFIG_FILE_TEXT_H

#include <stddef.h>

struct text {
    char *bytes; /* not terminated */
    size_t length, capacity;
};

/* Read a file of at most max bytes, or the rest of one that is open. Returns 0, or -1 with errno: EFBIG for a
 * longer one, of which the text then has more than max bytes.
 */
int text_read(struct text *text, const char *path, size_t max);
int text_read_rest(struct text *text, int fd, size_t max);

/* errno is kept. */
void text_clear(struct text *text);

#endif
