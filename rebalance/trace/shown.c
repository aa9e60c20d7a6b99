#include "config.h"

#include "rebalance/trace/parts.h"

#include "sync/document/comparison.h"
#include "sync/document/key.h"
#include "sync/document/resolver.h"
#include "sync/routing/routing.h"

/* One index whose documents may show the row. */
struct showing {
    struct trace *t;
    struct verify_run run;
    struct table_location row; /* on its server */
    struct str *ids;
    size_t n;
    bool has_more;
    struct verify_key *keys; /* of the ids, once they are judged */
};

struct shown_reach {
    struct str table;
    bool reaches;
};

static void visit(void *ctx, struct str table)
{
    struct shown_reach *r = ctx;

    r->reaches = r->reaches || str_equal(table, r->table);
}

/* Whether a relation of t, at any depth, leads to the table. */
static bool reaches(const struct table_definition *t, struct str table)
{
    struct shown_reach r = {.table = table};

    table_visit(t, visit, &r);
    return r.reaches && !str_equal(table_name(t), table);
}

/* ---- the documents of one index ---- */

static bool has_id(const struct showing *s, struct str id)
{
    for (size_t i = 0; i < s->n; i++)
        if (str_equal(s->ids[i], id))
            return true;
    return false;
}

static bool on_document(void *ctx, size_t key, struct str id, struct str root_key,
                        struct str routing)
{
    struct showing *s = ctx;

    (void)key;
    (void)root_key;
    (void)routing;
    if (has_id(s, id))
        return true;
    if (s->t->n_shown + s->n == SHOWN_MAX)
        s->has_more = true;
    else
        s->ids[s->n++] = arena_copy(s->t->arena, id);
    return true;
}

static bool is_of_row(const struct showing *s, const struct plan *p, size_t place)
{
    struct str database, table;
    bool ignored;

    plan_place(p, place, &database, &table, &ignored);
    return str_equal(database, s->row.schema) && str_equal(table, s->row.name) &&
           str_equal(plan_topic(p, plan_place_topic(p, place)), s->row.topic);
}

/* Find the row by its primary key.  ERR_REJECT if it has none, or the text is none. */
static bool parse_key(const struct schema *s, struct str text, struct buf *key, struct err *err)
{
    const struct column *columns[64];

    for (size_t i = 0; i < s->n_key; i++) {
        columns[i] = &s->columns[s->key[i]];
        if (i == ARRAY_LEN(columns) || !comparison_can_join(columns[i], columns[i]))
            return refuse(err, 422, "rows of %" STR_FMT " cannot be found by their key",
                          STR_ARG(s->table));
    }
    if (s->n_key == 0)
        return refuse(err, 422, "table %" STR_FMT " has no primary key to find a row by",
                      STR_ARG(s->table));
    return key_parse_id(key, columns, s->n_key, text, err) ||
           refuse(err, 422, "key %" STR_FMT ": %s", STR_ARG(text), err->msg);
}

static bool find_at(struct showing *s, struct target *target, size_t place, struct err *err)
{
    const struct plan *p = ((const struct reading *)target->plan)->plan;
    const struct resolver_sink sink = {.found = on_document, .ctx = s};
    struct resolver_cursor cursor = {0};
    struct err ignored = {0};
    struct buf key = {0};
    struct str one;
    uint64_t stamp;
    bool ok = parse_key(plan_place_schema(p, place), s->t->asked->key, &key, err);

    one = arena_copy(s->t->arena, buf_str(&key));
    buf_free(&key);
    if (!ok || !read_links_open(&s->run.links, target->plan, 0, &stamp, err))
        return false;
    if (s->t->row_target == NULL) {
        s->t->row_target = target_ref(target);
        s->t->row_place = place;
        s->t->row_key = one;
    }
    do {
        buf_clear(&cursor.behind);
        cursor.end = false;
        verify_run_live(&s->run);
        ok = resolver_page(s->run.links.conns,
                           &(struct resolver_rows){p, place, RESOLVER_BY_ROW, &one, 1},
                           SHOWN_MAX + 1, &cursor, &sink, err);
    } while (ok && !cursor.end && !s->has_more);
    buf_free(&cursor.after);
    buf_free(&cursor.behind);
    return read_links_end(&s->run.links, ok ? err : &ignored) && ok;
}

static bool find_documents(struct showing *s, struct err *err)
{
    s->ids = arena_alloc(s->t->arena, SHOWN_MAX, sizeof(*s->ids));
    for (size_t i = 0; i < s->run.n_targets; i++) {
        const struct plan *p = ((const struct reading *)s->run.targets[i]->plan)->plan;

        for (size_t place = 1; place < plan_n_places(p); place++)
            if (is_of_row(s, p, place) && !plan_place_leads(p, place) &&
                !find_at(s, s->run.targets[i], place, err))
                return false;
    }
    return true;
}

/* ---- what they are ---- */

static enum trace_code judged(const struct verify_key *k)
{
    if (k->state == VERIFY_EQUAL ||
        (k->state == VERIFY_APART && k->reason == VERIFY_NOT_FOLLOWED))
        return TRACE_SHOWN_EQUAL;
    return k->state == VERIFY_DIFFERS ? TRACE_SHOWN_DIFFERENT : TRACE_SHOWN_UNKNOWN;
}

static bool settle(struct verify_run *run, void *ctx, struct err *err)
{
    (void)ctx;
    return verify_run_settle(run, err);
}

/* Of the keys, only what they are is left then: their texts are gone. */
static bool judge(struct showing *s, struct err *err)
{
    s->keys = arena_alloc(s->t->arena, s->n + 1, sizeof(*s->keys));
    for (size_t i = 0; i < s->n; i++)
        verify_run_name_document(&s->run, s->ids[i], &s->keys[i]);
    return verify_run_each_group(&s->run, s->keys, s->n, settle, NULL, err);
}

/* Of several documents that are alike, the first is named. */
static void note(struct trace *t, const struct trace_shown *one)
{
    struct buf why = {0}, fix = {0};

    if ((t->facts & TRACE_FACT(one->is)) != 0)
        return;
    buf_printf(&why, "%" STR_FMT " of %" STR_FMT, STR_ARG(one->id), STR_ARG(one->table));
    buf_append(&fix, STR("millrace trace "));
    buf_append_word(&fix, one->table);
    buf_append_char(&fix, ' ');
    buf_append_word(&fix, one->id);
    trace_note(t, one->is, buf_str(&why), buf_str(&fix));
    buf_free(&why);
    buf_free(&fix);
}

static void list(struct showing *s, bool is_judged)
{
    struct trace *t = s->t;

    if (t->shown == NULL)
        t->shown = arena_alloc(t->arena, SHOWN_MAX, sizeof(*t->shown));
    for (size_t i = 0; i < s->n; i++) {
        struct trace_shown *one = &t->shown[t->n_shown++];

        *one = (struct trace_shown){
            .table = arena_copy(t->arena, table_name(s->run.table)),
            .index = s->run.index,
            .id = s->ids[i],
            .is_judged = is_judged,
            .is = is_judged ? judged(&s->keys[i]) : TRACE_SHOWN_UNKNOWN,
        };
        if (is_judged)
            note(t, one);
    }
    t->has_more_shown = t->has_more_shown || s->has_more;
}

static bool show(struct trace *t, const struct table_definition *by, bool is_judged,
                 struct err *err)
{
    struct showing s = {.t = t,
                        .run = {.co = t->co,
                                .stop = &t->co->stop,
                                .errand = t->errand,
                                .arena = t->arena,
                                .patience = VERIFY_PATIENT}};
    bool ok = definitions_locate(t->definitions, t->asked->table, &s.row) &&
              verify_run_begin(&s.run, table_name(by), 0, err) && find_documents(&s, err) &&
              (!is_judged || judge(&s, err));

    if (ok)
        list(&s, is_judged);
    verify_run_end(&s.run);
    return ok;
}

/* Tables that share an index are looked at together, with the first of them. */
static bool is_first(const struct definitions *d, size_t i, struct str table)
{
    for (size_t k = 0; k < i; k++)
        if (str_equal(table_index(&d->tables[k]), table_index(&d->tables[i])) &&
            reaches(&d->tables[k], table))
            return false;
    return true;
}

bool trace_find_shown(struct trace *t, bool judge_them, bool *ok, struct err *err)
{
    const struct definitions *d = t->definitions;
    bool any = false;

    *ok = true;
    for (size_t i = 0; *ok && i < d->n_tables; i++) {
        struct err why = {0};

        if (!reaches(&d->tables[i], t->asked->table) || !is_first(d, i, t->asked->table))
            continue;
        any = true;
        if (show(t, &d->tables[i], judge_them, &why))
            continue;
        *ok = why.code != 422;
        if (!*ok)
            *err = why;
        else if (judge_them)
            trace_note(t, TRACE_SHOWN_UNKNOWN, str_from(why.msg), STR(""));
    }
    if (any && judge_them && t->facts == 0)
        trace_note(t, TRACE_SHOWN_NOWHERE, STR(""), STR(""));
    return any;
}
