/*
 * struct resolve_task: changed rows of one place of one index version, whose documents SQL must
 * find.
 *
 * Waiting tasks are merged, and a row that changed several times is looked up once.
 *
 * @thread one at a time
 */
#ifndef SYNC_RELATED_RESOLVE_TASK_H
#define SYNC_RELATED_RESOLVE_TASK_H

#include "src/base/base.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct snapshot_row;
struct target;
struct ticket;

/* Changed rows in one task. */
#define RESOLVE_MAX 1000

struct resolve_task {
    struct target *target; /* one reference */
    size_t place;
    uint8_t area;       /* the area of the documents to re-read, from 1; 0: all */
    unsigned by;        /* how the keys name rows: RESOLVER_BY (sync/document/resolver.h) */
    struct str delayed; /* the delayed table of the rows, whose documents a run will read;
                           empty: they are read now */
    uint64_t at_least;
    int64_t commit_ms;
    size_t n_tasks;      /* tasks merged into it, with itself */
    struct arena *arena; /* owns the arrays and keys */
    struct str *join_keys;
    struct ticket **tickets;   /* one reference each */
    struct snapshot_row *rows; /* of a delayed table */
    size_t n;
};

/* Takes over the reference. */
struct resolve_task *resolve_task_new(struct target *target, size_t place, uint8_t area,
                                      unsigned by) RETURNS_NONNULL MUST_CHECK;
/* The rows to come are of this delayed table. */
void resolve_task_delay(struct resolve_task *t, struct str table);
/* The caller has returned or taken the tickets. */
void resolve_task_free(struct resolve_task *t);

/* n must be < RESOLVE_MAX.  Copies the key, takes over the ticket's reference. */
void resolve_task_add(struct resolve_task *t, struct str key, struct ticket *ticket);
/* The same, of a delayed table.  Copies the row. */
void resolve_task_put_off(struct resolve_task *t, struct str key,
                          const struct snapshot_row *row, struct ticket *ticket);
/*
 * Takes over the rows of `from` and frees it.  Returns false if they are of another kind, or
 * too many.
 */
bool resolve_task_take(struct resolve_task *t, struct resolve_task *from) MUST_CHECK;
void resolve_task_abandon(struct resolve_task *t);

/* A task's keys, each once, and the rows of each key. */
struct resolve_keys {
    struct str *keys;
    size_t n;
    size_t *first; /* for each key: its first row */
    size_t *next;  /* for each row: the next row of its key; itself if it is the last */
};
/* Allocates in the task's arena. */
struct resolve_keys resolve_task_keys(const struct resolve_task *t);

#endif
