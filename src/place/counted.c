#include "place/counted.h"

#include <errno.h>

#include "base/errtext.h"

/* One unit is as good as another: all are one part. */
int64_t counted_part(struct place *place, const char *requires, berth_error_t *err)
{
    (void)place, (void) requires, (void)err;
    return 0;
}

bool counted_is_stuck(struct place *place, const struct place_ask *ask, int64_t booking, int64_t at,
                      bool apart)
{
    (void)place, (void)ask, (void)booking, (void)at, (void)apart;
    return false;
}

bool counted_betters(struct place *place, const struct place_ask *ask, int64_t booking, int64_t at,
                     uint64_t since)
{
    (void)place, (void)ask, (void)booking, (void)at, (void)since;
    return false;
}

void counted_try(struct place *place, bool begin)
{
    (void)place, (void)begin;
}

int64_t counted_turn(const struct place *place, int64_t now)
{
    (void)place, (void)now;
    return INT64_MAX;
}

int counted_hints(struct place *place, const char **text, size_t *length)
{
    (void)place, (void)text, (void)length;
    errno = EINVAL;
    return -1;
}

int counted_take_hints(struct place *place, const char *text, size_t length, berth_error_t *err)
{
    (void)place, (void)text, (void)length;
    return errtext_set(err, EINVAL, "this scheduler has no named resources");
}
