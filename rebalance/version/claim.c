#include "config.h"

#include "rebalance/version/claim.h"

#include "rebalance/state/parts.h"
#include "rebalance/version/builds.h"

#include "src/base/arena.h"
#include "src/base/log.h"
#include "src/base/magic.h"
#include "sync/definition/members.h"

/* Ask for the alias, whatever has that name, and all indexes that look like versions of it. */
static bool ask(struct coordinator *co, struct str alias, struct arena *a,
                struct engine_facts *f, struct err *err)
{
    struct buf pattern = {0};

    buf_printf(&pattern, "%" STR_FMT "_v*", STR_ARG(alias));

    const struct str names[] = {alias, buf_str(&pattern)};
    const bool ok = engine_facts_ask(f, a, co->opt.search, names, ARRAY_LEN(names), err);

    buf_free(&pattern);
    return ok;
}

static uint64_t highest_version(const struct engine_facts *f, struct str alias)
{
    uint64_t highest = 0;

    for (size_t i = 0; i < f->n_indexes; i++) {
        const uint64_t number = whose_version(alias, f->indexes[i].name);

        highest = number > highest ? number : highest;
    }
    return highest;
}

static bool refuse_claim(const struct claim *c, struct str alias, struct str table,
                         struct err *err)
{
    struct buf reason = {0}, fix = {0};

    whose_append_claim(c, alias, table, &reason, &fix);
    refuse(err, 409, "%s; fix: %s", reason.ptr, fix.ptr);
    buf_free(&reason);
    buf_free(&fix);
    return false;
}

/* Report what we took because an operator said so, and keep that in the table's log. */
static void note_taken(struct coordinator *co, const struct stored_facts *s,
                       const struct engine_facts *f, struct str table, struct claimed *out)
{
    static const struct take none = {false, false};
    const struct claim c = whose_claim(s, f, out->alias, &none);
    struct buf text = {0};

    if (c.index == NULL)
        return;
    buf_printf(&text, "index %" STR_FMT " ", STR_ARG(c.index->name));
    whose_append(&text, c.whose, c.index);
    log_warn("a build replaces an index of another owner", KV("table", table),
             KV("index", c.index->name), KV("owner", c.index->mark.owner),
             KV("topic", c.index->mark.topic));
    coordinator_log_text(co, table, out->alias, "taken", buf_str(&text));
    buf_append(&out->taken, buf_str(&text));
    buf_free(&text);
}

bool coordinator_claim(struct coordinator *co, struct str table, struct claimed *out,
                       struct err *err)
{
    struct stored_view stored;
    struct arena *a = arena_new();
    struct engine_facts f;

    coordinator_stored_view(co, &stored);

    bool ok = ask(co, out->alias, a, &f, err);

    if (ok) {
        const struct claim c = whose_claim(&stored.facts, &f, out->alias, &out->take);

        out->highest = highest_version(&f, out->alias);
        ok = c.index == NULL || refuse_claim(&c, out->alias, table, err);
        if (ok)
            note_taken(co, &stored.facts, &f, table, out);
    }
    coordinator_stored_view_free(&stored);
    arena_free(a);
    return ok;
}

bool coordinator_may_publish(void *ctx, const char *alias, const struct take *take,
                             struct err *err)
{
    struct coordinator *co = MAGIC_CAST(coordinator, ctx);
    struct stored_view stored;
    struct arena *a = arena_new();
    const struct str name = str_from(alias);
    struct engine_facts f;

    coordinator_stored_view(co, &stored);

    bool ok = (!builds_is_dropping(co->builds, name) ||
               err_set(err, ERR_RETRY, "another version of %" STR_FMT " is being deleted",
                       STR_ARG(name))) &&
              engine_facts_ask(&f, a, co->opt.search, &name, 1, err);

    if (ok) {
        const struct claim c = whose_claim(&stored.facts, &f, name, take);

        ok = c.index == NULL ||
             refuse_claim(&c, name, stored_facts_table(&stored.facts, name), err);
        if (!ok)
            err->kind = ERR_RETRY; /* the build waits until it may */
    }
    coordinator_stored_view_free(&stored);
    arena_free(a);
    return ok;
}

/* ---- for `apply` ---- */

static void add_problem(const struct definitions *d, const struct table_definition *t,
                        const struct claim *c, struct problems *problems)
{
    const bool is_others = c->whose == WHOSE_OTHER || c->whose == WHOSE_UNMARKED;
    struct buf reason = {0}, fix = {0};

    whose_append_claim(c, table_index(t), table_name(definition_lead(d, t)), &reason, &fix);
    if (c->whose == WHOSE_FOREIGN) {
        buf_clear(&fix);
        buf_append(&fix, STR("another `index:`; or, if searches are to use this table, "
                             "millrace apply --take-alias"));
    }
    problems_add(problems, is_others ? SEVERITY_WARNING : SEVERITY_ERROR,
                 definitions_place(d, t->index, t->place), "%s", reason.ptr);
    problems_fix(problems, "%s", fix.ptr);
    buf_free(&reason);
    buf_free(&fix);
}

void coordinator_check_claims(struct coordinator *co, const struct claims *claims,
                              struct problems *problems)
{
    struct arena *a = arena_new();
    struct str *names = arena_alloc(a, claims->n + 1, sizeof(*names));
    struct stored_view stored;
    struct engine_facts f;
    struct err ignored = {0}; /* a build asks again */

    for (size_t i = 0; i < claims->n; i++)
        names[i] = table_index(claims->tables[i]);
    coordinator_stored_view(co, &stored);
    if (claims->n > 0 && engine_facts_ask(&f, a, co->opt.search, names, claims->n, &ignored))
        for (size_t i = 0; i < claims->n; i++) {
            const struct claim c = whose_claim(&stored.facts, &f, names[i], &claims->take);

            if (c.index != NULL)
                add_problem(claims->definitions, claims->tables[i], &c, problems);
        }
    coordinator_stored_view_free(&stored);
    arena_free(a);
}
