#include "cli/client/words.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/verb.h"

char *words_job(int64_t id, int64_t member, char out[WORDS_JOB])
{
    if (member < 0)
        snprintf(out, WORDS_JOB, "%" PRId64, id);
    else
        snprintf(out, WORDS_JOB, "%" PRId64 "[%" PRId64 "]", id, member);
    return out;
}

void words_path(struct strbuf *out, int64_t id, int64_t member, const char *suffix)
{
    strbuf_puts(out, "/v1/jobs/");
    strbuf_put_int(out, id);
    if (member >= 0) {
        strbuf_putc(out, '.');
        strbuf_put_int(out, member);
    }
    strbuf_puts(out, suffix);
}

void words_query(struct strbuf *path, const char *key, const char *value)
{
    static const char digits[] = "0123456789ABCDEF";

    strbuf_putc(path, memchr(path->data, '?', path->len) ? '&' : '?');
    strbuf_puts(path, key);
    strbuf_putc(path, '=');
    for (; *value; value++) {
        unsigned char c = (unsigned char)*value;
        if ((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
            strchr("-._~,", c)) {
            strbuf_putc(path, (char)c);
            continue;
        }
        strbuf_putc(path, '%');
        strbuf_putc(path, digits[c >> 4]);
        strbuf_putc(path, digits[c & 15]);
    }
}

void words_plain(struct strbuf *out, const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)text[i], next = i + 1 < n ? (unsigned char)text[i + 1] : 0;
        bool wide = c == 0xc2 && next >= 0x80 && next < 0xa0; /* U+0080 to U+009F */
        i += wide;
        strbuf_putc(out, wide || c < ' ' || c == 127 ? '?' : (char)c);
    }
}

void words_print(FILE *to, const char *text)
{
    struct strbuf plain = {0};

    words_plain(&plain, text, strlen(text));
    fputs(strbuf_text(&plain), to);
    strbuf_clear(&plain);
}

const char *words_text(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

double words_number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : -1;
}

int words_option(const char *verb, int argc, char **argv, const char *letters,
                 const struct option *options)
{
    opterr = 0;
    int c = getopt_long(argc, argv, letters, options, NULL);
    if (c == ':') {
        cli_usage(verb, "'%s' takes a value", argv[optind - 1]);
        return '?';
    }
    if (c == '?')
        cli_usage(verb, "unknown option '%s'", argv[optind - 1]);
    return c;
}
