/* Values of a configuration: words, names, numbers, times. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/errtext.h"
#include "berth/match.h"
#include "config/date.h"
#include "config/quantity.h"
#include "config/read.h"

enum {
    NAME_MAX_BYTES = 255,
    MICROSECONDS = 1000000, /* in a second */
    DECIMALS = 6
};

#define SIZE_MOST (INT64_C(8) << 40)  /* bytes */
#define TIME_MAX  INT64_C(3153600000) /* seconds: 100 years */

void *reading_array(struct reading *r, size_t n, size_t size)
{
    size_t elements = n > 0 ? n : 1;
    void *array = elements <= SIZE_MAX / size ? arena_alloc(r->arena, elements * size) : NULL;

    if (array)
        memset(array, 0, elements * size);
    else
        errtext_no_memory(r->doc.err);
    return array;
}

static int keep_value(struct reading *r, uint32_t i, const char **ret)
{
    char *copy;

    copy = reading_array(r, (size_t)r->doc.node[i].length + 1, 1);
    if (!copy)
        return -1;
    memcpy(copy, doc_text(&r->doc, i), r->doc.node[i].length);
    *ret = copy;
    return 0;
}

int value_text(struct reading *r, uint32_t i, const char *key, const char **ret)
{
    if (i == DOC_NONE)
        return 0;
    if (!doc_is_text(&r->doc, i) || r->doc.node[i].length == 0)
        return doc_expected(&r->doc, i, key, "a text");
    return keep_value(r, i, ret);
}

/* Whether a text without quotes is a number, true, false, yes or no to most readers of YAML. */
static bool is_other_type(const struct doc *d, uint32_t i)
{
    static const char *const words[] = {"true", "false", "yes", "no", "on", "off"};
    const char *text = doc_text(d, i);
    if (!d->node[i].plain)
        return false;
    for (size_t k = 0; k < sizeof(words) / sizeof(words[0]); k++)
        if (strcasecmp(text, words[k]) == 0)
            return true;
    return text[strspn(text, "+-.0123456789")] == '\0';
}

int value_command(struct reading *r, uint32_t i, const char *key, const char **ret)
{
    if (i != DOC_NONE && doc_is_text(&r->doc, i) && is_other_type(&r->doc, i))
        return doc_expected(&r->doc, i, key,
                            "a command, in quotes if it is only a number or a word such as no");
    return value_text(r, i, key, ret);
}

static bool is_valid_name(const struct doc *d, uint32_t i)
{
    if (!doc_is_text(d, i) || d->node[i].length == 0 || d->node[i].length > NAME_MAX_BYTES)
        return false;
    for (const char *c = doc_text(d, i); *c; c++)
        if ((unsigned char)*c <= ' ' || *c == ',' || *c == 0x7f)
            return false;
    return true;
}

int value_name(struct reading *r, uint32_t i, const char *key, const char **ret)
{
    if (i == DOC_NONE)
        return 0;
    if (!is_valid_name(&r->doc, i))
        return doc_expected(&r->doc, i, key,
                            "a name of at most 255 bytes without blanks and commas");
    return keep_value(r, i, ret);
}

/* Read the names of a list, each of which goes into `seen`. */
static int read_unique_names(struct reading *r, uint32_t list, const char *key, const char **names,
                             struct intern *seen)
{
    const struct doc *d = &r->doc;
    size_t n = 0;
    uint32_t id;

    for (uint32_t i = list + 1; i < d->node[list].end; i = d->node[i].end) {
        if (value_name(r, i, key, &names[n]) < 0)
            return -1;
        if (intern_put(seen, names[n], d->node[i].length, &id) < 0)
            return errtext_no_memory(d->err);
        if (id < n)
            return doc_expected(d, i, key, "each name once");
        n++;
    }
    return 0;
}

int value_names(struct reading *r, uint32_t i, const char *key, const char *const **ret, size_t *n)
{
    struct intern seen = {0};
    const char **names;

    if (i == DOC_NONE)
        return 0;
    if (r->doc.node[i].kind != DOC_LIST)
        return doc_expected(&r->doc, i, key, "a list of names");
    names = reading_array(r, r->doc.node[i].count, sizeof(*names));
    if (!names)
        return -1;
    int rc = read_unique_names(r, i, key, names, &seen);
    intern_clear(&seen);
    *ret = names;
    *n = r->doc.node[i].count;
    return rc;
}

int value_word(const struct reading *r, uint32_t i, const char *key, const char *const *words,
               size_t *ret)
{
    char expected[ERRTEXT_LIST_MAX];

    if (i == DOC_NONE)
        return 0;
    for (size_t w = 0; words[w]; w++) {
        if (doc_is_text(&r->doc, i) && doc_is(&r->doc, i, words[w])) {
            *ret = w;
            return 0;
        }
    }
    return doc_expected(&r->doc, i, key, errtext_list(expected, sizeof(expected), words, " or "));
}

int value_switch(const struct reading *r, uint32_t i, const char *key, bool *ret)
{
    const struct doc *d = &r->doc;
    if (i == DOC_NONE)
        return 0;
    bool is = doc_is(d, i, "yes") || doc_is(d, i, "true");
    if (!is && !doc_is(d, i, "no") && !doc_is(d, i, "false"))
        return doc_expected(d, i, key, "yes or no");
    *ret = is;
    return 0;
}

int value_queue(const struct reading *r, uint32_t i, const char *key, uint32_t *ret)
{
    const struct doc *d = &r->doc;

    if (i == DOC_NONE)
        return 0;
    if (doc_is_text(d, i) && intern_find(&r->queues, doc_text(d, i), d->node[i].length, ret))
        return 0;
    return doc_expected(d, i, key, "the name of a queue");
}

/* A whole number in decimal without leading zeros, of at most 18 digits. */
static bool scan_number(const char *text, int64_t *ret)
{
    const char *digits = text + (*text == '-');
    size_t n = strspn(digits, "0123456789");
    int64_t number = 0;

    if (n == 0 || n > 18 || digits[n] || (n > 1 && *digits == '0'))
        return false;
    for (; *digits; digits++)
        number = number * 10 + (*digits - '0');
    *ret = *text == '-' ? -number : number;
    return true;
}

int value_number(const struct reading *r, uint32_t i, const char *key, int64_t min, int64_t max,
                 bool unlimited, int64_t *ret)
{
    char expected[96];

    if (i == DOC_NONE)
        return 0;
    if (doc_is_text(&r->doc, i)) {
        if (scan_number(doc_text(&r->doc, i), ret) && *ret >= min && *ret <= max)
            return 0;
        if (unlimited && doc_is(&r->doc, i, "unlimited")) {
            *ret = SCHED_UNLIMITED;
            return 0;
        }
    }
    snprintf(expected, sizeof(expected), "a whole number from %lld to %lld%s", (long long)min,
             (long long)max, unlimited ? ", or unlimited" : "");
    return doc_expected(&r->doc, i, key, expected);
}

int value_size(const struct reading *r, uint32_t i, const char *key, int64_t *ret)
{
    if (i == DOC_NONE)
        return 0;
    if (doc_is_text(&r->doc, i)) {
        if (quantity_size(doc_text(&r->doc, i), ret) == 0 && *ret > 0)
            return 0;
        if (doc_is(&r->doc, i, "unlimited")) {
            *ret = SCHED_UNLIMITED;
            return 0;
        }
    }
    return doc_expected(&r->doc, i, key,
                        "bytes above 0 or a size such as \"4G\", up to 8T, or unlimited");
}

/* The seconds of a unit, or 0. */
static int64_t unit_seconds(const char *unit)
{
    if (!*unit || strcmp(unit, "s") == 0)
        return 1;
    if (strcmp(unit, "m") == 0)
        return 60;
    if (strcmp(unit, "h") == 0)
        return 3600;
    if (strcmp(unit, "d") == 0)
        return 86400;
    return strcmp(unit, "w") == 0 ? 7 * 86400 : 0;
}

/* A time in microseconds. */
static bool scan_time(const char *text, int64_t *ret)
{
    size_t n = strspn(text, "0123456789"), decimals = 0;
    int64_t value = 0;

    if (n == 0 || n > 10)
        return false;
    for (size_t k = 0; k < n; k++)
        value = value * 10 + (text[k] - '0');
    text += n;
    if (*text == '.') {
        decimals = strspn(++text, "0123456789");
        if (decimals == 0 || decimals > DECIMALS)
            return false;
    }
    for (size_t k = 0; k < DECIMALS; k++)
        value = value * 10 + (k < decimals ? text[k] - '0' : 0);
    int64_t seconds = unit_seconds(text + decimals);
    if (seconds == 0 || value > TIME_MAX * MICROSECONDS / seconds)
        return false;
    *ret = value * seconds;
    return true;
}

/* The ticks of a time in microseconds, rounded up. */
static int64_t ticks_rounded_up(const struct reading *r, int64_t time)
{
    int64_t part = time % MICROSECONDS * r->second;
    return time / MICROSECONDS * r->second + (part + MICROSECONDS - 1) / MICROSECONDS;
}

int value_time(const struct reading *r, uint32_t i, const char *key, enum time_kind kind,
               int64_t *ret)
{
    static const char *const words[] = {[TIME_UNLIMITED_TOO] = "unlimited",
                                        [TIME_OR_UNLIMITED] = "unlimited",
                                        [TIME_OR_UNKNOWN] = "unknown",
                                        [TIME_OR_NONE] = "none"};
    const char *word = words[kind];
    bool zero = kind == TIME_ZERO_TOO || kind == TIME_UNLIMITED_TOO;
    int64_t time;
    char expected[128];

    if (i == DOC_NONE)
        return 0;
    if (doc_is_text(&r->doc, i)) {
        if (scan_time(doc_text(&r->doc, i), &time) && (time > 0 || zero)) {
            *ret = ticks_rounded_up(r, time);
            return 0;
        }
        if (word && doc_is(&r->doc, i, word)) {
            *ret = SCHED_UNLIMITED;
            return 0;
        }
    }
    snprintf(expected, sizeof(expected),
             "seconds, or a number with s, m, h, d or w as in 1.5h, %sup to 100 years%s%s",
             zero ? "" : "above 0 and ", word ? ", or " : "", word ? word : "");
    return doc_expected(&r->doc, i, key, expected);
}

int value_date(const struct reading *r, uint32_t i, const char *key, int64_t *ret)
{
    int64_t seconds, time;

    if (i == DOC_NONE)
        return 0;
    if (doc_is_text(&r->doc, i) && scan_time(doc_text(&r->doc, i), &time)) {
        *ret = ticks_rounded_up(r, time);
        return 0;
    }
    if (!doc_is_text(&r->doc, i) || date_read(doc_text(&r->doc, i), &seconds) < 0 ||
        seconds > TIME_MAX)
        return doc_expected(&r->doc, i, key,
                            "a date such as 2026-12-24T18:00, or seconds, up to 100 years");
    *ret = seconds * r->second;
    return 0;
}

int value_misplaced(const struct reading *r, uint32_t i, const char *key, const char *where)
{
    return doc_fault(&r->doc, i, "key \"%s\": expected %s", key, where);
}
