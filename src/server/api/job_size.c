/* Whether the system can start a program with a job's command and environment.
 *
 * Linux limits each word and variable to 128 KiB, and all of them together, with a pointer each, to a
 * quarter of the stack limit: 2 MiB of the usual 8 MiB, of which 128 KiB are reserved for what Berth adds.
 */
#include <string.h>

#include "server/api/job_reader.h"

#define WORD_MAX  ((size_t)128 << 10) /* with the final zero */
#define WORDS_MAX ((size_t)1920 << 10)

struct size {
    size_t bytes;
    bool has_long;
};

static void measure_word(struct size *s, size_t length)
{
    s->bytes += length + 1 + sizeof(char *);
    s->has_long = s->has_long || length >= WORD_MAX;
}

static void add_list(struct size *s, const json_t *list)
{
    size_t i;
    json_t *word;
    json_array_foreach (list, i, word)
        measure_word(s, json_string_length(word));
}

static struct size size_of_command(const struct job_reader *r)
{
    struct size s = {0};
    add_list(&s, r->ask.command);
    add_list(&s, r->ask.args);
    for (size_t i = 0; i < r->n_roles; i++)
        add_list(&s, r->roles[i].command);
    for (uint32_t i = 0;
         r->member.spec && r->member.spec->ntasks > 0 && i < r->member.spec->tasks[0].ncommand; i++)
        measure_word(&s, strlen(r->member.spec->tasks[0].command[i]));
    return s;
}

static struct size size_of_environment(const struct job_reader *r)
{
    struct size s = {0};
    const char *name;
    json_t *value;
    for (uint32_t i = 0; r->member.spec && i < r->member.spec->nenvironment; i++) {
        const struct jobspec_variable *v = &r->member.spec->environment[i];
        measure_word(&s, strlen(v->name) + 1 + (v->value ? strlen(v->value) : 0));
    }
    if (json_is_true(r->ask.environment) && r->c->environment)
        s.bytes += r->c->environment->length; /* at least; each variable was measured before */
    json_object_foreach (r->ask.environment, name, value)
        measure_word(&s, strlen(name) + 1 + json_string_length(value));
    return s;
}

int job_check_size(struct job_reader *r)
{
    const struct size command = size_of_command(r), environment = size_of_environment(r);
    if (command.has_long)
        return job_too_long(r, "command", "128 KiB a word");
    if (environment.has_long)
        return job_too_long(r, "environment", "128 KiB a variable");
    if (command.bytes + environment.bytes <= WORDS_MAX)
        return 0;
    if (command.bytes > environment.bytes)
        return job_too_long(r, "command", "1920 KiB with its arguments and the environment");
    return job_too_long(r, "environment", "1920 KiB with the command");
}
