#include "config.h"

#include "rebalance/trace/parts.h"

#include "rebalance/state/pauses.h"

#include "sync/routing/routing.h"

#include <stdlib.h>
#include <string.h>

#define ENDS_MS 5000 /* for changes that are on their way, before each look but the first */

/* With one of these, the looks would tell nothing. */
#define IN_THE_WAY                                                \
    (TRACE_FACT(TRACE_STOPPED) | TRACE_FACT(TRACE_INDEX_ABSENT) | \
     TRACE_FACT(TRACE_INDEX_CLOSED) | TRACE_FACT(TRACE_ENGINE_AWAY))

/* An error says behind "; fix: " what helps. */
static void note_error(struct trace *t, enum trace_code code, const struct err *why)
{
    static const char sign[] = "; fix: ";
    const char *fix = strstr(why->msg, sign);

    if (fix == NULL)
        trace_note(t, code, str_from(why->msg), STR(""));
    else
        trace_note(t, code, (struct str){why->msg, (size_t)(fix - why->msg)},
                   str_from(fix + strlen(sign)));
}

/* ---- the version and the row ---- */

static bool find_table(struct trace *t, struct err *err)
{
    struct buf name = {0};

    t->table = coordinator_find_table(t->definitions, t->asked->table, err);
    if (t->table == NULL)
        return false;
    t->lead = definition_lead(t->definitions, t->table);
    t->available = catalogue_version(t->catalogue, table_index(t->lead), STR("available"));
    if (t->available != NULL)
        coordinator_index_name(&name, t->available->index, t->available->number);
    t->index = arena_copy(t->arena, name.len > 0 ? buf_str(&name) : table_index(t->lead));
    buf_free(&name);
    return true;
}

static bool name_row(struct trace *t, struct err *err)
{
    struct verify_run *run = &t->run;

    run->keys = arena_alloc(t->arena, 1, sizeof(*run->keys));
    if (!verify_run_name_key(run, t->asked->key, run->keys, err))
        return false;
    run->n_keys = 1;
    t->id = run->keys->id;
    t->row_target = target_ref(run->keys->target);
    t->row_key = run->keys->key;
    return true;
}

static bool is_stopped(const struct verify_run *run)
{
    for (size_t i = 0; i < run->n_targets; i++)
        if (__atomic_load_n(&((struct reading *)run->targets[i]->plan)->stopped,
                            __ATOMIC_RELAXED))
            return true;
    return false;
}

static void note_why_not_begun(struct trace *t, const struct err *why)
{
    const struct stored_version *coming = catalogue_coming(t->catalogue, table_index(t->lead));
    struct buf cutover = {0};

    buf_append(&cutover, STR("millrace index cutover "));
    buf_append_word(&cutover, table_name(t->lead));
    if (t->available == NULL && coming != NULL)
        trace_note(t, TRACE_BEING_BUILT, STR(""),
                   catalogue_wait(t->catalogue, coming) != NULL
                       ? buf_str(&cutover)
                       : STR("wait for it: millrace job list"));
    else if (t->available == NULL)
        trace_note(t, TRACE_NO_INDEX, STR(""), STR(""));
    else
        note_error(t, is_stopped(&t->run) ? TRACE_STOPPED : TRACE_NOT_RUNNING, why);
    buf_free(&cutover);
}

/* Returns false if the request makes no sense. */
static bool begin(struct trace *t, struct err *err)
{
    struct err why = {0};

    t->is_begun = verify_run_begin(&t->run, t->asked->table, 0, &why);
    if (!t->is_begun && why.code == 422) {
        *err = why;
        return false;
    }
    if (t->run.n_targets > 0 && !name_row(t, err))
        return false;
    if (!t->is_begun)
        note_why_not_begun(t, &why);
    return true;
}

/* ---- both sides ---- */

static void judge(struct trace *t)
{
    const bool is_paused = catalogue_pause(t->catalogue, PAUSE_TOPIC, t->run.topic) != NULL;
    struct err why = {0};

    t->run.patience = (struct verify_patience){is_paused ? 0 : ENDS_MS, ENDS_MS};
    t->is_judged = verify_run_settle(&t->run, &why);
    if (t->is_judged)
        t->is_judged = trace_look_at_row(t, &why);
    if (!t->is_judged)
        note_error(t, trace_engine_trouble(&why), &why);
}

static bool trace_document(struct trace *t, struct err *err)
{
    bool ignored;
    struct err none = {0};

    if (!begin(t, err))
        return false;
    trace_look_at_versions(t);
    trace_note_state(t);
    if (t->is_begun && (t->facts & IN_THE_WAY) == 0)
        judge(t);
    /* After the looks: a change that they saw on its way is then not taken for damage. */
    if (!trace_ask_around(t, err))
        return false;
    trace_note_verdict(t);
    if (t->facts == 0) /* what kept it back ended meanwhile */
        trace_note(t, TRACE_CHANGING, STR(""), STR(""));
    if ((t->facts & TRACE_FACT(TRACE_SERVER_AWAY)) == 0)
        (void)!trace_find_shown(t, false, &ignored, &none);
    return true;
}

static bool trace_related(struct trace *t, struct err *err)
{
    struct err why = {0};
    bool ok = false;

    if (!trace_find_shown(t, true, &ok, &why))
        return false; /* err says that there is no such table */
    *err = why;       /* none, or that of the key */
    return ok;
}

/* ---- the call ---- */

/* The ctx of the errand; in its arena. */
struct trace_question {
    struct coordinator *co;
    struct trace_request request;
};

static void end(struct trace *t)
{
    free(t->log.changes);
    target_unref(t->row_target);
    verify_run_end(&t->run);
    catalogue_unref(t->catalogue);
    definitions_unref(t->definitions);
}

static bool trace(struct errand *e, struct err *err)
{
    const struct trace_question *q = e->ctx;
    struct trace *t = arena_alloc(e->arena, 1, sizeof(*t));

    *t = (struct trace){
        .co = q->co,
        .errand = e,
        .arena = e->arena,
        .asked = &q->request,
        .id = q->request.key,
        .definitions = coordinator_definitions(q->co),
        .catalogue = coordinator_catalogue(q->co),
        .run = {.co = q->co, .stop = &q->co->stop, .errand = e, .arena = e->arena}};

    const bool ok = find_table(t, err) ? trace_document(t, err) : trace_related(t, err);

    if (ok && q->request.log)
        trace_read_log(t);
    if (ok)
        trace_append_answer(t, &e->text);
    end(t);
    return ok;
}

static bool check(const struct coordinator *co, const struct trace_request *r, struct err *err)
{
    struct position at;

    if (!coordinator_is_daemon(co, "trace", err))
        return false;
    if (r->from.len > 0 && !position_parse(r->from, &at, err))
        return refuse(err, 422, "\"from\" must be FILE:OFFSET, not %" STR_FMT,
                      STR_ARG(r->from));
    return true;
}

bool coordinator_trace(struct coordinator *co, const struct trace_request *r, struct buf *json,
                       struct err *err)
{
    struct buf who = {0};

    if (!check(co, r, err))
        return false;
    buf_printf(&who, "the engine, the store, or a server with rows of %" STR_FMT,
               STR_ARG(r->table));

    struct errand *e = errand_new(who.ptr, sizeof(struct trace_question));

    *(struct trace_question *)e->ctx =
        (struct trace_question){co,
                                {arena_copy(e->arena, r->table), arena_copy(e->arena, r->key),
                                 r->log, arena_copy(e->arena, r->from)}};

    const bool ok = errand_run(co->errands, e, trace, err);

    if (ok)
        buf_append(json, buf_str(&e->text));
    errand_leave(e);
    buf_free(&who);
    return ok;
}
