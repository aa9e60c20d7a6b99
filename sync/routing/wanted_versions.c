#include "config.h"

#include "sync/routing/wanted_versions.h"

#include "sync/position/position.h"

#include "src/base/clock.h"
#include "src/base/lock.h"
#include "src/base/mem.h"
#include "sync/delivery/document/target.h"
#include "sync/routing/routing.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct wanted_versions {
    struct lock lock;
    pthread_cond_t changed;

    /* All guarded by lock. */
    struct version_spec **specs;
    size_t n_specs;
    uint64_t wanted, taken; /* generations */
    uint64_t taken_at;
    struct routing *routing;
};

struct wanted_versions *wanted_versions_new(void)
{
    struct wanted_versions *a = mem_alloc(1, sizeof(*a));
    lock_init(&a->lock, LOCK_private);
    lock_init_cond(&a->changed);
    return a;
}

void wanted_versions_free(struct wanted_versions *a)
{
    if (a == NULL)
        return;
    version_specs_free(a->specs, a->n_specs);
    routing_unref(a->routing);
    pthread_cond_destroy(&a->changed);
    lock_fini(&a->lock);
    free(a);
}

uint64_t wanted_versions_set(struct wanted_versions *a, const struct version_spec *const *specs,
                             size_t n)
{
    struct version_spec **copy = version_specs_copy(specs, n);

    lock_acquire(&a->lock);
    version_specs_free(a->specs, a->n_specs);
    a->specs = copy;
    a->n_specs = n;

    const uint64_t generation = ++a->wanted;

    lock_release(&a->lock);
    return generation;
}

void wanted_versions_renew(struct wanted_versions *a)
{
    lock_acquire(&a->lock);
    a->wanted++;
    lock_release(&a->lock);
}

void wanted_versions_stop(struct wanted_versions *a, const char *index)
{
    lock_acquire(&a->lock);
    for (size_t i = 0; i < a->n_specs; i++)
        if (strcmp(a->specs[i]->index, index) == 0)
            a->specs[i]->stopped = true;
    lock_release(&a->lock);
}

struct version_spec **wanted_versions_specs(struct wanted_versions *a, size_t *n,
                                            uint64_t *generation)
{
    lock_acquire(&a->lock);

    struct version_spec **copy =
        version_specs_copy((const struct version_spec *const *)a->specs, a->n_specs);

    *n = a->n_specs;
    *generation = a->wanted;
    lock_release(&a->lock);
    return copy;
}

void wanted_versions_take(struct wanted_versions *a, struct routing *routing,
                          uint64_t generation, uint64_t at)
{
    lock_acquire(&a->lock);
    routing_unref(a->routing);
    a->routing = routing;
    a->taken = generation;
    a->taken_at = at;
    pthread_cond_broadcast(&a->changed);
    lock_release(&a->lock);
}

static bool is_among(struct target *const *targets, size_t n, struct str index)
{
    for (size_t i = 0; i < n; i++)
        if (str_equal(str_from(targets[i]->index), index))
            return true;
    return false;
}

bool wanted_versions_has_taken(struct wanted_versions *a, struct str index, uint64_t *at)
{
    lock_acquire(&a->lock);

    const struct routing *r = a->routing;
    const bool has =
        r != NULL && position_fields(a->taken_at).file != 0 &&
        (is_among(r->targets, r->n_targets, index) || is_among(r->guests, r->n_guests, index));

    if (has)
        *at = a->taken_at;
    lock_release(&a->lock);
    return has;
}

bool wanted_versions_is_taken(struct wanted_versions *a)
{
    lock_acquire(&a->lock);

    const bool is = a->taken == a->wanted && a->routing != NULL;

    lock_release(&a->lock);
    return is;
}

bool wanted_versions_wait(struct wanted_versions *a, uint64_t generation, int64_t timeout_ms,
                          uint64_t *at)
{
    const int64_t until_ms = clock_mono_ms() + timeout_ms;
    bool in_time = true;

    lock_acquire(&a->lock);
    while (a->taken < generation && in_time)
        in_time = lock_wait_until(&a->lock, &a->changed, until_ms);
    *at = a->taken_at;

    const bool ok = a->taken >= generation;

    lock_release(&a->lock);
    return ok;
}

struct routing *wanted_versions_routing(struct wanted_versions *a)
{
    lock_acquire(&a->lock);

    struct routing *r = a->routing == NULL ? NULL : routing_ref(a->routing);

    lock_release(&a->lock);
    return r;
}
