#include "config.h"

#include "sync/server/schemas.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/base/magic.h"
#include "src/base/map.h"
#include "src/base/mem.h"
#include "src/mysql/account.h"
#include "sync/catalog/catalog.h"
#include "sync/catalog/foreign_keys.h"
#include "sync/decode/ddl.h"
#include "sync/value/schema.h"
#include "sync/value/schema_json.h"

#include <stdlib.h>
#include <string.h>

/* What we know of a table. */
struct known_table {
    struct schema *schema; /* NULL if denied and not remembered */
    struct err denied;     /* ERR_NONE if the server shows it */
    bool used;             /* somebody asked for it since schemas_forget() */
};

struct schemas {
    enum magic magic;
    char *topic;
    plan_schema_fn others;
    void *others_ctx;
    struct mysql_conn *conn;
    struct map *known; /* "database\0table" -> struct known_table */
    struct map
        *shown; /* likewise -> struct schema, or &not_shown: read ahead since schemas_use() */
    struct map *ahead; /* likewise -> the struct schemas: to be read ahead */
    const struct schema_list *before;
    const struct ddl *ddl;
    struct err failed, denied;
};

/* Stands for the schema of a table that the server does not show. */
static char not_shown;

struct schemas *schemas_new(struct str topic)
{
    struct schemas *s = mem_alloc(1, sizeof(*s));

    s->magic = MAGIC_schemas;
    s->topic = strndup(topic.len == 0 ? "" : topic.ptr, topic.len);
    s->known = map_new();
    s->shown = map_new();
    s->ahead = map_new();
    return s;
}

static void drop_shown(void *shown)
{
    if (shown != &not_shown)
        schema_unref(shown);
}

static void drop(void *known)
{
    struct known_table *k = known;

    schema_unref(k->schema);
    free(k);
}

void schemas_free(struct schemas *s)
{
    if (s == NULL)
        return;
    map_free(s->known, drop);
    map_free(s->shown, drop_shown);
    map_free(s->ahead, NULL);
    free(s->topic);
    MAGIC_END(schemas, s);
    free(s);
}

void schemas_use(struct schemas *s, struct mysql_conn *c)
{
    s->conn = c;
    s->failed = (struct err){0};
    map_free(s->shown, drop_shown);
    s->shown = map_new();
}

bool schemas_uses(const struct schemas *s, const struct mysql_conn *c)
{
    return s->conn == c;
}

/* "database\0table" */
static void append_key(struct buf *key, const struct catalog_name *name)
{
    buf_append(key, name->schema);
    buf_append_char(key, '\0');
    buf_append(key, name->table);
}

static struct catalog_name split_key(struct str key)
{
    const size_t len = strlen(key.ptr);

    return (struct catalog_name){{key.ptr, len}, {key.ptr + len + 1, key.len - len - 1}};
}

void schemas_expect(struct schemas *s, struct str database, struct str table)
{
    struct buf key = {0};

    append_key(&key, &(struct catalog_name){database, table});
    if (map_find(s->known, buf_str(&key)) == NULL && map_find(s->shown, buf_str(&key)) == NULL)
        (void)map_put(s->ahead, buf_str(&key), s);
    buf_free(&key);
}

/* Most of what was used is asked for again. */
void schemas_forget(struct schemas *s)
{
    struct str key;
    void *known;

    for (size_t i = 0; map_next(s->known, &i, &key, &known);)
        if (((const struct known_table *)known)->used)
            (void)map_put(s->ahead, key, s);
    map_free(s->known, drop);
    s->known = map_new();
}

void schemas_set_others(struct schemas *s, plan_schema_fn find, void *ctx)
{
    s->others = find;
    s->others_ctx = ctx;
}

const struct err *schemas_failed(const struct schemas *s)
{
    return &s->failed;
}

/* Another user's refusals no longer count. */
static void forget_denied(struct schemas *s)
{
    struct str key;
    void *known;

    for (size_t i = 0; map_next(s->known, &i, &key, &known);)
        if (((const struct known_table *)known)->denied.kind != ERR_NONE)
            drop(map_remove(s->known, key));
}

void schemas_remember(struct schemas *s, const struct schema_list *before,
                      const struct ddl *ddl)
{
    forget_denied(s);
    s->before = before;
    s->ddl = ddl;
    s->denied = (struct err){0};
}

const struct err *schemas_denied(const struct schemas *s)
{
    return &s->denied;
}

/* ---- what is not shown ---- */

static bool is_changed(const struct schemas *s, const struct catalog_name *name)
{
    return s->ddl != NULL && ddl_concerns(s->ddl, name->schema, name->table);
}

/* The remembered schema, borrowed; NULL if unknown or changed. */
static struct schema *find_before(const struct schemas *s, const struct catalog_name *name)
{
    return s->before == NULL || is_changed(s, name)
               ? NULL
               : schema_list_find((void *)(uintptr_t)s->before, str_from(s->topic),
                                  name->schema, name->table);
}

/* List the columns that existed and are not shown now, except those never shown. */
static size_t list_missing(const struct schema *was, const struct schema *is, struct str *out)
{
    size_t n = 0;

    for (size_t i = 0; i < was->n_columns; i++)
        if (!was->columns[i].invisible && schema_find(is, was->columns[i].name) == SIZE_MAX)
            out[n++] = was->columns[i].name;
    return n;
}

/* Find out whether the table, or some of its columns, still exist but are hidden from us. */
static bool is_denied(struct schemas *s, const struct catalog_name *name,
                      const struct schema *was, const struct schema *is, struct err *why)
{
    struct str *missing;
    bool denied = false;
    size_t n = 0;

    if (is == NULL && s->ddl != NULL && ddl_takes_away(s->ddl, name->schema, name->table))
        return false; /* the log says so */
    missing = mem_alloc(was == NULL ? 1 : was->n_columns + 1, sizeof(*missing));
    if (is != NULL && was != NULL)
        n = list_missing(was, is, missing);
    if (is == NULL || n > 0) {
        denied = catalog_is_denied(s->conn, name, missing, n, why);
        if (!denied && why->kind != ERR_NONE)
            s->failed = *why;
    }
    free(missing);
    return denied;
}

static void explain(const struct schemas *s, const struct catalog_name *name, struct err *why)
{
    struct buf account = {0};

    mysql_account_append_known(s->conn, &account);
    why->kind = ERR_REJECT;
    err_wrap(why,
             "the topic's user may not read all of table %" STR_FMT ".%" STR_FMT
             " (fix: GRANT SELECT ON `%" STR_FMT "`.`%" STR_FMT "` TO %s)",
             STR_ARG(name->schema), STR_ARG(name->table), STR_ARG(name->schema),
             STR_ARG(name->table), account.ptr);
    buf_free(&account);
}

/* ---- finding ---- */

/*
 * The table as the server shows it (is, taken over; NULL if it does not), or as remembered if
 * the server refuses.  Returns NULL if it does not exist or the query failed.
 */
static struct known_table *judge(struct schemas *s, const struct catalog_name *name,
                                 struct schema *is)
{
    struct known_table found = {.schema = is}, *known;
    struct schema *was = find_before(s, name);

    if (is_denied(s, name, was, found.schema, &found.denied)) {
        explain(s, name, &found.denied);
        schema_unref(found.schema);
        found.schema = was == NULL ? NULL : schema_ref(was);
    } else {
        found.denied = (struct err){0};
    }
    if (s->failed.kind != ERR_NONE) {
        schema_unref(found.schema);
        return NULL;
    }
    if (found.schema == NULL && found.denied.kind == ERR_NONE)
        return NULL;
    known = mem_alloc(1, sizeof(*known));
    *known = found;
    return known;
}

/*
 * Read ahead what will be asked for: a statement about many tables costs hardly more than one
 * about one.  If that fails, each is read alone.
 */
static void read_ahead(struct schemas *s)
{
    const size_t n = map_count(s->ahead);
    struct catalog_name *names = mem_alloc(n, sizeof(*names));
    struct schema **found = mem_alloc(n, sizeof(struct schema *));
    struct err ignored = {0};
    struct str key;
    void *unused;

    for (size_t i = 0, at = 0; map_next(s->ahead, &i, &key, &unused);)
        names[at++] = split_key(key);
    if (catalog_load(s->conn, names, n, found, &ignored))
        for (size_t i = 0, at = 0; map_next(s->ahead, &i, &key, &unused); at++)
            drop_shown(
                map_put(s->shown, key, found[at] == NULL ? (void *)&not_shown : found[at]));
    free(found);
    free(names);
    map_free(s->ahead, NULL);
    s->ahead = map_new();
}

/* Returns what judge() returns. */
static struct known_table *look_at(struct schemas *s, const struct catalog_name *name,
                                   struct str key)
{
    struct schema *is = NULL;
    void *shown;

    if (map_count(s->ahead) > 0)
        read_ahead(s);
    shown = map_remove(s->shown, key);
    if (shown != NULL)
        is = shown == &not_shown ? NULL : shown;
    else if (!catalog_load(s->conn, name, 1, &is, &s->failed))
        return NULL;
    return judge(s, name, is);
}

static struct schema *find_own(struct schemas *s, const struct catalog_name *name)
{
    struct buf key = {0};
    struct known_table *known;

    append_key(&key, name);
    known = map_find(s->known, buf_str(&key));
    if (known == NULL && s->failed.kind == ERR_NONE) {
        if (s->conn == NULL)
            err_set(&s->failed, ERR_RETRY, "the server is not connected");
        else if ((known = look_at(s, name, buf_str(&key))) != NULL)
            map_put(s->known, buf_str(&key), known);
    }
    buf_free(&key);
    if (known == NULL)
        return NULL;
    known->used = true;
    if (known->denied.kind != ERR_NONE && s->denied.kind == ERR_NONE)
        s->denied = known->denied;
    return known->schema;
}

struct schema *schemas_find(void *ctx, struct str topic, struct str database, struct str table)
{
    struct schemas *s = MAGIC_CAST(schemas, ctx);

    if (!str_equal(topic, str_from(s->topic)))
        return s->others == NULL ? NULL : s->others(s->others_ctx, topic, database, table);
    return find_own(s, &(struct catalog_name){database, table});
}

/* ---- listing ---- */

static int by_name(const void *a, const void *b)
{
    return str_order(*(const struct str *)a, *(const struct str *)b);
}

/* Tell whether entry i is a remembered base table of the database. */
static bool was_there(const struct schemas *s, size_t i, struct str database)
{
    const struct schema *t = s->before->list[i];

    return !t->is_view && str_equal(t->database, database) &&
           (s->before->topics[i].len == 0 ||
            str_equal(s->before->topics[i], str_from(s->topic)));
}

/*
 * Append remembered tables that are hidden now after the n listed ones.  Returns false if one
 * was denied without being remembered.
 */
static bool append_denied(struct schemas *s, struct str database, struct map *listed,
                          struct str *all, size_t *n)
{
    const struct schema_list *was = s->before;

    for (size_t i = 0; i < was->n; i++) {
        const struct catalog_name name = {database, was->list[i]->table};
        const struct err denied = s->denied;

        if (!was_there(s, i, database) || map_find(listed, name.table) != NULL)
            continue;
        (void)map_put(listed, name.table, listed);
        s->denied = (struct err){0};
        if (find_own(s, &name) != NULL)
            all[(*n)++] = name.table;
        else if (s->failed.kind != ERR_NONE || s->denied.kind != ERR_NONE)
            return false;
        s->denied = denied; /* report it only once somebody needs it */
    }
    return true;
}

static bool add_denied(struct schemas *s, struct str database, struct arena *a,
                       struct str **out, size_t *n)
{
    const size_t shown = *n;
    struct str *all;
    struct map *listed;

    if (s->before == NULL)
        return true;
    listed = map_new();
    all = arena_alloc(a, shown + s->before->n + 1, sizeof(*all));
    for (size_t i = 0; i < shown; i++) {
        all[i] = (*out)[i];
        (void)map_put(listed, all[i], listed);
    }

    const bool fine = append_denied(s, database, listed, all, n);

    map_free(listed, NULL);
    for (size_t i = shown; i < *n; i++)
        all[i] = arena_copy(a, all[i]);
    if (*n > shown)
        qsort(all, *n, sizeof(*all), by_name);
    *out = all;
    return fine;
}

bool schemas_list(void *ctx, struct str topic, struct str schema, struct arena *a,
                  struct str **out, size_t *n)
{
    struct schemas *s = MAGIC_CAST(schemas, ctx);

    (void)topic; /* tables of one index share a topic */

    if (s->failed.kind == ERR_NONE && s->conn == NULL)
        err_set(&s->failed, ERR_RETRY, "the server is not connected");
    return s->failed.kind == ERR_NONE &&
           catalog_list_base_tables(s->conn, schema, a, out, n, &s->failed) &&
           add_denied(s, schema, a, out, n);
}

bool schemas_foreign_keys(void *ctx, const struct catalog_name *names, size_t n,
                          struct arena *a, struct foreign_keys *out, struct err *err)
{
    struct schemas *s = MAGIC_CAST(schemas, ctx);

    if (s->conn == NULL)
        return err_set(err, ERR_RETRY, "the server is not connected");
    return foreign_keys_load(s->conn, names, n, a, out, err) &&
           foreign_keys_load_actions(s->conn, names, n, a, out, err);
}
