/*
 * struct change_writer: rows in, document writes out.
 *
 * For each row change and each index version that it concerns: one ticket; the document from
 * the row image (flat tables), a re-read by key, a delete, or the documents that hold a related
 * row.  Writes are gathered and handed to delivery by change_writer_flush(), or when many have
 * gathered.
 *
 * @thread the builder's
 */
#ifndef SYNC_CHANGE_WRITER_H
#define SYNC_CHANGE_WRITER_H

#include "src/base/base.h"
#include "sync/rows_at.h"

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
    const struct stop *given_up; /* set: nothing is handed over any more */
    void *ctx;
    void (*stop_table)(void *ctx, struct target *target, const char *reason,
                       const char *way_out); /* as table_stop_fn */
    void (*dead)(void *ctx, const struct dead_letter_note *note);
};

struct change_writer *
change_writer_new(const struct change_writer_options *opt) RETURNS_NONNULL MUST_CHECK;
void change_writer_free(struct change_writer *w);

struct rows_counted {
    uint64_t inserts, updates, deletes;
};
/* Rows that cannot be had stop their tables; never fails.  May wait for delivery. */
struct rows_counted change_writer_rows(struct change_writer *w, const struct rows_at *at);

/* Hand over what has gathered. */
void change_writer_flush(struct change_writer *w);

/* Stop one index version's table: its changes are counted as deferred from now on. */
void change_writer_stop(struct change_writer *w, struct target *target, const char *reason,
                        const char *way_out);

/* Forget what is known of table maps and routings (after flush). */
void change_writer_forget(struct change_writer *w);

#endif
