/* Random numbers that are the same on every machine.
 *
 * The generator is SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number
 * generators", OOPSLA 2014). Nothing here calls a function of the C library whose last digit may
 * differ between libraries: only frexp, ldexp, floor and sqrt, which are exact, and arithmetic. So
 * one seed gives the same numbers wherever doubles are IEEE 754 and the compiler fuses no
 * multiplication with an addition.
 */
#ifndef SIM_RNG_H
#define SIM_RNG_H

#include <stdint.h>

struct rng {
    uint64_t state; /* the seed; every value is a good one */
};

/* 64 random bits. */
uint64_t rng_next(struct rng *rng);

/* Uniform in (0, 1): neither end comes up. */
double rng_uniform(struct rng *rng);

/* Normal with mean 0 and deviation 1. */
double rng_normal(struct rng *rng);

/* Gamma with the given shape, at least 1, and scale: mean shape * scale, variance shape * scale^2.
 */
double rng_gamma(struct rng *rng, double shape, double scale);

/* Natural logarithm of x > 0, and e to the x for |x| < 700: to about 15 digits, and to the same bit
 * on every machine.
 */
double rng_ln(double x);
double rng_exp(double x);

#endif
