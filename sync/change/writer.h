/*
 * struct change_writer: rows in, document writes out.
 *
 * For each row change and each index version that it concerns: one ticket, and either the
 * document from the row image (flat tables), a re-read by key, a delete, or a lookup of the
 * documents that hold a related row.  Collects writes and passes them to delivery in
 * change_writer_flush(), or earlier if many collect.
 *
 * @thread the builder's
 */
#ifndef SYNC_CHANGE_WRITER_H
#define SYNC_CHANGE_WRITER_H

#include "src/base/base.h"
#include "sync/routing/rows_at.h"

#include <stdint.h>

struct cascades;
struct change_writer;
struct dead_letter_note;
struct delivery;
struct progress;
struct reread;
struct stop;
struct target;

struct change_writer_options {
    struct delivery *delivery;
    struct progress *progress;
    struct reread *reread;
    struct cascades *cascades;
    const struct stop *given_up; /* once set, nothing is passed on */
    void *ctx;
    void (*stop_table)(void *ctx, struct target *target, const char *reason,
                       const char *way_out); /* a table_stop_fn */
    void (*dead)(void *ctx, const struct dead_letter_note *note);
};

struct change_writer *
change_writer_new(const struct change_writer_options *opt) RETURNS_NONNULL MUST_CHECK;
void change_writer_free(struct change_writer *w);

struct rows_counted {
    uint64_t inserts, updates, deletes;
};
/* Process rows.  Never fails: unreadable rows stop their tables.  May wait for delivery. */
struct rows_counted change_writer_rows(struct change_writer *w, const struct rows_at *at);

/* Pass on everything collected. */
void change_writer_flush(struct change_writer *w);

/* Stop one index version's table: from now on its changes count as deferred. */
void change_writer_stop(struct change_writer *w, struct target *target, const char *reason,
                        const char *way_out);

/* Forget table maps and routings.  Call after a flush. */
void change_writer_forget(struct change_writer *w);

#endif
