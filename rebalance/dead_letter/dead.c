#include "config.h"

#include "rebalance/dead_letter/dead.h"

#include "rebalance/state/parts.h"

#include "rebalance/dead_letter/orders.h"
#include "rebalance/doctor/doctor.h"
#include "src/base/clock.h"
#include "src/base/human.h"
#include "src/base/log.h"
#include "src/base/mem.h"
#include "sync/position/position.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define PAGE   500
#define LISTED 100 /* the default limit of a list */

/* The log files of the topic's present server. */
struct log_files {
    struct str topic; /* empty: nothing was looked up yet */
    bool is_known;
    uint64_t epoch;
    char of[256]; /* the name of one file */
};

static void look_for_files(struct coordinator *co, struct str topic, struct log_files *f)
{
    struct pipeline_status s;

    *f = (struct log_files){.topic = topic};
    lock_acquire(&co->topics->lock);

    const struct topic *t = topics_find(co->topics, topic);

    if (t != NULL && t->pipeline != NULL) {
        pipeline_status(t->pipeline, &s);
        free(s.gtids);
        f->is_known = s.file[0] != '\0';
        f->epoch = s.epoch;
        memcpy(f->of, s.file, sizeof(f->of));
    }
    lock_release(&co->topics->lock);
}

/*
 * Append the version's position as FILE:OFFSET.  The name of a file in another server's log is
 * not known.
 */
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
    coordinator_put_time(w, STR("first"), d->first_ms);
    coordinator_put_time(w, STR("last"), d->last_ms);
    if (d->body.len > 0)
        json_put_raw(w, STR("body"), d->body);
    json_close_object(w);
    buf_free(&version);
    buf_free(&position);
}

/* Context of the errand that lists letters. */
struct letters_read {
    struct store *store;
    struct dead_letter_filter filter;
    struct stored_dead_letter *list;
    size_t n;
};

static bool read_letters(struct errand *e, struct err *err)
{
    struct letters_read *r = e->ctx;

    return store_load_dead_letters(r->store, e->arena, &r->filter, &r->list, &r->n, err);
}

static struct errand *letters_errand(struct coordinator *co, const struct dead_letter_filter *f,
                                     size_t limit)
{
    struct errand *e = errand_new("the store", sizeof(struct letters_read));
    struct letters_read *r = e->ctx;

    *r = (struct letters_read){.store = co->opt.store, .filter = *f};
    r->filter.topic = arena_copy(e->arena, f->topic);
    r->filter.table = arena_copy(e->arena, f->table);
    r->filter.index = arena_copy(e->arena, f->index);
    r->filter.reason_like = arena_copy(e->arena, f->reason_like);
    r->filter.limit = limit;
    return e;
}

static void write_letters(struct coordinator *co, const struct letters_read *r, size_t limit,
                          struct buf *json)
{
    struct json_writer w = {.out = json};
    struct log_files files = {0};

    json_open_object(&w);
    json_put_cstr(&w, STR("schema"), "millrace/dead-letter/1");
    json_write_key(&w, STR("items"));
    json_open_array(&w);
    for (size_t i = 0; i < r->n && i < limit; i++) {
        if (files.topic.len == 0 || !str_equal(files.topic, r->list[i].topic))
            look_for_files(co, r->list[i].topic, &files);
        append_letter(&w, &r->list[i], &files);
    }
    json_close_array(&w);
    if (r->n > limit)
        json_put_u64(&w, STR("more_after"), r->list[limit - 1].id);
    json_close_object(&w);
}

bool coordinator_dead_letters(struct coordinator *co, const struct dead_letter_filter *f,
                              struct buf *json, struct err *err)
{
    const size_t limit = f->limit > 0 ? f->limit : LISTED;
    /* One more than asked, to see whether more follow. */
    struct errand *e = letters_errand(co, f, limit + 1);
    const struct letters_read *r = e->ctx;
    bool ok = coordinator_ask_store(co, e, read_letters, err);

    if (ok && f->id != 0 && r->n == 0)
        ok = refuse(err, 404,
                    "there is no dead letter %" PRIu64 "; fix: see millrace dead-letter list",
                    f->id);
    if (ok)
        write_letters(co, r, limit, json);
    errand_leave(e);
    return ok;
}

/* The number of dead letters and their age; n is 0 if the store failed. */
struct letters_level {
    uint64_t n;
    int64_t age_ms; /* age of the oldest */
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

void coordinator_warn_of_dead_letters(struct coordinator *co)
{
    struct err err = {0};
    const struct letters_level level = level_of(co, &err);
    struct buf text = {0};

    if (level.n == 0 || level.age_ms < co->opt.dead_letters_old_ms)
        return;
    append_level(&text, level);
    log_warn("dead letters need attention: millrace dead-letter list",
             KV("letters", buf_str(&text)));
    buf_free(&text);
}

void coordinator_check_dead_letters(struct coordinator *co, struct doctor_list *l)
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
                      .code = err.kind != ERR_NONE ? STR("dead_letters.unknown")
                              : full               ? STR("dead_letters.full")
                                                   : STR(""),
                      .values = {{"letters", .number = (double)level.n}},
                      .group = STR("dead letters"),
                      .status = full ? DOCTOR_FAIL : DOCTOR_WARN,
                      .message = buf_str(&text),
                      .why = full ? STR(DOCTOR_WHY_LETTERS_FULL) : STR(DOCTOR_WHY_LETTERS),
                      .fix = STR("see millrace dead-letter list; correct rows or mapping, then "
                                 "millrace dead-letter replay or discard")});
    buf_free(&text);
}

void coordinator_answer_letters(struct buf *json, const char *schema, uint64_t n, bool dry_run)
{
    struct json_writer w = {.out = json};

    json_open_object(&w);
    json_put_cstr(&w, STR("schema"), schema);
    json_put_u64(&w, STR("count"), n);
    if (dry_run)
        json_put_bool(&w, STR("dry_run"), true);
    json_close_object(&w);
}

/* The key by which delivery knows a letter. */
struct discarded {
    struct str index, routing, id;
    uint64_t version;
};

/* Gather the letters that exist now: the discard must not touch later ones. */
static bool gather(struct coordinator *co, const struct dead_letter_filter *f, struct arena *a,
                   struct discarded **out, size_t *n, uint64_t *last_id, struct err *err)
{
    struct dead_letter_filter page = *f;
    size_t n_page = PAGE, cap = 0;
    bool ok = true;

    *out = NULL;
    *n = 0;
    page.limit = PAGE;
    while (ok && n_page == PAGE) {
        struct arena *of_page = arena_new();
        struct stored_dead_letter *list;

        ok = store_load_dead_letters(co->opt.store, of_page, &page, &list, &n_page, err);
        for (size_t i = 0; ok && i < n_page; i++) {
            if (*n == cap)
                *out = mem_resize(*out, cap = cap * 2 + PAGE, sizeof(**out));
            (*out)[(*n)++] =
                (struct discarded){arena_copy(a, list[i].index), arena_copy(a, list[i].routing),
                                   arena_copy(a, list[i].doc_id), list[i].version};
            *last_id = page.after_id = list[i].id;
        }
        arena_free(of_page);
    }
    return ok;
}

static uint64_t count_of(const struct discarded *list, size_t n, const struct stored_version *v)
{
    struct buf name = {0};
    uint64_t of = 0;

    coordinator_index_name(&name, v->index, v->number);
    for (size_t i = 0; i < n; i++)
        of += str_equal(list[i].index, buf_str(&name));
    buf_free(&name);
    return of;
}

static bool refuse_coming(struct coordinator *co, const struct stored_version *v,
                          const struct stored_wait *wait, uint64_t n, struct err *err)
{
    struct definitions *d = coordinator_definitions(co);
    const struct table_definition *lead = definition_lead_of(d, v->index);
    const struct str table = lead != NULL ? table_name(lead) : v->index;
    struct buf fix = {0};

    if (wait != NULL) {
        coordinator_append_wait_fix(&fix, wait, table);
    } else {
        buf_append(&fix, STR("discard them once searches use it, or millrace index reset "));
        buf_append_word(&fix, table);
    }
    refuse(err, 409,
           "nothing was discarded: %" PRIu64 " of the dead letters belong to %" STR_FMT
           "_v%" PRIu64 ", which %s, and show what it lacks; fix: %s",
           n, STR_ARG(v->index), v->number, wait != NULL ? "waits" : "is being built", fix.ptr);
    buf_free(&fix);
    definitions_unref(d);
    return false;
}

/*
 * Refuse to discard letters of a version that is being built or waits.  They decide whether it
 * is published and count as its documents: without them, it would seem to lack none.
 */
static bool none_is_coming(struct coordinator *co, const struct discarded *list, size_t n,
                           struct err *err)
{
    struct catalogue *c = coordinator_catalogue(co);
    bool ok = true;

    for (size_t i = 0; ok && i < c->n_versions; i++) {
        const struct stored_version *v = &c->versions[i];
        const uint64_t of = catalogue_is_coming(v) ? count_of(list, n, v) : 0;

        ok = of == 0 || refuse_coming(co, v, catalogue_wait(c, v), of, err);
    }
    catalogue_unref(c);
    return ok;
}

/* Delete all letters in one transaction, then tell delivery, which tracks each of them. */
static bool discard(struct coordinator *co, const struct dead_letter_filter *f, bool dry_run,
                    uint64_t *n, struct err *err)
{
    struct dead_letter_filter known = *f;
    struct arena *a = arena_new();
    struct discarded *list;
    size_t n_list;
    bool ok =
        gather(co, f, a, &list, &n_list, &known.until_id, err) &&
        none_is_coming(co, list, n_list, err) &&
        (n_list == 0 || dry_run || store_delete_dead_letters(co->opt.store, &known, n, err));

    if (dry_run)
        *n = n_list;
    for (size_t i = 0; ok && !dry_run && co->delivery != NULL && i < n_list; i++)
        delivery_discard_dead(co->delivery, list[i].index, list[i].routing, list[i].id,
                              list[i].version);
    free(list);
    arena_free(a);
    return ok;
}

bool coordinator_dead_letter_discard(struct coordinator *co, const struct dead_letter_filter *f,
                                     bool dry_run, struct buf *json, struct err *err)
{
    uint64_t n = 0;

    const bool ok = discard(co, f, dry_run, &n, err);

    store_watch_read(co->store_watch);
    if (!ok)
        return false;
    if (f->id != 0 && n == 0)
        return refuse(err, 404,
                      "there is no dead letter %" PRIu64 "; fix: see millrace dead-letter list",
                      f->id);
    coordinator_answer_letters(json, "millrace/dead-letter-discard/1", n, dry_run);
    return true;
}
