/*
 * Administration of the search engine: its identity, indexes, mappings, aliases.
 *
 * Blocking calls for set-up work on the coordinator's and the builds' threads; delivery sends
 * bulk requests itself. All calls work the same in Elasticsearch 7 to 9 and OpenSearch 1 to 3;
 * src/search/engine.h knows the differences.
 *
 * @thread any (locked inside)
 */
#ifndef SRC_SEARCH_SEARCH_H
#define SRC_SEARCH_SEARCH_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "src/search/engine.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct address_set;
struct buf;
struct http_client;
struct http_request;
struct json_writer;
struct search;
struct sigv4_key;

/* Strings are copied. */
struct search_options {
    const char *const *urls;
    size_t n_urls;
    const char *const *sniff_hosts; /* patterns of hosts that sniffing may add; none: any */
    size_t n_sniff_hosts;
    const char *user; /* basic auth, or NULL */
    const char *password;
    const char *api_key;         /* "Authorization: ApiKey ...", or NULL */
    const struct sigv4_key *aws; /* signs requests, or NULL */
    const char
        *aws_file; /* the file with id, secret and token (src/net/aws_credentials.h), or NULL */
    const char *ca_file;
    const char *cert_file, *key_file; /* client certificate, or NULL */
    bool verify;                      /* TLS verification, on by default */
    unsigned timeout_ms;              /* 0: 30000 */
};

struct search *search_new(const struct search_options *opt) RETURNS_NONNULL MUST_CHECK;
void search_free(struct search *s);
/* Makes every request and call fail, now and later, so that nobody waits for an engine that
 * hangs. @thread any */
void search_end(struct search *s);
const struct search_options *search_get_options(const struct search *s);
/* All of s's clients share these addresses and what they learn of their health. */
struct address_set *search_addresses(const struct search *s) RETURNS_NONNULL;
/*
 * Makes a client for bulk requests, with the same addresses, rights and TLS. s must outlive it.
 */
struct http_client *search_new_client(const struct search *s) RETURNS_NONNULL MUST_CHECK;

/*
 * Asks the engine for its identity, once; later calls return the first answer. From then on,
 * this client and those of search_new_client() ask an Elasticsearch that can to answer as that
 * major version. ERR_REJECT if this is not a search engine or is too old. Logs an engine newer
 * than all known ones.
 */
bool search_detect(struct search *s, struct err *err) MUST_CHECK;
/* Like search_detect(), but waits no longer than this; 0: as long as for any request. */
bool search_detect_within(struct search *s, unsigned timeout_ms, struct err *err) MUST_CHECK;
/* Like search_detect(), from an answer to GET /. */
bool search_identify(struct search *s, struct str body, struct err *err) MUST_CHECK;
struct engine search_engine(const struct search *s);     /* SEARCH_UNKNOWN: not detected yet */
const char *search_version_text(const struct search *s); /* "2.19.5"; "" until detected */

/*
 * Sends one request to the next healthy address. An empty body means none. Appends the answer
 * to out (may be NULL) and stores its status in *status. Connection trouble is ERR_RETRY; no
 * status is an error here.
 */
bool search_request(struct search *s, const char *method, struct str path, struct str body,
                    int *status, struct buf *out, struct err *err) MUST_CHECK;

/* Like search_request(), for a request with a limit of time or headers of its own. */
bool search_send(struct search *s, const struct http_request *req, int *status, struct buf *out,
                 struct err *err) MUST_CHECK;

/*
 * Like search_request(), but only status 2xx is success. Otherwise err names the address, the
 * call, the engine's reason and, if known, the fix; origin is "http", code the status.
 * ERR_RETRY for 408, 429, 5xx and blocks of a full disk, ERR_REJECT for the rest.
 */
bool search_call(struct search *s, const char *method, struct str path, struct str body,
                 struct buf *out, struct err *err) MUST_CHECK;

/* Judges an answer with this body as search_call() does. */
struct http_result;
bool search_is_success(const struct http_result *result, const char *method, struct str path,
                       struct str body, struct err *err) MUST_CHECK;
/* Sends a GET and gives up after timeout_ms, or after search.timeout if that is shorter. */
bool search_get(struct search *s, struct str path, unsigned timeout_ms, struct buf *out,
                struct err *err) MUST_CHECK;

/*
 * From now on `may` is asked before each change of an index, its mapping, settings or aliases;
 * what it refuses fails with its err. It may block. NULL: nobody is asked. name: the index, or
 * the alias that an index shall lose.
 * @thread whoever made s, before others use it, or after they do
 */
void search_guard(struct search *s, bool (*may)(void *ctx, struct str name, struct err *err),
                  void *ctx);
bool search_may_change(struct search *s, struct str name, struct err *err) MUST_CHECK;

/*
 * The name of an index or alias must be one concrete name: patterns, lists and names that begin
 * with "_", "-" or "+" are ERR_REJECT before we send anything.
 */

/* If the index exists, ERR_REJECT with code 400 and the engine's reason. */
bool search_create_index(struct search *s, struct str index, struct str body,
                         struct err *err) MUST_CHECK;
/*
 * Asks whether the engine would create an index with this body
 * ({"settings":...,"mappings":...}), and gives up after timeout_ms. ERR_REJECT with code 400
 * and the engine's innermost reason if it would not; any other failure says nothing of the
 * index.
 */
bool search_try_index(struct search *s, struct str body, unsigned timeout_ms,
                      struct err *err) MUST_CHECK;
/* A missing index is success; an alias is ERR_REJECT. */
bool search_delete_index(struct search *s, struct str index, struct err *err) MUST_CHECK;
bool search_index_exists(struct search *s, struct str name, bool *exists, bool *is_alias,
                         struct err *err) MUST_CHECK;
/*
 * Points alias to index, and away from any other index, in one atomic call. Also succeeds if it
 * already did. The index must exist.
 */
bool search_move_alias(struct search *s, struct str alias, struct str index,
                       struct err *err) MUST_CHECK;
bool search_alias_leads_to(struct search *s, struct str alias, struct str index, bool *leads,
                           struct err *err) MUST_CHECK;
/* Appends {"ALIAS":{...}} of all aliases of the index. If the index is gone, ERR_REJECT with
 * code 404. */
bool search_get_aliases(struct search *s, struct str index, struct buf *out,
                        struct err *err) MUST_CHECK;
/* Adds the alias to the index beside other holders, or removes it from this index alone. The
 * index must exist. */
bool search_add_alias(struct search *s, struct str alias, struct str index,
                      struct err *err) MUST_CHECK;
bool search_remove_alias(struct search *s, struct str alias, struct str index,
                         struct err *err) MUST_CHECK;
bool search_put_settings(struct search *s, struct str index, struct str body,
                         struct err *err) MUST_CHECK;
bool search_put_mapping(struct search *s, struct str index, struct str body,
                        struct err *err) MUST_CHECK;
/* Appends the mapping itself: {"_meta":...,"properties":...}. */
bool search_get_mapping(struct search *s, struct str index, struct buf *out,
                        struct err *err) MUST_CHECK;
/*
 * Appends {"NAME":{...}}, the definition of an ingest pipeline. If there is none, ERR_REJECT
 * with code 404.
 */
bool search_get_pipeline(struct search *s, struct str name, struct buf *out,
                         struct err *err) MUST_CHECK;
/*
 * Tries a script that changes nothing on the index (or alias), to see whether the engine runs
 * scripts in updates. ERR_REJECT says why it does not; another kind means that we do not know.
 */
bool search_try_script(struct search *s, struct str index, struct err *err) MUST_CHECK;
bool search_refresh(struct search *s, struct str index, struct err *err) MUST_CHECK;
/* Counts the documents that were visible after the last refresh. */
bool search_count(struct search *s, struct str index, uint64_t *count,
                  struct err *err) MUST_CHECK;
/* Like search_count(), without documents that have one of the n ids. */
bool search_count_others(struct search *s, struct str index, const struct str *ids, size_t n,
                         uint64_t *count, struct err *err) MUST_CHECK;
/*
 * Appends routings, separated by spaces, one for each shard of the index. We ask the engine,
 * because the hashing differs between versions.
 */
bool search_shard_routings(struct search *s, struct str index, struct buf *out,
                           struct err *err) MUST_CHECK;
/*
 * For doctor and status: {"engine","version","cluster","status":"green|yellow|red","nodes",
 * "unassigned_shards","disk_used_percent","disk_node"}. Names the fullest disk only where we
 * have the right to ask.
 */
bool search_health(struct search *s, struct buf *out_json, struct err *err) MUST_CHECK;

/*
 * Counts a query: any request to the engine but bulk requests. A query without an answer, or
 * with status 429 or 5xx, failed. search_request() and search_call() count their own. took_us
 * is in microseconds.
 */
void search_count_query(struct search *s, bool failed, int64_t took_us);
/* Append samples (src/metric/metric.h), and members of a JSON object. */
void search_metrics(const struct search *s, struct buf *samples);
void search_put_statistics(const struct search *s, struct json_writer *w);

/* Appends one part of a path, percent-encoded. */
void search_append_path(struct buf *b, struct str part);

#endif
