#include "config.h"

#include "src/base/hash.h"

#include "src/base/bytes.h"
#include "src/base/random.h"

#define K0 HASH_K0
#define K1 HASH_K1
#define K2 UINT64_C(0xa0761d6478bd642f)

/*
 * The last bytes are read with loads that overlap, so that their number costs few branches; the
 * length is mixed in, so that they tell all.
 */
uint64_t hash_bytes(struct str s, uint64_t seed)
{
    uint64_t h = seed ^ hash_fold(s.len ^ K0, seed ^ K2), a = 0, b = 0;
    const char *p = s.ptr;
    size_t n = s.len;

    for (; n > 16; p += 16, n -= 16)
        h = hash_fold(load_le64(p) ^ K0 ^ h, load_le64(p + 8) ^ K1 ^ seed);
    if (s.len >= 16) {
        a = load_le64(p + n - 16);
        b = load_le64(p + n - 8);
    } else if (n >= 8) {
        a = load_le64(p);
        b = load_le64(p + n - 8);
    } else if (n > 0) {
        a = load_le(p, (unsigned)n);
    }
    h = hash_fold(a ^ K0 ^ h, b ^ K1 ^ seed);
    return hash_fold(h ^ K0, K1 ^ seed);
}

uint64_t hash_seed(void)
{
    static uint64_t seed; /* atomic; 0: not drawn yet */
    uint64_t now = __atomic_load_n(&seed, __ATOMIC_RELAXED);

    if (now != 0)
        return now;

    uint64_t drawn;

    random_bytes(&drawn, sizeof(drawn));
    drawn |= 1;
    return __atomic_compare_exchange_n(&seed, &now, drawn, false, __ATOMIC_RELAXED,
                                       __ATOMIC_RELAXED)
               ? drawn
               : now;
}
