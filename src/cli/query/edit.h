/* Line editing on a terminal, with history and completion, by libedit where that is installed. */
#ifndef CLI_QUERY_EDIT_H
#define CLI_QUERY_EDIT_H

struct edit;

/* Load libedit. NULL: it is not installed. */
struct edit *edit_open(void);

/* Let the user edit a line, and remember it. Returns the line, which the caller frees, or NULL at the end of
 * the input.
 */
char *edit_line(struct edit *edit, const char *prompt);

void edit_close(struct edit *edit);

#endif
