#include "config.h"

#include "rebalance/watch/engine_check.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/base/mem.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* The version, or the index not built yet, that is being checked. */
struct looking {
    const struct stored_facts *stored;
    const struct engine_facts *engine;
    struct arena *arena;
    const struct stored_version *version;
    struct str alias, table, name, write_alias;
    const struct engine_index *index; /* NULL: the engine does not have it */
    struct finding *list;             /* findings so far, of all versions */
    size_t n, cap;
};

static bool is_searched(const struct stored_version *v)
{
    return str_equal(v->state, STR("available"));
}

/* Skip a build that has not begun to fill: it may have no index yet. */
static bool is_looked_at(const struct stored_version *v)
{
    return is_searched(v) || (stored_version_is_live(v) && v->start != 0);
}

static struct str with_end(struct arena *a, struct str name, const char *end)
{
    struct buf b = {0};

    buf_append(&b, name);
    buf_append(&b, str_from(end));

    const struct str copy = arena_copy(a, buf_str(&b));

    buf_free(&b);
    return copy;
}

void engine_check_names(const struct stored_facts *s, struct arena *a, struct str **names,
                        size_t *n)
{
    struct str *list = arena_alloc(a, 2 * s->n_wanted + 3 * s->n_versions + 1, sizeof(*list));

    *n = 0;
    for (size_t i = 0; i < s->n_wanted; i++)
        if (stored_facts_live(s, s->wanted[i].alias) == NULL) {
            list[(*n)++] = s->wanted[i].alias;
            list[(*n)++] = with_end(a, s->wanted[i].alias, "_v*");
        }
    for (size_t i = 0; i < s->n_versions; i++) {
        const struct stored_version *v = &s->versions[i];
        const struct str name = whose_name(a, v->index, v->number);

        if (!is_looked_at(v))
            continue;
        if (is_searched(v))
            list[(*n)++] = v->index;
        list[(*n)++] = name;
        list[(*n)++] = with_end(a, name, "_write");
    }
    *names = list;
}

/* ---- findings ---- */

static struct str format(struct arena *a, const char *fmt, ...) PRINTF_LIKE(2, 3);

static struct str format(struct arena *a, const char *fmt, ...)
{
    struct buf b = {0};
    va_list ap;

    va_start(ap, fmt);
    buf_vprintf(&b, fmt, ap);
    va_end(ap);

    const struct str copy = arena_copy(a, buf_str(&b));

    buf_free(&b);
    return copy;
}

static void add(struct looking *l, struct str reason, struct str fix, enum mend mend)
{
    if (l->n == l->cap) {
        l->cap = l->cap == 0 ? 16 : l->cap * 2;
        l->list = mem_resize(l->list, l->cap, sizeof(*l->list));
    }
    l->list[l->n++] = (struct finding){
        .alias = l->alias, .index = l->name, .reason = reason, .fix = fix, .mend = mend};
}

static struct str say(struct looking *l, enum whose whose, const struct engine_index *index)
{
    struct buf b = {0};

    whose_append(&b, whose, index);

    const struct str copy = arena_copy(l->arena, buf_str(&b));

    buf_free(&b);
    return copy;
}

/* No other build can begin while one runs or waits to be published, so reset that one first. */
static struct str build_again(struct looking *l, const char *option)
{
    struct buf fix = {0};

    if (!is_searched(l->version)) {
        buf_append(&fix, STR("millrace index reset "));
        buf_append_word(&fix, l->table);
        buf_append(&fix, STR(", then "));
    }
    buf_append(&fix, STR("millrace index create "));
    buf_append_word(&fix, l->table);
    buf_append(&fix, str_from(option));

    const struct str copy = arena_copy(l->arena, buf_str(&fix));

    buf_free(&fix);
    return copy;
}

static void must_build(struct looking *l, struct str reason, const char *option)
{
    add(l, reason, build_again(l, option), MEND_NONE);
}

static void can_mend(struct looking *l, struct str reason, enum mend mend)
{
    add(l, reason, STR("Millrace repairs it by itself"), mend);
}

/* ---- the index and its mark ---- */

static uint64_t highest_epoch(const struct stored_facts *s, struct str topic)
{
    for (size_t i = 0; i < s->n_epochs; i++)
        if (str_equal(s->epochs[i].topic, topic))
            return s->epochs[i].highest;
    return UINT64_MAX;
}

/* Returns false if this is not the index that we made. */
static bool check_mark(struct looking *l)
{
    const struct engine_mark *mark = &l->index->mark;
    const struct stored_version *v = l->version;
    const uint64_t epoch = highest_epoch(l->stored, v->topic);

    if (!l->index->is_marked)
        must_build(l,
                   format(l->arena,
                          "index %" STR_FMT " has no Millrace mark in its mapping: somebody "
                          "has created it anew, or replaced its _meta",
                          STR_ARG(l->name)),
                   "");
    else if (mark->owner.len > 0 && !str_equal(mark->owner, l->stored->owner))
        must_build(l,
                   format(l->arena, "index %" STR_FMT " %" STR_FMT ": two daemons write to it",
                          STR_ARG(l->name), STR_ARG(say(l, WHOSE_OTHER, l->index))),
                   whose_option(WHOSE_OTHER));
    else if (!str_equal(mark->topic, v->topic) || mark->version != v->number)
        must_build(l,
                   format(l->arena,
                          "index %" STR_FMT " is marked as version %" PRIu64
                          " of topic %" STR_FMT ", but should be version %" PRIu64
                          " of topic %" STR_FMT,
                          STR_ARG(l->name), mark->version, STR_ARG(mark->topic), v->number,
                          STR_ARG(v->topic)),
                   "");
    else if (mark->epoch > epoch)
        must_build(l,
                   format(l->arena,
                          "index %" STR_FMT " was written in epoch %" PRIu64
                          " of topic %" STR_FMT ", but this store knows only %" PRIu64
                          ": was an older copy of the "
                          "data folder restored?",
                          STR_ARG(l->name), mark->epoch, STR_ARG(v->topic), epoch),
                   "");
    else
        return true;
    return false;
}

static void check_owner(struct looking *l)
{
    if (l->index->mark.owner.len == 0)
        can_mend(l,
                 format(l->arena,
                        "index %" STR_FMT " does not say which store it belongs to, because "
                        "an older Millrace made it",
                        STR_ARG(l->name)),
                 MEND_OWNER);
}

/* ---- aliases ---- */

static const struct engine_index *index_of(struct looking *l, const struct engine_holder *h)
{
    return engine_facts_find(l->engine, h->index);
}

/* Any live version may hold the alias: a build moves it before it stores that it has. */
static bool may_be_searched(const struct looking *l, struct str name)
{
    const struct stored_version *v =
        stored_facts_version(l->stored, l->alias, whose_version(l->alias, name));

    return v != NULL && stored_version_is_live(v);
}

static void check_named(struct looking *l)
{
    add(l,
        format(l->arena,
               "%" STR_FMT " is an index that somebody has created, not the alias of %" STR_FMT,
               STR_ARG(l->alias), STR_ARG(l->name)),
        format(l->arena,
               "delete or rename the index %" STR_FMT "; Millrace then restores the alias",
               STR_ARG(l->alias)),
        MEND_NONE);
}

/* A kept version is as current as the one that searches should use. */
static void check_returned(struct looking *l, const struct stored_version *kept)
{
    struct buf fix = {0};

    buf_append(&fix, STR("millrace index rollback "));
    buf_append_word(&fix, l->table);
    buf_printf(&fix, " --to %" PRIu64, kept->number);
    add(l,
        format(l->arena,
               "searches of %" STR_FMT " use version %" PRIu64
               ", which is kept: somebody has moved the alias",
               STR_ARG(l->alias), kept->number),
        arena_copy(l->arena, buf_str(&fix)), MEND_NONE);
    buf_free(&fix);
}

/* Searches use this index and should not. */
static void check_stray(struct looking *l, const struct engine_index *index, bool is_alone)
{
    const enum whose whose = whose_index(l->stored, l->alias, index);
    const struct stored_version *v =
        stored_facts_version(l->stored, l->alias, whose_version(l->alias, index->name));
    const struct str reason = format(l->arena,
                                     is_alone ? "searches of %" STR_FMT " use %" STR_FMT ", "
                                                "not %" STR_FMT "; %" STR_FMT " %" STR_FMT
                                              : "searches of %" STR_FMT " use %" STR_FMT
                                                " beside %" STR_FMT "; %" STR_FMT " %" STR_FMT,
                                     STR_ARG(l->alias), STR_ARG(index->name), STR_ARG(l->name),
                                     STR_ARG(index->name), STR_ARG(say(l, whose, index)));

    if (is_alone && whose == WHOSE_OLD && str_equal(v->state, STR("kept"))) {
        check_returned(l, v);
        return;
    }
    if (is_alone || whose != WHOSE_OLD) {
        must_build(l, reason, whose_option(whose));
        return;
    }
    can_mend(l, reason, MEND_STRAY);
    l->list[l->n - 1].stray = index->name;
}

static void check_alias(struct looking *l)
{
    const struct engine_index *stray = NULL;
    bool has_good = false;
    size_t n;
    const struct engine_holder *holders = engine_facts_holders(l->engine, l->alias, &n);

    if (engine_facts_find(l->engine, l->alias) != NULL) {
        check_named(l);
        return;
    }
    for (size_t i = 0; i < n; i++)
        if (may_be_searched(l, holders[i].index))
            has_good = true;
        else
            stray = index_of(l, &holders[i]);
    if (stray != NULL)
        check_stray(l, stray, !has_good);
    else if (!has_good && l->index != NULL)
        can_mend(l,
                 format(l->arena,
                        "searches of %" STR_FMT " find no index, because its alias is gone; "
                        "Millrace writes to %" STR_FMT,
                        STR_ARG(l->alias), STR_ARG(l->name)),
                 MEND_ALIAS);
}

static void check_write_alias(struct looking *l)
{
    size_t n;
    const struct engine_holder *holders = engine_facts_holders(l->engine, l->write_alias, &n);

    if (n == 0)
        can_mend(l,
                 format(l->arena, "the alias %" STR_FMT " is gone, so Millrace cannot write",
                        STR_ARG(l->write_alias)),
                 MEND_WRITE_ALIAS);
    for (size_t i = 0; i < n; i++)
        if (!str_equal(holders[i].index, l->name)) {
            must_build(
                l,
                format(l->arena,
                       "the alias %" STR_FMT " points to %" STR_FMT ", not to %" STR_FMT ": "
                       "somebody has moved it, and changes would go there",
                       STR_ARG(l->write_alias), STR_ARG(holders[i].index), STR_ARG(l->name)),
                "");
            return;
        }
}

/* ---- all ---- */

static void check_version(struct looking *l, const struct stored_version *v)
{
    l->version = v;
    l->alias = v->index;
    l->table = stored_facts_table(l->stored, v->index);
    l->name = whose_name(l->arena, v->index, v->number);
    l->write_alias = with_end(l->arena, l->name, "_write");
    l->index = engine_facts_find(l->engine, l->name);
    if (l->index == NULL)
        must_build(l,
                   format(l->arena,
                          "no such index as %" STR_FMT " in the search engine: was it "
                          "deleted, or does search.url lead to another cluster?",
                          STR_ARG(l->name)),
                   "");
    if (l->index != NULL && !check_mark(l))
        return;
    if (is_searched(v))
        check_alias(l);
    if (l->index != NULL) {
        check_write_alias(l);
        check_owner(l);
    }
}

/* Report an index that is not built yet if another index stands in its way. */
static void check_wanted(struct looking *l, const struct wanted_index *w)
{
    const struct claim claim =
        whose_claim(l->stored, l->engine, w->alias, &(struct take){false, false});
    struct buf reason = {0}, fix = {0};

    if (claim.index == NULL)
        return;
    l->alias = w->alias;
    l->name = STR("");
    whose_append_claim(&claim, w->alias, w->table, &reason, &fix);
    add(l, arena_copy(l->arena, buf_str(&reason)), arena_copy(l->arena, buf_str(&fix)),
        MEND_NONE);
    buf_free(&reason);
    buf_free(&fix);
}

void engine_check(const struct stored_facts *s, const struct engine_facts *f, struct arena *a,
                  struct finding **out, size_t *n)
{
    struct looking l = {.stored = s, .engine = f, .arena = a};

    for (size_t i = 0; i < s->n_versions; i++)
        if (is_looked_at(&s->versions[i]))
            check_version(&l, &s->versions[i]);
    for (size_t i = 0; i < s->n_wanted; i++)
        if (stored_facts_live(s, s->wanted[i].alias) == NULL)
            check_wanted(&l, &s->wanted[i]);
    *out = arena_alloc(a, l.n + 1, sizeof(**out));
    if (l.n > 0)
        memcpy(*out, l.list, l.n * sizeof(**out));
    *n = l.n;
    free(l.list);
}
