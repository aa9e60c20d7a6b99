#include "config.h"

#include "src/store/owned.h"

#include "src/base/buf.h"
#include "src/base/mem.h"
#include "src/format/json.h"
#include "src/store/core.h"
#include "src/store/store.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS_LOOKED_AT 1000

/* ---- what this store's user owns ---- */

struct owned_thing {
    char *name;
    uint64_t term; /* 0: lost */
    struct owned_thing *next;
};

/* Needs the lock of the list. */
static struct owned_thing *find(const struct owned *all, struct str thing)
{
    for (struct owned_thing *t = all->first; t != NULL; t = t->next)
        if (str_equal(str_from(t->name), thing))
            return t;
    return NULL;
}

static void note(struct owned *all, struct str thing, uint64_t term)
{
    lock_acquire(&all->lock);

    struct owned_thing *t = find(all, thing);

    if (t == NULL) {
        t = mem_alloc(1, sizeof(*t));
        t->name = strndup(thing.ptr, thing.len);
        t->next = all->first;
        all->first = t;
    }
    t->term = term;
    lock_release(&all->lock);
}

/* Returns false if nobody has taken or lost it. */
static bool look_up(struct owned *all, struct str thing, uint64_t *term)
{
    lock_acquire(&all->lock);

    const struct owned_thing *t = find(all, thing);
    const bool found = t != NULL;

    *term = found ? t->term : 0;
    lock_release(&all->lock);
    return found;
}

void owned_init(struct owned *all, bool alone)
{
    *all = (struct owned){.alone = alone};
    lock_init(&all->lock, LOCK_private);
}

void owned_fini(struct owned *all)
{
    while (all->first != NULL) {
        struct owned_thing *t = all->first;

        all->first = t->next;
        free(t->name);
        free(t);
    }
    lock_fini(&all->lock);
}

/* Only who owns a job's topic may take the job; anybody may take a topic. */
static struct fence fence_of_taking(struct str thing)
{
    const struct str job = STR("job/");

    if (!str_has_prefix(thing, job))
        return OF_NOBODY;
    return OF_JOB(row_number((struct str){thing.ptr + job.len, thing.len - job.len}));
}

bool store_raise_term(struct store *s, struct str thing, uint64_t *term, struct err *err)
{
    static const char raise[] = "INSERT INTO term (thing, term) VALUES (?, 1)"
                                " ON CONFLICT (thing) DO UPDATE SET term = term + 1";
    const bool ok = store_run(s, raise, BINDS(TEXT(thing)), err) &&
                    store_select_number(s, "SELECT term FROM term WHERE thing = ?",
                                        BINDS(TEXT(thing)), term, NULL, err);

    if (ok) /* before others can compare the new term with our old one */
        note(&s->owned, thing, *term);
    return ok;
}

bool store_take_term(struct store *s, struct str thing, uint64_t *term, struct err *err)
{
    return store_begin_write(s, fence_of_taking(thing), err) &&
           store_end(s, store_raise_term(s, thing, term, err), err);
}

void store_lose_term(struct store *s, struct str thing)
{
    note(&s->owned, thing, 0);
}

/* ---- terms ---- */

/* For whoever gave a command: nobody needs to do anything for the topic itself. */
#define AGAIN                                                                               \
    "; fix: try again in a few seconds, as this node takes it back when it may; until then" \
    " only the node that owns it can do this"

static bool select_term(struct store *s, struct str thing, uint64_t *term, struct err *err)
{
    return store_select_number(s, "SELECT term FROM term WHERE thing = ?{lock}",
                               BINDS(TEXT(thing)), term, NULL, err);
}

/* Inside a transaction: the thing's term is now `now`. */
static void note_loss(struct store *s, struct str thing, uint64_t now)
{
    uint64_t ours;

    if (!look_up(&s->owned, thing, &ours) || ours == 0 || ours == now)
        return;
    note(&s->owned, thing, 0);
    s->has_lost = true;
}

bool store_check_term(struct store *s, struct str thing, uint64_t term, struct err *err)
{
    uint64_t now;

    if (!select_term(s, thing, &now, err))
        return false;
    if (now == term && now != 0)
        return true;
    note_loss(s, thing, now);
    return err_set(err, ERR_STOP,
                   "%" STR_FMT " is owned by another node now (term %" PRIu64
                   ", ours was %" PRIu64 ")" AGAIN,
                   STR_ARG(thing), now, term);
}

bool store_owns(struct store *s, struct str thing)
{
    uint64_t term;

    return look_up(&s->owned, thing, &term) ? term != 0 : s->owned.alone;
}

bool store_find_term(struct store *s, struct str thing, uint64_t *term)
{
    return look_up(&s->owned, thing, term) && *term != 0;
}

void store_watch_loss(struct store *s, void (*lost)(void *ctx), void *ctx)
{
    s->owned.lost = lost;
    s->owned.ctx = ctx;
}

static bool check_owned(struct store *s, struct str thing, struct err *err)
{
    uint64_t now, term;
    const bool known = look_up(&s->owned, thing, &term);

    if (known && term != 0)
        return store_check_term(s, thing, term, err);
    if (!known && !select_term(s, thing, &now, err))
        return false;
    if (known || (now != 0 && !s->owned.alone))
        return err_set(err, ERR_STOP, "%" STR_FMT " is not owned by this node now" AGAIN,
                       STR_ARG(thing));
    if (now != 0)
        note(&s->owned, thing, now);
    return true;
}

static bool check_topic(struct store *s, struct str topic, struct err *err)
{
    struct buf thing = {0};

    buf_append(&thing, STR("topic/"));
    buf_append(&thing, topic);

    const bool ok = check_owned(s, buf_str(&thing), err);

    buf_free(&thing);
    return ok;
}

struct name_sink {
    struct row_sink sink;
    struct buf *out;
};

static void take_name(struct row_sink *sink, const struct str *cells)
{
    buf_append(CONTAINER_OF(sink, struct name_sink, sink)->out, cells[0]);
}

/* Append the topic that sql returns, if it returns a row. */
static bool select_topic(struct store *s, const char *sql, struct binds binds,
                         struct buf *topic, struct err *err)
{
    struct name_sink sink = {{take_name}, topic};

    return store_select(s, sql, binds, &sink.sink, err);
}

/* ---- whose a write is: append the topic's name, or nothing if it is nobody's ---- */

static bool of_nobody(struct store *s, const struct fence *of, struct buf *topic,
                      struct err *err)
{
    (void)s, (void)of, (void)topic, (void)err;
    return true;
}

static bool of_topic(struct store *s, const struct fence *of, struct buf *topic,
                     struct err *err)
{
    (void)s, (void)err;
    buf_append(topic, of->name);
    return true;
}

/* Versions of one index may be of two topics.  One that is dropped is of the newest's. */
static bool of_index(struct store *s, const struct fence *of, struct buf *topic,
                     struct err *err)
{
    return select_topic(s,
                        "SELECT topic FROM index_version WHERE index_name = ?"
                        " ORDER BY number = ? DESC, number DESC LIMIT 1",
                        BINDS(TEXT(of->name), NUMBER(of->number)), topic, err);
}

/* "orders" and 2 of "orders_v2". Returns false for a name without a number. */
static bool split_version(struct str name, struct str *index, uint64_t *number)
{
    size_t at = name.len;

    while (at > 0 && name.ptr[at - 1] >= '0' && name.ptr[at - 1] <= '9')
        at--;
    if (at == name.len || at < 3 || memcmp(name.ptr + at - 2, "_v", 2) != 0)
        return false;
    *index = (struct str){name.ptr, at - 2};
    *number = row_number((struct str){name.ptr + at, name.len - at});
    return true;
}

/* A name without a number is nobody's. */
static bool of_version(struct store *s, const struct fence *of, struct buf *topic,
                       struct err *err)
{
    struct str index;
    uint64_t number;

    if (!split_version(of->name, &index, &number))
        return true;
    return of_index(s, &OF_INDEX(index, number), topic, err);
}

/* The topic of the table's database. */
static bool of_table(struct store *s, const struct fence *of, struct buf *topic,
                     struct err *err)
{
    static const char sql[] =
        "SELECT body FROM definition WHERE kind = 'database' AND name = ?";
    const char *dot = memchr(of->name.ptr, '.', of->name.len);
    const struct str database = {of->name.ptr, dot == NULL ? 0 : (size_t)(dot - of->name.ptr)};
    struct buf body = {0};
    const bool ok = select_topic(s, sql, BINDS(TEXT(database)), &body, err);

    if (ok)
        (void)json_find_text(buf_str(&body), "/topic", topic);
    buf_free(&body);
    return ok;
}

/* Buckets and parts are filled by any node: only the term of the job counts. */
static bool of_job(struct store *s, const struct fence *of, struct buf *topic, struct err *err)
{
    return select_topic(s,
                        "SELECT v.topic FROM index_version v JOIN job j"
                        " ON v.index_name = j.index_name AND v.number = j.version"
                        " WHERE j.id = ? AND j.kind NOT IN ('" JOB_BUCKET "', '" JOB_PART "')",
                        BINDS(NUMBER(of->number)), topic, err);
}

/* "KIND/TABLE" */
static bool of_success(struct store *s, const struct fence *of, struct buf *topic,
                       struct err *err)
{
    const char *slash = memchr(of->name.ptr, '/', of->name.len);
    const size_t at = slash == NULL ? 0 : (size_t)(slash - of->name.ptr) + 1;
    const struct fence table = OF_TABLE(((struct str){of->name.ptr + at, of->name.len - at}));

    return of_table(s, &table, topic, err);
}

/* By the beginning of its name; others are nobody's. */
static bool of_value(struct store *s, const struct fence *of, struct buf *topic,
                     struct err *err)
{
    static const struct {
        const char *prefix;
        bool (*whose)(struct store *s, const struct fence *of, struct buf *topic,
                      struct err *err);
    } kinds[] = {
        {STORE_SYNC, of_version},    {STORE_VERIFY, of_version},  {STORE_COMPARED, of_version},
        {STORE_CHECKED, of_version}, {STORE_SHARDS, of_version},  {STORE_REPLAY, of_version},
        {STORE_FILL, of_version},    {STORE_SUCCESS, of_success}, {"epoch/", of_topic},
        {"start/", of_topic},        {"shapes/", of_topic},       {"server_id/", of_topic},
    };

    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        const struct str prefix = str_from(kinds[i].prefix);

        if (!str_has_prefix(of->name, prefix))
            continue;
        const struct fence rest = {
            .name = {of->name.ptr + prefix.len, of->name.len - prefix.len}};

        return kinds[i].whose(s, &rest, topic, err);
    }
    return true;
}

static bool find_topic(struct store *s, const struct fence *of, struct buf *topic,
                       struct err *err)
{
    static bool (*const whose[])(struct store *, const struct fence *, struct buf *,
                                 struct err *) = {
        [FENCE_NOBODY] = of_nobody,   [FENCE_TOPIC] = of_topic, [FENCE_INDEX] = of_index,
        [FENCE_VERSION] = of_version, [FENCE_TABLE] = of_table, [FENCE_VALUE] = of_value,
        [FENCE_JOB] = of_job,
    };

    return whose[of->kind](s, of, topic, err);
}

/* ---- the fence ---- */

bool store_fence(struct store *s, struct fence of, struct err *err)
{
    struct buf topic = {0};
    const bool ok = find_topic(s, &of, &topic, err) &&
                    (topic.len == 0 || check_topic(s, buf_str(&topic), err));

    buf_free(&topic);
    return ok;
}

/* ---- of what who fills a version may store as well ---- */

struct id_sink {
    struct row_sink sink;
    uint64_t list[BUCKETS_LOOKED_AT];
    size_t n;
};

static void take_id(struct row_sink *sink, const struct str *cells)
{
    struct id_sink *ids = CONTAINER_OF(sink, struct id_sink, sink);

    if (ids->n < BUCKETS_LOOKED_AT)
        ids->list[ids->n++] = row_number(cells[0]);
}

/* Whether we have a bucket of the version ("orders_v2") under its latest term. */
static bool fills(struct store *s, struct str version, bool *does, struct err *err)
{
    static const char sql[] =
        "SELECT id FROM job WHERE kind IN ('" JOB_BUCKET "', '" JOB_PART "')"
        " AND index_name = ? AND version = ? ORDER BY id DESC";
    struct id_sink ids = {{take_id}, {0}, 0};
    struct str index;
    uint64_t number;

    *does = false;
    if (!split_version(version, &index, &number))
        return true;
    if (!store_select(s, sql, BINDS(TEXT(index), NUMBER(number)), &ids.sink, err))
        return false;
    for (size_t i = 0; i < ids.n && !*does; i++) {
        struct buf thing = {0};
        uint64_t now, term;

        buf_printf(&thing, "job/%" PRIu64, ids.list[i]);
        if (look_up(&s->owned, buf_str(&thing), &term) && term != 0) {
            if (!select_term(s, buf_str(&thing), &now, err)) {
                buf_free(&thing);
                return false;
            }
            *does = now == term;
        }
        buf_free(&thing);
    }
    return true;
}

bool store_fence_filler(struct store *s, struct str topic, struct str version, struct err *err)
{
    struct err why = {0};
    bool does;

    if (store_fence(s, OF_TOPIC(topic), &why))
        return true;
    *err = why;
    if (why.kind != ERR_STOP || !fills(s, version, &does, &why) || !does)
        return false;
    *err = (struct err){0};
    return true;
}

bool store_fence_as(struct store *s, struct str topic, uint64_t term, struct err *err)
{
    struct buf thing = {0};
    uint64_t ours;

    buf_append(&thing, STR("topic/"));
    buf_append(&thing, topic);

    const bool is_lost = look_up(&s->owned, buf_str(&thing), &ours) && ours == 0;
    const bool ok = is_lost ? check_owned(s, buf_str(&thing), err)
                            : store_check_term(s, buf_str(&thing), term, err);

    buf_free(&thing);
    return ok;
}

/*
 * In a transaction of its own: MySQL's reads show the moment of a transaction's first plain
 * one, which must not come before the term is locked.
 */
static bool find_topic_alone(struct store *s, const struct fence *of, struct buf *topic,
                             struct err *err)
{
    if (of->kind == FENCE_NOBODY || of->kind == FENCE_TOPIC)
        return find_topic(s, of, topic, err);
    if (!store_begin(s, err))
        return false;

    const bool ok = find_topic(s, of, topic, err);

    return !store_end(s, false, err) && ok; /* nothing to commit */
}

bool store_begin_write(struct store *s, struct fence of, struct err *err)
{
    struct buf topic = {0};
    bool ok = find_topic_alone(s, &of, &topic, err) && store_begin(s, err);

    if (ok) {
        s->may_write = topic.len == 0 || check_topic(s, buf_str(&topic), err);
        ok = s->may_write || store_end(s, false, err);
    }
    buf_free(&topic);
    return ok;
}

bool store_begin_as(struct store *s, struct str topic, uint64_t term, struct err *err)
{
    if (!store_begin(s, err))
        return false;
    s->may_write = store_fence_as(s, topic, term, err);
    return s->may_write || store_end(s, false, err);
}

bool store_run_alone(struct store *s, struct fence of, const char *sql, struct binds binds,
                     struct err *err)
{
    return store_begin_write(s, of, err) && store_end(s, store_run(s, sql, binds, err), err);
}

/* ---- asking ---- */

bool store_ask_term(struct store *s, struct str thing, struct err *err)
{
    return store_begin(s, err) && store_end(s, check_owned(s, thing, err), err);
}

/* A search engine never has both under one name.  An alias is of its newest version. */
bool store_ask_index(struct store *s, struct str name, struct err *err)
{
    return store_begin(s, err) && store_end(s,
                                            store_fence(s, OF_INDEX(name, 0), err) &&
                                                store_fence(s, OF_VERSION(name), err),
                                            err);
}
