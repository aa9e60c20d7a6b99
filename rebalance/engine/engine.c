/*
 * Check that searches read what we write.  On every connect, at intervals and after each build,
 * list our indexes and aliases in the engine and compare them with the store.  A separate
 * thread does this, so that no other waits for the engine.
 */
#include "config.h"

#include "rebalance/engine/engine.h"

#include "rebalance/state/owned.h"
#include "rebalance/state/parts.h"
#include "rebalance/version/lineage.h"
#include "rebalance/version/retired.h"
#include "rebalance/version/rollback.h"
#include "rebalance/version/version_drop.h"

#include "rebalance/watch/engine_check.h"
#include "rebalance/watch/findings.h"
#include "src/base/arena.h"
#include "src/base/clock.h"
#include "src/base/log.h"
#include "src/base/magic.h"
#include "src/base/mem.h"
#include "src/net/address_set.h"
#include "sync/delivery/delivery.h"

#include <stdlib.h>
#include <string.h>

#define TICK_MS 100  /* between looks at what is due while something is wrong */
#define REST_MS 5000 /* and while nothing is */
#define AGAIN_MS                                                                               \
    1000 /* before the engine is asked again: it did not answer, or an alias that somebody has \
            moved may be in its place again */
#define MEND_MS 10000 /* before a failed repair is tried again */
#define TRIES   3     /* while other threads store versions, start over so often */

/* ---- what is stored ---- */

/* Load each topic's highest epoch.  A failover stores its epoch before it marks an index. */
static bool load_epochs(struct coordinator *co, struct stored_view *v, struct err *err)
{
    const struct definitions *d = v->definitions;
    struct arena *a = v->arena;
    struct topic_epoch *epochs = arena_alloc(a, d->n_topics + 1, sizeof(*epochs));
    size_t n = 0;
    bool ok = true;

    for (size_t i = 0; ok && i < d->n_topics; i++) {
        struct buf name = {0}, value = {0};
        bool found = false;

        buf_printf(&name, "epoch/%" STR_FMT, STR_ARG(d->topics[i].name));
        ok = store_get_value(co->opt.store, buf_str(&name), &value, &found, err);
        if (ok && found)
            epochs[n++] =
                (struct topic_epoch){d->topics[i].name, strtoull(value.ptr, NULL, 10)};
        buf_free(&name);
        buf_free(&value);
    }
    v->facts.epochs = epochs;
    v->facts.n_epochs = n;
    return ok;
}

/* Keep the facts of one alias. */
static void narrow(struct stored_facts *s, struct str alias)
{
    size_t n_versions = 0, n_wanted = 0;

    for (size_t i = 0; i < s->n_versions; i++)
        if (str_equal(s->versions[i].index, alias))
            s->versions[n_versions++] = s->versions[i];
    for (size_t i = 0; i < s->n_wanted; i++)
        if (str_equal(s->wanted[i].alias, alias))
            s->wanted[n_wanted++] = s->wanted[i];
    s->n_versions = n_versions;
    s->n_wanted = n_wanted;
}

/* alias empty: all.  Includes epochs. */
static bool view_stored(struct coordinator *co, struct str alias, struct stored_view *v,
                        struct err *err)
{
    coordinator_stored_view(co, v);
    if (alias.len > 0)
        narrow(&v->facts, alias);
    return load_epochs(co, v, err);
}

static bool are_same(const struct stored_facts *a, const struct stored_facts *b)
{
    bool same = a->n_versions == b->n_versions && a->n_epochs == b->n_epochs;

    for (size_t i = 0; same && i < a->n_epochs; i++)
        same = a->epochs[i].highest == b->epochs[i].highest;
    for (size_t i = 0; same && i < a->n_versions; i++)
        same = a->versions[i].number == b->versions[i].number &&
               str_equal(a->versions[i].index, b->versions[i].index) &&
               str_equal(a->versions[i].state, b->versions[i].state);
    return same;
}

/* ---- looking ---- */

/* The store and the engine at one moment, and the findings. */
struct sight {
    struct arena *arena;
    struct stored_view stored;
    struct engine_facts engine;
    struct finding *list;
    size_t n;
};

static bool ask_once(struct coordinator *co, struct sight *s, struct str alias, bool *same,
                     struct err *err)
{
    struct stored_view after;
    struct str *names;
    size_t n;
    bool ok = view_stored(co, alias, &s->stored, err);

    engine_check_names(&s->stored.facts, s->arena, &names, &n);
    if (!ok || !engine_facts_ask(&s->engine, s->arena, co->opt.search, names, n, err))
        return false;
    ok = view_stored(co, alias, &after, err);
    *same = ok && are_same(&s->stored.facts, &after.facts);
    coordinator_stored_view_free(&after);
    return ok;
}

/*
 * Read the store and the engine as of one moment.  A build that ends meanwhile moves aliases
 * and stores that; a failover marks indexes with the epoch that it stored.  So ask again until
 * the store did not change while the engine was asked.  alias empty: all.
 */
static bool open_sight(struct coordinator *co, struct sight *s, struct str alias,
                       struct err *err)
{
    bool same = false, ok = true;

    *s = (struct sight){.arena = arena_new()};
    for (int i = 0; ok && !same; i++) {
        if (i > 0)
            coordinator_stored_view_free(&s->stored);
        ok =
            ask_once(co, s, alias, &same, err) &&
            (same || i < TRIES || err_set(err, ERR_RETRY, "the stored versions keep changing"));
    }
    if (ok)
        engine_check(&s->stored.facts, &s->engine, s->arena, &s->list, &s->n);
    return ok;
}

static void close_sight(struct sight *s)
{
    coordinator_stored_view_free(&s->stored);
    arena_free(s->arena);
}

/* ---- repairs ---- */

static bool mend(struct coordinator *co, const struct sight *s, const struct finding *f,
                 struct err *err)
{
    const struct stored_version *v =
        stored_facts_version(&s->stored.facts, f->alias, whose_version(f->alias, f->index));
    struct buf alias = {0};
    bool ok = true;

    switch (f->mend) {
    case MEND_NONE: break;
    case MEND_ALIAS: ok = search_add_alias(co->opt.search, f->alias, f->index, err); break;
    case MEND_STRAY: ok = search_remove_alias(co->opt.search, f->alias, f->stray, err); break;
    case MEND_WRITE_ALIAS:
        coordinator_write_alias(&alias, v->index, v->number);
        ok = search_add_alias(co->opt.search, buf_str(&alias), f->index, err);
        break;
    case MEND_OWNER: ok = coordinator_mark_lineage(co, v, NULL, err); break;
    }
    buf_free(&alias);
    return ok;
}

/* Say why it is not repaired; err: of the repair, if this node owns the index's topic. */
static struct str say_trouble(struct arena *a, bool is_ours, const struct err *err)
{
    struct buf b = {0};

    if (!is_ours || err->kind == ERR_STOP)
        return STR("the node that owns the index's topic repairs this by itself");
    buf_printf(&b, "Millrace repairs this once the engine allows it: %s", err->msg);

    const struct str copy = arena_copy(a, buf_str(&b));

    buf_free(&b);
    return copy;
}

static bool is_among(const struct finding *f, const struct finding *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (str_equal(f->alias, list[i].alias) && str_equal(f->reason, list[i].reason))
            return true;
    return false;
}

static const struct finding *find_same(const struct sight *s, const struct finding *f)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->list[i].mend == f->mend && str_equal(s->list[i].index, f->index) &&
            str_equal(s->list[i].stray, f->stray))
            return &s->list[i];
    return NULL;
}

/*
 * Check again before the repair: with many indexes or a slow engine, the first look is old by
 * now.  *is tells whether the repair was still needed.
 */
static bool mend_now(struct coordinator *co, const struct finding *f, bool *is, struct err *err)
{
    struct sight s;
    bool ok = open_sight(co, &s, f->alias, err);
    const struct finding *now = ok ? find_same(&s, f) : NULL;

    *is = now != NULL;
    if (now != NULL)
        ok = mend(co, &s, now, err);
    close_sight(&s);
    return ok;
}

static void note(struct coordinator *co, const struct sight *s, const struct finding *f,
                 const char *event)
{
    coordinator_log_text(co, stored_facts_table(&s->stored.facts, f->alias), f->alias, event,
                         f->reason);
}

/* Others repair what they own. */
static bool is_ours(struct coordinator *co, const struct sight *s, const struct finding *f)
{
    const struct stored_version *v =
        stored_facts_version(&s->stored.facts, f->alias, whose_version(f->alias, f->index));

    return v == NULL || coordinator_owns(co, v->topic);
}

/* Repair what can be repaired, and remove it from the list. */
static void mend_all(struct coordinator *co, struct sight *s)
{
    size_t kept = 0;

    for (size_t i = 0; i < s->n; i++) {
        struct finding *f = &s->list[i];
        struct err err = {0};
        const bool ours = is_ours(co, s, f);
        bool is = true;

        if (f->mend != MEND_NONE && ours && mend_now(co, f, &is, &err)) {
            if (!is)
                continue;
            log_info("an alias or index setting was repaired", KV("index", f->index),
                     KV("reason", f->reason));
            note(co, s, f, "mended");
            continue;
        }
        if (f->mend != MEND_NONE)
            f->fix = say_trouble(s->arena, ours, &err);
        s->list[kept++] = *f;
    }
    s->n = kept;
}

/* ---- logging ---- */

/* Log new findings and those that are over. */
static void tell(struct coordinator *co, const struct sight *s)
{
    struct arena *a = arena_new();
    size_t n_before;
    const struct finding *before = findings_all(co->findings, a, &n_before);

    for (size_t i = 0; i < s->n; i++) {
        const struct finding *f = &s->list[i];

        if (is_among(f, before, n_before))
            continue;
        log_warn("searches do not see what Millrace writes", KV("index", f->alias),
                 KV("reason", f->reason), KV("fix", f->fix));
        note(co, s, f, "astray");
    }
    for (size_t i = 0; i < n_before; i++)
        if (!is_among(&before[i], s->list, s->n))
            log_info("searches see what Millrace writes again", KV("index", before[i].alias),
                     KV("reason", before[i].reason));
    arena_free(a);
}

/* ---- indexes whose write alias was moved ---- */

static bool is_led_astray(const struct hold *h)
{
    return h->is.cure == CURE_ALIAS;
}

static bool leads_back(const struct sight *s, struct str index)
{
    struct buf alias = {0};
    size_t n;

    buf_printf(&alias, "%" STR_FMT "_write", STR_ARG(index));

    const struct engine_holder *h = engine_facts_holders(&s->engine, buf_str(&alias), &n);
    const bool it_does = n == 1 && str_equal(h->index, index);

    buf_free(&alias);
    return it_does;
}

static void end_astray(struct coordinator *co, const struct sight *s)
{
    struct arena *a = arena_new();
    struct hold *list;
    const size_t n = holds_all(co->holds, a, &list);

    for (size_t i = 0; i < n; i++)
        if (is_led_astray(&list[i]) && leads_back(s, list[i].index))
            delivery_end_astray(co->delivery, list[i].index);
    arena_free(a);
}

/* ---- the thread ---- */

static void look(struct coordinator *co)
{
    const struct err before = findings_age(co->findings).why;
    struct sight s;
    struct err err = {0};

    if (open_sight(co, &s, STR(""), &err)) {
        end_astray(co, &s);
        mend_all(co, &s);
        tell(co, &s);
        findings_put(co->findings, s.list, s.n, clock_mono_ms());
    } else {
        findings_fail(co->findings, &err, clock_mono_ms());
        if (before.kind == ERR_NONE)
            log_failure(LOG_WARN, &err, "cannot check what searches see");
    }
    close_sight(&s);
}

static bool is_any_led_astray(struct coordinator *co)
{
    struct arena *a = arena_new();
    struct hold *list;
    const size_t n = holds_all(co->holds, a, &list);
    bool any = false;

    for (size_t i = 0; i < n; i++)
        any = any || is_led_astray(&list[i]);
    arena_free(a);
    return any;
}

static bool is_any_to_mend(struct coordinator *co)
{
    struct arena *a = arena_new();
    size_t n;
    const struct finding *list = findings_all(co->findings, a, &n);
    bool any = false;

    for (size_t i = 0; i < n; i++)
        any = any || list[i].mend != MEND_NONE;
    arena_free(a);
    return any;
}

static bool is_due(struct coordinator *co, uint64_t failures)
{
    const struct findings_age age = findings_age(co->findings);
    const int64_t since_ms = clock_mono_ms() - age.asked_ms;

    if (age.asked_ms == 0 || findings_take_due(co->findings))
        return true;
    if (since_ms < AGAIN_MS)
        return false;
    return since_ms >= co->opt.check_every_ms || age.why.kind != ERR_NONE ||
           address_set_failures(search_addresses(co->opt.search)) != failures ||
           is_any_led_astray(co) || (since_ms >= MEND_MS && is_any_to_mend(co));
}

/* Whoever changes what the store says, or has indexes to delete, nudges co->stop. */
static int64_t rest_ms(struct coordinator *co, uint64_t failures)
{
    const struct findings_age age = findings_age(co->findings);
    const bool is_wrong = age.asked_ms == 0 || age.why.kind != ERR_NONE ||
                          holds_n(co->holds) > 0 || is_any_to_mend(co) ||
                          address_set_failures(search_addresses(co->opt.search)) != failures;
    const int64_t left_ms = age.asked_ms + co->opt.check_every_ms - clock_mono_ms();

    int64_t ms = is_wrong ? TICK_MS : left_ms < REST_MS ? left_ms : REST_MS;

    if (co->opt.retire_after_ms != 0 && co->opt.retire_after_ms < ms)
        ms = co->opt.retire_after_ms;
    ms = coordinator_older_rest_ms(co, ms);
    return ms < TICK_MS ? TICK_MS : ms;
}

static void *aliases_main(void *arg)
{
    struct coordinator *co = MAGIC_CAST(coordinator, arg);
    uint64_t failures = 0; /* of addresses, before the last successful look */
    uint64_t seen = 0;

    while (!stop_rest(&co->stop, rest_ms(co, failures), &seen)) {
        const uint64_t now = address_set_failures(search_addresses(co->opt.search));

        coordinator_look_at_older(co);
        coordinator_drop_retired(co);
        coordinator_end_drops(co);
        if (!is_due(co, failures))
            continue;
        look(co);
        if (findings_age(co->findings).why.kind == ERR_NONE)
            failures = now;
    }
    return NULL;
}

void coordinator_start_looks(struct coordinator *co)
{
    co->aliases_thread = thread_start("aliases", aliases_main, co);
}

void coordinator_join_looks(struct coordinator *co)
{
    pthread_join(co->aliases_thread, NULL);
}

void coordinator_look_once(struct coordinator *co)
{
    struct err ignored = {0}; /* others report an unreachable engine */
    struct sight s;

    if (open_sight(co, &s, STR(""), &ignored))
        findings_put(co->findings, s.list, s.n, clock_mono_ms());
    close_sight(&s);
}
