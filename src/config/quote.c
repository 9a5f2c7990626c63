/* Text in double quotes, for readers of JSON and of YAML. */
#include "config/read.h"

/* The code point at text[*at] of valid UTF-8; moves *at behind it. */
static uint32_t next_point(const char *text, size_t length, size_t *at)
{
    unsigned char first = (unsigned char)text[(*at)++];
    uint32_t point = first < 0x80   ? first
                     : first < 0xe0 ? first & 0x1f
                     : first < 0xf0 ? first & 0xf
                                    : first & 7;

    while (*at < length && ((unsigned char)text[*at] & 0xc0) == 0x80)
        point = point << 6 | ((unsigned char)text[(*at)++] & 0x3f);
    return point;
}

/* Whether YAML reads a code point as itself; line separators, for example, it does not. */
static bool is_plain(uint32_t point)
{
    if (point < 0x80)
        return point >= ' ' && point != '"' && point != '\\' && point != 0x7f;
    return point >= 0xa0 && point != 0x2028 && point != 0x2029 && point != 0xfeff &&
           (point & 0xfffe) != 0xfffe;
}

void quote(struct strbuf *b, const char *text, size_t length)
{
    static const char digits[] = "0123456789abcdef";

    strbuf_putc(b, '"');
    for (size_t at = 0; at < length;) {
        size_t from = at;
        uint32_t point = next_point(text, length, &at);
        if (is_plain(point) || point > 0xffff) {
            strbuf_put(b, text + from, at - from);
        } else if (point == '"' || point == '\\') {
            strbuf_putc(b, '\\');
            strbuf_putc(b, (char)point);
        } else {
            strbuf_puts(b, "\\u");
            for (int shift = 12; shift >= 0; shift -= 4)
                strbuf_putc(b, digits[point >> shift & 0xf]);
        }
    }
    strbuf_putc(b, '"');
}
