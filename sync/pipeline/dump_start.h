/*
 * struct dump_start: where each dump of a source starts, and what its beginning changes.
 *
 * The reader thread asks.  The builder answers at its place in the stream: from the last whole
 * transaction it read, else from the store, else from the definition.
 *
 * @thread where, begins: the reader's; log_end, close: any
 */
#ifndef SYNC_PIPELINE_DUMP_START_H
#define SYNC_PIPELINE_DUMP_START_H

#include "src/base/base.h"
#include "sync/source/source.h"

#include <stdbool.h>
#include <stdint.h>

struct builder;
struct dump_start;
struct handoff;
struct known_server;
struct progress;
struct read_position;
struct router;
struct saver;
struct start_point;

struct dump_start_options { /* all borrowed */
    const char *topic;
    const char *start_at;      /* now, FILE:OFFSET or GTIDs: used while the start is unknown */
    struct start_point *start; /* settled by the first dump */
    struct known_server *known;
    struct handoff *handoff;
    struct read_position *reader;
    struct progress *progress;
    struct builder *builder;
    struct saver *saver;
    struct router *router;
};

struct dump_start *
dump_start_new(const struct dump_start_options *opt) RETURNS_NONNULL MUST_CHECK;
/* The builder must have ended. */
void dump_start_free(struct dump_start *d); /* NULL is allowed */

/* Tell whether the text means the log's present end. */
bool dump_start_is_now(const char *start_at);

/* As in struct source_options.  Both return false after close. */
bool dump_start_where(struct dump_start *d, struct source_start *out) MUST_CHECK;
bool dump_start_begins(struct dump_start *d, const struct source_start *start) MUST_CHECK;

/* Returns where the log ended at the last connect, as a version; 0 if never connected. */
uint64_t dump_start_log_end(const struct dump_start *d);

/* Release the reader, which waits for an answer no longer. */
void dump_start_close(struct dump_start *d);

#endif
