#include "config.h"

#include "rebalance/verify/condition.h"

#include "sync/definition/expression.h"
#include "sync/document/loader.h"
#include "sync/routing/routing.h"

/* The ctx of the errand; its texts are in its arena. */
struct condition_question {
    struct coordinator *co;
    struct str table, where;
};

bool condition_concerns(const struct verify_run *run, const struct target *t)
{
    const struct table_definition *of = definitions_table(run->definitions, str_from(t->table));

    return (of == NULL ? run->lead : of) == run->table;
}

static bool read_none(struct verify_run *run, const struct target *t, struct str where,
                      struct err *err)
{
    struct loader_page page = {.where = where, .rows_max = 0};
    struct err ignored = {0};
    uint64_t stamp;

    if (!read_links_open(&run->links, t->plan, 0, &stamp, err))
        return false;

    const bool ok = loader_load_range(run->links.conns, ((struct reading *)t->plan)->plan,
                                      &page, run->arena, err);

    return read_links_end(&run->links, ok ? err : &ignored) && ok;
}

static bool try_condition(struct verify_run *run, struct str where, struct err *err)
{
    for (size_t i = 0; i < run->n_targets; i++)
        if (condition_concerns(run, run->targets[i])) {
            if (read_none(run, run->targets[i], where, err))
                return true;
            return err->kind == ERR_REJECT
                       ? refuse(err, 422, "the server refuses the condition: %s", err->msg)
                       : false;
        }
    return err_set(err, ERR_RETRY,
                   "no table that the condition concerns is followed now; fix: millrace "
                   "status says why");
}

static bool check(struct errand *e, struct err *err)
{
    const struct condition_question *c = e->ctx;
    struct verify_run run = {.co = c->co, .stop = &c->co->stop, .errand = e, .arena = e->arena};
    const bool ok =
        verify_run_begin(&run, c->table, 0, err) && try_condition(&run, c->where, err);

    verify_run_end(&run);
    return ok;
}

bool condition_check(struct coordinator *co, struct str table, struct str where,
                     struct err *err)
{
    const char *fault = expression_find_fault(where);
    struct buf who = {0};

    if (fault != NULL)
        return refuse(err, 422, "`%" STR_FMT "` %s", STR_ARG(where), fault);
    buf_printf(&who, "a server with rows of %" STR_FMT, STR_ARG(table));

    struct errand *e = errand_new(who.ptr, sizeof(struct condition_question));

    *(struct condition_question *)e->ctx = (struct condition_question){
        co, arena_copy(e->arena, table), arena_copy(e->arena, where)};

    const bool ok = errand_run(co->errands, e, check, err);

    errand_leave(e);
    buf_free(&who);
    return ok;
}
