/*
 * How fast delivery alone is: flat documents, made before the clock starts, into a real engine.
 *
 *     bench_delivery URL [DOCUMENTS [ROUNDS]]
 *
 * Makes the index bench_delivery_v1 anew for each round.  Prints documents a second, and the
 * processor time that a document cost in this process (submitting and delivering).
 */
#include "config.h"

#include "src/base/buf.h"
#include "src/base/clock.h"
#include "src/base/mem.h"
#include "src/base/random.h"
#include "src/config/configuration.h"
#include "src/search/search.h"
#include "sync/delivery/delivery.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#define SLICE 200

static const char index_body[] =
    "{\"settings\":{\"number_of_shards\":1,\"number_of_replicas\":0},\"aliases\":"
    "{\"bench_delivery_write\":{}},\"mappings\":{\"dynamic\":\"strict\",\"properties\":{"
    "\"id\":{\"type\":\"integer\"},\"sku\":{\"type\":\"keyword\"},\"status\":{\"type\":"
    "\"keyword\"},\"category\":{\"type\":\"keyword\"},\"quantity\":{\"type\":\"integer\"},"
    "\"updated_at\":{\"type\":\"date\"},\"title\":{\"type\":\"text\"},\"description\":{"
    "\"type\":\"text\"}}}}";

static const char *const words[] = {"red",    "green",  "steel",   "cotton", "summer", "winter",
                                    "light",  "heavy",  "fast",    "slow",   "large",  "small",
                                    "garden", "office", "kitchen", "travel"};

struct bench {
    struct search *search;
    struct target *target;
    struct ticket_counters tickets;
    struct doc_write *writes;
    struct buf *bodies;
    char (*ids)[24];
    size_t n;
};

static void check(bool ok, const struct err *err)
{
    if (ok)
        return;
    fprintf(stderr, "bench_delivery: %s\n", err->msg);
    exit(1);
}

static void put_words(struct buf *b, struct random *r, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        buf_printf(b, "%s ", words[random_below(r, ARRAY_LEN(words))]);
}

static void make_documents(struct bench *b)
{
    struct random r;

    random_init(&r, 1);
    b->writes = mem_alloc(b->n, sizeof(*b->writes));
    b->bodies = mem_alloc(b->n, sizeof(*b->bodies));
    b->ids = mem_alloc(b->n, sizeof(*b->ids));
    for (size_t i = 0; i < b->n; i++) {
        struct buf *body = &b->bodies[i];

        snprintf(b->ids[i], sizeof(b->ids[i]), "%zu", i);
        buf_printf(body,
                   "{\"id\":%zu,\"sku\":\"SKU-%08x\",\"status\":\"active\",\"category\":"
                   "\"cat-%03u\",\"quantity\":%u,\"updated_at\":\"2024-05-%02uT12:00:00Z\","
                   "\"title\":\"",
                   i, (unsigned)random_next(&r), (unsigned)random_below(&r, 400),
                   (unsigned)random_below(&r, 10000), 1 + (unsigned)random_below(&r, 28));
        put_words(body, &r, 5);
        buf_append(body, STR("\",\"description\":\""));
        put_words(body, &r, 24);
        buf_append(body, STR("\"}"));
    }
}

static void reset_index(struct bench *b)
{
    struct err err;

    check(search_delete_index(b->search, STR("bench_delivery_v1"), &err), &err);
    check(search_create_index(b->search, STR("bench_delivery_v1"), str_from(index_body), &err),
          &err);
}

static double cpu_seconds(void)
{
    struct rusage u;

    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

static void submit_all(struct bench *b, struct delivery *d)
{
    struct err err;

    for (size_t i = 0; i < b->n; i++) {
        b->writes[i] = (struct doc_write){
            .target = target_ref(b->target),
            .ticket = ticket_new(NULL, 0, &b->tickets),
            .op = DOC_INDEX,
            .version = 1000 + i,
            .id = str_from(b->ids[i]),
            .body = buf_str(&b->bodies[i]),
        };
        if (i % SLICE != SLICE - 1 && i != b->n - 1)
            continue;

        const size_t first = i - i % SLICE;

        check(delivery_submit(d, &b->writes[first], i - first + 1, &err), &err);
    }
}

static void run_round(struct bench *b)
{
    struct configuration *defaults = configuration_new();
    const struct delivery_options opt = {
        .settings = configuration_settings(defaults)->delivery,
    };
    struct delivery *d = delivery_new(b->search, &opt);
    struct rusage usage;

    configuration_free(defaults);
    reset_index(b);
    delivery_start(d);

    const double cpu_start = cpu_seconds();
    const int64_t start_ms = clock_mono_ms();

    submit_all(b, d);
    if (!delivery_drain(d, 600000)) {
        fprintf(stderr, "bench_delivery: not all was delivered\n");
        exit(1);
    }

    const double seconds = (double)(clock_mono_ms() - start_ms) / 1000;
    const double cpu = cpu_seconds() - cpu_start;
    const struct delivery_status status = delivery_status(d);

    getrusage(RUSAGE_SELF, &usage);
    printf("%.0f documents/s, %.2f s, %.2f us/document of our own, %llu requests, %llu "
           "retries, %ld MiB peak\n",
           (double)b->n / seconds, seconds, cpu / (double)b->n * 1e6,
           (unsigned long long)status.requests, (unsigned long long)status.retries,
           usage.ru_maxrss / 1024);
    fflush(stdout);
    delivery_stop(d);
    delivery_free(d);
}

int main(int argc, char **argv)
{
    const char *url = argc > 1 ? argv[1] : "http://127.0.0.1:9200";
    const struct search_options search = {.urls = &url, .n_urls = 1};
    struct bench b = {.n = argc > 2 ? strtoul(argv[2], NULL, 10) : 300000};
    const int rounds = argc > 3 ? (int)strtol(argv[3], NULL, 10) : 3;

    b.search = search_new(&search);
    b.target = target_new(STR("bench_delivery_v1"), STR("bench_delivery_write"),
                          STR("bench.flat"), STR("bench"));
    make_documents(&b);
    for (int i = 0; i < rounds; i++)
        run_round(&b);
    for (size_t i = 0; i < b.n; i++)
        buf_free(&b.bodies[i]);
    free(b.bodies);
    free(b.ids);
    free(b.writes);
    target_unref(b.target);
    search_free(b.search);
    return b.tickets.done[OUTCOME_DELIVERED] == b.tickets.read ? 0 : 1;
}
