/*
 * struct fake_search: a search engine in memory, as far as delivery can tell.
 *
 * Documents with external versions, tombstones with a garbage collection of their own, shard
 * restarts, aliases and require_alias; and a script that makes it answer as engines do on a bad
 * day.  Whatever it is sent by _bulk is kept in a ledger.
 *
 * Answers: GET /, /_cluster/health, /_cat/allocation, PUT and DELETE and HEAD /INDEX, POST
 * /_aliases, GET and HEAD /_alias/ALIAS, PUT and GET /INDEX/_settings and _mapping (kept as it
 * was put last), POST /INDEX/_refresh and _update, GET /INDEX/_count, GET /INDEX/_doc/ID,
 * searches (nothing is found), POST /_bulk and /ALIAS/_bulk.  With a voice (fake_voice.h) it is
 * one version of one engine.  And for tests in other languages: POST /_fake/script with a rule,
 * POST /_fake/restart_shards, DELETE /_fake/script, GET /_fake/ledger.
 *
 * @thread any (locked inside)
 */
#ifndef TESTS_FAKES_FAKE_SEARCH_H
#define TESTS_FAKES_FAKE_SEARCH_H

#include "src/base/base.h"
#include "src/base/buf.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fake_search;

/* What happens to a bulk request. */
enum fake_act {
    FAKE_ANSWER = 0,  /* apply and answer, items as `item` says */
    FAKE_STATUS,      /* refuse the whole request: status, type, reason */
    FAKE_RESET,       /* apply if `applied`, then reset the connection */
    FAKE_CUT,         /* the same, and close in the middle of the answer */
    FAKE_SILENT,      /* the same, and never answer */
    FAKE_TRUNCATED,   /* the same, and answer half of the JSON as if it were all */
    FAKE_ITEM_LESS,   /* the same, and leave out the last item */
    FAKE_ITEM_MORE,   /* the same, and send the last item twice */
    FAKE_ITEMS_MIXED, /* the same, and exchange the first and the last item */
    FAKE_ZOMBIE,      /* never answer, and apply `late_ms` later */
    N_FAKE_ACTS,
};

/* For which requests, and what.  Strings are copied; NULL or 0: any, or none. */
struct fake_rule {
    const char *index; /* the concrete index of the request's path */
    unsigned skip;     /* let so many matching requests pass first */
    unsigned times;    /* then apply to so many; 0: to all */
    unsigned every;    /* of these, apply to each n-th only; 0: to each */
    enum fake_act act;
    int64_t delay_ms;   /* before anything */
    bool until_cleared; /* before anything, until fake_search_clear_rules() */
    bool applied;
    int64_t late_ms;
    size_t body_max; /* only for bodies above it */

    /* FAKE_ANSWER: these items are refused, not applied.  FAKE_STATUS: the request is. */
    const char *id; /* of the item (FAKE_ANSWER) or any in the request (FAKE_STATUS) */
    int status;     /* 0: nothing is refused */
    bool drops;     /* with status 200: a pipeline drops these items, but for deletes */
    const char *type, *reason;
    const char *cause_type, *cause_reason; /* what an item's error says it is caused by */
    const char *page; /* FAKE_STATUS: the whole body instead, as a proxy's */
    unsigned retry_after_s;
};

struct fake_search *fake_search_start(uint16_t port) RETURNS_NONNULL MUST_CHECK; /* 0: any */
void fake_search_stop(struct fake_search *f);
/* "http://127.0.0.1:PORT" */
const char *fake_search_url(const struct fake_search *f);

void fake_search_create(struct fake_search *f, const char *index, const char *alias);
void fake_search_delete(struct fake_search *f, const char *index);

/*
 * From now on every request must be signed by this key (tests/fakes/fake_signature.h), at the
 * time that is ahead_ms later than ours.  The key must live as long as f.
 */
struct fake_key;
void fake_search_want_signatures(struct fake_search *f, const struct fake_key *key,
                                 int64_t ahead_ms);
/* From now on it is this engine in all that it says and refuses; at first it is an OpenSearch
 * 2.19 that takes everything.  The voice must live as long as f. */
struct fake_voice;
void fake_search_speak(struct fake_search *f, const struct fake_voice *voice);
/* Requests of any kind that were refused, for their signature or by the voice. */
uint64_t fake_search_refused(struct fake_search *f);

/* Rules are asked in the order in which they were added; the first that fits decides. */
void fake_search_add_rule(struct fake_search *f, const struct fake_rule *rule);
void fake_search_clear_rules(struct fake_search *f);

/* So many reads of documents, from now on, are answered with this status alone. */
void fake_search_fail_gets(struct fake_search *f, unsigned n, int status);

/* From now on it says that indexes of others have taken so many documents. */
void fake_search_say_others(struct fake_search *f, uint64_t documents);

/* All tombstones are forgotten at once; from now on, each after so long (60 s at first). */
void fake_search_restart_shards(struct fake_search *f);
void fake_search_set_gc_deletes(struct fake_search *f, int64_t ms);
/* All requests that wait to be applied late are applied now; how many of their items were
 * taken. */
size_t fake_search_raise_zombies(struct fake_search *f);

struct fake_document {
    bool found; /* and not deleted */
    uint64_t version;
    struct buf body; /* the caller's to free */
};
struct fake_document fake_search_get(struct fake_search *f, const char *index, const char *id);
/* Put a document there, past all checks. */
void fake_search_put(struct fake_search *f, const char *index, const char *id, uint64_t version,
                     const char *body);
size_t fake_search_count(struct fake_search *f, const char *index); /* documents */

/* One item that was received. */
struct fake_item {
    uint64_t request; /* number of its bulk request, from 1 */
    const char *index, *id;
    bool is_delete;
    bool is_update; /* of an area, which has no version */
    uint64_t version;
    int status; /* what was decided, whether it was told or not; 0: nothing was applied */
};
/* How many so far, and a copy of the i-th; strings live as long as f. */
size_t fake_search_items(struct fake_search *f);
struct fake_item fake_search_item(struct fake_search *f, size_t i);
uint64_t fake_search_requests(struct fake_search *f); /* bulk requests */
/* The most bulk requests that were being handled at one time; from now on, anew. */
unsigned fake_search_most_at_once(struct fake_search *f);
void fake_search_count_anew(struct fake_search *f);
size_t fake_search_largest_body(struct fake_search *f); /* that was not refused */

#endif
