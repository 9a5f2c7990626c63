/* berth query: match jobs to a machine's resources, command by command. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/query/commands.h"
#include "cli/query/edit.h"
#include "cli/query/graph_out.h"
#include "cli/query/input.h"
#include "cli/query/load.h"
#include "cli/query/options.h"
#include "cli/query/session.h"
#include "cli/query/size.h"
#include "cli/verb.h"

#define PROMPT "resource-query> "

/* Commands typed at a terminal, with an editor. */
static void run_session(struct session *s, struct edit *edit, const char *prompt)
{
    char *line;
    bool more = true;
    while (more && (line = edit_line(edit, prompt))) {
        more = query_run(s, line);
        session_flush(s);
        free(line);
    }
}

/* Before a read that waits, write all answers. */
static void flush_answers(void *context)
{
    session_flush(context);
}

/* On a terminal, print the prompt. */
static void ask_prompt(struct session *s, const char *prompt)
{
    if (!*prompt)
        return;
    fputs(prompt, s->info);
    session_flush(s);
}

/* Commands from a file or a pipe, or from a terminal without an editor. Returns the exit status. */
static int read_commands(struct session *s, const char *prompt)
{
    struct input in = {.fd = STDIN_FILENO, .before_wait = flush_answers, .context = s};
    enum input_status status;
    char *line;
    bool more = true;
    ask_prompt(s, prompt);
    while (more && (status = input_next(&in, &line)) != INPUT_END) {
        if (status == INPUT_LINE)
            more = query_run(s, line);
        else if (status == INPUT_LONG)
            session_error(s, "ERROR: line %" PRIu64 " is longer than %zu bytes", in.number,
                          INPUT_LINE_MAX);
        else if (status == INPUT_BINARY)
            session_error(s, "ERROR: line %" PRIu64 " has a zero byte", in.number);
        else
            break;
        if (more)
            ask_prompt(s, prompt);
    }
    int reason = errno;
    input_clear(&in);
    return more && status == INPUT_FAILED ? query_fail("standard input", strerror(reason)) : CLI_OK;
}

static int run_commands(struct session *s, bool no_prompt)
{
    bool terminal = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
    s->at_terminal = terminal;
    const char *prompt = terminal && !no_prompt ? PROMPT : "";
    struct edit *edit = terminal ? edit_open() : NULL;
    if (!edit)
        return read_commands(s, prompt);
    session_flush(s);
    run_session(s, edit, prompt);
    edit_close(edit);
    return CLI_OK;
}

/* Fail if the file of --test-output could not be written. */
static int close_output(struct session *s, const char *path)
{
    bool lost = ferror(s->out);
    if (fclose(s->out) == 0 && !lost)
        return CLI_OK;
    return query_fail(path, lost ? "write error" : strerror(errno));
}

static int hold_session(struct session *s, const struct query_options *o)
{
    berth_error_t err = {""};
    double begin = session_now();
    int status = query_load(o, &s->machine);
    if (status != CLI_OK)
        return status;
    if (o->elapse && query_print_size(match_graph(s->machine), session_now() - begin, stdout) < 0)
        return query_fail("--elapse-time", strerror(errno));
    s->format = o->match_format;
    s->elapse = o->elapse;
    if (o->test_output && !(s->out = fopen(o->test_output, "we")))
        return query_fail(o->test_output, strerror(errno));
    status = run_commands(s, o->no_prompt);
    if (o->test_output && close_output(s, o->test_output) != CLI_OK)
        status = CLI_FAILED;
    if (o->graph_output &&
        graph_out(match_graph(s->machine), o->graph_output, o->graphml, &err) < 0) {
        fprintf(stderr, "berth query: %s\n", err.text);
        status = CLI_FAILED;
    }
    return status;
}

int cli_query(int argc, char **argv)
{
    struct query_options options;
    struct session session;
    int status;
    if (!query_options_parse(argc, argv, &options, &status))
        return status;
    session_init(&session);
    status = hold_session(&session, &options);
    session_clear(&session);
    query_options_clear(&options);
    return status;
}
