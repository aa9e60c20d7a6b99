/*
 * What the store's files share: the transaction around each call, and rows to arrays.
 *
 * Only store*.c include this.
 */
#ifndef SRC_STORE_CORE_H
#define SRC_STORE_CORE_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "src/store_backend.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

struct store {
    pthread_mutex_t lock; /* from the begin to the end of a transaction, which can block */
    struct store_backend *backend;
};

/* Lock the store and begin; after success the transaction must be ended. */
bool store_begin(struct store *s, struct err *err) MUST_CHECK;
/* Commit when ok, else roll back, and unlock.  True when everything was done. */
bool store_end(struct store *s, bool ok, struct err *err) MUST_CHECK;

/* Inside a transaction. */
bool store_run(struct store *s, const char *sql, struct binds binds,
               struct err *err) MUST_CHECK;
bool store_run_rows(struct store *s, const char *sql, struct binds binds, size_t n_rows,
                    struct err *err) MUST_CHECK;
bool store_select(struct store *s, const char *sql, struct binds binds, struct row_sink *sink,
                  struct err *err) MUST_CHECK;
/* The one number that sql gives; 0 and *found false when there is no row.  found may be NULL.
 */
bool store_select_number(struct store *s, const char *sql, struct binds binds, uint64_t *number,
                         bool *found, struct err *err) MUST_CHECK;
/* ERR_STOP unless `term` is the one that `thing` was taken with last. */
bool store_check_term(struct store *s, struct str thing, uint64_t term,
                      struct err *err) MUST_CHECK;

/* One statement as a transaction of its own. */
bool store_run_alone(struct store *s, const char *sql, struct binds binds,
                     struct err *err) MUST_CHECK;

/* Rows as an array in an arena. */
struct row_list {
    struct row_sink sink;
    struct arena *arena;
    size_t size; /* of one element */
    void (*fill)(struct arena *a, const struct str *cells, void *element);
    char *elements; /* until row_list_finish */
    size_t n, cap;
};

#define ROW_LIST(a, type, fill_fn) \
    ((struct row_list){            \
        .sink = {row_list_take}, .arena = (a), .size = sizeof(type), .fill = (fill_fn)})

void row_list_take(struct row_sink *sink, const struct str *cells);
/* The array, moved into the arena. */
void *row_list_finish(struct row_list *list, size_t *n) MUST_CHECK;
/* A SELECT that is the whole call. */
bool store_load(struct store *s, const char *sql, struct binds binds, struct row_list *list,
                struct err *err) MUST_CHECK;

/* A cell's number, 0 for NULL. */
uint64_t row_number(struct str cell);

size_t store_text_max(struct store *s);

#endif
