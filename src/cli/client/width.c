#include "cli/client/width.h"

#include <stdint.h>

/* Ranges of characters that are not one column wide, ascending (Unicode, East Asian Width W and F; combining marks). */
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

size_t width_of(const char *text)
{
    size_t columns = SIZE_MAX;
    width_fit(text, &columns);
    return columns;
}

size_t width_fit(const char *text, size_t *columns)
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
