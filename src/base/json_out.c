/* Strings of whatever bytes. */
#include "base/json_out.h"

/* The length of a character of UTF-8, or 0: it is none. */
static size_t utf8_length(const unsigned char *t, size_t left)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t n = t[0] < 0x80   ? 1
               : t[0] < 0xc2 ? 0
               : t[0] < 0xe0 ? 2
               : t[0] < 0xf0 ? 3
               : t[0] < 0xf5 ? 4
                             : 0;
    if (n == 0 || n > left)
        return 0;
    uint32_t c = n == 1 ? t[0] : t[0] & (0xffu >> (n + 1));
    for (size_t i = 1; i < n; i++) {
        if ((t[i] & 0xc0) != 0x80)
            return 0;
        c = c << 6 | (t[i] & 0x3fu);
    }
    return n > 1 && (c < least[n] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) ? 0 : n;
}

/* What was appended from an offset on, a string that is escaped already, without bytes that are not UTF-8. */
static void repair(struct strbuf *b, size_t from)
{
    for (size_t i = from; i < b->len;) {
        size_t n = utf8_length((const unsigned char *)b->data + i, b->len - i);
        if (n == 0)
            b->data[i] = '?';
        i += n ? n : 1;
    }
}

void json_put_text(struct json_out *j, const char *key, const char *text)
{
    if (!text) {
        json_put_null(j, key);
        return;
    }
    json_key(j, key);
    size_t from = j->text->len, n = 0;
    while (text[n] && (unsigned char)text[n] < 0x80)
        n++;
    bool is_ascii = !text[n];
    n += strlen(text + n);
    strbuf_put_json(j->text, text, n);
    if (!is_ascii)
        repair(j->text, from);
}
