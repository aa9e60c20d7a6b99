#include "config.h"

#include "rebalance/words/content.h"

#include "rebalance/words/pulls.h"
#include "rebalance/words/text.h"
#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/base/lock.h"
#include "src/base/mem.h"
#include "src/store/words/words.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <xxhash.h>

#define N_LISTS 2

struct kept_list {
    bool is_known;
    uint64_t turn;
    struct word_file file;
    struct buf text;
};

struct words {
    struct pulls *pulls;
    struct lock lock;
    /* All guarded by lock. */
    struct kept_list lists[N_LISTS];
};

struct words *words_new(void)
{
    struct words *w = mem_alloc(1, sizeof(*w));

    assert(n_word_lists == N_LISTS);
    w->pulls = pulls_new();
    lock_init(&w->lock, LOCK_private);
    return w;
}

void words_free(struct words *w)
{
    if (w == NULL)
        return;
    for (size_t i = 0; i < N_LISTS; i++)
        buf_free(&w->lists[i].text);
    lock_fini(&w->lock);
    pulls_free(w->pulls);
    free(w);
}

struct pulls *words_pulls(struct words *w)
{
    return w->pulls;
}

static size_t place_of(struct str list)
{
    size_t i = 0;

    while (i < N_LISTS && !str_equal(list, str_from(word_lists[i])))
        i++;
    assert(i < N_LISTS); /* word_check_list() */
    return i;
}

/* By the content alone, so that it is the same on all nodes, and after a restore. */
static void set_etag(struct word_file *file, struct str text)
{
    const XXH128_hash_t h = XXH3_128bits(text.len > 0 ? text.ptr : "", text.len);

    snprintf(file->etag, sizeof(file->etag), "\"%016llx%016llx\"", (unsigned long long)h.high64,
             (unsigned long long)h.low64);
}

static bool load(struct kept_list *out, const struct word_question *q, struct err *err)
{
    struct arena *a = arena_new();
    struct stored_word_list at;
    struct str *words;
    size_t n;
    const bool ok = store_load_published(q->store, a, q->list, &at, &words, &n, err);

    for (size_t i = 0; ok && i < n; i++) {
        buf_append(&out->text, words[i]);
        buf_append_char(&out->text, '\n');
    }
    arena_free(a);
    if (!ok)
        return false;
    out->is_known = true;
    out->turn = at.turn;
    out->file.changed_ms = at.changed_ms;
    set_etag(&out->file, buf_str(&out->text));
    return true;
}

static void answer(const struct kept_list *l, const struct word_question *q,
                   struct word_file *file, struct buf *text)
{
    const bool sends = text != NULL && !str_equal(q->has, str_from(l->file.etag));

    *file = l->file;
    if (sends)
        buf_append(text, buf_str(&l->text));
    if (q->sent != NULL)
        *q->sent = sends;
}

/* Answers from what is kept, if it is of this turn. */
static bool answer_kept(struct words *w, const struct word_question *q, uint64_t turn,
                        struct word_file *file, struct buf *text)
{
    const struct kept_list *kept = &w->lists[place_of(q->list)];

    lock_acquire(&w->lock);

    const bool is_kept = kept->is_known && kept->turn == turn;

    if (is_kept)
        answer(kept, q, file, text);
    lock_release(&w->lock);
    return is_kept;
}

/* If another thread puts an older one after this, the next request loads again. */
static void keep(struct words *w, size_t place, const struct kept_list *new)
{
    struct buf old;

    lock_acquire(&w->lock);
    old = w->lists[place].text;
    w->lists[place] = *new;
    lock_release(&w->lock);
    buf_free(&old);
}

bool words_read(struct words *w, const struct word_question *q, struct word_file *file,
                struct buf *text, struct err *err)
{
    struct stored_word_list at;
    struct kept_list new = {0};

    if (!store_load_word_turn(q->store, q->list, &at, err))
        return false;
    if (answer_kept(w, q, at.turn, file, text))
        return true;
    if (!load(&new, q, err)) {
        buf_free(&new.text);
        return false;
    }
    answer(&new, q, file, text);
    keep(w, place_of(q->list), &new);
    return true;
}
