/* Lines of a scenario, one by one. */
#include "sim/scenario.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"
#include "config/seconds.h"
#include "sim/scenario_event.h"

struct scenario {
    char *name;
    FILE *file; /* NULL: a text without a byte */
    char *line;
    size_t capacity;
    uint64_t number; /* of the line */
    int64_t at;      /* of the previous event */
    bool timed;      /* events must have a time */
};

static struct key_place here(const struct scenario *s)
{
    return (struct key_place){s->name, s->number};
}

static int wrong_line(const struct scenario *s, const char *why, berth_error_t *err)
{
    struct key_place place = here(s);
    return keys_failed(&place, EINVAL, why, err);
}

static int read_event_time(struct scenario *s, json_t *object, struct scenario_event *e,
                           berth_error_t *err)
{
    struct key_place place = here(s);
    json_t *at = json_object_get(object, "at");
    struct strbuf text = {0};
    e->at = s->at;
    if (!at && !s->timed)
        return 0;
    if (!seconds_read(at, &e->at))
        return keys_wrong(&place, "", "at", at,
                          "seconds from 0 to 4000000000, with up to six decimals", err);
    if (e->at >= s->at)
        return 0;
    strbuf_puts(&text, "no time before ");
    seconds_put(&text, s->at);
    keys_wrong(&place, "", "at", at, strbuf_text(&text), err);
    strbuf_clear(&text);
    return -1;
}

static int read_event_line(struct scenario *s, size_t length, struct scenario_event *event,
                           berth_error_t *err)
{
    struct scenario_event e = {.line = s->number, .status = -1};
    struct key_place place = here(s);
    json_error_t why;
    char text[sizeof(err->text)];
    json_t *object = json_loadb(s->line, length, JSON_REJECT_DUPLICATES, &why);
    if (!object && json_error_code(&why) == json_error_out_of_memory)
        return errtext_set(err, ENOMEM, "%s: out of memory", s->name);
    if (!object) {
        snprintf(text, sizeof(text), "column %d: %s", why.column, why.text);
        return wrong_line(s, text, err);
    }
    e.json = object;
    if (!json_is_object(object))
        wrong_line(s, "expected an object, {\"at\": 0, ...}", err);
    else if (read_event_time(s, object, &e, err) == 0 &&
             scenario_event_read(&e, object, &place, err) == 0) {
        s->at = e.at;
        *event = e;
        return 1;
    }
    json_decref(object);
    errno = EINVAL;
    return -1;
}

/* Read a line without its end into s->line. Returns its length, -1 at the end, or -2 with errno and a text.
 */
static ptrdiff_t get_line(struct scenario *s, berth_error_t *err)
{
    size_t n = 0;
    int c = s->file ? getc_unlocked(s->file) : EOF;
    if (c == EOF)
        return -1;
    s->number++;
    for (; c != EOF && c != '\n'; c = getc_unlocked(s->file)) {
        if (n == s->capacity) {
            size_t capacity = s->capacity ? 2 * s->capacity : 1024;
            char *line = capacity > SCENARIO_LINE_MAX ? NULL : realloc(s->line, capacity);
            if (!line) {
                if (capacity > SCENARIO_LINE_MAX)
                    wrong_line(s, "the line is too long", err);
                else
                    errtext_set(err, ENOMEM, "%s: out of memory", s->name);
                return -2;
            }
            s->line = line;
            s->capacity = capacity;
        }
        s->line[n++] = (char)c;
    }
    return (ptrdiff_t)n;
}

int scenario_next(struct scenario *s, struct scenario_event *event, berth_error_t *err)
{
    for (;;) {
        errno = 0;
        ptrdiff_t length = get_line(s, err);
        if (length == -2)
            return -1;
        if (s->file && ferror(s->file))
            return errtext_set(err, errno ? errno : EIO, "%s: %s", s->name,
                               strerror(errno ? errno : EIO));
        if (length == -1)
            return 0;
        ptrdiff_t blanks = 0;
        while (blanks < length && strchr(" \t\r", s->line[blanks]) && s->line[blanks])
            blanks++;
        if (blanks < length && s->line[blanks] != '#')
            return read_event_line(s, (size_t)length, event, err);
    }
}

void scenario_event_clear(struct scenario_event *event)
{
    json_decref(event->json);
    event->json = NULL;
}

static struct scenario *create_scenario(const char *name, berth_error_t *err)
{
    struct scenario *s = calloc(1, sizeof(*s));
    if (s)
        s->name = strdup(name);
    if (s && s->name) {
        s->timed = true;
        return s;
    }
    free(s);
    errtext_set(err, ENOMEM, "%s: out of memory", name);
    return NULL;
}

struct scenario *scenario_open(const char *path, berth_error_t *err)
{
    bool standard_input = strcmp(path, "-") == 0;
    struct scenario *s = create_scenario(standard_input ? "standard input" : path, err);
    if (!s)
        return NULL;
    s->file = standard_input ? stdin : fopen(path, "re");
    if (s->file)
        return s;
    errtext_set(err, errno, "%s: %s", path, strerror(errno));
    scenario_close(s);
    return NULL;
}

struct scenario *scenario_from_text(const char *name, const char *text, size_t length,
                                    berth_error_t *err)
{
    struct scenario *s = create_scenario(name, err);
    if (!s || length == 0)
        return s;
    s->file = fmemopen((void *)(uintptr_t)text, length, "r");
    if (s->file)
        return s;
    errtext_set(err, errno, "%s: %s", name, strerror(errno));
    scenario_close(s);
    return NULL;
}

void scenario_close(struct scenario *s)
{
    int saved = errno;
    if (s) {
        if (s->file && s->file != stdin)
            fclose(s->file);
        free(s->line);
        free(s->name);
        free(s);
    }
    errno = saved;
}

const char *scenario_name(const struct scenario *s)
{
    return s->name;
}

void scenario_begin_at(struct scenario *s, int64_t at)
{
    s->at = at;
    s->timed = false;
}
