/*
 * Parts of a delayed run: what a page of it leads to, for whichever node takes it.
 *
 * A part writes documents strictly, at a position behind every change that the run takes
 * (rebalance/fill/part.h).  That is enough where a document's version says all about its
 * contents.  It does not where an area is written alone, where foreign keys change rows without
 * an event, and where a row's parent says in which shard its document lies.  Documents of those
 * indexes, and of other topics, are read again by the owners of their topics, as fan-out jobs
 * ask for it (docs/adr/0059-any-node-reads-the-documents-of-a-delayed-run.md).
 *
 * @thread the delayed runs'
 */
#ifndef REBALANCE_DELAYED_PARTS_H
#define REBALANCE_DELAYED_PARTS_H

#include "rebalance/delayed/page.h"

struct group;
struct spread;

/* Of one page. */
struct parts {
    const struct delayed_run *run;
    struct str table; /* the delayed one */
    uint64_t newest;  /* position that reads must include at least */
    size_t n_nodes;   /* that may take parts; one needs none */
    struct spread *spreads;
    struct group *first, **last;
    struct stored_job *list; /* once finished; in the run's arena, but for their keys */
    size_t n;
};
/* snapshots: the page, n > 0 of one table. */
void parts_init(struct parts *p, const struct delayed_run *r,
                const struct stored_snapshot *snapshots, size_t n);
void parts_fini(struct parts *p);

/*
 * Find the version of a lead. *out is NULL if only the owner of its topic may write documents
 * for it.  ERR_RETRY: nobody could read them now.
 */
bool parts_find(struct parts *p, const struct stored_fan_out *lead, const struct spread **out,
                struct err *err) MUST_CHECK;
/*
 * Add a row that leads to documents, or what the `level_sql` of that number
 * makes of some rows' ids.
 */
void parts_add_row(struct parts *p, const struct spread *s, const struct stored_fan_out *lead);
void parts_add_level(struct parts *p, const struct spread *s, uint32_t level,
                     const struct str *ids, size_t n);
/*
 * Add the rows of a part whose top relation is gone, wherever the version's documents show
 * them.  It finds no more than what they lead to now, as the relation did.
 */
struct fill_part;
void parts_add_otherwise(struct parts *p, const struct spread *s, const struct fill_part *old);
/* Into how many parts the rows of a page go, of a run that has so many snapshots. */
uint32_t parts_for_page(uint64_t snapshots, size_t nodes);
/* Make the list: with few rows, several parts for the same ones. */
void parts_finish(struct parts *p);

/*
 * Whether nobody needs a part any more: nobody writes to its version, or searches use it and
 * its table is stopped, so that it will be built again, or its build has failed.  A version
 * that nobody knows here yet is needed.
 */
struct catalogue;
bool parts_is_needless(const struct catalogue *c, const struct stored_job *job) MUST_CHECK;

/* The parts of the run in the store. */
struct parts_state {
    uint64_t n_open, n_done;
    struct str why; /* why one of them waits, in the run's arena; empty: none does */
};
/* Forgets parts that nobody needs any more.  Blocks on the store. */
bool parts_look(const struct delayed_run *r, struct parts_state *out,
                struct err *err) MUST_CHECK;
/*
 * All are done: repeat the deletes that they may have overtaken (rule 6), and have the dead
 * letters of other nodes replayed, which ours knew nothing of.  ERR_RETRY: not yet.
 * Blocks on the store, and some seconds on delivery.
 */
bool parts_end(const struct delayed_run *r, struct err *err) MUST_CHECK;

#endif
