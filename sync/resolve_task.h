/*
 * struct resolve_task: changed rows of one place of one version, whose documents SQL must find.
 *
 * Several that wait are taken together, and a row that changed several times is asked for once.
 *
 * @thread one at a time
 */
#ifndef SYNC_RESOLVE_TASK_H
#define SYNC_RESOLVE_TASK_H

#include "src/base/base.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct target;
struct ticket;

/* Changed rows in one task. */
#define RESOLVE_MAX 1000

struct resolve_task {
    struct target *target; /* one reference */
    size_t place;
    uint8_t area; /* what of the documents is read again, from 1; 0: all */
    bool by_row;  /* the keys are of resolver_row_key(), not of resolver_join_key() */
    uint64_t at_least;
    int64_t commit_ms;
    size_t n_tasks;      /* that were handed over as such */
    struct arena *arena; /* owns the arrays and keys */
    struct str *join_keys;
    struct ticket **tickets; /* one reference each */
    size_t n;
};

/* Takes the reference over. */
struct resolve_task *resolve_task_new(struct target *target, size_t place, uint8_t area,
                                      bool by_row) RETURNS_NONNULL MUST_CHECK;
/* Its tickets were given back or taken. */
void resolve_task_free(struct resolve_task *t);

/* n < RESOLVE_MAX.  Copies the key, takes the ticket's reference over. */
void resolve_task_add(struct resolve_task *t, struct str key, struct ticket *ticket);
/* Takes the rows of `from` over and frees it; false: they are not of the same kind, or too
 * many.
 */
bool resolve_task_take(struct resolve_task *t, struct resolve_task *from) MUST_CHECK;
void resolve_task_abandon(struct resolve_task *t);

/* Its keys, each once, and which of its rows have which. */
struct resolve_keys {
    struct str *keys;
    size_t n;
    size_t *first; /* of each key: its first row */
    size_t *next;  /* of each row: the next one of its key; itself: there is none */
};
/* In the task's arena. */
struct resolve_keys resolve_task_keys(const struct resolve_task *t);

#endif
