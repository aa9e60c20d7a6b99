#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/mem.h"
#include "src/base/thread.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __GLIBC__ /* known only after one of its headers */
#include <malloc.h>
#endif

#define THREADS 24

struct user {
    pthread_barrier_t all_have;
    void *blocks[THREADS];
    unsigned n; /* atomic */
};

static void *use(void *arg)
{
    struct user *u = arg;
    const unsigned i = __atomic_fetch_add(&u->n, 1, __ATOMIC_RELAXED);

    u->blocks[i] = mem_alloc(1, 1000);
    pthread_barrier_wait(&u->all_have);
    return NULL;
}

/* The heaps that the C library tells of. */
static size_t count_heaps(void)
{
    size_t n = 0;
#ifdef __GLIBC__
    char *text = NULL;
    size_t len;
    FILE *f = open_memstream(&text, &len);

    assert_non_null(f);
    assert_int_equal(malloc_info(0, f), 0);
    fclose(f);
    for (const char *at = text; (at = strstr(at, "<heap nr=")) != NULL; at++)
        n++;
    free(text);
#endif
    return n;
}

/* Else each thread keeps what it once freed, for itself. */
static void threads_share_few_heaps(void **state)
{
    struct user u = {.n = 0};
    pthread_t threads[THREADS];

    (void)state;
    mem_share_heap();
    pthread_barrier_init(&u.all_have, NULL, THREADS);
    for (int i = 0; i < THREADS; i++)
        threads[i] = thread_start("user", use, &u);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&u.all_have);
    assert_in_range(count_heaps(), 0, 2);
    for (int i = 0; i < THREADS; i++)
        free(u.blocks[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_share_few_heaps),
    };
    return cmocka_run_group_tests_name("mem", tests, NULL, NULL);
}
