/*
 * struct trace: what was found out of one document.
 * Only the files of rebalance/trace include this.
 *
 * trace.c asks in order, versions.c the engine, row.c the row's server, facts.c what may lie
 * between both, log.c the server's log; shown.c finds the documents of a related row; code.c
 * chooses the code, and answer.c writes the JSON.
 *
 * All texts live in the arena, or in definitions and catalogue, which the trace holds.
 *
 * @thread its errand's
 */
#ifndef REBALANCE_TRACE_PARTS_H
#define REBALANCE_TRACE_PARTS_H

#include "rebalance/state/parts.h"
#include "rebalance/trace/code.h"
#include "rebalance/trace/trace.h"
#include "rebalance/verify/run.h"
#include "rebalance/watch/engine_facts.h"
#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "src/store/later/purged.h"
#include "sync/delivery/delivery.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Documents of a related row; VERIFY_KEYS_MAX may go through the looks. */
#define SHOWN_MAX 100

/* What one version of the index has under the `_id`. */
struct trace_version {
    const struct stored_version *v;
    struct str name;                   /* orders_v7 */
    enum trace_code is;                /* TRACE_EQUAL: it was asked; else why not */
    struct str why;                    /* likewise, if the engine said more */
    struct engine_mark mark;           /* of its mapping */
    uint64_t version_min, version_max; /* that Millrace can have given out; max 0: not known */
    const struct verify_copy *copies;
    size_t n_copies;
    const struct stored_tombstone *tombstones;
    size_t n_tombstones;
};

/* A change of the row in the server's log. */
struct trace_change {
    struct str position, begin; /* FILE:OFFSET, of the event and of its transaction */
    struct str time;            /* RFC 3339 */
    const char *op;
    struct str *columns; /* that an update changed */
    size_t n_columns;
};

struct trace_log {
    struct str from, to; /* FILE:OFFSET; from is empty for the oldest */
    const char *end;     /* "end_of_log", "limit", "stopped" or "failed" */
    struct str why;      /* failed */
    uint64_t n_unread;   /* events of the table in a shape that cannot be read any more */
    struct trace_change *changes;
    size_t n_changes;
};

/* A document that shows the row. */
struct trace_shown {
    struct str table, index, id;
    bool is_judged;     /* compared with its own row, too */
    enum trace_code is; /* then: TRACE_SHOWN_EQUAL, ... */
};

struct trace {
    struct coordinator *co;
    struct errand *errand;
    struct arena *arena; /* the errand's */
    const struct trace_request *asked;

    struct definitions *definitions;
    struct catalogue *catalogue;
    const struct table_definition *table,
        *lead;                              /* NULL: no index is of it, it is only related */
    const struct stored_version *available; /* NULL: searches use none */

    struct verify_run run;
    bool is_begun; /* the run has its version and its sources */
    struct str id, index;
    bool is_judged; /* both sides were looked at */

    const char *row; /* "shown", "absent", ...; NULL: not known */
    struct str row_reason;
    struct target *row_target; /* a document whose plan has the row, at this place; or NULL */
    size_t row_place;
    struct str row_key; /* bytes */

    struct trace_version *versions;
    size_t n_versions;

    struct delivery_place place;
    const struct stored_dead_letter *letters;
    size_t n_letters;
    const struct stored_purged *purged;
    size_t n_purged;
    uint64_t n_fan_outs;
    bool is_pending;     /* its definition takes effect with the next build */
    struct str *pending; /* what of it does: fields, and tables that enter or leave the index */
    size_t n_pending;

    struct trace_log log;
    struct trace_shown *shown;
    size_t n_shown;
    bool has_more_shown;

    uint64_t facts; /* TRACE_FACT() of each code */
    struct str why[N_TRACE_CODES], fix[N_TRACE_CODES];
};

/* Note a fact, with the texts that its sentence names.  Copies them. */
static inline void trace_note(struct trace *t, enum trace_code code, struct str why,
                              struct str fix)
{
    t->facts |= TRACE_FACT(code);
    t->why[code] = arena_copy(t->arena, why);
    t->fix[code] = arena_copy(t->arena, fix);
}

/* Ask the engine for the document in each live version.  Notes if that cannot be asked. */
void trace_look_at_versions(struct trace *t);
/* Note why the engine or a server could not be asked. */
enum trace_code trace_engine_trouble(const struct err *err);

/* Find what the row is, once both sides were judged. */
bool trace_look_at_row(struct trace *t, struct err *err) MUST_CHECK;

/* Note what is known without asking the two sides: stops, pauses, holds. */
void trace_note_state(struct trace *t);
/* Ask delivery and the store where the document is. */
bool trace_ask_around(struct trace *t, struct err *err) MUST_CHECK;
/* Note what the looks found. */
void trace_note_verdict(struct trace *t);

/* Read the log for changes of the row. A failure is part of the answer. */
void trace_read_log(struct trace *t);

/*
 * Find the documents that show the row at a place that is not their own row, and judge them if
 * that is wished; notes what they are, or why they cannot be judged.  Returns false if no
 * definition shows the table, with err untouched.  *ok becomes false if the key is none.
 */
bool trace_find_shown(struct trace *t, bool judge, bool *ok, struct err *err) MUST_CHECK;

void trace_append_answer(const struct trace *t, struct buf *json);

#endif
