/* A terminal as a screen: keys one by one, and frames in place of each other. What was there before comes back. */
#ifndef CLI_TOP_SCREEN_H
#define CLI_TOP_SCREEN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/strbuf.h"

/* Take the terminal of standard input and output, until screen_close or a signal that ends the program. False: it is
 * none.
 */
bool screen_open(void);
void screen_close(void);

/* How large it is; 80 x 24 if that is not known. */
void screen_size(size_t *rows, size_t *columns);

/* Whether a signal has asked to end. */
bool screen_is_over(void);

enum { KEY_NONE = 0, KEY_UP = 256, KEY_DOWN, KEY_PAGE_UP, KEY_PAGE_DOWN };

/* The next key that was typed: a byte, or one of the above. Does not wait. -1: there will be no more. */
int screen_key(void);

/* ---- A frame ---- */

/* Append a line, cut to so many columns; `how` is that of ECMA-48's SGR: "" plain, "7" reversed, "1" bold. */
void screen_line(struct strbuf *frame, const char *text, size_t columns, const char *how);

/* Show a frame of at most the screen's rows. */
void screen_show(const struct strbuf *frame);

#endif
