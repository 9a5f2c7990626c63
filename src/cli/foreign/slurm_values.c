#include "cli/foreign/slurm_values.h"

#include <string.h>
#include <strings.h>

#include "base/number.h"

#define WHOLE_MAX 1000000000

/* Digits, which *at is moved behind. */
static bool take_whole(const char **at, int64_t *n)
{
    const char *text = *at;
    int64_t value = 0;
    for (; is_digit(*text); text++) {
        value = value * 10 + (*text - '0');
        if (value > WHOLE_MAX)
            return false;
    }
    if (text == *at)
        return false;
    *at = text;
    *n = value;
    return true;
}

bool slurm_whole(const char *text, int64_t *n)
{
    return take_whole(&text, n) && !*text;
}

bool slurm_seconds(const char *text, int64_t *seconds)
{
    int64_t part[3] = {0}, days = 0;
    int n = 0;

    if (strcasecmp(text, "UNLIMITED") == 0 || strcasecmp(text, "INFINITE") == 0) {
        *seconds = -1;
        return true;
    }
    bool dash = strchr(text, '-') != NULL;
    if (dash && (!take_whole(&text, &days) || *text++ != '-'))
        return false;
    for (;; text++) {
        if (n == 3 || !take_whole(&text, &part[n++]))
            return false;
        if (*text != ':')
            break;
    }
    if (*text)
        return false;
    /* With days, the first is hours; a number alone is minutes, two are minutes and seconds. */
    if (dash || n == 3)
        *seconds = days * 86400 + part[0] * 3600 + part[1] * 60 + part[2];
    else
        *seconds = part[0] * 60 + part[1];
    if (*seconds == 0)
        *seconds = -1;
    return *seconds <= 4 * (int64_t)WHOLE_MAX;
}

bool slurm_bytes(const char *text, int64_t *bytes)
{
    static const char steps[] = "KMGT";
    int shift = 20;
    int64_t n;

    if (!take_whole(&text, &n))
        return false;
    const char *step = *text ? strchr(steps, *text & ~0x20) : NULL;
    if (step) {
        shift = 10 * (int)(step - steps + 1);
        text++;
        text += *text == 'B' || *text == 'b';
    }
    if (*text || n > INT64_MAX >> shift)
        return false;
    *bytes = n << shift;
    return true;
}

void slurm_array(const char *text, struct strbuf *out)
{
    size_t digits = strspn(text, "0123456789");
    strbuf_put(out, text, digits);
    if (digits && (!text[digits] || text[digits] == '%')) {
        strbuf_putc(out, '-');
        strbuf_put(out, text, digits);
    }
    strbuf_puts(out, text + digits);
}

/* The type of an item of the list. */
static bool take_type(struct slurm_gpus *gpus, bool first, const char *type, size_t length)
{
    if (length >= SLURM_TYPE_SIZE)
        return false;
    gpus->several =
        gpus->several ||
        (!first && (strlen(gpus->type) != length || memcmp(gpus->type, type, length) != 0));
    memcpy(gpus->type, type, length);
    gpus->type[gpus->several ? 0 : length] = '\0';
    return true;
}

/* "gpu:a100:2", "gpu:2", "gpu", "a100:2", "2", up to `end`. */
static bool add_gpus(const char *at, const char *end, bool gres, bool first,
                     struct slurm_gpus *gpus)
{
    int64_t count = 1;
    const char *type = at, *stop = at;
    if (gres) {
        if (end - at < 3 || memcmp(at, "gpu", 3) != 0 || end - at == 4 ||
            (end - at > 3 && at[3] != ':'))
            return false;
        at += at + 3 < end ? 4 : 3;
    }
    if (at < end && !is_digit(*at)) {
        const char *colon = memchr(at, ':', (size_t)(end - at));
        type = at;
        stop = colon ? colon : end;
        at = colon ? colon + 1 : end;
        if (stop == type || (at == end && colon))
            return false;
    }
    if (!take_type(gpus, first, type, (size_t)(stop - type)))
        return false;
    if (at < end && (!take_whole(&at, &count) || at != end))
        return false;
    gpus->n += count;
    return gpus->n <= WHOLE_MAX;
}

bool slurm_gpus_read(const char *text, bool gres, struct slurm_gpus *gpus)
{
    *gpus = (struct slurm_gpus){0};
    if (gres && strcasecmp(text, "none") == 0)
        return true;
    for (bool first = true;; first = false, text++) {
        const char *end = text + strcspn(text, ",");
        if (end == text || !add_gpus(text, end, gres, first, gpus))
            return false;
        text = end;
        if (!*text)
            return true;
    }
}

const char *slurm_signal(const char *text, int64_t *seconds)
{
    const char *colon = strchr(text, ':');
    if (colon && strspn(text, "RB") == (size_t)(colon - text))
        text = colon + 1;
    const char *at = strchr(text, '@');
    *seconds = 60;
    return at == text || !*text || (at && !slurm_whole(at + 1, seconds)) ? NULL : text;
}

/* "+10minutes" */
static bool put_later(const char *text, struct strbuf *out)
{
    static const struct {
        const char *word;
        char unit;
    } units[] = {{"", 's'},        {"second", 's'}, {"seconds", 's'}, {"minute", 'm'},
                 {"minutes", 'm'}, {"hour", 'h'},   {"hours", 'h'},   {"day", 'd'},
                 {"days", 'd'},    {"week", 'w'},   {"weeks", 'w'}};
    int64_t n;
    if (*text++ != '+' || !take_whole(&text, &n))
        return false;
    for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
        if (strcasecmp(text, units[i].word) == 0) {
            strbuf_putc(out, '+');
            strbuf_put_int(out, n);
            strbuf_putc(out, units[i].unit);
            return true;
        }
    }
    return false;
}

bool slurm_begin(const char *text, struct strbuf *out)
{
    static const char *const hours[][2] = {
        {"midnight", "00:00"}, {"noon", "12:00"}, {"fika", "15:00"}, {"teatime", "16:00"}};
    for (size_t i = 0; i < sizeof(hours) / sizeof(*hours); i++) {
        if (strcasecmp(text, hours[i][0]) == 0) {
            strbuf_puts(out, hours[i][1]);
            return true;
        }
    }
    if (strncasecmp(text, "now", 3) == 0 && text[3])
        return put_later(text + 3, out);
    strbuf_puts(out, text); /* the reader of submit knows these */
    return *text && !strchr(text, '/');
}

/* ---- Constraints ---- */

static bool put_words(const char *at, const char *end, const char *gaps, struct strbuf *out)
{
    for (bool first = true;; first = false, at++) {
        const char *stop = at;
        while (stop < end && !strchr(gaps, *stop))
            stop++;
        if (stop == at)
            return false;
        strbuf_puts(out, first ? "" : ",");
        strbuf_put_json(out, at, (size_t)(stop - at));
        at = stop;
        if (at == end)
            return true;
    }
}

/* "a&b|c": one of several lists of properties. */
static bool put_features(const char *text, struct strbuf *out)
{
    if (strpbrk(text, "()[]*"))
        return false;
    bool several = strchr(text, '|');
    strbuf_puts(out, several ? "{\"or\":[" : "");
    for (bool first = true;; first = false, text++) {
        const char *end = text + strcspn(text, "|");
        strbuf_puts(out, first ? "{\"properties\":[" : ",{\"properties\":[");
        if (!put_words(text, end, "&,", out))
            return false;
        strbuf_puts(out, "]}");
        text = end;
        if (!*text)
            break;
    }
    strbuf_puts(out, several ? "]}" : "");
    return true;
}

static void put_hosts(const char *text, struct strbuf *out)
{
    strbuf_puts(out, "{\"hostlist\":[");
    strbuf_put_json(out, text, strlen(text));
    strbuf_puts(out, "]}");
}

bool slurm_constraint(const char *features, const char *hosts, const char *not_hosts,
                      struct strbuf *out)
{
    const char *gap = "";
    strbuf_puts(out, "{\"and\":[");
    if (features) {
        if (!put_features(features, out))
            return false;
        gap = ",";
    }
    if (hosts) {
        strbuf_puts(out, gap);
        put_hosts(hosts, out);
        gap = ",";
    }
    if (not_hosts) {
        strbuf_puts(out, gap);
        strbuf_puts(out, "{\"not\":[");
        put_hosts(not_hosts, out);
        strbuf_puts(out, "]}");
    }
    strbuf_puts(out, "]}");
    return true;
}

/* ---- Names of files ---- */

static bool put_pattern(char letter, bool array, bool step, const char *host, struct strbuf *out)
{
    switch (letter) {
    case 'j':
    case 'J':
        strbuf_puts(out, array ? "%j_%a" : "%j");
        return true;
    case 'A':
        strbuf_puts(out, "%j");
        return true;
    case 'a':
        strbuf_puts(out, array ? "%a" : "4294967294");
        return true;
    case 'x':
        strbuf_puts(out, "%n");
        return true;
    case 'u':
        strbuf_puts(out, "%u");
        return true;
    case '%':
        strbuf_puts(out, "%%");
        return true;
    case 'N':
        strbuf_puts(out, host);
        return true;
    case 'n': /* the script runs on the first node, as the first task */
    case 't':
        strbuf_puts(out, step ? "%t" : "0");
        return true;
    case 's':
        strbuf_puts(out, "batch");
        return true;
    default:
        return false;
    }
}

bool slurm_file(const char *text, bool array, bool step, const char *host, struct strbuf *out,
                bool *width)
{
    *width = false;
    for (; *text; text++) {
        if (*text != '%') {
            strbuf_putc(out, *text);
            continue;
        }
        text++;
        for (; is_digit(*text); text++)
            *width = true;
        if (!put_pattern(*text, array, step, host, out))
            return false;
    }
    return true;
}
