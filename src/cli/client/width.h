/* How wide text is on a terminal, which is not how many characters it has: those of East Asia and most pictures take two
 * columns, marks that are put on others none.
 */
#ifndef CLI_CLIENT_WIDTH_H
#define CLI_CLIENT_WIDTH_H

#include <stddef.h>

/* Columns of a text in UTF-8. Bytes that are none count one each. */
size_t width_of(const char *text);

/* The bytes of as much of its beginning as fits into so many columns; *columns is what that takes. */
size_t width_fit(const char *text, size_t *columns);

#endif
