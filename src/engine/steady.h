/* The clock that nobody sets. */
#ifndef ENGINE_STEADY_H
#define ENGINE_STEADY_H

#include <stdint.h>
#include <time.h>

/* Milliseconds since some time. */
static inline int64_t steady_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

#endif
