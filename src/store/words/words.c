#include "config.h"

#include "src/store/words/words.h"

#include "src/base/arena.h"
#include "src/base/mem.h"
#include "src/store/core.h"
#include "src/store/store.h"

#include <stdlib.h>

#define COLUMNS      4
#define ROWS_AT_ONCE 200

/* ---- in a transaction ---- */

static bool select_now(struct store *s, uint64_t *now_ms, struct err *err)
{
    return store_select_number(s, "SELECT {now_ms}", NO_BINDS, now_ms, NULL, err);
}

static bool count(struct store *s, struct str list, struct stored_word_list *out,
                  struct err *err)
{
    static const char new[] =
        "SELECT COUNT(*) FROM word WHERE list_name = ? AND published_ms = 0";
    static const char published[] =
        "SELECT COUNT(*) FROM word WHERE list_name = ? AND published_ms > 0";

    return store_select_number(s, new, BINDS(TEXT(list)), &out->n_new, NULL, err) &&
           store_select_number(s, published, BINDS(TEXT(list)), &out->n_published, NULL, err);
}

static bool select_turn(struct store *s, struct str list, struct stored_word_list *out,
                        struct err *err)
{
    static const char turn[] = "SELECT turn FROM word_list WHERE list_name = ?";
    static const char changed[] = "SELECT changed_ms FROM word_list WHERE list_name = ?";
    uint64_t at_ms;
    const bool ok = store_select_number(s, turn, BINDS(TEXT(list)), &out->turn, NULL, err) &&
                    store_select_number(s, changed, BINDS(TEXT(list)), &at_ms, NULL, err);

    out->changed_ms = ok ? (int64_t)at_ms : 0;
    return ok;
}

/*
 * One change of a list at a time, on all nodes.  This comes before the first SELECT, which in
 * MySQL decides what the transaction sees.
 */
static bool lock_list(struct store *s, struct str list, struct err *err)
{
    static const char sql[] = "INSERT INTO word_list (list_name, turn, changed_ms)"
                              " VALUES (?, 0, 0)"
                              " ON CONFLICT (list_name) DO UPDATE SET turn = turn";

    return store_run(s, sql, BINDS(TEXT(list)), err);
}

static bool raise_turn(struct store *s, struct str list, uint64_t now_ms, struct err *err)
{
    static const char sql[] =
        "UPDATE word_list SET turn = turn + 1,"
        " changed_ms = CASE WHEN changed_ms < ? THEN ? ELSE changed_ms END WHERE list_name = ?";

    return store_run(s, sql, BINDS(NUMBER(now_ms), NUMBER(now_ms), TEXT(list)), err);
}

static bool find(struct store *s, struct str list, struct str word, uint64_t *published_ms,
                 bool *found, struct err *err)
{
    static const char sql[] = "SELECT published_ms FROM word WHERE list_name = ? AND word = ?";

    return store_select_number(s, sql, BINDS(TEXT(list), TEXT(word)), published_ms, found, err);
}

static bool find_all(struct store *s, const struct word_order *o, struct err *err)
{
    uint64_t ignored;
    bool found;

    for (size_t i = 0; i < o->n; i++) {
        if (!find(s, o->list, o->words[i], &ignored, &found, err))
            return false;
        if (!found)
            return err_set_code(err, ERR_REJECT, "http", 404,
                                "the list %" STR_FMT " has no word %" STR_FMT, STR_ARG(o->list),
                                STR_ARG(o->words[i]));
    }
    return true;
}

/* ---- changes ---- */

static bool insert(struct store *s, const struct word_order *o, uint64_t now_ms,
                   struct err *err)
{
    static const char sql[] =
        "INSERT INTO word (list_name, word, added_ms, published_ms) VALUES (?, ?, ?, ?)"
        " ON CONFLICT (list_name, word) DO UPDATE SET published_ms ="
        " CASE WHEN published_ms = 0 THEN excluded.published_ms ELSE published_ms END";
    struct bind *binds = mem_alloc((size_t)ROWS_AT_ONCE * COLUMNS, sizeof(*binds));
    bool ok = true;

    for (size_t i = 0; ok && i < o->n;) {
        size_t rows = 0;

        for (; i < o->n && rows < ROWS_AT_ONCE; i++, rows++) {
            struct bind *b = binds + rows * COLUMNS;

            b[0] = TEXT(o->list);
            b[1] = TEXT(o->words[i]);
            b[2] = NUMBER(now_ms);
            b[3] = NUMBER(o->publish ? now_ms : 0);
        }
        ok = store_run_rows(s, sql, (struct binds){binds, rows * COLUMNS}, rows, err);
        if (o->live != NULL)
            o->live(o->live_ctx);
    }
    free(binds);
    return ok;
}

typedef bool (*change_fn)(struct store *s, const struct word_order *o, uint64_t now_ms,
                          struct err *err);

/* Compare what is there before and after it. */
static void note_done(struct words_done *done, const struct stored_word_list *before,
                      const struct stored_word_list *after, bool is_delete)
{
    const uint64_t n_before = before->n_new + before->n_published;
    const uint64_t n_after = after->n_new + after->n_published;

    *done = (struct words_done){0};
    if (is_delete) {
        done->n_deleted = n_before - n_after;
        return;
    }
    done->n_added = n_after - n_before;
    done->n_published = after->n_published - before->n_published;
}

static bool run_change(struct store *s, const struct word_order *o, change_fn change,
                       struct words_done *done, struct err *err)
{
    struct stored_word_list before = {0}, after = {0};
    uint64_t now_ms;

    if (!lock_list(s, o->list, err) || !select_now(s, &now_ms, err) ||
        !count(s, o->list, &before, err) || !change(s, o, now_ms, err) ||
        !count(s, o->list, &after, err))
        return false;
    if (change == insert && after.n_new + after.n_published > WORDS_MAX)
        return err_set_code(err, ERR_REJECT, "http", 422,
                            "the list %" STR_FMT " would have %llu words, and may have %d",
                            STR_ARG(o->list),
                            (unsigned long long)(after.n_new + after.n_published), WORDS_MAX);
    note_done(done, &before, &after,
              after.n_new + after.n_published < before.n_new + before.n_published);
    return before.n_published == after.n_published || raise_turn(s, o->list, now_ms, err);
}

/* What is only tried is done, and rolled back. */
static bool end(struct store *s, bool ok, bool dry_run, struct err *err) GIVES_BACK(s->lock)
{
    const bool is_stored = store_end(s, ok && !dry_run, err);

    return dry_run ? ok : is_stored;
}

static bool change_alone(struct store *s, const struct word_order *o, change_fn change,
                         struct words_done *done, struct err *err)
{
    return store_begin_write(s, OF_NOBODY, err) &&
           end(s, run_change(s, o, change, done, err), o->dry_run, err);
}

bool store_add_words(struct store *s, const struct word_order *o, struct words_done *done,
                     struct err *err)
{
    return change_alone(s, o, insert, done, err);
}

static bool publish(struct store *s, const struct word_order *o, uint64_t now_ms,
                    struct err *err)
{
    static const char all[] =
        "UPDATE word SET published_ms = ? WHERE list_name = ? AND published_ms = 0";
    static const char one[] = "UPDATE word SET published_ms = ? WHERE list_name = ?"
                              " AND published_ms = 0 AND word = ?";

    if (o->n == 0)
        return store_run(s, all, BINDS(NUMBER(now_ms), TEXT(o->list)), err);
    if (!find_all(s, o, err))
        return false;
    for (size_t i = 0; i < o->n; i++)
        if (!store_run(s, one, BINDS(NUMBER(now_ms), TEXT(o->list), TEXT(o->words[i])), err))
            return false;
    return true;
}

bool store_publish_words(struct store *s, const struct word_order *o, struct words_done *done,
                         struct err *err)
{
    return change_alone(s, o, publish, done, err);
}

static bool delete (struct store *s, const struct word_order *o, uint64_t now_ms,
                    struct err *err)
{
    static const char sql[] = "DELETE FROM word WHERE list_name = ? AND word = ?";

    (void)now_ms;
    if (!find_all(s, o, err))
        return false;
    for (size_t i = 0; i < o->n; i++)
        if (!store_run(s, sql, BINDS(TEXT(o->list), TEXT(o->words[i])), err))
            return false;
    return true;
}

bool store_delete_words(struct store *s, const struct word_order *o, struct words_done *done,
                        struct err *err)
{
    return change_alone(s, o, delete, done, err);
}

static bool change_word(struct store *s, struct str list, struct str word, struct str into,
                        struct err *err)
{
    static const char sql[] = "UPDATE word SET word = ? WHERE list_name = ? AND word = ?";
    const struct word_order this = {.list = list, .words = &word, .n = 1};
    uint64_t published_ms, ignored;
    bool found;

    if (!lock_list(s, list, err) || !find_all(s, &this, err) ||
        !find(s, list, word, &published_ms, &found, err))
        return false;
    if (published_ms > 0)
        return err_set_code(err, ERR_REJECT, "http", 409,
                            "the word %" STR_FMT " is published, so it can only be deleted; "
                            "fix: delete it, and add the other one",
                            STR_ARG(word));
    if (!find(s, list, into, &ignored, &found, err))
        return false;
    if (found)
        return err_set_code(err, ERR_REJECT, "http", 409,
                            "the list %" STR_FMT " has the word %" STR_FMT " already",
                            STR_ARG(list), STR_ARG(into));
    return store_run(s, sql, BINDS(TEXT(into), TEXT(list), TEXT(word)), err);
}

bool store_change_word(struct store *s, struct str list, struct str word, struct str into,
                       bool dry_run, struct err *err)
{
    return store_begin_write(s, OF_NOBODY, err) &&
           end(s, change_word(s, list, word, into, err), dry_run, err);
}

/* ---- reading ---- */

static void fill(struct arena *a, const struct str *cells, void *element)
{
    *(struct stored_word *)element = (struct stored_word){
        .list = arena_copy(a, cells[0]),
        .word = arena_copy(a, cells[1]),
        .added_ms = (int64_t)row_number(cells[2]),
        .published_ms = (int64_t)row_number(cells[3]),
    };
}

bool store_load_words(struct store *s, struct arena *a, const struct word_filter *f,
                      struct stored_word **out, size_t *n, struct err *err)
{
    static const char sql[] = "SELECT list_name, word, added_ms, published_ms FROM word"
                              " WHERE (? = '' OR list_name = ?) AND (? = '' OR word = ?)"
                              " AND (? = '' OR INSTR(word, ?) > 0)"
                              " AND (? = 0 OR published_ms = 0) AND (? = 0 OR published_ms > 0)"
                              " AND (list_name > ? OR (list_name = ? AND word > ?))"
                              " ORDER BY list_name, word LIMIT ?";
    struct row_list list = ROW_LIST(a, struct stored_word, fill);

    if (!store_load(s, sql,
                    BINDS(TEXT(f->list), TEXT(f->list), TEXT(f->word), TEXT(f->word),
                          TEXT(f->part), TEXT(f->part), NUMBER(f->only_new),
                          NUMBER(f->only_published), TEXT(f->after_list), TEXT(f->after_list),
                          TEXT(f->after_word), NUMBER(f->limit)),
                    &list, err))
        return false;
    *out = row_list_finish(&list, n);
    return true;
}

bool store_load_word_list(struct store *s, struct str list, struct stored_word_list *out,
                          struct err *err)
{
    *out = (struct stored_word_list){0};
    return store_begin(s, err) &&
           store_end(s, select_turn(s, list, out, err) && count(s, list, out, err), err);
}

bool store_load_word_turn(struct store *s, struct str list, struct stored_word_list *out,
                          struct err *err)
{
    *out = (struct stored_word_list){0};
    return store_begin(s, err) && store_end(s, select_turn(s, list, out, err), err);
}

static void fill_text(struct arena *a, const struct str *cells, void *element)
{
    *(struct str *)element = arena_copy(a, cells[0]);
}

bool store_load_published(struct store *s, struct arena *a, struct str list,
                          struct stored_word_list *at, struct str **words, size_t *n,
                          struct err *err)
{
    static const char sql[] =
        "SELECT word FROM word WHERE list_name = ? AND published_ms > 0 ORDER BY word";
    struct row_list rows = ROW_LIST(a, struct str, fill_text);

    *at = (struct stored_word_list){0};
    if (!store_begin(s, err))
        return false;

    const bool ok = select_turn(s, list, at, err) &&
                    store_select(s, sql, BINDS(TEXT(list)), &rows.sink, err);

    *words = row_list_finish(&rows, n);
    at->n_published = *n;
    return store_end(s, ok, err);
}
