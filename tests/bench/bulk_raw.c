/*
 * A raw _bulk client: the most that the engine takes, to measure Millrace against.
 *
 *     bulk_raw URL INDEX FILE CONNECTIONS BODY_KIB VERSION|none
 *
 * FILE has two lines a document: its id as a JSON text, and its source.  All request bodies are
 * made before the clock starts; then CONNECTIONS threads send them, each one request at a time.
 * With a VERSION the writes are external_gte and count up from it.  Prints documents, seconds,
 * and documents a second; exit status 1 if anything was refused.
 */
#include "config.h"

#include <curl/curl.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct body {
    char *text;
    size_t len, cap;
    size_t n_docs;
};

struct plan {
    char url[512];
    struct body *bodies;
    size_t n_bodies;
    atomic_size_t next;
    atomic_size_t refused;
};

struct answer {
    char head[256];
    size_t len;
};

static void fail(const char *what)
{
    fprintf(stderr, "bulk_raw: %s: %s\n", what, strerror(errno));
    exit(2);
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void append(struct body *b, const char *text, size_t len)
{
    if (b->len + len > b->cap) {
        b->cap = (b->len + len) * 2;
        b->text = realloc(b->text, b->cap);
        if (b->text == NULL)
            fail("memory");
    }
    memcpy(b->text + b->len, text, len);
    b->len += len;
}

static struct body *new_body(struct plan *p)
{
    p->bodies = realloc(p->bodies, (p->n_bodies + 1) * sizeof(*p->bodies));
    if (p->bodies == NULL)
        fail("memory");
    p->bodies[p->n_bodies] = (struct body){0};
    return &p->bodies[p->n_bodies++];
}

static void add_action(struct body *b, const char *id, size_t len, uint64_t version)
{
    char tail[96];
    int n = snprintf(tail, sizeof(tail), "}}\n");

    if (version > 0)
        n = snprintf(tail, sizeof(tail),
                     ",\"version\":%" PRIu64 ",\"version_type\":\"external_gte\"}}\n", version);
    append(b, "{\"index\":{\"_id\":", 16);
    append(b, id, len);
    append(b, tail, (size_t)n);
}

/* Cut the documents of file into request bodies. */
static void make_bodies(struct plan *p, const char *path, size_t body_max, uint64_t version)
{
    FILE *f = fopen(path, "r");
    char *id = NULL, *source = NULL;
    size_t id_cap = 0, source_cap = 0;
    struct body *b = NULL;
    ssize_t id_len, len;

    if (f == NULL)
        fail(path);
    while ((id_len = getline(&id, &id_cap, f)) > 0 &&
           (len = getline(&source, &source_cap, f)) > 0) {
        if (b == NULL || b->len >= body_max)
            b = new_body(p);
        add_action(b, id, (size_t)id_len - 1, version);
        append(b, source, (size_t)len);
        b->n_docs++;
        version += version > 0;
    }
    free(id);
    free(source);
    fclose(f);
}

static size_t on_answer(char *data, size_t size, size_t n, void *ctx)
{
    struct answer *a = ctx;
    size_t room = sizeof(a->head) - 1 - a->len;
    size_t take = n < room ? n : room;

    (void)size;
    memcpy(a->head + a->len, data, take);
    a->len += take;
    a->head[a->len] = '\0';
    return n;
}

static bool accepted(CURL *curl, const struct answer *a)
{
    long status = 0;

    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    return status == 200 && strstr(a->head, "\"errors\":false") != NULL;
}

static void *send_bodies(void *ctx)
{
    struct plan *p = ctx;
    CURL *curl = curl_easy_init();
    struct curl_slist *headers = curl_slist_append(NULL, "Content-Type: application/x-ndjson");
    size_t i;

    headers = curl_slist_append(headers, "Expect:");
    curl_easy_setopt(curl, CURLOPT_URL, p->url);
    curl_easy_setopt(curl, CURLOPT_POST, 1L);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_answer);
    while ((i = atomic_fetch_add(&p->next, 1)) < p->n_bodies) {
        struct answer a = {.len = 0};

        curl_easy_setopt(curl, CURLOPT_WRITEDATA, &a);
        curl_easy_setopt(curl, CURLOPT_POSTFIELDS, p->bodies[i].text);
        curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)p->bodies[i].len);
        if (curl_easy_perform(curl) != CURLE_OK || !accepted(curl, &a)) {
            if (atomic_fetch_add(&p->refused, 1) == 0)
                fprintf(stderr, "bulk_raw: refused: %s\n", a.head);
        }
    }
    curl_slist_free_all(headers);
    curl_easy_cleanup(curl);
    return NULL;
}

static double send_all(struct plan *p, size_t n_connections)
{
    pthread_t *threads = calloc(n_connections, sizeof(*threads));
    double start = now();

    if (threads == NULL)
        fail("memory");
    for (size_t i = 0; i < n_connections; i++) {
        if (pthread_create(&threads[i], NULL, send_bodies, p) != 0)
            fail("thread");
    }
    for (size_t i = 0; i < n_connections; i++)
        pthread_join(threads[i], NULL);
    free(threads);
    return now() - start;
}

int main(int argc, char **argv)
{
    static struct plan p;
    size_t docs = 0;
    uint64_t version;
    double seconds;

    if (argc != 7) {
        fprintf(stderr, "usage: bulk_raw URL INDEX FILE CONNECTIONS BODY_KIB VERSION|none\n");
        return 2;
    }
    version = strcmp(argv[6], "none") == 0 ? 0 : strtoull(argv[6], NULL, 10);
    snprintf(p.url, sizeof(p.url), "%s/%s/_bulk?filter_path=took,errors", argv[1], argv[2]);
    make_bodies(&p, argv[3], (size_t)strtoul(argv[5], NULL, 10) * 1024, version);
    curl_global_init(CURL_GLOBAL_ALL);
    seconds = send_all(&p, (size_t)strtoul(argv[4], NULL, 10));
    for (size_t i = 0; i < p.n_bodies; i++) {
        docs += p.bodies[i].n_docs;
        free(p.bodies[i].text);
    }
    free(p.bodies);
    curl_global_cleanup();
    printf("%zu %.3f %.0f\n", docs, seconds, (double)docs / seconds);
    return atomic_load(&p.refused) > 0;
}
