#include "config.h"

#include "rebalance/state/parts.h"
#include "rebalance/words/text.h"
#include "rebalance/words/words.h"
#include "src/store/words/words.h"

#define LISTED 100

struct word_search {
    struct store *store;
    struct word_filter filter;
    struct stored_word *list;
    size_t n;
};

static bool read_words(struct errand *e, struct err *err)
{
    struct word_search *s = e->ctx;

    return store_load_words(s->store, e->arena, &s->filter, &s->list, &s->n, err);
}

static struct errand *word_search_new(struct coordinator *co, const struct word_filter *f,
                                      size_t limit)
{
    struct errand *e = errand_new("the store", sizeof(struct word_search));
    struct word_search *s = e->ctx;

    s->store = co->opt.store;
    s->filter = *f;
    s->filter.list = arena_copy(e->arena, f->list);
    s->filter.word = arena_copy(e->arena, f->word);
    s->filter.part = arena_copy(e->arena, f->part);
    s->filter.after_list = arena_copy(e->arena, f->after_list);
    s->filter.after_word = arena_copy(e->arena, f->after_word);
    s->filter.limit = limit;
    return e;
}

static void write_word(struct json_writer *w, const struct stored_word *word)
{
    json_open_object(w);
    json_put_string(w, STR("list"), word->list);
    json_put_string(w, STR("word"), word->word);
    json_put_cstr(w, STR("state"), word->published_ms > 0 ? "published" : "init");
    coordinator_put_time(w, STR("added"), word->added_ms);
    coordinator_put_time(w, STR("published"), word->published_ms);
    json_close_object(w);
}

static void write_list(struct json_writer *w, const struct word_search *s, size_t limit)
{
    json_open_object(w);
    json_put_cstr(w, STR("schema"), "millrace/word/1");
    json_write_key(w, STR("items"));
    json_open_array(w);
    for (size_t i = 0; i < s->n && i < limit; i++)
        write_word(w, &s->list[i]);
    json_close_array(w);
    if (s->n > limit)
        json_put_string(w, STR("more_after"), s->list[limit - 1].word);
    json_close_object(w);
}

static bool is_found(const struct word_search *s, struct err *err)
{
    const struct word_filter *f = &s->filter;

    return f->word.len == 0 || s->n > 0 ||
           err_set_code(err, ERR_REJECT, "http", 404,
                        "the list %" STR_FMT " has no word %" STR_FMT, STR_ARG(f->list),
                        STR_ARG(f->word));
}

bool coordinator_list_words(struct coordinator *co, const struct word_filter *f,
                            struct buf *json, struct err *err)
{
    const size_t limit = f->limit > 0 ? f->limit : LISTED;
    struct json_writer w = {.out = json};
    struct errand *e;
    bool ok;

    if (!word_check_list(f->list, err))
        return false;
    e = word_search_new(co, f, limit + 1); /* to see whether more follow */
    ok = coordinator_ask_store(co, e, read_words, err) && is_found(e->ctx, err);
    if (ok)
        write_list(&w, e->ctx, limit);
    errand_leave(e);
    return ok;
}

bool coordinator_export_words(struct coordinator *co, const struct word_filter *f,
                              struct buf *text, struct err *err)
{
    const struct word_search *s;
    struct errand *e;
    bool ok;

    if (!word_check_list(f->list, err))
        return false;
    e = word_search_new(co, f, WORDS_MAX);
    s = e->ctx;
    ok = coordinator_ask_store(co, e, read_words, err);
    for (size_t i = 0; ok && i < s->n; i++) {
        buf_append(text, s->list[i].word);
        buf_append_char(text, '\n');
    }
    errand_leave(e);
    return ok;
}
