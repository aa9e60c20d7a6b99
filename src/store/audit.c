#include "config.h"

#include "src/store/audit.h"

#include "src/base/arena.h"
#include "src/store/core.h"
#include "src/store/store.h"

static bool trim(struct store *s, struct err *err)
{
    uint64_t newest;

    if (!store_select_number(s, "SELECT MAX(id) FROM audit", NO_BINDS, &newest, NULL, err))
        return false;
    return newest <= AUDIT_KEPT || store_run(s, "DELETE FROM audit WHERE id <= ?",
                                             BINDS(NUMBER(newest - AUDIT_KEPT)), err);
}

bool store_add_audit(struct store *s, const struct stored_audit *e, struct err *err)
{
    static const char sql[] =
        "INSERT INTO audit (at_ms, who, node, method, target, what, object, reason, asked,"
        " answered)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

    if (!store_begin_write(s, OF_NOBODY, err))
        return false;

    const bool ok =
        store_run(s, sql,
                  BINDS(NUMBER(e->at_ms), TEXT(e->who), TEXT(e->node), TEXT(e->method),
                        TEXT(e->target), TEXT(e->what), TEXT(e->object), TEXT(e->reason),
                        TEXT(e->asked), TEXT(e->answered)),
                  err) &&
        trim(s, err);

    return store_end(s, ok, err);
}

static void fill(struct arena *a, const struct str *cells, void *element)
{
    struct stored_audit *e = element;

    e->id = row_number(cells[0]);
    e->at_ms = (int64_t)row_number(cells[1]);
    e->who = arena_copy(a, cells[2]);
    e->node = arena_copy(a, cells[3]);
    e->method = arena_copy(a, cells[4]);
    e->target = arena_copy(a, cells[5]);
    e->what = arena_copy(a, cells[6]);
    e->object = arena_copy(a, cells[7]);
    e->reason = arena_copy(a, cells[8]);
    e->asked = arena_copy(a, cells[9]);
    e->answered = arena_copy(a, cells[10]);
}

bool store_load_audit(struct store *s, struct arena *a, const struct audit_filter *f,
                      struct stored_audit **out, size_t *n, struct err *err)
{
    static const char sql[] =
        "SELECT id, at_ms, who, node, method, target, what, object, reason, asked, answered"
        " FROM audit"
        " WHERE (? = 0 OR id < ?) AND (? = '' OR object = ?) ORDER BY id DESC LIMIT ?";
    struct row_list list = ROW_LIST(a, struct stored_audit, fill);

    if (!store_load(s, sql,
                    BINDS(NUMBER(f->before_id), NUMBER(f->before_id), TEXT(f->object),
                          TEXT(f->object), NUMBER(f->limit)),
                    &list, err))
        return false;
    *out = row_list_finish(&list, n);
    return true;
}
