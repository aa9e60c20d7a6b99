#include "config.h"

#include "rebalance/node.h"

#include "rebalance/doctor.h"
#include "src/base/clock.h"
#include "src/base/failpoint.h"
#include "src/base/human.h"
#include "src/base/log.h"
#include "src/base/mem.h"
#include "sync/binlog/position.h"
#include "sync/read_position.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define PAGE 500
#define LISTED 100 /* of those that are asked for without a limit */
#define LATER 503 /* of HTTP: who asks again may get it */
#define REPLAYS_MS 5000 /* until what is to be replayed is tried again */

/* The files of the log that a topic follows now. */
struct log_files {
    struct str topic; /* empty: none was looked for yet */
    bool is_known;
    uint64_t epoch;
    char of[256]; /* one of them */
};

static void look_for_files(struct coordinator *co, struct str topic, struct log_files *f)
{
    struct pipeline_status s;

    *f = (struct log_files){.topic = topic};
    pthread_mutex_lock(&co->lock);

    const struct topic *t = node_topic(co, topic);

    if (t != NULL && t->pipeline != NULL) {
        pipeline_status(t->pipeline, &s);
        free(s.gtids);
        f->is_known = s.file[0] != '\0';
        f->epoch = s.epoch;
        memcpy(f->of, s.file, sizeof(f->of));
    }
    pthread_mutex_unlock(&co->lock);
}

/* FILE:OFFSET, which the version has; of another server's log the file's name is not known. */
static void append_position(struct buf *b, const struct log_files *f, uint64_t version)
{
    const struct position_fields at = position_fields(version);
    struct str base = STR("*");

    if (f->is_known && f->epoch == at.epoch)
        base = position_file_base(str_from(f->of));
    buf_printf(b, "%.*s.%06" PRIu64 ":%" PRIu64, STR_ARG(base), at.file, at.offset);
}

static void append_letter(struct json_writer *w, const struct stored_dead_letter *d,
                          const struct log_files *files)
{
    struct buf version = {0}, position = {0};

    append_position(&position, files, d->version);
    buf_printf(&version, "%" PRIu64, d->version);
    json_open_object(w);
    json_put_u64(w, STR("id"), d->id);
    json_put_string(w, STR("topic"), d->topic);
    json_put_string(w, STR("table"), d->table);
    json_put_string(w, STR("index"), d->index);
    json_put_string(w, STR("doc_id"), d->doc_id);
    json_put_string(w, STR("routing"), d->routing);
    json_put_string(w, STR("op"), d->op);
    json_put_string(w, STR("version"), buf_str(&version));
    json_put_string(w, STR("position"), buf_str(&position));
    json_put_string(w, STR("gtid"), d->gtid);
    json_put_i64(w, STR("status"), d->status);
    json_put_string(w, STR("reason"), d->reason);
    json_put_u64(w, STR("attempts"), d->attempts);
    node_put_time(w, STR("first"), d->first_ms);
    node_put_time(w, STR("last"), d->last_ms);
    if (d->body.len > 0)
        json_put_raw(w, STR("body"), d->body);
    json_close_object(w);
    buf_free(&version);
    buf_free(&position);
}

bool coordinator_dead_letters(struct coordinator *co, const struct dead_letter_filter *f,
                              struct buf *json, struct err *err)
{
    struct arena *a = arena_new();
    struct stored_dead_letter *list;
    struct json_writer w = {.out = json};
    struct log_files files = {0};
    struct dead_letter_filter page = *f; /* and whether there is one more */
    size_t n, limit = f->limit > 0 ? f->limit : LISTED;

    page.limit = limit + 1;

    bool ok = store_load_dead_letters(co->opt.store, a, &page, &list, &n, err);

    if (ok && f->id != 0 && n == 0)
        ok = refuse(err, 404, "there is no dead letter %" PRIu64, f->id);
    if (ok) {
        json_open_object(&w);
        json_put_cstr(&w, STR("schema"), "millrace/dead-letter/1");
        json_write_key(&w, STR("items"));
        json_open_array(&w);
        for (size_t i = 0; i < n && i < limit; i++) {
            if (files.topic.len == 0 || !str_equal(files.topic, list[i].topic))
                look_for_files(co, list[i].topic, &files);
            append_letter(&w, &list[i], &files);
        }
        json_close_array(&w);
        if (n > limit)
            json_put_u64(&w, STR("more_after"), list[limit - 1].id);
        json_close_object(&w);
    }
    arena_free(a);
    return ok;
}

/* How many there are; n 0 where that is not known. */
struct letters_level {
    uint64_t n;
    int64_t age_ms; /* of the oldest */
};

static struct letters_level level_of(struct coordinator *co, struct err *err)
{
    struct letters_level level = {0};
    int64_t oldest_ms;

    if (!store_dead_letter_level(co->opt.store, &level.n, &oldest_ms, err))
        return (struct letters_level){0};
    level.age_ms = clock_wall_ms() - oldest_ms;
    return level;
}

static void append_level(struct buf *b, struct letters_level level)
{
    human_count(b, level.n);
    buf_printf(b, " document%s, the oldest for ", level.n == 1 ? "" : "s");
    human_seconds(b, (double)level.age_ms / 1000);
}

void node_warn_of_dead_letters(struct coordinator *co)
{
    struct err err = {0};
    const struct letters_level level = level_of(co, &err);
    struct buf text = {0};

    if (level.n == 0 || level.age_ms < co->opt.dead_letters_old_ms)
        return;
    append_level(&text, level);
    log_warn("dead letters wait for somebody: millrace dead-letter list",
             KV("letters", buf_str(&text)));
    buf_free(&text);
}

void node_check_dead_letters(struct coordinator *co, struct doctor_list *l)
{
    struct err err = {0};
    const struct letters_level level = level_of(co, &err);
    const bool full = level.n >= co->opt.dead_letters_max;
    struct buf text = {0};

    if (level.n == 0 && err.kind == ERR_NONE)
        return;
    if (err.kind != ERR_NONE)
        buf_append(&text, str_from(err.msg));
    else
        append_level(&text, level);
    doctor_add(l, &(struct doctor_check){
                      .id = STR("dead_letters"),
                      .group = STR("dead letters"),
                      .status = full ? DOCTOR_FAIL : DOCTOR_WARN,
                      .message = buf_str(&text),
                      .why = full ? STR("no more are kept (dead_letters.max), so indexes whose "
                                        "documents are refused are held")
                                  : STR("the search engine refused these documents: searches find "
                                        "what was there before, or nothing"),
                      .fix = STR("millrace dead-letter list; correct rows or mapping, then "
                                 "millrace dead-letter replay or discard")});
    buf_free(&text);
}

/* Of what another source than the log asks for (docs/adr/0021), and not below what was refused. */
static uint64_t version_for(const struct topic *t, const struct stored_dead_letter *d)
{
    const uint64_t read = read_position_version(pipeline_read_position(t->pipeline));

    return d->version > read && d->version <= read + READ_POSITION_GAP ? d->version : read + 1;
}

/* The index of a version that is built, or that searches use. */
static bool is_alive(struct coordinator *co, struct str index)
{
    struct catalogue *c = node_catalogue(co);
    struct buf name = {0};
    bool found = false;

    for (size_t i = 0; i < c->n_versions && !found; i++) {
        const struct stored_version *v = &c->versions[i];

        buf_clear(&name);
        node_index_name(&name, v->index, v->number);
        found = str_equal(buf_str(&name), index) && (str_equal(v->state, STR("available")) ||
                                                     str_equal(v->state, STR("changing")));
    }
    buf_free(&name);
    node_catalogue_free(c);
    return found;
}

/* The row as it is now, written at the present position; a success takes the letter away. */
static bool make_write(struct coordinator *co, const struct stored_dead_letter *d,
                       struct doc_write *out, struct err *err)
{
    struct topic *t = node_topic(co, d->topic);
    const bool settled = t != NULL && t->pipeline != NULL && pipeline_is_settled(t->pipeline);
    struct target *target =
        t == NULL || t->pipeline == NULL ? NULL : pipeline_target(t->pipeline, d->index, d->table);

    if (target == NULL && !settled && is_alive(co, d->index))
        return refuse(err, LATER,
                      "topic %" STR_FMT " of dead letter %" PRIu64
                      " is not followed yet; fix: replay it when millrace status says that it is",
                      STR_ARG(d->topic), d->id);
    if (target == NULL)
        return refuse(err, 409,
                      "index %" STR_FMT " of dead letter %" PRIu64
                      " is not written to any more; fix: "
                      "millrace dead-letter discard, the newer version has the row",
                      STR_ARG(d->index), d->id);
    if (d->key.len == 0) {
        target_unref(target);
        return refuse(
            err, 409,
            "dead letter %" PRIu64
            " has no key that its row could be read by; fix: change the row, or discard it",
            d->id);
    }
    *out = (struct doc_write){.target = target,
                              .op = DOC_REFRESH,
                              .fresh = true,
                              .version = version_for(t, d),
                              .id = d->doc_id,
                              .routing = d->routing,
                              .key = d->key};
    return true;
}

static void answer(struct buf *json, const char *schema, uint64_t n)
{
    struct json_writer w = {.out = json};

    json_open_object(&w);
    json_put_cstr(&w, STR("schema"), schema);
    json_put_u64(&w, STR("count"), n);
    json_close_object(&w);
}

/* What can be replayed of a page; one that cannot says why, one that can later before others. */
static size_t make_writes(struct coordinator *co, const struct stored_dead_letter *list,
                          size_t n, struct doc_write *writes, struct err *err)
{
    size_t n_writes = 0;

    if (!node_begin(co, err))
        return 0;
    for (size_t i = 0; i < n; i++) {
        const struct stored_dead_letter *d = &list[i];
        struct err why = {0};

        if (!make_write(co, d, &writes[n_writes], &why)) {
            if (err->kind == ERR_NONE || why.code == LATER)
                *err = why;
            continue;
        }
        n_writes++;
        delivery_note_dead(co->delivery, d->index, d->routing, d->doc_id, d->version);
    }
    pthread_mutex_unlock(&co->doing);
    return n_writes;
}

/* Delivery may be full for long: nobody else waits for whoever waits for it. */
static bool replay_page(struct coordinator *co, struct dead_letter_filter *f, uint64_t *done,
                        size_t *n, struct err *err)
{
    struct arena *a = arena_new();
    struct stored_dead_letter *list;
    bool ok = store_load_dead_letters(co->opt.store, a, f, &list, n, err);

    if (ok && *n > 0) {
        struct doc_write *writes = arena_alloc(a, *n, sizeof(*writes));
        const size_t n_writes = make_writes(co, list, *n, writes, err);
        const bool taken =
            n_writes == 0 || delivery_submit_until(co->delivery, &co->stop, writes, n_writes, err);

        for (size_t i = 0; !taken && i < n_writes; i++)
            target_unref(writes[i].target);
        ok = taken;
        f->after_id = list[*n - 1].id;
        *done += taken ? n_writes : 0;
    }
    arena_free(a);
    return ok;
}

bool coordinator_dead_letter_replay(struct coordinator *co, const struct dead_letter_filter *f,
                                    struct buf *json, struct err *err)
{
    struct dead_letter_filter page = *f;
    uint64_t done = 0;
    size_t n;
    bool ok;

    if (co->delivery == NULL)
        return refuse(err, 503,
                      "replay needs the running daemon; fix: start it with millrace run");
    page.limit = PAGE;
    do
        ok = replay_page(co, &page, &done, &n, err);
    while (ok && n == PAGE);
    if (err->kind != ERR_NONE)
        return done == 0 ? false : err_wrap(err, "%" PRIu64 " were replayed, others not", done);
    answer(json, "millrace/dead-letter-replay/1", done);
    return true;
}

/* ---- after a change of the mapping ---- */

static void name_replay(struct buf *name, struct str index)
{
    buf_clear(name);
    buf_printf(name, STORE_REPLAY "%" STR_FMT, STR_ARG(index));
}

bool node_want_replay(struct coordinator *co, struct str index, struct err *err)
{
    struct buf name = {0}, wish = {0};

    name_replay(&name, index);
    buf_printf(&wish, "%" PRId64, clock_wall_ms());

    const bool ok = store_put_value(co->opt.store, buf_str(&name), buf_str(&wish), err);

    __atomic_store_n(&co->replays_ms, 0, __ATOMIC_RELAXED);
    FAILPOINT(replay_wanted);
    buf_free(&name);
    buf_free(&wish);
    return ok;
}

/* False: it is to be tried again. */
static bool replay_index(struct coordinator *co, struct str index, struct err *err)
{
    const struct dead_letter_filter of_index = {.index = index};
    struct buf json = {0};
    const bool ok = coordinator_dead_letter_replay(co, &of_index, &json, err);

    buf_free(&json);
    if (ok)
        return true;
    if (err->kind == ERR_RETRY || err->code == LATER || stop_is_set(&co->stop))
        return false;
    log_failure(LOG_WARN, err,
                "dead letters were not all replayed after a change of the mapping; fix: "
                "millrace dead-letter replay",
                KV("index", index));
    return true;
}

/* It is fulfilled, unless the mapping has changed again meanwhile. */
static bool end_wish(struct coordinator *co, struct str name, struct str wish, struct err *err)
{
    struct buf now = {0};
    bool found;

    if (!node_begin(co, err))
        return false;

    bool ok = store_get_value(co->opt.store, name, &now, &found, err);

    if (ok && str_equal(buf_str(&now), wish))
        ok = store_put_value(co->opt.store, name, STR(""), err);
    pthread_mutex_unlock(&co->doing);
    buf_free(&now);
    return ok;
}

/* False: it is to be tried again. */
static bool replay_version(struct coordinator *co, const struct stored_version *v,
                           struct err *err)
{
    struct buf index = {0}, name = {0}, wish = {0};
    bool found;

    node_index_name(&index, v->index, v->number);
    name_replay(&name, buf_str(&index));

    bool ok = store_get_value(co->opt.store, buf_str(&name), &wish, &found, err);

    if (ok && found && wish.len > 0)
        ok = replay_index(co, buf_str(&index), err) &&
             end_wish(co, buf_str(&name), buf_str(&wish), err);
    buf_free(&index);
    buf_free(&name);
    buf_free(&wish);
    return ok;
}

void node_replay_wanted(struct coordinator *co)
{
    bool ok = true;

    if (clock_mono_ms() < __atomic_load_n(&co->replays_ms, __ATOMIC_RELAXED))
        return;
    __atomic_store_n(&co->replays_ms, INT64_MAX, __ATOMIC_RELAXED);

    struct catalogue *c = node_catalogue(co);

    for (size_t i = 0; i < c->n_versions && !stop_is_set(&co->stop); i++) {
        struct err err = {0};

        if (replay_version(co, &c->versions[i], &err))
            continue;
        log_failure(LOG_DEBUG, &err, "dead letters wait to be replayed",
                    KV("index", c->versions[i].index));
        ok = false;
    }
    node_catalogue_free(c);
    if (!ok)
        __atomic_store_n(&co->replays_ms, clock_mono_ms() + REPLAYS_MS, __ATOMIC_RELAXED);
}

/* Delivery knows of each, and is told. */
static bool discard_page(struct coordinator *co, struct dead_letter_filter *f, uint64_t *done,
                         size_t *n, struct err *err)
{
    struct arena *a = arena_new();
    struct stored_dead_letter *list;
    uint64_t gone = 0;
    bool ok = store_load_dead_letters(co->opt.store, a, f, &list, n, err);

    if (ok && *n > 0) {
        f->until_id = list[*n - 1].id;
        ok = store_delete_dead_letters(co->opt.store, f, &gone, err);
        f->after_id = f->until_id;
        f->until_id = 0;
        *done += gone;
    }
    for (size_t i = 0; ok && co->delivery != NULL && i < *n; i++)
        delivery_discard_dead(co->delivery, list[i].index, list[i].routing, list[i].doc_id,
                              list[i].version);
    arena_free(a);
    return ok;
}

bool coordinator_dead_letter_discard(struct coordinator *co, const struct dead_letter_filter *f,
                                     struct buf *json, struct err *err)
{
    struct dead_letter_filter page = *f;
    uint64_t n = 0;
    size_t n_page;
    bool ok;

    page.limit = PAGE;
    do
        ok = discard_page(co, &page, &n, &n_page, err);
    while (ok && n_page == PAGE);
    if (!ok)
        return n == 0 ? false : err_wrap(err, "%" PRIu64 " were discarded, others not", n);
    if (f->id != 0 && n == 0)
        return refuse(err, 404, "there is no dead letter %" PRIu64, f->id);
    answer(json, "millrace/dead-letter-discard/1", n);
    return true;
}
