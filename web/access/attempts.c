#include "config.h"

#include "web/access/attempts.h"

#include "src/base/hash.h"
#include "src/base/lock.h"
#include "src/base/mem.h"

#include <stdlib.h>

#define COUNTERS  16384 /* 16 bytes each; pages that nobody touched take no memory */
#define FORGET_MS 900000

struct attempt_counter {
    unsigned failures;
    int64_t last_ms;
};

struct attempts {
    struct lock lock;

    /* Guarded by lock. */
    struct attempt_counter of_name[COUNTERS], of_address[COUNTERS];
};

struct attempts *attempts_new(void)
{
    struct attempts *a = mem_alloc(1, sizeof(*a));

    lock_init(&a->lock, LOCK_private);
    return a;
}

void attempts_free(struct attempts *a)
{
    if (a == NULL)
        return;
    lock_fini(&a->lock);
    free(a);
}

static struct attempt_counter *name_counter(struct attempts *a, struct str name,
                                            struct str address)
{
    const uint64_t h =
        hash_mix(hash_bytes(name, hash_seed()), hash_bytes(address, hash_seed()));

    return &a->of_name[h % COUNTERS];
}

static struct attempt_counter *address_counter(struct attempts *a, struct str address)
{
    return &a->of_address[hash_bytes(address, hash_seed()) % COUNTERS];
}

static void forget_old(struct attempt_counter *c, int64_t now_ms)
{
    if (c->failures > 0 && now_ms - c->last_ms >= FORGET_MS)
        c->failures = 0;
}

static int64_t wait_ms(struct attempt_counter *c, unsigned n_free, int64_t now_ms)
{
    int64_t pause_s = 1;

    forget_old(c, now_ms);
    if (c->failures < n_free)
        return 0;
    for (unsigned i = n_free; i < c->failures && pause_s < ATTEMPTS_PAUSE_MAX_S; i++)
        pause_s *= 2;
    if (pause_s > ATTEMPTS_PAUSE_MAX_S)
        pause_s = ATTEMPTS_PAUSE_MAX_S;

    const int64_t left_ms = c->last_ms + pause_s * 1000 - now_ms;

    return left_ms > 0 ? left_ms : 0;
}

static void count(struct attempt_counter *c, int64_t now_ms)
{
    c->failures++;
    c->last_ms = now_ms;
}

int64_t attempts_begin(struct attempts *a, struct str name, struct str address, int64_t now_ms)
{
    if (a == NULL)
        return 0;
    lock_acquire(&a->lock);

    struct attempt_counter *names = name_counter(a, name, address);
    struct attempt_counter *addresses = address_counter(a, address);
    const int64_t of_name = wait_ms(names, ATTEMPTS_FREE, now_ms);
    const int64_t of_address = wait_ms(addresses, ATTEMPTS_FREE_AN_ADDRESS, now_ms);
    const int64_t longer = of_name > of_address ? of_name : of_address;

    if (longer == 0) {
        count(names, now_ms);
        count(addresses, now_ms);
    }
    lock_release(&a->lock);
    return longer;
}

void attempts_forgive(struct attempts *a, struct str name, struct str address)
{
    if (a == NULL)
        return;
    lock_acquire(&a->lock);

    struct attempt_counter *addresses = address_counter(a, address);

    name_counter(a, name, address)->failures = 0;
    if (addresses->failures > 0)
        addresses->failures--;
    lock_release(&a->lock);
}
