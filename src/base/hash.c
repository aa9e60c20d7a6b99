#include "config.h"

#include "src/base/hash.h"

#include "src/base/bytes.h"
#include "src/base/random.h"

#define K0 UINT64_C(0x9e3779b97f4a7c15)
#define K1 UINT64_C(0xd6e8feb86659fd93)
#define K2 UINT64_C(0xa0761d6478bd642f)

__extension__ typedef unsigned __int128 wide;

static uint64_t fold(uint64_t a, uint64_t b)
{
    wide m = (wide)a * b;

    return (uint64_t)m ^ (uint64_t)(m >> 64);
}

uint64_t hash_bytes(struct str s, uint64_t seed)
{
    uint64_t h = seed ^ fold(s.len ^ K0, seed ^ K2);
    size_t i = 0;

    if (s.ptr == NULL) /* empty: pointer arithmetic on NULL is undefined */
        s.ptr = "";
    for (; s.len - i >= 16; i += 16)
        h = fold(load_le64(s.ptr + i) ^ K0 ^ h, load_le64(s.ptr + i + 8) ^ K1 ^ seed);
    if (s.len - i >= 8) {
        h = fold(load_le64(s.ptr + i) ^ K1 ^ h, K2 ^ seed);
        i += 8;
    }
    return fold(h ^ load_le(s.ptr + i, (unsigned)(s.len - i)) ^ K0, K1 ^ seed);
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
