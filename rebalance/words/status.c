#include "config.h"

#include "rebalance/state/parts.h"
#include "rebalance/words/content.h"
#include "rebalance/words/pulls.h"
#include "rebalance/words/text.h"
#include "rebalance/words/usage.h"
#include "rebalance/words/words.h"
#include "src/base/mem.h"
#include "src/store/words/words.h"

#include <stdlib.h>

#define N_LISTS_MAX 4

struct list_state {
    struct stored_word_list stored;
    struct word_file file;
};

struct lists_question {
    struct store *store;
    struct words *words;
    struct list_state lists[N_LISTS_MAX];
};

static bool read_lists(struct errand *e, struct err *err)
{
    struct lists_question *q = e->ctx;

    for (size_t i = 0; i < n_word_lists; i++) {
        const struct str list = str_from(word_lists[i]);
        const struct word_question of = {.store = q->store, .list = list};

        if (!store_load_word_list(q->store, list, &q->lists[i].stored, err) ||
            !words_read(q->words, &of, &q->lists[i].file, NULL, err))
            return false;
    }
    return true;
}

static void write_list(struct json_writer *w, const char *name, const struct list_state *l)
{
    json_open_object(w);
    json_put_cstr(w, STR("list"), name);
    json_put_u64(w, STR("init"), l->stored.n_new);
    json_put_u64(w, STR("published"), l->stored.n_published);
    coordinator_put_time(w, STR("changed"), l->file.changed_ms);
    json_put_cstr(w, STR("etag"), l->file.etag);
    json_close_object(w);
}

static bool is_current(const struct pull *p, const struct lists_question *q)
{
    for (size_t i = 0; i < n_word_lists; i++)
        if (str_equal(str_from(p->list), str_from(word_lists[i])))
            return str_equal(str_from(p->etag), str_from(q->lists[i].file.etag));
    return false;
}

static void write_pull(struct json_writer *w, const struct pull *p,
                       const struct lists_question *q)
{
    json_open_object(w);
    json_put_cstr(w, STR("list"), p->list);
    json_put_cstr(w, STR("address"), p->address);
    coordinator_put_time(w, STR("asked"), p->asked_ms);
    coordinator_put_time(w, STR("pulled"), p->pulled_ms);
    json_put_cstr(w, STR("etag"), p->etag);
    json_put_bool(w, STR("current"), is_current(p, q));
    json_close_object(w);
}

static void write_pulls(struct json_writer *w, struct pulls *pulls,
                        const struct lists_question *q)
{
    struct pull *list = mem_alloc(PULLS_MAX, sizeof(*list));
    const size_t n = pulls_copy(pulls, list);

    json_write_key(w, STR("pulls"));
    json_open_array(w);
    for (size_t i = 0; i < n; i++)
        write_pull(w, &list[i], q);
    json_close_array(w);
    free(list);
}

static void write_status(struct coordinator *co, const struct lists_question *q,
                         struct buf *json)
{
    struct json_writer w = {.out = json};
    int64_t changed_ms = 0;

    json_open_object(&w);
    json_put_cstr(&w, STR("schema"), "millrace/word-status/1");
    json_write_key(&w, STR("lists"));
    json_open_array(&w);
    for (size_t i = 0; i < n_word_lists; i++) {
        write_list(&w, word_lists[i], &q->lists[i]);
        if (q->lists[i].file.changed_ms > changed_ms)
            changed_ms = q->lists[i].file.changed_ms;
    }
    json_close_array(&w);
    write_pulls(&w, words_pulls(co->words), q);
    word_usage_write(co, &w, changed_ms);
    json_close_object(&w);
}

bool coordinator_word_status(struct coordinator *co, struct buf *json, struct err *err)
{
    struct errand *e = errand_new("the store", sizeof(struct lists_question));
    struct lists_question *q = e->ctx;

    q->store = co->opt.store;
    q->words = co->words;

    const bool ok = coordinator_ask_store(co, e, read_lists, err);

    if (ok)
        write_status(co, q, json);
    errand_leave(e);
    return ok;
}
