#include "config.h"

#include "rebalance/state/parts.h"
#include "rebalance/words/text.h"
#include "rebalance/words/usage.h"
#include "rebalance/words/words.h"
#include "src/base/clock.h"
#include "src/format/problem.h"
#include "src/store/words/words.h"

typedef bool (*store_fn)(struct store *s, const struct word_order *o, struct words_done *done,
                         struct err *err);

/* The ctx of an errand, with the words in its arena. */
struct word_change {
    struct store *store;
    struct word_order order;
    struct words_done done;
    store_fn change;
};

static void live(void *ctx)
{
    errand_live(ctx);
}

static bool run_change(struct errand *e, struct err *err)
{
    struct word_change *c = e->ctx;

    c->order.live = live;
    c->order.live_ctx = e;
    return c->change(c->store, &c->order, &c->done, err);
}

static void write_done(struct coordinator *co, const struct word_order *o,
                       const struct words_done *done, struct buf *json)
{
    const bool is_changed = done->n_published > 0 || done->n_deleted > 0;
    struct json_writer w = {.out = json};

    json_open_object(&w);
    json_put_cstr(&w, STR("schema"), "millrace/word-change/1");
    json_put_string(&w, STR("list"), o->list);
    json_put_u64(&w, STR("added"), done->n_added);
    json_put_u64(&w, STR("published"), done->n_published);
    json_put_u64(&w, STR("deleted"), done->n_deleted);
    if (o->dry_run)
        json_put_bool(&w, STR("dry_run"), true);
    word_usage_write(co, &w, is_changed ? clock_wall_ms() : 0);
    json_close_object(&w);
}

static void copy_words(struct errand *e, struct word_order *out, const struct word_order *o)
{
    struct str *words = arena_alloc(e->arena, o->n + 1, sizeof(*words));

    for (size_t i = 0; i < o->n; i++)
        words[i] = arena_copy(e->arena, o->words[i]);
    *out = *o;
    out->list = arena_copy(e->arena, o->list);
    out->words = words;
}

static bool change(struct coordinator *co, const struct word_order *o, store_fn fn,
                   struct buf *json, struct err *err)
{
    struct errand *e = errand_new("the store", sizeof(struct word_change));
    struct word_change *c = e->ctx;

    c->store = co->opt.store;
    c->change = fn;
    copy_words(e, &c->order, o);

    const bool ok = coordinator_ask_store(co, e, run_change, err);

    if (ok)
        write_done(co, o, &c->done, json);
    errand_leave(e);
    return ok;
}

static bool check(const struct word_order *o, struct err *err)
{
    if (!word_check_list(o->list, err))
        return false;
    for (size_t i = 0; i < o->n; i++)
        if (!word_check(o->words[i], err))
            return false;
    return true;
}

bool coordinator_add_words(struct coordinator *co, const struct word_order *o, struct buf *json,
                           struct err *err)
{
    return check(o, err) && change(co, o, store_add_words, json, err);
}

bool coordinator_publish_words(struct coordinator *co, const struct word_order *o,
                               struct buf *json, struct err *err)
{
    return check(o, err) && change(co, o, store_publish_words, json, err);
}

bool coordinator_delete_words(struct coordinator *co, const struct word_order *o,
                              struct buf *json, struct err *err)
{
    return check(o, err) && change(co, o, store_delete_words, json, err);
}

/* The order's words are the old one and the new one. */
static bool replace(struct store *s, const struct word_order *o, struct words_done *done,
                    struct err *err)
{
    *done = (struct words_done){0};
    return store_change_word(s, o->list, o->words[0], o->words[1], o->dry_run, err);
}

bool coordinator_change_word(struct coordinator *co, const struct word_order *which,
                             struct str into, struct buf *json, struct err *err)
{
    const struct str words[] = {which->words[0], into};
    struct word_order o = *which;

    o.words = words;
    o.n = ARRAY_LEN(words);

    return check(&o, err) && change(co, &o, replace, json, err);
}

bool coordinator_import_words(struct coordinator *co, const struct word_order *how,
                              struct str text, struct buf *json, struct err *err)
{
    struct problems *problems = problems_new();
    struct arena *a = arena_new();
    struct word_order o = *how;
    size_t n_bad;
    bool ok = word_check_list(o.list, err);

    o.words = word_read_lines(a, text, &o.n, problems);
    n_bad = problems_count(problems, SEVERITY_ERROR);
    if (ok && n_bad > 0) {
        problems_append_json(problems, json);
        ok = err_set_code(err, ERR_REJECT, "http", 422,
                          "%zu of the lines are no words, so none was added", n_bad);
    }
    ok = ok && change(co, &o, store_add_words, json, err);
    arena_free(a);
    problems_free(problems);
    return ok;
}
