#include "cli/client/script.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/errtext.h"
#include "base/strbuf.h"

bool script_is(const char *path)
{
    char head[2];
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    if (fd < 0)
        return false;
    bool is = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && read(fd, head, 2) == 2 &&
              memcmp(head, "#!", 2) == 0;
    close(fd);
    return is;
}

static int read_script_text(struct script *s, const char *path, berth_error_t *err)
{
    bool standard = strcmp(path, "-") == 0;
    int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    struct strbuf text = {0};
    ssize_t n = 1;

    if (fd < 0)
        return errtext_set(err, errno, "%s: %s", path, strerror(errno));
    while (n > 0 && text.len <= SCRIPT_MAX && strbuf_room(&text, 65536)) {
        n = read(fd, text.data + text.len, 65536);
        if (n < 0 && errno == EINTR)
            n = 1;
        else if (n > 0)
            text.len += (size_t)n;
    }
    int saved = errno;
    if (!standard)
        close(fd);
    int rc = 0;
    if (text.failed)
        rc = errtext_no_memory(err);
    else if (n < 0)
        rc = errtext_set(err, saved, "%s: %s", standard ? "standard input" : path, strerror(saved));
    else if (text.len > SCRIPT_MAX)
        rc = errtext_set(err, EFBIG, "script %s is too large, expected at most %zu bytes",
                         standard ? "standard input" : path, SCRIPT_MAX);
    if (rc < 0) {
        saved = errno;
        strbuf_clear(&text);
        errno = saved;
        return -1;
    }
    s->length = text.len;
    s->text = strbuf_steal(&text);
    return s->text ? 0 : errtext_no_memory(err);
}

static int script_add_word(struct script *s, struct strbuf *word)
{
    char **grown = realloc(s->words, ((size_t)s->n + 2) * sizeof(*grown));

    if (!grown)
        return -1;
    s->words = grown;
    s->words[s->n] = strbuf_steal(word);
    if (!s->words[s->n])
        return -1;
    s->words[++s->n] = NULL;
    return 0;
}

static bool is_script_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* Read a word, and move *text behind it. Returns -1 if a quote is not closed. */
static int take_word(const char **text, const char *end, struct strbuf *word)
{
    const char *at = *text;
    char quote = '\0';

    for (; at < end && (quote || !is_script_blank(*at)); at++) {
        if (!quote && (*at == '\'' || *at == '"')) {
            quote = *at;
        } else if (*at == quote && quote) {
            quote = '\0';
        } else {
            if (*at == '\\' && quote != '\'' && at + 1 < end)
                at++;
            strbuf_putc(word, *at);
        }
    }
    *text = at;
    return quote ? -1 : 0;
}

static int read_script_line(struct script *s, const char *at, const char *end, const char *path,
                            size_t line, berth_error_t *err)
{
    for (;;) {
        struct strbuf word = {0};
        while (at < end && is_script_blank(*at))
            at++;
        if (at == end || *at == '#')
            return 0;
        if (take_word(&at, end, &word) < 0) {
            strbuf_clear(&word);
            return errtext_set(err, EINVAL, "%s: line %zu: a quote is not closed", path, line);
        }
        if (script_add_word(s, &word) < 0) {
            strbuf_clear(&word);
            return errtext_no_memory(err);
        }
    }
}

static bool is_letter(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

/* Where a comment's options begin; NULL if it has none. "#flux:" may stand behind more than a '#'. */
static const char *find_options(const char *text, const char *end, enum script_mark *mark)
{
    static const struct {
        const char *text;
        enum script_mark mark;
    } marks[] = {{"#BERTH", SCRIPT_BERTH}, {"#SBATCH", SCRIPT_SLURM}},
      others[] = {{"flux:", SCRIPT_FLUX}, {"FLUX:", SCRIPT_FLUX}};
    for (size_t i = 0; i < 2; i++) {
        size_t n = strlen(marks[i].text);
        *mark = marks[i].mark;
        if ((size_t)(end - text) > n && memcmp(text, marks[i].text, n) == 0 &&
            is_script_blank(text[n]))
            return text + n;
    }
    while (text < end && !is_letter(*text))
        text++;
    for (size_t i = 0; i < 2; i++) {
        size_t n = strlen(others[i].text);
        *mark = others[i].mark;
        if ((size_t)(end - text) > n && memcmp(text, others[i].text, n) == 0)
            return text + n;
    }
    return NULL;
}

static int add_line(struct script *s, enum script_mark mark, size_t number)
{
    if (array_grow((void **)&s->lines, &s->cap_lines, s->n_lines + 1, sizeof(*s->lines)) < 0)
        return -1;
    s->lines[s->n_lines++] = (struct script_line){.mark = mark, .number = number, .first = s->n};
    return 0;
}

int script_options(struct script *s, const char *path, berth_error_t *err)
{
    const char *at = s->text, *end = s->text + s->length;
    struct strbuf first = {0};

    strbuf_puts(&first, "");
    if (script_add_word(s, &first) < 0)
        return errtext_no_memory(err);
    for (size_t number = 1; at < end; number++) {
        enum script_mark mark;
        const char *text = at, *stop = memchr(at, '\n', (size_t)(end - at));
        stop = stop ? stop : end;
        at = stop < end ? stop + 1 : end;
        while (text < stop && is_script_blank(*text))
            text++;
        if (text < stop && *text != '#')
            break;
        const char *options = find_options(text, stop, &mark);
        if (!options)
            continue;
        if (add_line(s, mark, number) < 0)
            return errtext_no_memory(err);
        if (read_script_line(s, options, stop, path, number, err) < 0)
            return -1;
        struct script_line *line = &s->lines[s->n_lines - 1];
        line->n = s->n - line->first;
    }
    return 0;
}

int script_read(struct script *s, const char *path, berth_error_t *err)
{
    *s = (struct script){0};
    if (read_script_text(s, path, err) == 0 &&
        script_options(s, strcmp(path, "-") == 0 ? "standard input" : path, err) == 0)
        return 0;
    script_clear(s);
    return -1;
}

void script_clear(struct script *s)
{
    int saved = errno;
    for (int i = 0; i < s->n; i++)
        free(s->words[i]);
    free(s->words);
    free(s->lines);
    free(s->text);
    *s = (struct script){0};
    errno = saved;
}
