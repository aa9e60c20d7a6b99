#include "config.h"

#include "sync/check/check_live.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/base/map.h"
#include "src/base/mem.h"
#include "src/mysql/account.h"
#include "src/mysql/mysql.h"
#include "sync/catalog/catalog.h"
#include "sync/check/answers.h"
#include "sync/check/check.h"
#include "sync/definition/delayed.h"

#include <stdlib.h>

#define NAMES_MAX 10000 /* for "did you mean" */

struct table {
    struct catalog_name name;
    const struct table_facts *facts; /* NULL: not loaded yet */
};

/* Facts that were loaded together. */
struct fact_batch {
    struct fact_batch *next;
    struct table_facts *facts;
    size_t n;
};

/* The names of all tables of a schema. */
struct table_listing {
    struct str *tables;
    size_t n;
};

struct checked_server {
    struct str topic;
    struct mysql_conn *conn; /* borrowed; NULL if not opened */
    struct err closed;       /* why it could not be opened */
    struct map *tables;      /* "schema\0table" -> struct table, in the arena */
    struct map *listings;    /* schema -> struct table_listing, in the arena */
    struct answers *answers; /* to what the checks of announced tables will ask */
    size_t n_unloaded;       /* of the tables */
    bool is_needed;          /* by the present check */
};

struct check_live {
    struct check_servers open;
    const struct definitions *d;
    struct arena *arena;
    struct checked_server *servers; /* one per topic of the definitions */
    size_t n_servers;
    struct fact_batch *batches;
    const struct table_definition **waiting; /* announced since the last check, borrowed */
    size_t n_waiting;
    struct buf key;
    struct err *err; /* of the present check */
    bool failed;
};

struct check_live *check_live_new(const struct check_servers *open, const struct definitions *d)
{
    struct arena *a = arena_new();
    struct check_live *l = arena_alloc(a, 1, sizeof(*l));

    *l = (struct check_live){.open = *open, .d = d, .arena = a, .n_servers = d->n_topics};
    l->servers = arena_alloc(a, d->n_topics + 1, sizeof(*l->servers));
    for (size_t i = 0; i < d->n_topics; i++) {
        l->servers[i].topic = d->topics[i].name;
        l->servers[i].tables = map_new();
        l->servers[i].listings = map_new();
        l->servers[i].answers = answers_new();
    }
    return l;
}

void check_live_free(struct check_live *l)
{
    for (const struct fact_batch *b = l->batches; b != NULL; b = b->next)
        table_facts_fini(b->facts, b->n);
    for (size_t i = 0; i < l->n_servers; i++) {
        map_free(l->servers[i].tables, NULL);
        map_free(l->servers[i].listings, NULL);
        answers_free(l->servers[i].answers);
    }
    free(l->waiting);
    buf_free(&l->key);
    arena_free(l->arena);
}

static struct checked_server *find_server(const struct check_live *l, struct str topic)
{
    for (size_t i = 0; i < l->n_servers; i++)
        if (str_equal(l->servers[i].topic, topic))
            return &l->servers[i];
    return NULL;
}

/* ---- facts ---- */

/* Makes l->key. */
static struct table *find_table(struct check_live *l, const struct checked_server *s,
                                struct str schema, struct str table)
{
    buf_clear(&l->key);
    buf_append(&l->key, schema);
    buf_append_char(&l->key, '\0');
    buf_append(&l->key, table);
    return map_find(s->tables, buf_str(&l->key));
}

static void expect_table(void *ctx, struct str name)
{
    struct check_live *l = ctx;
    struct table_location at;
    struct checked_server *s =
        definitions_locate(l->d, name, &at) ? find_server(l, at.topic) : NULL;
    struct table *t;

    if (s == NULL)
        return;
    s->is_needed = true;
    if (find_table(l, s, at.schema, at.name) != NULL)
        return;
    t = arena_alloc(l->arena, 1, sizeof(*t));
    t->name.schema = arena_copy(l->arena, at.schema);
    t->name.table = arena_copy(l->arena, at.name);
    (void)map_put(s->tables, buf_str(&l->key), t);
    s->n_unloaded++;
}

/* The tables that a check of t looks at. */
static void expect_tables(struct check_live *l, const struct table_definition *t)
{
    struct top_relation *list;
    const size_t n = top_relations_read(l->arena, t, &list);

    table_visit(t, expect_table, l);
    for (size_t i = 0; i < n; i++)
        expect_table(l, list[i].table);
}

void check_live_expect(struct check_live *l, const struct table_definition *t)
{
    expect_tables(l, t);
    l->waiting = mem_resize(l->waiting, l->n_waiting + 1, sizeof(*l->waiting));
    l->waiting[l->n_waiting++] = t;
}

/* Load the facts of all tables that were named so far. */
static bool load(struct check_live *l, struct checked_server *s)
{
    struct catalog_name *names = arena_alloc(l->arena, s->n_unloaded, sizeof(*names));
    struct table **tables = arena_alloc(l->arena, s->n_unloaded, sizeof(struct table *));
    struct fact_batch *b = arena_alloc(l->arena, 1, sizeof(*b));
    struct str key;
    void *table;

    for (size_t i = 0; map_next(s->tables, &i, &key, &table);)
        if (((struct table *)table)->facts == NULL) {
            names[b->n] = ((struct table *)table)->name;
            tables[b->n++] = table;
        }
    b->facts = arena_alloc(l->arena, b->n, sizeof(*b->facts));
    if (!catalog_load_facts(s->conn, names, b->n, l->arena, b->facts, l->err))
        return false;
    b->next = l->batches;
    l->batches = b;
    if (!catalog_find_denied(s->conn, names, b->n, b->facts, l->err))
        return false;
    for (size_t i = 0; i < b->n; i++)
        tables[i]->facts = &b->facts[i];
    s->n_unloaded = 0;
    return true;
}

static const struct table_facts *find_live(void *ctx, struct str topic, struct str schema,
                                           struct str table)
{
    struct check_live *l = ctx;
    const struct checked_server *s = find_server(l, topic);
    const struct table *t = s == NULL ? NULL : find_table(l, s, schema, table);

    return t == NULL ? NULL : t->facts;
}

/* ---- questions ---- */

/* NULL after a failure. */
static const struct table_listing *list(struct check_live *l, struct checked_server *s,
                                        struct str schema)
{
    struct table_listing *found = map_find(s->listings, schema);

    if (found != NULL || l->failed)
        return found;
    found = arena_alloc(l->arena, 1, sizeof(*found));
    if (!catalog_list_tables(s->conn, schema, NAMES_MAX, l->arena, &found->tables, &found->n,
                             l->err)) {
        l->failed = true;
        return NULL;
    }
    (void)map_put(s->listings, schema, found);
    return found;
}

static bool each_live(void *ctx, struct str topic, struct str schema,
                      void (*offer_to)(void *to, struct str name), void *to)
{
    struct check_live *l = ctx;
    const struct table_listing *all = list(l, find_server(l, topic), schema);

    for (size_t i = 0; all != NULL && i < all->n; i++)
        offer_to(to, all->tables[i]);
    return all == NULL || all->n > 0;
}

static bool try_live(void *ctx, struct str topic, const struct catalog_name *table,
                     enum catalog_clause clause, struct str text, struct err *err)
{
    struct check_live *l = ctx;
    const struct checked_server *s = find_server(l, topic);
    const struct clause_wanted wanted = {*table, clause, text};

    if (l->failed || answers_accept(s->answers, &wanted) ||
        catalog_try_clauses(s->conn, &wanted, 1, err))
        return true;
    if (err->kind == ERR_REJECT)
        return false;
    *l->err = *err;
    l->failed = true;
    return true;
}

static bool count_live(void *ctx, struct str topic, const struct shares_wanted *wanted,
                       struct catalog_shares *out)
{
    struct check_live *l = ctx;
    const struct checked_server *s = find_server(l, topic);
    const struct catalog_shares *known = answers_find_shares(s->answers, wanted);
    struct err err = {0};

    if (known != NULL)
        *out = *known;
    if (known != NULL || l->failed)
        return known != NULL;
    if (catalog_count_shares(s->conn, wanted, 1, out, &err))
        return true;
    if (err.kind != ERR_REJECT) {
        *l->err = err;
        l->failed = true;
    }
    return false;
}

static void append_account_live(void *ctx, struct str topic, struct buf *out)
{
    const struct checked_server *s = find_server(ctx, topic);

    mysql_account_append_known(s != NULL ? s->conn : NULL, out);
}

/* ---- questions, ahead of the checks ---- */

static bool list_nothing(void *ctx, struct str topic, struct str schema,
                         void (*offer_to)(void *to, struct str name), void *to)
{
    (void)ctx, (void)topic, (void)schema, (void)offer_to, (void)to;
    return true;
}

static bool note_clause(void *ctx, struct str topic, const struct catalog_name *table,
                        enum catalog_clause clause, struct str text, struct err *err)
{
    (void)err;
    answers_note_clause(find_server(ctx, topic)->answers,
                        &(struct clause_wanted){*table, clause, text});
    return true;
}

/* The counts are such that the check goes on to the next level. */
static bool note_shares(void *ctx, struct str topic, const struct shares_wanted *wanted,
                        struct catalog_shares *out)
{
    answers_note_shares(find_server(ctx, topic)->answers, wanted);
    *out = (struct catalog_shares){.largest = 1, .n_values = 1, .n_rows = 1, .complete = true};
    return true;
}

static void append_nothing(void *ctx, struct str topic, struct buf *out)
{
    (void)ctx, (void)topic, (void)out;
}

/* Check once without answers, to learn the questions. */
static void note_questions(struct check_live *l, const struct table_definition *t)
{
    const struct check_source noting = {l,           find_live,   list_nothing,
                                        note_clause, note_shares, append_nothing};
    struct problems *ignored = problems_new();

    definition_check_facts(l->d, t, &noting, ignored);
    problems_free(ignored);
}

/* Ask what the checks of the first n that wait will ask, as far as their facts are loaded. */
static void ask_ahead(struct check_live *l, size_t n)
{
    for (size_t i = 0; i < n; i++)
        note_questions(l, l->waiting[i]);
    for (size_t i = 0; i < l->n_servers; i++)
        answers_ask(l->servers[i].answers, l->servers[i].conn);
}

/* ---- servers ---- */

/*
 * Finds where the definition names a table of the topic, to report an unreachable server there.
 */
struct naming {
    const struct definitions *d;
    struct str topic, table;
};

static void note_first(void *ctx, struct str table)
{
    struct naming *n = ctx;
    const struct topic_definition *topic = definitions_topic_of(n->d, table);

    if (n->table.len == 0 && topic != NULL && str_equal(topic->name, n->topic))
        n->table = table;
}

static void report_closed(const struct check_live *l, const struct table_definition *t,
                          const struct checked_server *s, struct problems *problems)
{
    struct naming n = {l->d, s->topic, STR("")};

    table_visit(t, note_first, &n);
    problems_add(problems, SEVERITY_ERROR, definitions_place(l->d, n.table, t->place),
                 "`%" STR_FMT "` is on topic `%" STR_FMT "`, whose server does not answer: %s",
                 STR_ARG(n.table), STR_ARG(s->topic), s->closed.msg);
}

/* Open the servers that the table needs.  Returns false after reporting one that is closed. */
static bool open_servers(struct check_live *l, const struct table_definition *t,
                         struct problems *problems)
{
    bool all = true;

    for (size_t i = 0; i < l->n_servers; i++) {
        struct checked_server *s = &l->servers[i];

        if (!s->is_needed)
            continue;
        if (s->conn == NULL && s->closed.kind == ERR_NONE)
            s->conn = l->open.open(l->open.ctx, s->topic, &s->closed);
        if (s->conn == NULL)
            report_closed(l, t, s, problems);
        all = all && s->conn != NULL;
    }
    return all;
}

static bool load_needed(struct check_live *l)
{
    for (size_t i = 0; i < l->n_servers; i++)
        if (l->servers[i].is_needed && l->servers[i].n_unloaded > 0 && !load(l, &l->servers[i]))
            return false;
    return true;
}

bool check_live_table(struct check_live *l, const struct table_definition *t,
                      struct problems *problems, struct err *err)
{
    const struct check_source source = {l,        find_live,  each_live,
                                        try_live, count_live, append_account_live};
    const size_t n_waiting = l->n_waiting;

    l->n_waiting = 0;
    l->err = err;
    l->failed = false;
    for (size_t i = 0; i < l->n_servers; i++)
        l->servers[i].is_needed = false;
    expect_tables(l, t);
    if (!open_servers(l, t, problems))
        return true;
    if (!load_needed(l))
        return false;
    ask_ahead(l, n_waiting);
    definition_check_facts(l->d, t, &source, problems);
    return !l->failed;
}
