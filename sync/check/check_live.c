#include "config.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/mysql/account.h"
#include "src/mysql/mysql.h"
#include "sync/catalog/catalog.h"
#include "sync/check/check.h"

/* The definition's tables on one server. */
struct server {
    struct str topic;
    struct mysql_conn *conn; /* borrowed; NULL if not opened */
    struct catalog_name *names;
    struct table_facts *facts;
    size_t n;
};

struct live {
    const struct definitions *d;
    struct arena *arena;
    struct server *servers;
    size_t n_servers;
    size_t n_tables; /* at most; the definition names them */
    struct err *err;
    bool failed;
};

static void count_table(void *ctx, struct str table)
{
    struct live *l = ctx;

    (void)table;
    l->n_tables++;
}

static struct server *find_server(const struct live *l, struct str topic)
{
    for (size_t i = 0; i < l->n_servers; i++)
        if (str_equal(l->servers[i].topic, topic))
            return &l->servers[i];
    return NULL;
}

static struct server *server_of(struct live *l, struct str topic)
{
    struct server *s = find_server(l, topic);

    if (s != NULL)
        return s;
    s = &l->servers[l->n_servers++];
    s->topic = topic;
    s->names = arena_alloc(l->arena, l->n_tables + 1, sizeof(*s->names));
    s->facts = arena_alloc(l->arena, l->n_tables + 1, sizeof(*s->facts));
    return s;
}

static size_t find_name(const struct server *s, struct str schema, struct str table)
{
    size_t i = 0;

    while (i < s->n &&
           !(str_equal(s->names[i].schema, schema) && str_equal(s->names[i].table, table)))
        i++;
    return i;
}

static void name_table(void *ctx, struct str table)
{
    struct live *l = ctx;
    struct table_location at;

    if (!definitions_locate(l->d, table, &at))
        return;

    struct server *s = server_of(l, at.topic);

    if (find_name(s, at.schema, at.name) == s->n)
        s->names[s->n++] = (struct catalog_name){at.schema, at.name};
}

static const struct table_facts *find_live(void *ctx, struct str topic, struct str schema,
                                           struct str table)
{
    const struct server *s = find_server(ctx, topic);
    const size_t i = s == NULL ? 0 : find_name(s, schema, table);

    return s == NULL || i == s->n ? NULL : &s->facts[i];
}

static bool each_live(void *ctx, struct str topic, struct str schema,
                      void (*offer_to)(void *to, struct str name), void *to)
{
    struct live *l = ctx;
    const struct server *s = find_server(l, topic);
    struct str *tables;
    size_t n = 0;

    if (l->failed || s == NULL ||
        !catalog_list_tables(s->conn, schema, 10000, l->arena, &tables, &n, l->err)) {
        l->failed = true;
        return true;
    }
    for (size_t i = 0; i < n; i++)
        offer_to(to, tables[i]);
    return n > 0;
}

static bool try_live(void *ctx, struct str topic, const struct catalog_name *table,
                     enum catalog_clause clause, struct str text, struct err *err)
{
    struct live *l = ctx;
    const struct server *s = find_server(l, topic);

    if (l->failed || s == NULL || catalog_try_clause(s->conn, table, clause, text, err))
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
    struct live *l = ctx;
    const struct server *s = find_server(l, topic);
    struct err err = {0};

    if (l->failed || s == NULL)
        return false;
    if (catalog_count_shares(s->conn, wanted, out, &err))
        return true;
    if (err.kind != ERR_REJECT) {
        *l->err = err;
        l->failed = true;
    }
    return false;
}

static void append_account_live(void *ctx, struct str topic, struct buf *out)
{
    const struct server *s = find_server(ctx, topic);
    struct err ignored = {0};

    if (s != NULL && !mysql_account_append(s->conn, out, &ignored))
        buf_clear(out);
}

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

static void report_closed(const struct live *l, const struct table_definition *t,
                          struct str topic, const struct err *why, struct problems *problems)
{
    struct naming n = {l->d, topic, STR("")};

    table_visit(t, note_first, &n);
    problems_add(problems, SEVERITY_ERROR, definitions_place(l->d, n.table, t->place),
                 "`%" STR_FMT "` is on topic `%" STR_FMT "`, whose server does not answer: %s",
                 STR_ARG(n.table), STR_ARG(topic), why->msg);
}

/* Returns false after reporting a server that cannot be asked. */
static bool open_servers(struct live *l, const struct table_definition *t,
                         const struct check_servers *servers, struct problems *problems)
{
    bool all = true;

    for (size_t i = 0; i < l->n_servers; i++) {
        struct err why = {0};

        l->servers[i].conn = servers->open(servers->ctx, l->servers[i].topic, &why);
        if (l->servers[i].conn == NULL)
            report_closed(l, t, l->servers[i].topic, &why, problems);
        all = all && l->servers[i].conn != NULL;
    }
    return all;
}

bool definition_check_table(const struct check_servers *servers, const struct definitions *d,
                            const struct table_definition *t, struct problems *problems,
                            struct err *err)
{
    struct live l = {.d = d, .arena = arena_new(), .err = err};
    const struct check_source source = {&l,       find_live,  each_live,
                                        try_live, count_live, append_account_live};
    size_t n_loaded = 0;

    table_visit(t, count_table, &l);
    l.servers = arena_alloc(l.arena, l.n_tables + 1, sizeof(*l.servers));
    table_visit(t, name_table, &l);
    if (open_servers(&l, t, servers, problems)) {
        for (; !l.failed && n_loaded < l.n_servers; n_loaded++) {
            struct server *s = &l.servers[n_loaded];

            l.failed = !catalog_load_facts(s->conn, s->names, s->n, l.arena, s->facts, err);
            if (l.failed)
                break;
        }
        if (!l.failed)
            definition_check_facts(d, t, &source, problems);
    }
    for (size_t i = 0; i < n_loaded; i++)
        table_facts_fini(l.servers[i].facts, l.servers[i].n);
    arena_free(l.arena);
    return !l.failed;
}
