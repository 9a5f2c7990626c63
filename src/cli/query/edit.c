#include "cli/query/edit.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "cli/query/commands.h"

/* Functions that libedit shares with GNU readline, declared here without its header. */
struct edit {
    void *library;
    char *(*readline)(const char *prompt);
    int (*add_history)(const char *line);
};

/* Offer the commands that begin with the word, in the form that readline expects: their common prefix, then
 * each of them. NULL, if no command does, lets it offer files.
 */
static char **complete_word(const char *word, int start, int end)
{
    (void)end;
    size_t length = strlen(word), n = 0;
    if (start > 0)
        return NULL;
    size_t count = 0;
    for (const struct command *c = query_commands; c->name; c++)
        count++;
    char **offer = calloc(count + 2, sizeof(*offer));
    if (!offer)
        return NULL;
    for (const struct command *c = query_commands; c->name; c++) {
        if (strncmp(c->name, word, length) == 0 && (offer[n + 1] = strdup(c->name)))
            n++;
    }
    char *common = n > 0 ? strdup(offer[1]) : NULL;
    for (size_t i = 2; common && i <= n; i++) {
        size_t same = 0;
        while (common[same] && common[same] == offer[i][same])
            same++;
        common[same] = '\0';
    }
    offer[0] = common;
    if (common)
        return offer;
    for (size_t i = 1; i <= n; i++)
        free(offer[i]);
    free(offer);
    return NULL;
}

/* Copy a function's address, which C does not let us assign from a pointer to an object. */
static int look_up_word(void *library, const char *name, void *function, size_t size)
{
    void *address = dlsym(library, name);
    if (!address || size != sizeof(address))
        return -1;
    memcpy(function, &address, size);
    return 0;
}

struct edit *edit_open(void)
{
    static const char *const names[] = {"libedit.so.2", "libedit.so.0", "libedit.so"};
    struct edit *edit = calloc(1, sizeof(*edit));
    if (!edit)
        return NULL;
    for (size_t i = 0; !edit->library && i < sizeof(names) / sizeof(names[0]); i++)
        edit->library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!edit->library ||
        look_up_word(edit->library, "readline", &edit->readline, sizeof(edit->readline)) < 0 ||
        look_up_word(edit->library, "add_history", &edit->add_history, sizeof(edit->add_history)) <
            0) {
        edit_close(edit);
        return NULL;
    }
    char **(**completion)(const char *, int, int);
    void *variable = dlsym(edit->library, "rl_attempted_completion_function");
    memcpy(&completion, &variable, sizeof(completion));
    if (completion)
        *completion = complete_word;
    return edit;
}

char *edit_line(struct edit *edit, const char *prompt)
{
    char *line = edit->readline(prompt);
    if (line && *line)
        edit->add_history(line);
    return line;
}

/* The library stays loaded: it keeps its memory, and may still be asked about the terminal. */
void edit_close(struct edit *edit)
{
    free(edit);
}
