#include "config.h"

#include "src/base/random.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

__extension__ typedef unsigned __int128 wide;

static uint64_t rotate(uint64_t x, unsigned k)
{
    return x << k | x >> (64 - k);
}

/* splitmix64 (Steele, Lea, Flood 2014) spreads a seed over the state. */
static uint64_t spread(uint64_t *x)
{
    uint64_t z = *x += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

void random_init(struct random *r, uint64_t seed)
{
    for (size_t i = 0; i < ARRAY_LEN(r->state); i++)
        r->state[i] = spread(&seed);
}

void random_init_system(struct random *r)
{
    uint64_t seed;

    random_bytes(&seed, sizeof(seed));
    random_init(r, seed);
}

/* xoshiro256++ 1.0 (Blackman, Vigna 2019). */
uint64_t random_next(struct random *r)
{
    uint64_t *s = r->state;
    uint64_t result = rotate(s[0] + s[3], 23) + s[0];
    uint64_t t = s[1] << 17;

    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate(s[3], 45);
    return result;
}

/* Lemire 2019: the high half of a product, redrawn in the few biased cases. */
uint64_t random_below(struct random *r, uint64_t n)
{
    assert(n > 0);

    wide m = (wide)random_next(r) * n;
    uint64_t threshold = (0 - n) % n;

    while ((uint64_t)m < threshold)
        m = (wide)random_next(r) * n;
    return (uint64_t)(m >> 64);
}

void random_bytes(void *out, size_t n)
{
    char *p = out;

    while (n > 0) {
        ssize_t got = getrandom(p, n, 0);

        if (got == -1 && errno == EINTR)
            continue;
        if (got <= 0) {
            fprintf(stderr, "getrandom: %s\n", strerror(errno));
            abort();
        }
        p += got;
        n -= (size_t)got;
    }
}
