/*
 * Gets documents by `_id` and routing, many in one request (_mget): what the engine stores now,
 * also what searches do not see yet. Deletes one.
 *
 * @thread any (blocks)
 */
#ifndef SRC_SEARCH_DOCUMENTS_H
#define SRC_SEARCH_DOCUMENTS_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "src/search/search.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

struct search_wish {
    struct str id, routing; /* routing: empty for none */
    bool source;            /* the document's JSON is wished for, too */
};

/* The answer to one wish. The texts are in the arena. */
struct search_document {
    bool found;
    uint64_t version;
    struct str routing; /* that it is stored with; empty for none */
    struct str source;  /* JSON; ptr NULL if not wished for, or if the index does not keep it */
};

/*
 * Gets n documents of an index into out, in the order of the wishes. An empty `_id` is not
 * found, and the engine is not asked for it. ERR_RETRY if the engine
 * does not say of each document whether it is there: it answered other documents than asked, or
 * an error for one of them. Asks for fewer at once where an answer would be too long.
 */
bool search_get_documents(struct search *s, struct str index, const struct search_wish *wishes,
                          size_t n, struct arena *a, struct search_document *out,
                          struct err *err) MUST_CHECK;

/*
 * Delete one document at a version above its own. One that is gone, or has a version as high,
 * is left as it is, and that is success.
 */
bool search_delete_document(struct search *s, struct str index, struct str id,
                            struct str routing, uint64_t version, struct err *err) MUST_CHECK;

#endif
