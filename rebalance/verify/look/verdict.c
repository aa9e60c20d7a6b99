#include "config.h"

#include "rebalance/verify/look/verdict.h"

#include "src/base/arena.h"
#include "src/base/err.h"
#include "src/format/json.h"
#include "sync/definition/definition.h"
#include "sync/delivery/document/area.h"

const char *verify_kind_word(enum verify_kind kind)
{
    static const char *const words[N_VERIFY_KINDS] = {
        [VERIFY_MISSING] = "missing",         [VERIFY_EXTRA] = "extra",
        [VERIFY_DIFFERENT] = "different",     [VERIFY_ROUTING] = "wrong_routing",
        [VERIFY_UNEXPLAINED] = "unexplained", [VERIFY_LINEAGE] = "wrong_lineage",
        [VERIFY_ORPHAN] = "orphan",
    };

    return words[kind];
}

static bool copies_equal(const struct verify_copy *a, const struct verify_copy *b)
{
    return a->version == b->version && str_equal(a->routing, b->routing) &&
           str_equal(a->source, b->source);
}

bool verify_look_equal(const struct verify_look *a, const struct verify_look *b)
{
    bool equal = a->is_wanted == b->is_wanted && str_equal(a->routing, b->routing) &&
                 str_equal(a->body, b->body) && a->n_copies == b->n_copies;

    for (size_t i = 0; equal && i < a->n_copies; i++)
        equal = copies_equal(&a->copies[i], &b->copies[i]);
    return equal;
}

/*
 * The engine has written the document again, after an update of an area, and Java prints some
 * doubles with other digits (4.751728000000001E21 for 4.751728E21). To compare these as doubles
 * hides no other value: the shortest text of each FLOAT and DOUBLE reads as a double of its
 * own, and so does each decimal of at most 15 digits, the most that documents with areas have
 * (sync/document/plan_areas.c). BIGINTs have no point on the row's side, and are compared digit
 * by digit.
 */
static bool is_written_in_part(const struct verify_copy *copy)
{
    struct str ignored;

    return json_find(copy->source, "/" AREA_FIELD "/areas", &ignored);
}

/* Returns false if the values are equal, or cannot be compared. */
static bool values_differ(const struct verify_look *look, const struct verify_copy *copy,
                          const struct verify_rules *rules, struct arena *a,
                          struct verify_finding *f)
{
    static const struct str ours = STR(AREA_FIELD);
    struct json_comparison c = {.arena = a,
                                .ignored = &ours,
                                .n_ignored = 1,
                                .allows_extra = rules->allows_extra,
                                .list = arena_alloc(a, VERIFY_PATHS_MAX, sizeof(*c.list)),
                                .max = VERIFY_PATHS_MAX};
    struct err err = {0};

    if (!rules->compares_values || copy->source.ptr == NULL)
        return false;
    c.as_doubles = is_written_in_part(copy);
    /* A text that is not JSON is not what Millrace wrote. */
    if (!json_compare(&c, look->body, copy->source, &err))
        c.n_all = 1;
    f->paths = c.list;
    f->n_paths = c.n;
    f->n_paths_all = c.n_all;
    return c.n_all > 0;
}

/* Returns false if the copy is as it should be. */
static bool judge_copy(const struct verify_look *look, const struct verify_copy *copy,
                       const struct verify_rules *rules, struct arena *a,
                       struct verify_finding *f)
{
    *f = (struct verify_finding){.routing = copy->routing, .version = copy->version};
    if (copy->version < rules->version_min || copy->version > rules->version_max)
        f->kind = VERIFY_LINEAGE;
    else if (!look->is_wanted)
        f->kind = VERIFY_EXTRA;
    else if (!str_equal(copy->routing, look->routing))
        f->kind = VERIFY_ROUTING;
    else if (values_differ(look, copy, rules, a, f))
        f->kind = VERIFY_DIFFERENT;
    else
        return false;
    return true;
}

size_t verify_judge(const struct verify_look *look, const struct verify_rules *rules,
                    struct arena *a, struct verify_finding *out)
{
    bool is_elsewhere = false, is_there = false;
    size_t n = 0;

    for (size_t i = 0; i < look->n_copies; i++) {
        const struct verify_copy *copy = &look->copies[i];

        is_there = is_there || str_equal(copy->routing, look->routing);
        n += judge_copy(look, copy, rules, a, &out[n]);
        is_elsewhere = is_elsewhere || (n > 0 && out[n - 1].kind == VERIFY_ROUTING);
    }
    /* A copy under another routing is the missing one, at the wrong place. */
    if (look->is_wanted && !is_there && !is_elsewhere)
        out[n++] = (struct verify_finding){.kind = VERIFY_MISSING, .routing = look->routing};
    return n;
}

/* ---- parts that are not followed ---- */

static struct str behind(struct str path, size_t n)
{
    return (struct str){path.ptr + n, path.len - n};
}

/* Returns false if the path does not lead into the member; else takes the step. */
static bool step_into(struct str *path, struct str name)
{
    if (path->len < name.len || memcmp(path->ptr, name.ptr, name.len) != 0)
        return false;

    struct str rest = behind(*path, name.len);

    if (rest.len > 0 && rest.ptr[0] == '[') {
        const char *end = memchr(rest.ptr, ']', rest.len);

        rest =
            end == NULL ? behind(rest, rest.len) : behind(rest, (size_t)(end - rest.ptr) + 1);
    }
    if (rest.len > 0 && rest.ptr[0] != '.')
        return false;
    *path = rest.len > 0 ? behind(rest, 1) : rest;
    return true;
}

typedef bool (*relation_fn)(const struct relation_definition *r, const void *ctx);

/* Whether the path passes a relation that is so. */
static bool passes(struct str path, const struct relation_definition *relations, size_t n,
                   relation_fn is, const void *ctx)
{
    for (size_t i = 0; i < n; i++) {
        const struct relation_definition *r = &relations[i];
        struct str rest = path;

        if (step_into(&rest, relation_as(r)))
            return is(r, ctx) || passes(rest, r->relations, r->n_relations, is, ctx);
    }
    return false;
}

static bool is_unfollowed(const struct relation_definition *r, const void *ctx)
{
    (void)ctx;
    return r->refresh == REFRESH_NONE;
}

bool verify_path_is_unfollowed(struct str path, const struct relation_definition *relations,
                               size_t n)
{
    return passes(path, relations, n, is_unfollowed, NULL);
}

static bool is_of(const struct relation_definition *r, const void *ctx)
{
    const struct verify_tables *t = ctx;

    for (size_t i = 0; i < t->n; i++)
        if (str_equal(r->table, t->names[i]) ||
            (r->through.given && str_equal(r->through.table, t->names[i])))
            return true;
    return false;
}

bool verify_path_shows(struct str path, const struct relation_definition *relations, size_t n,
                       const struct verify_tables *tables)
{
    return passes(path, relations, n, is_of, tables);
}
