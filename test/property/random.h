/* The seeded generator of the property tests: the same steps on every machine. */
#ifndef PROPERTY_RANDOM_H
#define PROPERTY_RANDOM_H

#include <stdint.h>

struct random {
    uint64_t state;
};

/* splitmix64 (Steele, Lea and Flood 2014). */
static inline uint64_t random_next(struct random *r)
{
    uint64_t z = r->state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* Evenly from low to high, both included. */
static inline int64_t random_between(struct random *r, int64_t low, int64_t high)
{
    return low + (int64_t)(random_next(r) % (uint64_t)(high - low + 1));
}

/* How many of n seeds or rounds are played: under sanitizers, which slow a model down ten times, a quarter of them. */
#ifndef __has_feature
#define __has_feature(feature) 0
#endif
#if __has_feature(address_sanitizer) || defined(__SANITIZE_ADDRESS__)
#define RANDOM_ROUNDS(n) (((n) + 3) / 4)
#else
#define RANDOM_ROUNDS(n) (n)
#endif

#endif
