#include "cli/client/terminal.h"

#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* ---- Plain text ---- */

void terminal_plain(struct strbuf *out, const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)text[i], next = i + 1 < n ? (unsigned char)text[i + 1] : 0;
        bool wide = c == 0xc2 && next >= 0x80 && next < 0xa0; /* U+0080 to U+009F */
        i += wide;
        strbuf_putc(out, wide || c < ' ' || c == 127 ? '?' : (char)c);
    }
}

void terminal_print(FILE *to, const char *text)
{
    struct strbuf plain = {0};

    terminal_plain(&plain, text, strlen(text));
    fputs(strbuf_text(&plain), to);
    strbuf_clear(&plain);
}

/* ---- Width ---- */

/* Ranges of characters that are not one column wide, ascending (Unicode, East Asian Width W and F;
 * combining marks).
 */
static const struct {
    uint32_t first, last;
    unsigned columns;
} ranges[] = {
    {0x300, 0x36f, 0},     {0x1100, 0x115f, 2},   {0x200b, 0x200f, 0},   {0x20d0, 0x20ff, 0},
    {0x2e80, 0x303e, 2},   {0x3041, 0x33ff, 2},   {0x3400, 0x4dbf, 2},   {0x4e00, 0xa4cf, 2},
    {0xa960, 0xa97f, 2},   {0xac00, 0xd7a3, 2},   {0xf900, 0xfaff, 2},   {0xfe00, 0xfe0f, 0},
    {0xfe20, 0xfe2f, 0},   {0xfe30, 0xfe6f, 2},   {0xff01, 0xff60, 2},   {0xffe0, 0xffe6, 2},
    {0x1f300, 0x1f64f, 2}, {0x1f680, 0x1f6ff, 2}, {0x1f900, 0x1f9ff, 2}, {0x20000, 0x3fffd, 2}};

static unsigned columns_of(uint32_t c)
{
    for (size_t i = 0; c >= 0x300 && i < sizeof(ranges) / sizeof(ranges[0]); i++)
        if (c <= ranges[i].last)
            return c >= ranges[i].first ? ranges[i].columns : 1;
    return 1;
}

/* The character that begins here, and its bytes. */
static uint32_t decode(const char *text, size_t *bytes)
{
    const unsigned char *t = (const unsigned char *)text;
    size_t n = t[0] < 0xc0 ? 1 : t[0] < 0xe0 ? 2 : t[0] < 0xf0 ? 3 : 4;
    uint32_t c = n == 1 ? t[0] : t[0] & (0xffu >> (n + 1));

    *bytes = 1;
    for (; *bytes < n; ++*bytes) {
        if ((t[*bytes] & 0xc0) != 0x80)
            return t[0];
        c = c << 6 | (t[*bytes] & 0x3fu);
    }
    return c;
}

size_t terminal_width(const char *text)
{
    size_t columns = SIZE_MAX;
    terminal_fit(text, &columns);
    return columns;
}

size_t terminal_fit(const char *text, size_t *columns)
{
    size_t at = 0, used = 0, bytes;

    while (text[at]) {
        unsigned more = columns_of(decode(text + at, &bytes));
        if (more > *columns - used)
            break;
        used += more;
        at += bytes;
    }
    *columns = used;
    return at;
}

/* ---- Tables ---- */

#define HELD_ROWS 1000
#define GAP       2
#define LINE_SIZE 4096
#define LAST_ROOM 24 /* columns that the last one should have, if it is that wide */

static size_t columns_there(FILE *out)
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
    t->width = columns_there(out);
    while (columns[t->n].head) {
        t->widths[t->n] = strlen(columns[t->n].head);
        t->n++;
    }
}

static size_t shown_length(const struct table *t, size_t column, const char *text)
{
    size_t n = terminal_width(text), most = t->columns[column].most;
    return most && n > most ? most : n;
}

static void write_cell(struct table *t, struct strbuf *line, size_t column, const char *text,
                       size_t *used)
{
    size_t n = shown_length(t, column, text), width = t->widths[column];
    bool last = column + 1 == t->n;

    if (t->left[column])
        return;
    if (last && t->width && *used + n > t->width)
        n = t->width > *used ? t->width - *used : 0;
    /* A wide character that does not fit leaves a column empty. */
    size_t bytes = terminal_fit(text, &n);
    size_t fill = width > n ? width - n : 0;
    if (t->columns[column].right)
        strbuf_fill(line, ' ', fill);
    terminal_plain(line, text, bytes);
    if (!last) {
        if (!t->columns[column].right)
            strbuf_fill(line, ' ', fill);
        strbuf_fill(line, ' ', GAP);
    }
    *used += n + fill + GAP;
}

/* Write a row from its cells, which are consecutive. Returns a pointer behind them. */
static const char *print_table_row(struct table *t, const char *cells)
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

/* What is taken by the columns before the last. */
static size_t columns_taken(const struct table *t)
{
    size_t taken = 0;
    for (size_t i = 0; i + 1 < t->n; i++)
        taken += t->left[i] ? 0 : t->widths[i] + GAP;
    return taken;
}

/* Leave out what matters least until there is room for the last column. */
static void leave_columns(struct table *t)
{
    size_t last = t->n > 0 ? t->widths[t->n - 1] : 0;
    size_t wanted = last < LAST_ROOM ? last : LAST_ROOM;
    for (const char *at = t->leave; at && *at && t->width;) {
        size_t length = strcspn(at, ",");
        if (columns_taken(t) + wanted <= t->width)
            return;
        for (size_t i = 0; i + 1 < t->n; i++)
            if (strlen(t->columns[i].head) == length &&
                strncmp(t->columns[i].head, at, length) == 0)
                t->left[i] = true;
        at += length + (at[length] == ',');
    }
}

static void flow(struct table *t)
{
    if (t->flowing)
        return;
    t->flowing = true;
    leave_columns(t);
    struct strbuf heads = {0};
    for (size_t i = 0; i < t->n; i++)
        strbuf_put(&heads, t->columns[i].head, strlen(t->columns[i].head) + 1);
    if (!t->headless && !heads.failed)
        print_table_row(t, heads.data);
    strbuf_clear(&heads);
    const char *cells = t->held.data;
    for (size_t i = 0; i < t->rows && !t->held.failed; i++)
        cells = print_table_row(t, cells);
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
        print_table_row(t, t->held.data);
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
