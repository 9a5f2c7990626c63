/* What is to hold at a time of a scene that was drawn from a seed. */
#ifndef PROPERTY_CHECK_H
#define PROPERTY_CHECK_H

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* The test fails and says in which scene and when: `at` is a structure with `seed` and `now`. */
#define CHECK_IN(at, condition)                                                                    \
    do {                                                                                           \
        if (!(condition))                                                                          \
            fail_msg("seed %" PRIu64 ", time %" PRId64 ", %s:%d: does not hold: %s", (at).seed,    \
                     (at).now, __FILE__, __LINE__, #condition);                                    \
    } while (0)

#endif
