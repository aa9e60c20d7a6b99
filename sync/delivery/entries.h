/*
 * What the source has of a document, and what the engine: told to options.note_entry, for
 * whoever keeps both sides' trees.
 *
 * The source has what a write or a read brought. The engine has what it has acknowledged. What
 * cannot be told from either is unknown, and must be read before it is compared: an area, a
 * write that a newer document refused, a delete under one of several routings.
 *
 * @thread the delivery thread's
 */
#ifndef SYNC_DELIVERY_ENTRIES_H
#define SYNC_DELIVERY_ENTRIES_H

struct document;
struct sender;
struct write;

/* A write has come, or a read has brought it. Sets its value. */
void entries_note_source(struct sender *s, struct write *w);
/* The engine has acknowledged the document's operation. */
void entries_note_engine(struct sender *s, const struct document *doc);
/* The operation has ended, and nobody knows what either side has now. */
void entries_note_unknown(struct sender *s, const struct document *doc);

#endif
