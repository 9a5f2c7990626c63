/* Random numbers that are the same on every machine. */
#include "sim/rng.h"

#include <assert.h>
#include <math.h>

#define LN_2 0.69314718055994530942

uint64_t rng_next(struct rng *rng)
{
    rng->state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t bits = rng->state;
    bits = (bits ^ (bits >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    bits = (bits ^ (bits >> 27)) * UINT64_C(0x94d049bb133111eb);
    return bits ^ (bits >> 31);
}

double rng_uniform(struct rng *rng)
{
    /* the middles of 2^52 equal parts */
    return ldexp((double)(rng_next(rng) >> 12) + 0.5, -52);
}

/* Marsaglia's polar method. The second value that a pair of uniforms would give is not used, so
 * that the state remains a single number.
 */
double rng_normal(struct rng *rng)
{
    for (;;) {
        double x = 2 * rng_uniform(rng) - 1;
        double y = 2 * rng_uniform(rng) - 1;
        double square = x * x + y * y;
        if (square < 1 && square > 0)
            return x * sqrt(-2 * rng_ln(square) / square);
    }
}

/* Marsaglia and Tsang, "A simple method for generating gamma variables", ACM TOMS 26(3), 2000: the
 * cube of a shifted normal variable has nearly the right density, and the excess is rejected.
 */
double rng_gamma(struct rng *rng, double shape, double scale)
{
    assert(shape >= 1);
    double d = shape - 1.0 / 3;
    double c = 1 / sqrt(9 * d);
    for (;;) {
        double x = rng_normal(rng);
        double root = 1 + c * x;
        if (root <= 0)
            continue;
        double v = root * root * root;
        if (rng_ln(rng_uniform(rng)) < x * x / 2 + d * (1 - v + rng_ln(v)))
            return d * v * scale;
    }
}

double rng_ln(double x)
{
    assert(x > 0);
    int exponent;
    double mantissa = frexp(x, &exponent);
    if (mantissa < 0.70710678118654752440) {
        mantissa *= 2;
        exponent--;
    }
    /* ln m = 2 artanh ((m - 1) / (m + 1)), whose series falls by 34 a term here */
    double ratio = (mantissa - 1) / (mantissa + 1);
    double square = ratio * ratio;
    double sum = 0;
    for (int k = 25; k >= 1; k -= 2)
        sum = sum * square + 1.0 / k;
    return exponent * LN_2 + 2 * ratio * sum;
}

double rng_exp(double x)
{
    assert(x > -700 && x < 700);
    double exponent = floor(x / LN_2 + 0.5);
    double rest = x - exponent * LN_2;
    double sum = 1;
    for (int k = 16; k >= 1; k--)
        sum = 1 + rest * sum / k;
    return ldexp(sum, (int)exponent);
}
