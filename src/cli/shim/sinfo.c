/* sinfo: queues, and the machine that they share. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/client/terminal.h"
#include "cli/shim/shim.h"

#define FORMAT "%9P %.5a %.10l %.6D %.6t %N"

enum what { HEAD, FORM, QUEUE, NOTHING, HELP, VERSION };

static const struct foreign_option options[] = {
    {"noheader", 'h', FOREIGN_NONE, HEAD, NULL},
    {"format", 'o', FOREIGN_NEEDED, FORM, NULL},
    {"partition", 'p', FOREIGN_NEEDED, QUEUE, NULL},
    {"all", 'a', FOREIGN_NONE, NOTHING, NULL},
    {"exact", 'e', FOREIGN_NONE, NOTHING, NULL},
    {"Node", 'N', FOREIGN_NONE, NOTHING, NULL},
    {"long", 'l', FOREIGN_NONE, NOTHING, NULL},
    {"summarize", 's', FOREIGN_NONE, NOTHING, NULL},
    {"responding", 'r', FOREIGN_NONE, NOTHING, NULL},
    {"verbose", 'v', FOREIGN_NONE, NOTHING, NULL},
    {"states", 't', FOREIGN_NEEDED, NOTHING, NULL},
    {"clusters", 'M', FOREIGN_NEEDED, NOTHING, NULL},
    {"help", 0, FOREIGN_NONE, HELP, NULL},
    {"version", 'V', FOREIGN_NONE, VERSION, NULL},
};

struct sinfo {
    const char *format, *queue;
    bool no_head, help, version;
    json_t *queues, *machine;
};

static double used(const struct sinfo *f, const char *key)
{
    double n = answer_number(json_object_get(f->machine, "used"), key);
    return n > 0 ? n : 0;
}

static double all(const struct sinfo *f, const char *key)
{
    double n = answer_number(f->machine, key);
    return n > 0 ? n : 0;
}

static const char *state(const struct sinfo *f)
{
    double taken = used(f, "cores");
    return taken <= 0 ? "idle" : taken < all(f, "cores") ? "mix" : "alloc";
}

static const char *head(char letter)
{
    static const char letters[] = "PRalDtTNCcmGpz";
    static const char *const heads[] = {
        "PARTITION", "PARTITION",     "AVAIL", "TIMELIMIT", "NODES", "STATE",     "STATE",
        "NODELIST",  "CPUS(A/I/O/T)", "CPUS",  "MEMORY",    "GRES",  "PRIO_TIER", "S:C:T"};
    const char *at = letter ? strchr(letters, letter) : NULL;
    return at ? heads[at - letters] : "N/A";
}

static void put_cell(const struct sinfo *f, char letter, const json_t *queue, struct strbuf *out)
{
    double cores = all(f, "cores"), nodes = all(f, "nodes") > 0 ? all(f, "nodes") : 1;
    char text[100] = "N/A";
    switch (letter) {
    case 'P':
        snprintf(text, sizeof(text), "%.90s%s", answer_text(queue, "name"),
                 json_is_true(json_object_get(queue, "is_default")) ? "*" : "");
        break;
    case 'R':
        snprintf(text, sizeof(text), "%.90s", answer_text(queue, "name"));
        break;
    case 'a':
        strcpy(text, json_is_true(json_object_get(queue, "enabled")) ? "up" : "down");
        break;
    case 'l':
        strcpy(text, "infinite");
        break;
    case 'D':
        snprintf(text, sizeof(text), "%.0f", nodes);
        break;
    case 't':
    case 'T':
        strcpy(text, letter == 'T' && *state(f) == 'a'   ? "allocated"
                     : letter == 'T' && *state(f) == 'm' ? "mixed"
                                                         : state(f));
        break;
    case 'C':
        snprintf(text, sizeof(text), "%.0f/%.0f/0/%.0f", used(f, "cores"), cores - used(f, "cores"),
                 cores);
        break;
    case 'c':
        snprintf(text, sizeof(text), "%.0f", cores / nodes);
        break;
    case 'm':
        snprintf(text, sizeof(text), "%.0f", all(f, "memory") / 1048576 / nodes);
        break;
    case 'G':
        if (all(f, "gpus") > 0)
            snprintf(text, sizeof(text), "gpu:%.0f", all(f, "gpus") / nodes);
        else
            strcpy(text, "(null)");
        break;
    case 'p':
        snprintf(text, sizeof(text), "%.0f", answer_number(queue, "priority"));
        break;
    case 'N':
        strcpy(text, "localhost");
        break;
    default:
        break;
    }
    strbuf_puts(out, text);
}

static void print_line(const struct sinfo *f, const json_t *queue)
{
    struct strbuf line = {0}, text = {0};
    for (const char *at = f->format; *at; at++) {
        if (*at != '%' || !at[1]) {
            strbuf_putc(&line, *at);
            continue;
        }
        bool right = *++at == '.';
        at += right;
        size_t width = (size_t)strtoul(at, (char **)&at, 10);
        strbuf_reset(&text);
        if (queue)
            put_cell(f, *at, queue, &text);
        else
            strbuf_puts(&text, head(*at));
        size_t n = width && text.len > width ? width : text.len;
        strbuf_fill(&line, ' ', right && width > n ? width - n : 0);
        strbuf_put(&line, text.data, n);
        strbuf_fill(&line, ' ', !right && width > n ? width - n : 0);
        if (!*at)
            break;
    }
    terminal_print(stdout, strbuf_text(&line));
    putchar('\n');
    strbuf_clear(&line);
    strbuf_clear(&text);
}

static int print_queues(struct sinfo *f, struct connection *s, berth_error_t *err)
{
    json_t *queue;
    size_t i;
    if (connection_start(s, err) < 0 ||
        connection_ask(s, "GET", "/v1/queues", NULL, &f->queues, err) < 0 ||
        connection_ask(s, "GET", "/v1/resources", NULL, &f->machine, err) < 0)
        return connection_failed(s, err);
    if (!f->no_head)
        print_line(f, NULL);
    const char *usual = answer_text(f->queues, "default");
    json_array_foreach(json_object_get(f->queues, "queues"), i, queue)
    {
        const char *name = answer_text(queue, "name");
        if (f->queue && strcmp(f->queue, name) != 0)
            continue;
        json_object_set_new(queue, "is_default", json_boolean(strcmp(usual, name) == 0));
        print_line(f, queue);
    }
    return 0;
}

int shim_sinfo(int argc, char **argv)
{
    struct sinfo f = {.format = FORMAT};
    struct foreign_words walk = {.tool = "sinfo", .where = "", .v = argv + 1, .n = argc - 1};
    const struct foreign_option *option;
    struct connection s;
    const char *value;
    berth_error_t err;
    int rc;

    while ((rc = foreign_next(&walk, options, sizeof(options) / sizeof(*options), &option, &value,
                              &err)) > 0) {
        f.no_head = f.no_head || option->what == HEAD;
        f.help = f.help || option->what == HELP;
        f.version = f.version || option->what == VERSION;
        f.format = option->what == FORM ? value : f.format;
        f.queue = option->what == QUEUE ? value : f.queue;
    }
    if (rc < 0)
        return shim_failed("sinfo", "%s", err.text);
    if (walk.at < walk.n)
        return shim_failed("sinfo", "'%.60s' is not an option", walk.v[walk.at]);
    if (f.help)
        return puts("usage: sinfo [-h] [-o FORMAT] [-p QUEUE]") < 0;
    if (f.version)
        return shim_version();
    rc = connection_open(&s, "sinfo", &err) < 0 ? connection_failed(&s, &err)
                                                : print_queues(&f, &s, &err);
    connection_close(&s);
    json_decref(f.queues);
    json_decref(f.machine);
    return rc;
}
