/* Job ids as text. */
#include "base/jobid.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#define HOOK "\xc6\x92" /* the letter ƒ */

/* Digits by value: of base 58, and in front of them none that looks like another. */
static const char base58[] = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
static const char base16[] = "0123456789abcdef";

static int digit_of(char c, unsigned base)
{
    if (base == 58) {
        const char *at = memchr(base58, c, sizeof(base58) - 1);
        return at ? (int)(at - base58) : -1;
    }
    if (c >= 'A' && c <= 'F')
        c = (char)(c - 'A' + 'a');
    const char *at = memchr(base16, c, base);
    return at ? (int)(at - base16) : -1;
}

static int parse_in_base(const char *text, size_t length, unsigned base, uint64_t *number)
{
    uint64_t sum = 0;
    bool over = false;
    if (length == 0) {
        errno = EINVAL;
        return -1;
    }
    for (size_t i = 0; i < length; i++) {
        int digit = digit_of(text[i], base);
        if (digit < 0) {
            errno = EINVAL;
            return -1;
        }
        over = over || __builtin_mul_overflow(sum, base, &sum) ||
               __builtin_add_overflow(sum, (uint64_t)digit, &sum);
    }
    if (over) {
        errno = ERANGE;
        return -1;
    }
    *number = sum;
    return 0;
}

/* Four groups of one to four digits. */
static int parse_dothex(const char *text, size_t length, uint64_t *id)
{
    const char *end = text + length;
    uint64_t sum = 0;
    for (int i = 0; i < 4; i++) {
        const char *dot = i < 3 ? memchr(text, '.', (size_t)(end - text)) : end;
        uint64_t group;
        if (!dot || dot - text > 4) {
            errno = EINVAL;
            return -1;
        }
        if (parse_in_base(text, (size_t)(dot - text), 16, &group) < 0)
            return -1;
        sum = sum << 16 | group;
        text = i < 3 ? dot + 1 : end;
    }
    *id = sum;
    return 0;
}

static bool skip(const char **text, size_t *length, const char *prefix)
{
    size_t n = strlen(prefix);
    if (*length < n || memcmp(*text, prefix, n) != 0)
        return false;
    *text += n;
    *length -= n;
    return true;
}

int jobid_parse(const char *text, size_t length, uint64_t *id)
{
    skip(&text, &length, "job.");
    if (length > 0 && memchr(text, '.', length)) /* before F58: it may begin with an f */
        return parse_dothex(text, length, id);
    if (skip(&text, &length, HOOK) || skip(&text, &length, "f"))
        return parse_in_base(text, length, 58, id);
    if (skip(&text, &length, "0x"))
        return parse_in_base(text, length, 16, id);
    return parse_in_base(text, length, 10, id);
}
