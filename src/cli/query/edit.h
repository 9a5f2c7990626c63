/* Line editing on a terminal, with history and completion, by libedit where that is installed. */
#ifndef CLI_QUERY_EDIT_H
#define CLI_QUERY_EDIT_H

struct edit;

/* Load libedit. NULL: it is not there. */
struct edit *edit_open(void);

/* Let a line be edited and remember it. Returns it to be freed, or NULL at the end of the input. */
char *edit_line(struct edit *edit, const char *prompt);

void edit_close(struct edit *edit);

#endif
