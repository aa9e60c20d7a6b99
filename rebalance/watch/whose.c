#include "config.h"

#include "rebalance/watch/whose.h"

#include "src/base/arena.h"
#include "src/base/buf.h"

#include <inttypes.h>
#include <stdlib.h>

static const struct {
    const char *text, *option;
} all[N_WHOSE] = {
    [WHOSE_LIVE] = {"belongs to this store, which writes to it", ""},
    [WHOSE_OLD] = {"is an older version of this store", ""},
    [WHOSE_FORGOTTEN] =
        {"was made by this store, which has no record of it (was an older copy of the data "
         "folder restored?)",
         ""},
    [WHOSE_OTHER] = {"belongs to another store of Millrace", " --take-index"},
    [WHOSE_UNMARKED] = {"was made by a Millrace that this store does not know",
                        " --take-index"},
    [WHOSE_FOREIGN] = {"was not made by Millrace", " --take-alias"},
};

uint64_t whose_version(struct str alias, struct str index)
{
    const size_t from = alias.len + 2;
    uint64_t number = 0;

    if (index.len <= from || !str_equal((struct str){index.ptr, alias.len}, alias) ||
        !str_equal((struct str){index.ptr + alias.len, 2}, STR("_v")) || index.ptr[from] == '0')
        return 0;
    for (size_t i = from; i < index.len; i++) {
        if (index.ptr[i] < '0' || index.ptr[i] > '9' || number > UINT64_MAX / 10 - 1)
            return 0;
        number = number * 10 + (uint64_t)(index.ptr[i] - '0');
    }
    return number;
}

struct str whose_name(struct arena *a, struct str alias, uint64_t number)
{
    struct buf name = {0};

    buf_printf(&name, "%" STR_FMT "_v%" PRIu64, STR_ARG(alias), number);

    const struct str copy = arena_copy(a, buf_str(&name));

    buf_free(&name);
    return copy;
}

enum whose whose_index(const struct stored_facts *s, struct str alias,
                       const struct engine_index *index)
{
    const struct stored_version *v =
        stored_facts_version(s, alias, whose_version(alias, index->name));
    const bool is_other = index->mark.owner.len > 0 && !str_equal(index->mark.owner, s->owner);

    if (!index->is_marked)
        return WHOSE_FOREIGN;
    if (is_other)
        return WHOSE_OTHER;
    if (v != NULL)
        return stored_version_is_live(v) ? WHOSE_LIVE : WHOSE_OLD;
    return index->mark.owner.len > 0 ? WHOSE_FORGOTTEN : WHOSE_UNMARKED;
}

void whose_append(struct buf *b, enum whose whose, const struct engine_index *index)
{
    buf_append(b, str_from(all[whose].text));
    if (whose == WHOSE_OTHER)
        buf_printf(b, " (%" STR_FMT ", topic %" STR_FMT ")", STR_ARG(index->mark.owner),
                   STR_ARG(index->mark.topic));
    else if (whose == WHOSE_UNMARKED)
        buf_printf(b, " (topic %" STR_FMT ")", STR_ARG(index->mark.topic));
}

const char *whose_option(enum whose whose)
{
    return all[whose].option;
}

/* ---- whether an alias may be taken ---- */

static bool is_taken(enum whose whose, const struct take *take)
{
    switch (whose) {
    case WHOSE_LIVE:
    case WHOSE_OLD:
    case WHOSE_FORGOTTEN: return true;
    case WHOSE_OTHER:
    case WHOSE_UNMARKED: return take->index;
    case WHOSE_FOREIGN: return take->alias;
    case N_WHOSE: break;
    }
    return false;
}

/* Find versions that others are building and searches do not use yet. */
static struct claim claim_versions(const struct stored_facts *s, const struct engine_facts *f,
                                   struct str alias, const struct take *take)
{
    for (size_t i = engine_facts_from(f, alias);
         i < f->n_indexes && str_has_prefix(f->indexes[i].name, alias); i++) {
        const struct engine_index *index = &f->indexes[i];

        if (whose_version(alias, index->name) == 0 || !index->is_marked)
            continue;

        const enum whose whose = whose_index(s, alias, index);

        if (!is_taken(whose, take))
            return (struct claim){whose, index};
    }
    return (struct claim){0};
}

struct claim whose_claim(const struct stored_facts *s, const struct engine_facts *f,
                         struct str alias, const struct take *take)
{
    const struct engine_index *named = engine_facts_find(f, alias);
    bool has_ours = false;
    size_t n;
    const struct engine_holder *holders = engine_facts_holders(f, alias, &n);

    if (named != NULL)
        return (struct claim){N_WHOSE, named};
    for (size_t i = 0; i < n; i++) {
        const struct engine_index *index = engine_facts_find(f, holders[i].index);
        const enum whose whose = whose_index(s, alias, index);

        if (!is_taken(whose, take))
            return (struct claim){whose, index};
        has_ours = has_ours || whose == WHOSE_LIVE;
    }
    return has_ours ? (struct claim){0} : claim_versions(s, f, alias, take);
}

void whose_append_claim(const struct claim *c, struct str alias, struct str table,
                        struct buf *reason, struct buf *fix)
{
    if (c->whose == N_WHOSE) {
        buf_printf(reason,
                   "%" STR_FMT " is the name of an index that Millrace did not make, so it "
                   "cannot become an alias",
                   STR_ARG(alias));
        buf_append(fix, STR("another `index:`, or delete or rename that index"));
        return;
    }
    buf_printf(reason, "index %" STR_FMT " ", STR_ARG(c->index->name));
    whose_append(reason, c->whose, c->index);
    buf_append(fix, c->whose == WHOSE_FOREIGN
                        ? STR("another `index:`; or, if searches are to use this table, ")
                        : STR("another `index:`; or, if that store is lost, "));
    buf_append(fix, STR("millrace index create "));
    buf_append_word(fix, table);
    buf_append(fix, str_from(whose_option(c->whose)));
}
