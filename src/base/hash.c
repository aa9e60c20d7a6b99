#include "config.h"

#include "src/base/hash.h"

#include "src/base/bytes.h"
#include "src/base/random.h"

#define K0 HASH_K0
#define K1 HASH_K1
#define K2 UINT64_C(0xa0761d6478bd642f)

uint64_t hash_bytes(struct str s, uint64_t seed)
{
    uint64_t h = seed ^ hash_fold(s.len ^ K0, seed ^ K2);
    size_t i = 0;

    if (s.ptr == NULL) /* empty: pointer arithmetic on NULL is undefined */
        s.ptr = "";
    for (; s.len - i >= 16; i += 16)
        h = hash_fold(load_le64(s.ptr + i) ^ K0 ^ h, load_le64(s.ptr + i + 8) ^ K1 ^ seed);
    if (s.len - i >= 8) {
        h = hash_fold(load_le64(s.ptr + i) ^ K1 ^ h, K2 ^ seed);
        i += 8;
    }
    return hash_fold(h ^ load_le(s.ptr + i, (unsigned)(s.len - i)) ^ K0, K1 ^ seed);
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
