/*
 * The search engine's administration: who it is, indexes, mappings, aliases.
 *
 * Blocking calls for set-up work (the coordinator's and the builds' threads); bulk requests are
 * delivery's.  What is used is the same in Elasticsearch 7 to 9 and OpenSearch 1 to 3; where they
 * differ is src/engine.h's.
 *
 * @thread any (locked inside)
 */
#ifndef SRC_SEARCH_H
#define SRC_SEARCH_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "src/engine.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct address_set;
struct buf;
struct http_client;
struct json_writer;
struct search;
struct sigv4_key;

/* Strings are copied. */
struct search_options {
    const char *const *urls;
    size_t n_urls;
    const char *user; /* basic auth, or NULL */
    const char *password;
    const char *api_key; /* "Authorization: ApiKey ...", or NULL */
    const struct sigv4_key *aws; /* requests are signed by it, or NULL */
    const char *aws_file; /* the file with its id, secret and token (src/renewed_key.h), or NULL */
    const char *ca_file;
    const char *cert_file, *key_file; /* client certificate, or NULL */
    bool verify;                      /* TLS verification, on by default */
    unsigned timeout_ms;              /* 0: 30000 */
};

struct search *search_new(const struct search_options *opt) RETURNS_NONNULL MUST_CHECK;
void search_free(struct search *s);
const struct search_options *search_get_options(const struct search *s);
/* Shared by all of its clients, also what is learned of their health. */
struct address_set *search_addresses(const struct search *s) RETURNS_NONNULL;
/* A client of its own for bulk requests, with the same addresses, rights and TLS; s must outlive
 * it. */
struct http_client *search_new_client(const struct search *s) RETURNS_NONNULL MUST_CHECK;

/*
 * Ask who it is, once it answers; later calls give what was learned.  From then on an
 * Elasticsearch that can is asked to answer as that major version, by this client and those of
 * search_new_client().  Something that is no search engine, or too old, is ERR_REJECT; one that
 * is newer than all that are known is logged.
 */
bool search_detect(struct search *s, struct err *err) MUST_CHECK;
struct engine search_engine(const struct search *s); /* SEARCH_UNKNOWN: not detected yet */
const char *search_version_text(const struct search *s); /* "2.19.5"; "" until detected */

/*
 * One request to the next healthy address.  body empty: none.  The answer's text is appended to
 * out (may be NULL), its status put into *status.  Connection trouble is ERR_RETRY; a status is
 * not an error here.
 */
bool search_request(struct search *s, const char *method, struct str path, struct str body,
                    int *status, struct buf *out, struct err *err) MUST_CHECK;

/*
 * The same, where only a status of 2xx is success.  Else err names the address, the call, the
 * engine's reason and, where one is known, the fix; origin is "http", code the status.
 * ERR_RETRY for 408, 429, 5xx and blocks of a full disk, ERR_REJECT for the rest.
 */
bool search_call(struct search *s, const char *method, struct str path, struct str body,
                 struct buf *out, struct err *err) MUST_CHECK;

/*
 * Names of indexes and aliases are one concrete name: patterns, lists and names that begin with
 * "_", "-" or "+" are ERR_REJECT before anything is sent.
 */

/* An index that is there already is ERR_REJECT with code 400 and the engine's reason. */
bool search_create_index(struct search *s, struct str index, struct str body,
                         struct err *err) MUST_CHECK;
/* Missing is fine; an alias is ERR_REJECT. */
bool search_delete_index(struct search *s, struct str index, struct err *err) MUST_CHECK;
bool search_index_exists(struct search *s, struct str name, bool *exists, bool *is_alias,
                         struct err *err) MUST_CHECK;
/*
 * alias -> index, away from whatever indexes had it, in one atomic call.  True also when it was
 * there already; the index must exist.
 */
bool search_move_alias(struct search *s, struct str alias, struct str index,
                       struct err *err) MUST_CHECK;
bool search_put_settings(struct search *s, struct str index, struct str body,
                         struct err *err) MUST_CHECK;
bool search_put_mapping(struct search *s, struct str index, struct str body,
                        struct err *err) MUST_CHECK;
/* Append the mapping itself: {"_meta":...,"properties":...}. */
bool search_get_mapping(struct search *s, struct str index, struct buf *out,
                        struct err *err) MUST_CHECK;
/*
 * Whether the engine runs scripts in updates: one that changes nothing is tried on the index
 * (or alias).  False: ERR_REJECT says why it does not, another kind that it is not known.
 */
bool search_try_script(struct search *s, struct str index, struct err *err) MUST_CHECK;
bool search_refresh(struct search *s, struct str index, struct err *err) MUST_CHECK;
/* How many documents the last refresh showed. */
bool search_count(struct search *s, struct str index, uint64_t *count,
                  struct err *err) MUST_CHECK;
/* The same without those that have one of the n ids. */
bool search_count_others(struct search *s, struct str index, const struct str *ids, size_t n,
                         uint64_t *count, struct err *err) MUST_CHECK;
/*
 * Append routings, with spaces between, of which each leads to another shard of the index, and
 * together to all.  The engine is asked, as which it is differs between versions.
 */
bool search_shard_routings(struct search *s, struct str index, struct buf *out,
                           struct err *err) MUST_CHECK;
/*
 * For doctor and status: {"engine","version","cluster","status":"green|yellow|red","nodes",
 * "unassigned_shards","disk_used_percent","disk_node"}; the fullest disk only where we may ask
 * for it.
 */
bool search_health(struct search *s, struct buf *out_json, struct err *err) MUST_CHECK;

/*
 * Queries: what is asked of the engine beside bulk requests.  One that got no answer, or one of
 * status 429 or 5xx, has failed.  Those of search_request() and search_call() are counted here;
 * took_us: microseconds.
 */
void search_count_query(struct search *s, bool failed, int64_t took_us);
/* Append samples (src/metric.h), and members of a JSON object. */
void search_metrics(const struct search *s, struct buf *samples);
void search_put_statistics(const struct search *s, struct json_writer *w);

/* Append one part of a path, percent-encoded. */
void search_append_path(struct buf *b, struct str part);

#endif
