#include "config.h"

#include "sync/definition/members.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "sync/definition/pattern_size.h"

#include <regex.h>
#include <stdint.h>
#include <string.h>

struct str join_field(const struct join_definition *j)
{
    return j->field.len > 0 ? j->field : STR("join");
}

/* ---- joins ---- */

static const struct table_definition *parent_of(const struct definitions *d,
                                                const struct table_definition *t)
{
    return t->join.parent.len == 0 ? NULL : definitions_table(d, t->join.parent);
}

size_t definition_join_level(const struct definitions *d, const struct table_definition *t)
{
    size_t level = 0;

    while (t != NULL && t->join.parent.len > 0 && level <= d->n_tables) {
        t = parent_of(d, t);
        level++;
    }
    return t == NULL || t->join.parent.len > 0 ? SIZE_MAX : level;
}

const struct table_definition *definition_join_root(const struct definitions *d,
                                                    const struct table_definition *t)
{
    if (definition_join_level(d, t) == SIZE_MAX)
        return NULL;
    while (t->join.parent.len > 0)
        t = parent_of(d, t);
    return t;
}

static bool shares(const struct table_definition *a, const struct table_definition *b)
{
    return a->join.given && b->join.given && str_equal(table_index(a), table_index(b));
}

const struct table_definition *definition_lead(const struct definitions *d,
                                               const struct table_definition *t)
{
    const struct table_definition *root = t->join.given ? definition_join_root(d, t) : NULL;

    return root != NULL ? root : t;
}

const struct table_definition *definition_settings(const struct definitions *d,
                                                   const struct table_definition *t)
{
    const struct table_definition *lead = definition_lead(d, t);

    for (size_t i = 0; lead->settings_json.len == 0 && i < d->n_tables; i++)
        if (shares(lead, &d->tables[i]) && d->tables[i].settings_json.len > 0)
            return &d->tables[i];
    return lead;
}

const struct table_definition *definition_lead_of(const struct definitions *d, struct str index)
{
    for (size_t i = 0; i < d->n_tables; i++)
        if (str_equal(table_index(&d->tables[i]), index))
            return definition_lead(d, &d->tables[i]);
    return NULL;
}

static void list_joined(const struct definitions *d, const struct table_definition *lead,
                        struct arena *a, const struct table_definition ***out, size_t *n)
{
    *out = arena_alloc(a, d->n_tables + 1, sizeof(**out));
    *n = 0;
    for (size_t level = 0; level < d->n_tables; level++)
        for (size_t i = 0; i < d->n_tables; i++)
            if (shares(lead, &d->tables[i]) && definition_join_level(d, &d->tables[i]) == level)
                (*out)[(*n)++] = &d->tables[i];
}

/* ---- patterns ---- */

/*
 * Split into the expressions for database and table.  Without the former, every database
 * matches.
 */
static void split(struct str pattern, struct str *database, struct str *table)
{
    for (size_t i = 0; i + 1 < pattern.len; i++) {
        if (pattern.ptr[i] != '\\')
            continue;
        if (pattern.ptr[i + 1] == '.') {
            *database = (struct str){pattern.ptr, i};
            *table = (struct str){pattern.ptr + i + 2, pattern.len - i - 2};
            return;
        }
        i++;
    }
    if (definition_split_table(pattern, database, table) && table->len > 0 &&
        strchr("*+?{", table->ptr[0]) == NULL)
        return;
    *database = STR(".*");
    *table = pattern;
}

static int compile(regex_t *re, struct str expression)
{
    struct buf whole = {0};

    buf_printf(&whole, "^(%" STR_FMT ")$", STR_ARG(expression));

    const int wrong = regcomp(re, whole.ptr, REG_EXTENDED | REG_NOSUB);

    buf_free(&whole);
    return wrong;
}

static bool matches(struct str expression, struct str name)
{
    struct buf text = {0};
    regex_t re;

    if (compile(&re, expression) != 0)
        return false;
    buf_append(&text, name);

    const bool found = regexec(&re, text.len > 0 ? text.ptr : "", 0, NULL, 0) == 0;

    regfree(&re);
    buf_free(&text);
    return found;
}

const char *definition_pattern_wrong(struct str pattern, char *buf, size_t cap)
{
    struct str parts[2];
    const char *too_large = pattern_size_wrong(pattern);

    if (too_large != NULL)
        return too_large;
    split(pattern, &parts[0], &parts[1]);
    for (size_t i = 0; i < 2; i++) {
        regex_t re;
        const int wrong = compile(&re, parts[i]);

        if (wrong == 0) {
            regfree(&re);
            continue;
        }
        (void)regerror(wrong, &re, buf, cap);
        return buf;
    }
    return NULL;
}

void definition_pattern_databases(const struct definitions *d, const struct table_definition *t,
                                  pattern_database_fn visit, void *ctx)
{
    struct str database, table;

    split(t->pattern, &database, &table);
    for (size_t i = 0; i < d->n_databases; i++)
        if (matches(database, d->databases[i].name))
            visit(ctx, &d->databases[i]);
}

bool definition_pattern_has(const struct definitions *d, const struct table_definition *t,
                            struct str schema, struct str table)
{
    struct str of_database, of_table;

    if (t->pattern.len == 0)
        return false;
    split(t->pattern, &of_database, &of_table);
    for (size_t i = 0; i < d->n_databases; i++)
        if (str_equal(database_schema(&d->databases[i]), schema) &&
            matches(of_database, d->databases[i].name) && matches(of_table, table))
            return true;
    return false;
}

bool definition_names(const struct table_definition *t, struct str table)
{
    struct str of_database, of_table, database, name;

    if (t->table.len > 0)
        return str_equal(t->table, table);
    split(t->pattern, &of_database, &of_table);
    return definition_split_table(table, &database, &name) && matches(of_database, database) &&
           matches(of_table, name);
}

struct listing {
    const struct definitions *d;
    const struct table_definition *lead;
    list_tables_fn list;
    void *ctx;
    struct arena *arena;
    const struct table_definition **out;
    size_t n, cap;
    bool failed;
};

static void add_copy(struct listing *l, struct str database, struct str table)
{
    struct table_definition *copy = arena_alloc(l->arena, 1, sizeof(*copy));
    struct buf name = {0};

    if (l->n == l->cap) {
        const size_t cap = l->cap * 2 + 16;
        const struct table_definition **wider = arena_alloc(l->arena, cap, sizeof(*wider));

        for (size_t i = 0; i < l->n; i++)
            wider[i] = l->out[i];
        l->out = wider;
        l->cap = cap;
    }
    buf_printf(&name, "%" STR_FMT ".%" STR_FMT, STR_ARG(database), STR_ARG(table));
    *copy = *l->lead;
    copy->table = arena_copy(l->arena, buf_str(&name));
    l->out[l->n++] = copy;
    buf_free(&name);
}

static void list_database(void *ctx, const struct database_definition *db)
{
    struct listing *l = ctx;
    struct str of_database, of_table, *tables;
    size_t n;

    if (l->failed || !l->list(l->ctx, db->topic, database_schema(db), l->arena, &tables, &n)) {
        l->failed = true;
        return;
    }
    split(l->lead->pattern, &of_database, &of_table);
    for (size_t i = 0; i < n; i++)
        if (matches(of_table, tables[i]))
            add_copy(l, db->name, tables[i]);
}

bool definition_members(const struct definitions *d, const struct table_definition *lead,
                        list_tables_fn list, void *ctx, struct arena *a,
                        const struct table_definition ***out, size_t *n)
{
    struct listing l = {.d = d, .lead = lead, .list = list, .ctx = ctx, .arena = a};

    if (lead->pattern.len > 0) {
        definition_pattern_databases(d, lead, list_database, &l);
        *out = l.out;
        *n = l.n;
        return !l.failed;
    }
    if (lead->join.given) {
        list_joined(d, lead, a, out, n);
        return true;
    }
    *out = arena_alloc(a, 1, sizeof(**out));
    (*out)[0] = lead;
    *n = 1;
    return true;
}

struct member_topics {
    const struct definitions *d;
    const struct topic_definition *found;
    bool several;
};

static void note_topic(void *ctx, const struct database_definition *db)
{
    struct member_topics *t = ctx;
    const struct topic_definition *topic = definitions_topic(t->d, db->topic);

    t->several = t->several || (t->found != NULL && topic != t->found);
    t->found = topic;
}

const struct topic_definition *definition_topic(const struct definitions *d,
                                                const struct table_definition *t)
{
    struct member_topics topics = {.d = d};

    if (t->pattern.len == 0 || t->table.len > 0)
        return definitions_topic_of(d, t->table);
    definition_pattern_databases(d, t, note_topic, &topics);
    return topics.several ? NULL : topics.found;
}
