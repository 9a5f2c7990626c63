#include "cli/client/table.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/client/width.h"
#include "cli/client/words.h"

#define HELD_ROWS 1000
#define GAP       2
#define LINE_SIZE 4096

static size_t terminal_width(FILE *out)
{
    struct winsize size;
    if (!isatty(fileno(out)) || ioctl(fileno(out), TIOCGWINSZ, &size) < 0)
        return 0;
    return size.ws_col;
}

void table_begin(struct table *t, FILE *out, const struct table_column *columns)
{
    memset(t, 0, sizeof(*t));
    t->out = out;
    t->columns = columns;
    t->width = terminal_width(out);
    while (columns[t->n].head) {
        t->widths[t->n] = strlen(columns[t->n].head);
        t->n++;
    }
}

static size_t shown_length(const struct table *t, size_t column, const char *text)
{
    size_t n = width_of(text), most = t->columns[column].most;
    return most && n > most ? most : n;
}

static void write_cell(struct table *t, struct strbuf *line, size_t column, const char *text,
                       size_t *used)
{
    size_t n = shown_length(t, column, text), width = t->widths[column];
    bool last = column + 1 == t->n;

    if (last && t->width && *used + n > t->width)
        n = t->width > *used ? t->width - *used : 0;
    size_t bytes = width_fit(text, &n); /* a wide character may leave a column empty */
    size_t fill = width > n ? width - n : 0;
    if (t->columns[column].right)
        strbuf_fill(line, ' ', fill);
    words_plain(line, text, bytes);
    if (!last) {
        if (!t->columns[column].right)
            strbuf_fill(line, ' ', fill);
        strbuf_fill(line, ' ', GAP);
    }
    *used += n + fill + GAP;
}

/* A row from its cells, which lie one behind the other. Returns what is behind them. */
static const char *write_row(struct table *t, const char *cells)
{
    struct strbuf *line = &t->line;
    size_t used = 0;

    strbuf_reset(line);
    for (size_t i = 0; i < t->n; i++) {
        write_cell(t, line, i, cells, &used);
        cells += strlen(cells) + 1;
    }
    while (line->len && line->data[line->len - 1] == ' ')
        line->len--;
    strbuf_putc(line, '\n');
    if (!line->failed)
        fwrite(line->data, 1, line->len, t->out);
    t->held.failed = t->held.failed || line->failed;
    return cells;
}

static void flow(struct table *t)
{
    if (t->flowing)
        return;
    t->flowing = true;
    struct strbuf heads = {0};
    for (size_t i = 0; i < t->n; i++)
        strbuf_put(&heads, t->columns[i].head, strlen(t->columns[i].head) + 1);
    if (!t->headless && !heads.failed)
        write_row(t, heads.data);
    strbuf_clear(&heads);
    const char *cells = t->held.data;
    for (size_t i = 0; i < t->rows && !t->held.failed; i++)
        cells = write_row(t, cells);
    strbuf_reset(&t->held);
}

void table_cell(struct table *t, const char *text)
{
    size_t n = shown_length(t, t->next, text);

    if (!t->flowing && n > t->widths[t->next])
        t->widths[t->next] = n;
    strbuf_put(&t->held, text, strlen(text) + 1);
    if (++t->next < t->n)
        return;
    t->next = 0;
    if (!t->flowing) {
        if (++t->rows == HELD_ROWS)
            flow(t);
        return;
    }
    if (!t->held.failed)
        write_row(t, t->held.data);
    strbuf_reset(&t->held);
}

void table_number(struct table *t, long long number)
{
    char text[24];
    snprintf(text, sizeof(text), "%lld", number);
    table_cell(t, text);
}

bool table_end(struct table *t)
{
    bool failed = t->held.failed;
    flow(t);
    return !failed;
}

void table_clear(struct table *t)
{
    strbuf_clear(&t->held);
    strbuf_clear(&t->cell);
    strbuf_clear(&t->line);
}
