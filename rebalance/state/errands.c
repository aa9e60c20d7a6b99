#include "config.h"

#include "rebalance/state/parts.h"

bool coordinator_store_answers(struct coordinator *co, struct err *err)
{
    const struct heard is = store_watch_heard(co->store_watch);

    store_watch_want(co->store_watch);
    return !is.is_silent ||
           err_set(err, ERR_RETRY,
                   "%s; fix: repair the store's server; millrace status says when it "
                   "answers again",
                   is.why.msg);
}

bool coordinator_ask_store(struct coordinator *co, struct errand *e, errand_fn run,
                           struct err *err)
{
    return coordinator_store_answers(co, err) && errand_run(co->errands, e, run, err);
}

static void question_fini(void *ctx)
{
    const struct table_question *q = ctx;

    definitions_unref(q->d);
}

bool coordinator_ask_of_table(struct coordinator *co, errand_fn run, struct str table,
                              struct str key, struct definitions *draft, struct buf *json,
                              struct err *err)
{
    struct buf who = {0};

    buf_printf(&who, "a server with rows of %" STR_FMT, STR_ARG(table));

    struct errand *e = errand_new(who.ptr, sizeof(struct table_question));
    struct table_question *q = e->ctx;

    *q = (struct table_question){
        .co = co,
        .table = arena_copy(e->arena, table),
        .key = arena_copy(e->arena, key),
        .d = draft != NULL ? definitions_ref(draft) : coordinator_definitions(co),
        .is_draft = draft != NULL,
    };
    e->fini = question_fini;

    const bool ok = errand_run(co->errands, e, run, err);

    if (ok)
        buf_append(json, buf_str(&e->text));
    errand_leave(e);
    buf_free(&who);
    return ok;
}
