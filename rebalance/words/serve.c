#include "config.h"

#include "rebalance/state/parts.h"
#include "rebalance/words/content.h"
#include "rebalance/words/pulls.h"
#include "rebalance/words/text.h"
#include "rebalance/words/words.h"

struct serving {
    struct words *words;
    struct store *store;
    struct str list, has;
    bool sent;
    struct word_file file;
};

static bool read_list(struct errand *e, struct err *err)
{
    struct serving *s = e->ctx;
    const struct word_question q = {s->store, s->list, s->has, &s->sent};

    return words_read(s->words, &q, &s->file, &e->text, err);
}

bool coordinator_serve_words(struct coordinator *co, const struct word_pull *p,
                             struct word_file *file, struct buf *text, struct err *err)
{
    struct errand *e;
    struct serving *s;

    if (!word_check_list(p->list, err))
        return false;
    e = errand_new("the store", sizeof(*s));
    s = e->ctx;
    *s = (struct serving){.words = co->words,
                          .store = co->opt.store,
                          .list = arena_copy(e->arena, p->list),
                          .has = arena_copy(e->arena, p->has)};

    const bool ok = coordinator_ask_store(co, e, read_list, err);

    if (ok) {
        *file = s->file;
        buf_append(text, buf_str(&e->text));
        pulls_note(words_pulls(co->words), p, file->etag, s->sent && !p->is_head);
    }
    errand_leave(e);
    return ok;
}
