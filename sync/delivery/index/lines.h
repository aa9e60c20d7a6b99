/*
 * struct lines: two lines of documents that wait for the same thing, and whose turn it is.
 *
 * A job requests or writes very many documents.  They wait beside those of the stream, not in
 * front of them.  While both lines have documents, jobs get their share of those taken and the
 * stream gets the rest.  While only one line has any, it gets everything, and owes nothing for
 * that later.  Each line keeps its order.
 *
 * Pure.
 *
 * @thread one at a time
 */
#ifndef SYNC_DELIVERY_INDEX_LINES_H
#define SYNC_DELIVERY_INDEX_LINES_H

#include "src/base/base.h"
#include "src/base/list.h"

#include <stdbool.h>

struct document;

enum line { LINE_STREAM = 0, LINE_JOBS, N_LINES };

struct lines {
    struct link line[N_LINES]; /* linked by struct document's link */
    int owed;                  /* to jobs, in hundredths of a document */
};

/* Iterates over the documents not yet visited.  Those visited may be taken out meanwhile. */
struct lines_rest {
    struct link *at[N_LINES];
};

void lines_init(struct lines *l);
/* Put doc at the end, or the front, of the line it belongs to. */
void lines_push(struct lines *l, struct document *doc, bool first);
/* doc, in one of the lines, now belongs to the other: put it at the front of that one. */
void lines_change(struct lines *l, struct document *doc);

struct lines_rest lines_all(const struct lines *l);
/* Visit no more documents of this line. */
void lines_end(struct lines *l, struct lines_rest *rest, enum line line);
/* Return the next document in turn, or NULL.  share: percent that go to jobs. */
struct document *lines_next(const struct lines *l, unsigned share, struct lines_rest *rest);
/* doc uses its turn: call before taking it out. */
void lines_use_turn(struct lines *l, unsigned share, const struct document *doc);

#endif
