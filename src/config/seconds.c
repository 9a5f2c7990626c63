#include "config/seconds.h"

#include <math.h>

/* A double that was read from text is the one nearest to the written number, and so is the quotient of two
 * whole numbers. So they are equal if the written number is a whole number of ticks. Doubles of this size lie
 * closer together than ticks.
 */
static bool is_ticks(double seconds, int64_t ticks)
{
    return (double)ticks / (double)SECONDS_TICKS == seconds;
}

bool seconds_read(const json_t *value, int64_t *ticks)
{
    if (json_is_integer(value)) {
        json_int_t whole = json_integer_value(value);
        if (whole < 0 || whole > SECONDS_MAX)
            return false;
        *ticks = whole * SECONDS_TICKS;
        return true;
    }
    double seconds = json_is_real(value) ? json_real_value(value) : -1;
    if (!(seconds >= 0 && seconds <= (double)SECONDS_MAX))
        return false;
    int64_t near = llround(seconds * (double)SECONDS_TICKS);
    for (int64_t t = near - 1; t <= near + 1; t++) {
        if (t >= 0 && is_ticks(seconds, t)) {
            *ticks = t;
            return true;
        }
    }
    return false;
}

void seconds_put(struct strbuf *out, int64_t ticks)
{
    uint64_t rest = ticks < 0 ? 0 - (uint64_t)ticks : (uint64_t)ticks;
    if (ticks < 0)
        strbuf_putc(out, '-');
    strbuf_put_uint(out, rest / (uint64_t)SECONDS_TICKS);
    rest %= (uint64_t)SECONDS_TICKS;
    if (rest > 0)
        strbuf_putc(out, '.');
    for (uint64_t unit = (uint64_t)SECONDS_TICKS / 10; rest > 0; unit /= 10) {
        strbuf_putc(out, (char)('0' + rest / unit));
        rest %= unit;
    }
}

void json_put_seconds(struct json_out *out, const char *key, int64_t ticks)
{
    json_key(out, key);
    if (ticks < 0)
        strbuf_puts(out->text, "null");
    else
        seconds_put(out->text, ticks);
}
