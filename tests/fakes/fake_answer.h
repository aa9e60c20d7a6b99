/*
 * What a fake search engine's script makes of bulk requests; struct fake_search from inside.
 */
#ifndef TESTS_FAKES_FAKE_ANSWER_H
#define TESTS_FAKES_FAKE_ANSWER_H

#include "src/base/arena.h"
#include "tests/fakes/fake_engine.h"
#include "tests/fakes/fake_http.h"
#include "tests/fakes/fake_search.h"

#include <pthread.h>

struct rule {
    struct rule *next;
    struct fake_rule is; /* strings in the arena */
    unsigned n_seen;
};

struct map;
struct zombie;

struct fake_search {
    struct fake_http *http;
    char url[64];

    pthread_mutex_t lock;

    /* All guarded by lock. */
    struct fake_engine *engine;
    struct rule *rules;
    struct zombie *zombies;
    struct arena *strings;
    struct fake_item *items;
    size_t n_items, items_cap;
    uint64_t n_requests;
    unsigned n_now, n_most, n_cleared;
    size_t largest_body;
    const struct fake_key *key; /* of signatures; NULL: none are wanted */
    int64_t ahead_ms;
    const struct fake_voice *voice; /* NULL: it takes everything */
    struct map *mappings;           /* of an index: its text, as it was put last */
    uint64_t n_refused;
    unsigned get_fails; /* so many more reads of documents are answered so: */
    int get_status;
    int64_t others; /* documents that indexes of others have taken; -1: it does not say */
};

/* A copy that lives as long as f. */
const char *fake_search_keep(struct fake_search *f, struct str s);

/* alias: of the path, or empty. */
void fake_answer_bulk(struct fake_search *f, const struct fake_http_request *req,
                      struct str alias, struct fake_http_answer *answer);

/* Requests whose answer never came: those that are due by then are applied; how many of their
 * items were taken.  Called with the lock. */
size_t fake_answer_raise_zombies(struct fake_search *f, int64_t until_ms);
void fake_answer_forget_zombies(struct fake_search *f);

#endif
