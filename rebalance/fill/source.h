/*
 * struct fill_source: what the rows of a version are read by: its targets and links.
 *
 * On the node that follows the topic that is the pipeline. Other nodes have no stream: there
 * the targets come from the shapes that the store keeps of the version, and the links wait for
 * the position from which the stream writes to it (docs/rules.md, rule 8), or for the GTIDs up
 * to it, which the owner has stored as a fill_note. If documents show tables of other topics,
 * the note has a place for each, and a registry of the source's own has what leads there.
 *
 * Reference-counted. @thread any, but for the links, which belong to one thread
 */
#ifndef REBALANCE_FILL_SOURCE_H
#define REBALANCE_FILL_SOURCE_H

#include "rebalance/fill/away.h"
#include "src/base/base.h"
#include "src/base/buf.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "sync/read/links.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fill_source;
struct grace_period;
struct pipeline;
struct schema_list;
struct server_access;
struct stop;
struct target;
struct version_spec;

/* What the owner of the topic tells other nodes of a version. */
struct fill_note {
    bool anywhere;             /* else only the owner can fill it ... */
    struct buf why;            /* ... as this says */
    struct fill_point own;     /* at the start of the version, or later */
    struct fill_point *others; /* of the other topics: where each of them wrote to it already */
    size_t n_others;
    struct buf node; /* the owner's id; empty: of a release that does not tell */
};
void fill_note_fini(struct fill_note *n);
void fill_note_append(struct buf *json, const struct fill_note *n);
/* Returns false if it is no note. End with fill_note_fini() then, too. */
bool fill_note_read(struct str json, struct fill_note *n) MUST_CHECK;
/*
 * What the pipeline's owner, which is this node, tells now. ERR_RETRY: it does not follow the
 * version yet, has not read up to `start`, the position from which the stream writes to it, or
 * another topic of the documents does not run here.
 */
bool fill_note_take(struct pipeline *p, const char *index, uint64_t start, const char *node,
                    struct fill_note *n, struct err *err) MUST_CHECK;

struct fill_source *fill_source_here(struct pipeline *p,
                                     const char *index) RETURNS_NONNULL MUST_CHECK;
/*
 * start: the position from which the stream writes to the version. If the note has other
 * topics, add each before the first read.
 */
bool fill_source_away(const struct version_spec *v, const struct schema_list *tables,
                      const struct fill_note *note, uint64_t start, struct fill_source **out,
                      struct err *err) MUST_CHECK;
bool fill_source_add_topic(struct fill_source *s, const struct fill_point *p,
                           struct server_access *server, struct err *err) MUST_CHECK;
struct fill_source *fill_source_ref(struct fill_source *s) RETURNS_NONNULL;
void fill_source_unref(struct fill_source *s); /* NULL is allowed */

/* The pipeline; NULL on other nodes. Borrowed. */
struct pipeline *fill_source_pipeline(const struct fill_source *s);
/*
 * Returns a new reference to the target of a table (empty: any). If NULL, the kind of err says
 * whether to retry.
 */
struct target *fill_source_target(struct fill_source *s, struct str table,
                                  struct err *err) MUST_CHECK;
/* Like version_targets(). */
struct target **fill_source_targets(struct fill_source *s, size_t *n,
                                    struct err *err) RETURNS_NONNULL MUST_CHECK;
/* Whether the stream has taken the version. */
bool fill_source_is_settled(const struct fill_source *s);
struct read_links fill_source_links(struct fill_source *s, struct stop *stop,
                                    int64_t timeout_ms);
/* What a read passes through until it is written: cascades wait for it. Borrowed. */
struct grace_period *fill_source_gate(struct fill_source *s) RETURNS_NONNULL;

#endif
