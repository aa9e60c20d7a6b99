#include "config.h"

#include "src/store/wish.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/store/core.h"

#include <inttypes.h>

/* body and answer: the columns, or '' to leave these out, which may be long. */
#define SELECT_WISH(body, answer)                                          \
    "SELECT id, guid, topic, node, user_name, method, target, can_repeat," \
    " {now_ms} - at_ms, state, term, status, error, ended_ms, " body ", " answer " FROM wish"

static size_t body_max(struct store *s)
{
    const size_t fits = store_text_max(s);

    return fits < WISH_BODY_MAX ? fits : WISH_BODY_MAX;
}

/* ---- reading ---- */

static void fill_wish(struct arena *a, const struct str *cells, void *element)
{
    *(struct stored_wish *)element = (struct stored_wish){
        .id = row_number(cells[0]),
        .guid = arena_copy(a, cells[1]),
        .topic = arena_copy(a, cells[2]),
        .node = arena_copy(a, cells[3]),
        .user = arena_copy(a, cells[4]),
        .method = arena_copy(a, cells[5]),
        .target = arena_copy(a, cells[6]),
        .repeatable = row_number(cells[7]) != 0,
        .at_ms = store_time(cells[8]),
        .state = arena_copy(a, cells[9]),
        .term = row_number(cells[10]),
        .status = (int)row_number(cells[11]),
        .error = arena_copy(a, cells[12]),
        .ended_ms = (int64_t)row_number(cells[13]),
        .body = arena_copy(a, cells[14]),
        .answer = arena_copy(a, cells[15]),
    };
}

/* Inside a transaction.  Leaves *out as it is without a row. */
static bool select_wish(struct store *s, const char *sql, struct binds binds,
                        struct row_list *list, struct stored_wish *out, bool *found,
                        struct err *err)
{
    const bool ok = store_select(s, sql, binds, &list->sink, err);
    size_t n;
    const struct stored_wish *w = row_list_finish(list, &n);

    *found = ok && n > 0;
    if (*found)
        *out = *w;
    return ok;
}

bool store_load_wish(struct store *s, struct arena *a, const struct wish_name *name,
                     struct stored_wish *out, bool *found, struct err *err)
{
    struct row_list list = ROW_LIST(a, struct stored_wish, fill_wish);

    if (!store_begin(s, err))
        return false;

    const bool ok =
        select_wish(s, SELECT_WISH("''", "answer") " WHERE id = ? AND node = ?",
                    BINDS(NUMBER(name->id), TEXT(name->node)), &list, out, found, err);

    return store_end(s, ok, err);
}

/* Passes on the rows of some topics. */
struct topic_sink {
    struct row_sink sink;
    struct row_list list;
    const struct str *topics;
    size_t n_topics;
};

static void take_of_topics(struct row_sink *sink, const struct str *cells)
{
    struct topic_sink *t = CONTAINER_OF(sink, struct topic_sink, sink);

    for (size_t i = 0; i < t->n_topics; i++)
        if (str_equal(cells[2], t->topics[i])) {
            row_list_take(&t->list.sink, cells);
            return;
        }
}

bool store_load_open_wishes(struct store *s, struct arena *a, const struct str *topics,
                            size_t n_topics, struct stored_wish **out, size_t *n,
                            struct err *err)
{
    static const char sql[] = SELECT_WISH("''", "''") " WHERE state IN ('" WISH_NEW
                                                      "', '" WISH_TAKEN "') ORDER BY id";
    struct topic_sink sink = {.sink = {take_of_topics},
                              .list = ROW_LIST(a, struct stored_wish, fill_wish),
                              .topics = topics,
                              .n_topics = n_topics};

    if (!store_begin(s, err))
        return false;

    const bool ok = store_select(s, sql, NO_BINDS, &sink.sink, err);

    *out = row_list_finish(&sink.list, n);
    return store_end(s, ok, err);
}

/* ---- putting; inside a transaction ---- */

/*
 * Puts for one topic wait here for one another, else those that count at once would together
 * exceed the limit.  A topic that nobody has owned yet has nothing to lock.
 */
static bool lock_topic(struct store *s, struct str topic, struct err *err)
{
    struct buf thing = {0};
    uint64_t ignored;

    buf_append(&thing, STR("topic/"));
    buf_append(&thing, topic);

    const bool ok = store_select_number(s, "SELECT term FROM term WHERE thing = ?{lock}",
                                        BINDS(TEXT(buf_str(&thing))), &ignored, NULL, err);

    buf_free(&thing);
    return ok;
}

static bool find_guid(struct store *s, struct str guid, uint64_t *id, bool *found,
                      struct err *err)
{
    return store_select_number(s, "SELECT id FROM wish WHERE guid = ?", BINDS(TEXT(guid)), id,
                               found, err);
}

static bool has_room(struct store *s, struct str topic, struct err *err)
{
    static const char sql[] = "SELECT COUNT(*) FROM wish WHERE topic = ?"
                              " AND state IN ('" WISH_NEW "', '" WISH_TAKEN "')";
    uint64_t n;

    if (!store_select_number(s, sql, BINDS(TEXT(topic)), &n, NULL, err))
        return false;
    return n < WISHES_MAX ||
           err_set(err, ERR_RETRY,
                   "%" PRIu64 " commands wait for the owner of topic %" STR_FMT
                   " already; fix: see whether a node owns the topic, and try again later",
                   n, STR_ARG(topic));
}

static bool insert_wish(struct store *s, const struct stored_wish *w, struct err *err)
{
    static const char sql[] =
        "INSERT INTO wish (guid, topic, node, user_name, method, target, body, can_repeat,"
        " at_ms, state, term, status, answer, error, ended_ms)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, {now_ms} - ?, '" WISH_NEW "', 0, 0, '', '', 0)";

    return store_run(s, sql,
                     BINDS(TEXT(w->guid), TEXT(w->topic), TEXT(w->node), TEXT(w->user),
                           TEXT(w->method), TEXT(w->target), TEXT(w->body),
                           NUMBER(w->repeatable), NUMBER(store_age(w->at_ms))),
                     err);
}

static bool put_wish(struct store *s, const struct stored_wish *w, uint64_t *id,
                     struct err *err)
{
    bool found;

    if (!lock_topic(s, w->topic, err) || !find_guid(s, w->guid, id, &found, err))
        return false;
    return found || (has_room(s, w->topic, err) && insert_wish(s, w, err) &&
                     find_guid(s, w->guid, id, &found, err));
}

bool store_put_wish(struct store *s, struct stored_wish *w, struct err *err)
{
    uint64_t id = 0;

    if (!store_begin_write(s, OF_NOBODY, err))
        return false;

    const size_t len = w->body.len + w->target.len, len_max = body_max(s);
    const bool ok = len <= len_max ? put_wish(s, w, &id, err)
                                   : err_set_code(err, ERR_REJECT, "http", 413,
                                                  "the command has %zu bytes, and the store"
                                                  " hands on at most %zu; fix: send it to the"
                                                  " node that owns topic %" STR_FMT,
                                                  len, len_max, STR_ARG(w->topic));

    if (!store_end(s, ok, err))
        return false;
    w->id = id;
    return true;
}

/* ---- taking and ending; inside a transaction ---- */

static bool write_end(struct store *s, uint64_t id, const struct wish_answer *answer,
                      struct str error, int64_t now_ms, struct err *err)
{
    static const char sql[] = "UPDATE wish SET state = '" WISH_DONE "', status = ?, answer = ?,"
                              " error = ?, ended_ms = {now_ms} - ? WHERE id = ?";

    return store_run(s, sql,
                     BINDS(NUMBER(answer->status), TEXT(answer->body), TEXT(error),
                           NUMBER(store_age(now_ms)), NUMBER(id)),
                     err);
}

/* Its owner ran it, or was about to. */
static bool give_up(struct store *s, const struct wish_owner *owner, uint64_t id,
                    struct err *err)
{
    static const struct wish_answer unavailable = {.status = 503};

    return write_end(
        s, id, &unavailable,
        STR("the node that owned the topic went away while it ran the command, so "
            "nobody knows whether the command took effect; fix: look, and send the "
            "command again if it did not"),
        owner->now_ms, err);
}

static enum wish_take judge_take(const struct stored_wish *w, uint64_t term)
{
    if (str_equal(w->state, STR(WISH_NEW)))
        return TAKE_WON;
    if (!str_equal(w->state, STR(WISH_TAKEN)))
        return TAKE_OVER;
    if (w->term == term)
        return TAKE_RUNS;
    return w->repeatable ? TAKE_WON : TAKE_LOST;
}

static bool take_wish(struct store *s, const struct wish_owner *owner, struct stored_wish *w,
                      enum wish_take how, struct err *err)
{
    static const char sql[] = "UPDATE wish SET state = '" WISH_TAKEN "', term = ? WHERE id = ?";

    switch (how) {
    case TAKE_WON:
        w->state = STR(WISH_TAKEN);
        w->term = owner->term;
        return store_run(s, sql, BINDS(NUMBER(owner->term), NUMBER(w->id)), err);
    case TAKE_LOST: return give_up(s, owner, w->id, err);
    case TAKE_RUNS:
    case TAKE_OVER: break;
    }
    return true;
}

bool store_take_wish(struct store *s, struct arena *a, const struct wish_owner *owner,
                     uint64_t id, struct stored_wish *w, enum wish_take *how, struct err *err)
{
    struct row_list list = ROW_LIST(a, struct stored_wish, fill_wish);
    bool found;

    *how = TAKE_OVER;
    if (!store_begin_as(s, owner->topic, owner->term, err))
        return false;

    bool ok = select_wish(s, SELECT_WISH("body", "''") " WHERE id = ? AND topic = ?{lock}",
                          BINDS(NUMBER(id), TEXT(owner->topic)), &list, w, &found, err);

    if (ok && found) {
        *how = judge_take(w, owner->term);
        ok = take_wish(s, owner, w, *how, err);
    }
    return store_end(s, ok, err);
}

static bool end_wish(struct store *s, const struct wish_owner *owner, uint64_t id,
                     const struct wish_answer *answer, struct err *err)
{
    struct wish_answer none = {.status = 500};
    struct buf error = {0};

    if (answer->body.len <= body_max(s))
        return write_end(s, id, answer, STR(""), owner->now_ms, err);
    buf_printf(&error,
               "the command ended with HTTP status %d, but the store hands on at most %zu bytes"
               " of the %zu of its answer; fix: ask the node that owns topic %" STR_FMT,
               answer->status, body_max(s), answer->body.len, STR_ARG(owner->topic));

    const bool ok = write_end(s, id, &none, buf_str(&error), owner->now_ms, err);

    buf_free(&error);
    return ok;
}

static bool can_end(uint64_t taken, uint64_t id, const struct stored_wish *w, struct err *err)
{
    return w->term == taken ||
           err_set(err, ERR_STOP, "command %" PRIu64 " was not taken with term %" PRIu64, id,
                   taken);
}

bool store_end_wish(struct store *s, const struct wish_owner *owner, uint64_t id,
                    const struct wish_answer *answer, struct err *err)
{
    struct arena *a = arena_new();
    struct row_list list = ROW_LIST(a, struct stored_wish, fill_wish);
    struct stored_wish w = {.term = 0};
    bool found, ok = store_begin_as(s, owner->topic, owner->term, err);

    if (ok) {
        ok = select_wish(s, SELECT_WISH("''", "''") " WHERE id = ? AND topic = ?{lock}",
                         BINDS(NUMBER(id), TEXT(owner->topic)), &list, &w, &found, err) &&
             can_end(answer->taken, id, &w, err) &&
             (str_equal(w.state, STR(WISH_DONE)) || end_wish(s, owner, id, answer, err));
        ok = store_end(s, ok, err);
    }
    arena_free(a);
    return ok;
}

/* ---- giving up, and the past ---- */

bool store_cancel_wish(struct store *s, const struct wish_name *name, bool *goes_on,
                       struct err *err)
{
    static const char drop[] =
        "DELETE FROM wish WHERE id = ? AND node = ? AND state = '" WISH_NEW "'";
    static const char left[] = "SELECT id FROM wish WHERE id = ? AND node = ?";
    const struct binds binds = BINDS(NUMBER(name->id), TEXT(name->node));
    uint64_t ignored;

    if (!store_begin_write(s, OF_NOBODY, err))
        return false;

    const bool ok = store_run(s, drop, binds, err) &&
                    store_select_number(s, left, binds, &ignored, goes_on, err);

    return store_end(s, ok, err);
}

bool store_prune_wishes(struct store *s, int64_t before_ms, struct err *err)
{
    static const char sql[] = "DELETE FROM wish"
                              " WHERE (state = '" WISH_DONE "' AND ended_ms < {now_ms} - ?)"
                              " OR (state = '" WISH_NEW "' AND at_ms < {now_ms} - ?)";
    const uint64_t age = store_age(before_ms);

    return store_run_alone(s, OF_NOBODY, sql, BINDS(NUMBER(age), NUMBER(age)), err);
}
