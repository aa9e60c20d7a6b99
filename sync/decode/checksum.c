#include "config.h"

#include "sync/decode/checksum.h"

#include <zlib.h>

#if defined(__x86_64__)

#include <immintrin.h>

/*
 * Folding after Gopal et al., "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ"
 * (Intel, 2009): powers of x modulo the polynomial, bit-reflected.
 */

#define SIMD __attribute__((target("pclmul,sse4.1")))

SIMD static inline __m128i load(const uint8_t *p)
{
    return _mm_loadu_si128((const __m128i *)(const void *)p);
}

/* Move a on by the distance that k encodes and add next. */
SIMD static inline __m128i fold(__m128i a, __m128i k, __m128i next)
{
    const __m128i low = _mm_clmulepi64_si128(a, k, 0x00);
    const __m128i high = _mm_clmulepi64_si128(a, k, 0x11);

    return _mm_xor_si128(_mm_xor_si128(low, high), next);
}

/* Reduce 128 bits to the 32 of the remainder. */
SIMD static uint32_t reduce(__m128i a)
{
    const __m128i k128 = _mm_set_epi64x(0x00ccaa009e, 0x01751997d0);
    const __m128i k64 = _mm_set_epi64x(0, 0x0163cd6124);
    const __m128i barrett = _mm_set_epi64x(0x01f7011641, 0x01db710641);
    const __m128i low32 = _mm_setr_epi32(~0, 0, ~0, 0);

    a = _mm_xor_si128(_mm_srli_si128(a, 8), _mm_clmulepi64_si128(a, k128, 0x10));

    __m128i b = _mm_srli_si128(a, 4);

    a = _mm_xor_si128(_mm_clmulepi64_si128(_mm_and_si128(a, low32), k64, 0x00), b);
    b = _mm_clmulepi64_si128(_mm_and_si128(a, low32), barrett, 0x10);
    b = _mm_clmulepi64_si128(_mm_and_si128(b, low32), barrett, 0x00);
    return (uint32_t)_mm_extract_epi32(_mm_xor_si128(a, b), 1);
}

/* Shuffle masks: a load before the middle moves bytes up, after it moves them down. */
static const uint8_t shifts[48] = {
    128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, /**/
    0,   1,   2,   3,   4,   5,   6,   7,   8,   9,   10,  11,  12,  13,  14,  15,  /**/
    128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128,
};

/* Fold a and the n < 16 bytes before end. 16 bytes before end must be readable. */
SIMD static __m128i fold_rest(__m128i a, __m128i k128, const uint8_t *end, size_t n)
{
    const __m128i down = load(shifts + 16 + n);
    const __m128i first = _mm_shuffle_epi8(a, load(shifts + n));
    const __m128i second = _mm_blendv_epi8(_mm_shuffle_epi8(a, down), load(end - 16), down);

    return fold(first, k128, second);
}

/* n is at least 16. crc is inverted on the way in and out. */
SIMD static uint32_t fold_all(uint32_t crc, const uint8_t *p, size_t n)
{
    const __m128i k512 = _mm_set_epi64x(0x01c6e41596, 0x0154442bd4);
    const __m128i k128 = _mm_set_epi64x(0x00ccaa009e, 0x01751997d0);
    __m128i a = _mm_xor_si128(load(p), _mm_cvtsi32_si128((int)crc));

    if (n >= 64) {
        __m128i b = load(p + 16), c = load(p + 32), d = load(p + 48);

        for (p += 64, n -= 64; n >= 64; p += 64, n -= 64) {
            a = fold(a, k512, load(p));
            b = fold(b, k512, load(p + 16));
            c = fold(c, k512, load(p + 32));
            d = fold(d, k512, load(p + 48));
        }
        a = fold(fold(fold(a, k128, b), k128, c), k128, d);
    } else {
        p += 16;
        n -= 16;
    }
    for (; n >= 16; p += 16, n -= 16)
        a = fold(a, k128, load(p));
    return reduce(n > 0 ? fold_rest(a, k128, p + n, n) : a);
}

uint32_t checksum_crc32(uint32_t crc, const uint8_t *p, size_t n)
{
    if (n >= 16 && __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("sse4.1"))
        return ~fold_all(~crc, p, n);
    return (uint32_t)crc32_z(crc, p, n);
}

#else

uint32_t checksum_crc32(uint32_t crc, const uint8_t *p, size_t n)
{
    return (uint32_t)crc32_z(crc, p, n);
}

#endif
