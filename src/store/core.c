#include "config.h"

#include "src/store/core.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/base/clock.h"
#include "src/base/failpoint.h"
#include "src/base/mem.h"
#include "src/store/followed.h"

#include <assert.h>
#include <stdlib.h>

size_t store_text_max(struct store *s)
{
    return s->backend->ops->text_max(s->backend);
}

bool store_begin(struct store *s, struct err *err)
{
    lock_acquire(&s->lock);
    if (s->backend->ops->begin(s->backend, err))
        return true;
    const bool is_newer = s->backend->is_newer;

    lock_release(&s->lock);
    (void)err_wrap(err, "store");
    if (is_newer && s->refused != NULL)
        s->refused(err);
    return false;
}

/* The last statement of a transaction, so that others wait for its row only a moment. */
static bool note_change(struct store *s, struct err *err)
{
    return !s->is_followed ||
           store_run(s, "UPDATE change_count SET number = number + 1 WHERE id = 1", NO_BINDS,
                     err);
}

/* A caller's own refusal keeps its words: "store" names what the database refuses. */
bool store_end(struct store *s, bool ok, struct err *err)
{
    ok = ok && note_change(s, err);
    if (ok) {
        FAILPOINT(store_commits);
        ok = s->backend->ops->commit(s->backend, err) || err_wrap(err, "store");
        if (!ok)
            __atomic_add_fetch(&s->doubts, 1, __ATOMIC_RELEASE);
        FAILPOINT(store_committed);
    } else {
        s->backend->ops->rollback(s->backend);
    }
    const bool has_lost = s->has_lost;

    s->may_write = s->is_followed = s->has_lost = false;
    lock_release(&s->lock);
    if (has_lost && s->owned.lost != NULL)
        s->owned.lost(s->owned.ctx);
    return ok;
}

bool store_run(struct store *s, const char *sql, struct binds binds, struct err *err)
{
    return store_run_rows(s, sql, binds, 1, err);
}

bool store_run_rows(struct store *s, const char *sql, struct binds binds, size_t n_rows,
                    struct err *err)
{
    assert(s->may_write); /* whoever writes says what for: store_begin_write() */
    s->is_followed = followed_is_written(sql, binds) || s->is_followed;
    return s->backend->ops->run(s->backend, sql, binds, n_rows, err) || err_wrap(err, "store");
}

bool store_select(struct store *s, const char *sql, struct binds binds, struct row_sink *sink,
                  struct err *err)
{
    return s->backend->ops->select(s->backend, sql, binds, sink, err) || err_wrap(err, "store");
}

struct number_sink {
    struct row_sink sink;
    uint64_t number;
    bool found;
};

static void take_number(struct row_sink *sink, const struct str *cells)
{
    struct number_sink *s = CONTAINER_OF(sink, struct number_sink, sink);

    s->number = row_number(cells[0]);
    s->found = true;
}

bool store_select_number(struct store *s, const char *sql, struct binds binds, uint64_t *number,
                         bool *found, struct err *err)
{
    struct number_sink sink = {.sink = {take_number}};

    if (!store_select(s, sql, binds, &sink.sink, err))
        return false;
    *number = sink.number;
    if (found != NULL)
        *found = sink.found;
    return true;
}

void row_list_take(struct row_sink *sink, const struct str *cells)
{
    struct row_list *list = CONTAINER_OF(sink, struct row_list, sink);

    if (list->n == list->cap) {
        list->cap = list->cap == 0 ? 16 : list->cap * 2;
        list->elements = mem_resize(list->elements, list->cap, list->size);
    }
    char *element = list->elements + list->n++ * list->size;

    memset(element, 0, list->size);
    list->fill(list->arena, cells, element);
}

void *row_list_finish(struct row_list *list, size_t *n)
{
    void *elements = arena_alloc(list->arena, list->n, list->size);

    if (list->n > 0)
        memcpy(elements, list->elements, list->n * list->size);
    *n = list->n;
    free(list->elements);
    list->elements = NULL;
    return elements;
}

bool store_load(struct store *s, const char *sql, struct binds binds, struct row_list *list,
                struct err *err)
{
    if (store_begin(s, err) && store_end(s, store_select(s, sql, binds, &list->sink, err), err))
        return true;
    free(list->elements);
    list->elements = NULL;
    return false;
}

uint64_t store_age(int64_t wall_ms)
{
    const int64_t now_ms = clock_wall_ms();

    return now_ms > wall_ms ? (uint64_t)(now_ms - wall_ms) : 0;
}

int64_t store_time(struct str age)
{
    return clock_wall_ms() - (int64_t)row_number(age); /* 0 if its clock was put back */
}

uint64_t row_number(struct str cell)
{
    uint64_t n = 0;

    for (size_t i = 0; i < cell.len && cell.ptr[i] >= '0' && cell.ptr[i] <= '9'; i++)
        n = n * 10 + (uint64_t)(cell.ptr[i] - '0');
    return n;
}
