#include "config.h"

#include "sync/binlog/ddl.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "sync/binlog/event.h"
#include "sync/binlog/sql_lexer.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* A statement being read. */
struct reading {
    struct sql_lexer lex;
    struct str database; /* the session's */
    struct arena *a;
    struct ddl *out;
    size_t tables_cap;
    bool inner; /* behind SET STATEMENT ... FOR */
};

const char *ddl_kind_name(enum ddl_kind kind)
{
    static const char *const names[] = {
        [DDL_UNKNOWN] = "unknown statement",
        [DDL_NONE] = "statement",
        [DDL_BEGIN] = "begin",
        [DDL_COMMIT] = "commit",
        [DDL_ROLLBACK] = "rollback",
        [DDL_SAVEPOINT] = "savepoint",
        [DDL_ROLLBACK_TO] = "rollback to savepoint",
        [DDL_XA_START] = "xa start",
        [DDL_XA_END] = "xa end",
        [DDL_XA_PREPARE] = "xa prepare",
        [DDL_XA_COMMIT] = "xa commit",
        [DDL_XA_ROLLBACK] = "xa rollback",
        [DDL_CREATE_TABLE] = "create table",
        [DDL_ALTER_TABLE] = "alter table",
        [DDL_DROP_TABLE] = "drop table",
        [DDL_RENAME_TABLE] = "rename table",
        [DDL_TRUNCATE_TABLE] = "truncate table",
        [DDL_CREATE_DATABASE] = "create database",
        [DDL_ALTER_DATABASE] = "alter database",
        [DDL_DROP_DATABASE] = "drop database",
        [DDL_DML] = "data change",
    };

    return names[kind];
}

static bool is(struct reading *r, const char *word)
{
    return sql_lexer_is(&r->lex, word);
}

static bool accept(struct reading *r, const char *word)
{
    return sql_lexer_accept(&r->lex, word);
}

/* Passes over any of these words, in any order. */
static void accept_any(struct reading *r, const char *const *words)
{
    for (size_t i = 0; words[i] != NULL; i++)
        if (accept(r, words[i]))
            i = (size_t)-1;
}

static void accept_if_exists(struct reading *r)
{
    if (accept(r, "IF")) {
        accept(r, "NOT");
        accept(r, "EXISTS");
    }
}

static struct ddl_table *add_table(struct reading *r)
{
    if (r->out->n_tables == r->tables_cap) {
        const size_t cap = r->tables_cap > 0 ? r->tables_cap * 2 : 4;
        struct ddl_table *more = arena_alloc(r->a, cap, sizeof(*more));

        if (r->out->n_tables > 0)
            memcpy(more, r->out->tables, r->out->n_tables * sizeof(*more));
        r->out->tables = more;
        r->tables_cap = cap;
    }
    return &r->out->tables[r->out->n_tables++];
}

static bool read_identifier(struct reading *r, struct str *out)
{
    if (r->lex.token.kind != SQL_WORD && r->lex.token.kind != SQL_QUOTED)
        return false;
    *out = sql_token_text(&r->lex.token, r->a);
    sql_lexer_next(&r->lex);
    return true;
}

/* [database.]table */
static bool read_name(struct reading *r, struct str *database, struct str *table)
{
    *database = r->database;
    if (!read_identifier(r, table))
        return false;
    if (!sql_lexer_accept_char(&r->lex, '.'))
        return true;
    *database = *table;
    return read_identifier(r, table);
}

static enum ddl_kind one_table(struct reading *r, enum ddl_kind kind)
{
    struct str database, table;

    accept_if_exists(r);
    if (!read_name(r, &database, &table))
        return DDL_UNKNOWN;

    struct ddl_table *t = add_table(r);

    t->database = database;
    t->table = table;
    return kind;
}

static enum ddl_kind table_list(struct reading *r, enum ddl_kind kind)
{
    do {
        if (one_table(r, kind) == DDL_UNKNOWN)
            return DDL_UNKNOWN;
    } while (sql_lexer_accept_char(&r->lex, ','));
    return kind;
}

/* old TO new [, old TO new ...] */
static enum ddl_kind rename_list(struct reading *r)
{
    static const char *const waits[] = {"WAIT", "NOWAIT", NULL};

    do {
        if (one_table(r, DDL_RENAME_TABLE) == DDL_UNKNOWN)
            return DDL_UNKNOWN;

        struct ddl_table *t = &r->out->tables[r->out->n_tables - 1];

        while (!is(r, "TO") && r->lex.token.kind == SQL_WORD) {
            accept_any(r, waits);
            if (!is(r, "TO"))
                sql_lexer_next(&r->lex); /* seconds */
        }
        if (!accept(r, "TO") || !read_name(r, &t->new_database, &t->new_table))
            return DDL_UNKNOWN;
    } while (sql_lexer_accept_char(&r->lex, ','));
    return DDL_RENAME_TABLE;
}

/* ... INDEX name [USING type] ON table */
static enum ddl_kind index_on_table(struct reading *r)
{
    struct str name;

    accept_if_exists(r);
    if (!read_identifier(r, &name))
        return DDL_UNKNOWN;
    if (accept(r, "USING"))
        sql_lexer_next(&r->lex);
    return accept(r, "ON") ? one_table(r, DDL_ALTER_TABLE) : DDL_UNKNOWN;
}

static enum ddl_kind one_database(struct reading *r, enum ddl_kind kind)
{
    struct str database = r->database;
    const bool own = kind == DDL_ALTER_DATABASE &&
                     (is(r, "CHARACTER") || is(r, "CHARSET") || is(r, "COLLATE") ||
                      is(r, "DEFAULT") || is(r, "COMMENT") || is(r, "ENCRYPTION"));

    accept_if_exists(r);
    if (!own && !read_identifier(r, &database))
        return DDL_UNKNOWN;
    add_table(r)->database = database;
    return kind;
}

static enum ddl_kind read_create(struct reading *r)
{
    static const char *const index_words[] = {"ONLINE",  "OFFLINE", "UNIQUE", "FULLTEXT",
                                              "SPATIAL", "VECTOR",  NULL};
    const bool replace = accept(r, "OR") && accept(r, "REPLACE");

    r->out->temporary = accept(r, "TEMPORARY");
    if (accept(r, "TABLE")) {
        r->out->changes_rows = replace;
        return one_table(r, DDL_CREATE_TABLE);
    }
    if (accept(r, "DATABASE") || accept(r, "SCHEMA"))
        return one_database(r, replace ? DDL_DROP_DATABASE : DDL_CREATE_DATABASE);
    accept_any(r, index_words);
    if (accept(r, "INDEX"))
        return index_on_table(r);
    return DDL_NONE; /* views, users, routines, triggers, events, servers ... */
}

static enum ddl_kind read_drop(struct reading *r)
{
    static const char *const index_words[] = {"ONLINE", "OFFLINE", NULL};

    r->out->temporary = accept(r, "TEMPORARY");
    if (accept(r, "TABLE") || accept(r, "TABLES")) {
        accept_if_exists(r);
        return table_list(r, DDL_DROP_TABLE);
    }
    if (accept(r, "DATABASE") || accept(r, "SCHEMA"))
        return one_database(r, DDL_DROP_DATABASE);
    accept_any(r, index_words);
    if (accept(r, "INDEX"))
        return index_on_table(r);
    return DDL_NONE;
}

/* What follows RENAME in ALTER TABLE; a table's new name unless something else is renamed. */
static void alter_rename(struct reading *r, struct ddl_table *t)
{
    struct str database, table;

    if (is(r, "COLUMN") || is(r, "INDEX") || is(r, "KEY") || is(r, "CONSTRAINT")) {
        r->out->changes_values = r->out->changes_values || is(r, "COLUMN");
        return;
    }
    if (!accept(r, "TO") && !accept(r, "AS"))
        sql_lexer_accept_char(&r->lex, '=');
    if (read_name(r, &database, &table)) {
        t->new_database = database;
        t->new_table = table;
    }
}

/* ADD and DROP of anything but columns leaves the values as they are. */
static bool is_no_column(struct reading *r)
{
    static const char *const words[] = {
        "INDEX",   "KEY",   "CONSTRAINT", "PRIMARY",   "UNIQUE", "FOREIGN", "FULLTEXT",
        "SPATIAL", "CHECK", "VECTOR",     "PARTITION", "PERIOD", "SYSTEM",  "EXTENDED"};

    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (is(r, words[i]))
            return true;
    return false;
}

/* One clause of ALTER TABLE, at its first word; table is an index, as the array may move. */
static void alter_clause(struct reading *r, size_t table)
{
    struct ddl *out = r->out;

    if (accept(r, "RENAME")) {
        alter_rename(r, &out->tables[table]);
    } else if (accept(r, "ADD")) {
        out->changes_checks = out->changes_checks || is(r, "CONSTRAINT") || is(r, "CHECK");
        out->changes_values = out->changes_values || !is_no_column(r);
    } else if (accept(r, "DROP")) {
        out->changes_checks = out->changes_checks || is(r, "CONSTRAINT") || is(r, "CHECK");
        out->changes_rows = out->changes_rows || is(r, "PARTITION");
        out->changes_values = out->changes_values || !is_no_column(r);
    } else if (is(r, "TRUNCATE") || is(r, "DISCARD") || is(r, "IMPORT") || is(r, "EXCHANGE")) {
        out->changes_rows = true;
    } else if (accept(r, "CONVERT")) {
        out->changes_rows = out->changes_rows || is(r, "PARTITION") || is(r, "TABLE");
        out->changes_values = true;
    } else if (is(r, "MODIFY") || is(r, "CHANGE")) {
        out->changes_values = true;
    }
}

/* To the end of a clause; another table in it is one that partitions are exchanged with. */
static void skip_clause(struct reading *r)
{
    size_t depth = 0;

    while (r->lex.token.kind != SQL_END) {
        if (sql_lexer_is_char(&r->lex, '('))
            depth++;
        if (sql_lexer_is_char(&r->lex, ')') && depth > 0)
            depth--;
        if (sql_lexer_is_char(&r->lex, ',') && depth == 0)
            return;
        if (accept(r, "TABLE") && depth == 0 && r->out->changes_rows)
            one_table(r, DDL_ALTER_TABLE);
        else if (r->lex.token.kind != SQL_END)
            sql_lexer_next(&r->lex);
    }
}

static enum ddl_kind read_alter(struct reading *r)
{
    static const char *const words[] = {"ONLINE", "OFFLINE", "IGNORE", NULL};
    static const char *const waits[] = {"WAIT", "NOWAIT", NULL};

    accept_any(r, words);
    if (accept(r, "DATABASE") || accept(r, "SCHEMA"))
        return one_database(r, DDL_ALTER_DATABASE);
    if (!accept(r, "TABLE"))
        return DDL_NONE;
    if (one_table(r, DDL_ALTER_TABLE) == DDL_UNKNOWN)
        return DDL_UNKNOWN;
    if (is(r, "WAIT") || is(r, "NOWAIT")) {
        const bool seconds = is(r, "WAIT");

        accept_any(r, waits);
        if (seconds)
            sql_lexer_next(&r->lex);
    }

    const size_t table = r->out->n_tables - 1;

    do {
        alter_clause(r, table);
        skip_clause(r);
    } while (sql_lexer_accept_char(&r->lex, ','));
    return DDL_ALTER_TABLE;
}

/* X'67', 0x67 or 'g' to bytes; false: none of them. */
static bool read_xid_part(struct reading *r, struct buf *out)
{
    const bool hex = accept(r, "X");
    const struct sql_token t = r->lex.token;

    if (t.kind != SQL_STRING && t.kind != SQL_WORD)
        return false;

    struct str text = sql_token_text(&t, r->a);
    const bool hex_word =
        t.kind == SQL_WORD && text.len > 2 && text.ptr[0] == '0' && (text.ptr[1] | 0x20) == 'x';

    sql_lexer_next(&r->lex);
    if (hex_word)
        text = (struct str){text.ptr + 2, text.len - 2};
    if (!hex && !hex_word) {
        buf_append(out, text);
        return t.kind == SQL_STRING;
    }
    for (size_t i = 0; i + 1 < text.len; i += 2) {
        const char pair[] = {text.ptr[i], text.ptr[i + 1], '\0'};

        buf_append_char(out, (char)strtoul(pair, NULL, 16));
    }
    return true;
}

static void read_xid(struct reading *r)
{
    struct buf gtrid = {0}, bqual = {0}, text = {0};
    struct event_xa xa = {.format = 1};

    if (read_xid_part(r, &gtrid)) {
        if (sql_lexer_accept_char(&r->lex, ','))
            read_xid_part(r, &bqual);
        if (sql_lexer_accept_char(&r->lex, ',')) {
            const struct str format = sql_token_text(&r->lex.token, r->a);

            xa.format = (uint32_t)strtoul(format.ptr, NULL, 0);
            sql_lexer_next(&r->lex);
        }
        xa.gtrid = buf_str(&gtrid);
        xa.bqual = buf_str(&bqual);
        event_xa_format(&text, &xa);
        r->out->xid = arena_copy(r->a, buf_str(&text));
    }
    r->out->one_phase = accept(r, "ONE");
    buf_free(&gtrid);
    buf_free(&bqual);
    buf_free(&text);
}

static enum ddl_kind read_xa(struct reading *r)
{
    static const struct {
        const char *word;
        enum ddl_kind kind;
    } verbs[] = {
        {"START", DDL_XA_START},     {"BEGIN", DDL_XA_START},   {"END", DDL_XA_END},
        {"PREPARE", DDL_XA_PREPARE}, {"COMMIT", DDL_XA_COMMIT}, {"ROLLBACK", DDL_XA_ROLLBACK},
    };

    for (size_t i = 0; i < ARRAY_LEN(verbs); i++)
        if (accept(r, verbs[i].word)) {
            read_xid(r);
            return r->out->xid.ptr != NULL ? verbs[i].kind : DDL_UNKNOWN;
        }
    return DDL_UNKNOWN;
}

static enum ddl_kind read_rollback(struct reading *r)
{
    accept(r, "WORK");
    return is(r, "TO") ? DDL_ROLLBACK_TO : DDL_ROLLBACK;
}

static enum ddl_kind read_start(struct reading *r)
{
    return accept(r, "TRANSACTION") ? DDL_BEGIN : DDL_NONE; /* START SLAVE */
}

static enum ddl_kind read_rename(struct reading *r)
{
    if (!accept(r, "TABLE") && !accept(r, "TABLES"))
        return DDL_NONE; /* users */
    return rename_list(r);
}

static enum ddl_kind read_truncate(struct reading *r)
{
    accept(r, "TABLE");
    return one_table(r, DDL_TRUNCATE_TABLE);
}

/* INSERT and REPLACE name their one table first. */
static enum ddl_kind read_insert(struct reading *r)
{
    static const char *const words[] = {"LOW_PRIORITY", "DELAYED", "HIGH_PRIORITY",
                                        "IGNORE",       "INTO",    NULL};

    accept_any(r, words);
    one_table(r, DDL_DML);
    return DDL_DML;
}

/* UPDATE of one table: name, perhaps an alias, SET. */
static enum ddl_kind read_update(struct reading *r)
{
    static const char *const words[] = {"LOW_PRIORITY", "IGNORE", NULL};
    struct str alias;

    accept_any(r, words);
    one_table(r, DDL_DML);
    accept(r, "AS");
    if (!is(r, "SET") && (!read_identifier(r, &alias) || !is(r, "SET")))
        r->out->n_tables = 0;
    return DDL_DML;
}

/* DELETE FROM one table, without USING. */
static enum ddl_kind read_delete(struct reading *r)
{
    static const char *const words[] = {"LOW_PRIORITY", "QUICK", "IGNORE", NULL};

    accept_any(r, words);
    if (!accept(r, "FROM"))
        return DDL_DML;
    one_table(r, DDL_DML);
    if (r->lex.token.kind != SQL_END && !is(r, "WHERE") && !is(r, "ORDER") && !is(r, "LIMIT"))
        r->out->n_tables = 0;
    return DDL_DML;
}

static enum ddl_kind read_statement(struct reading *r);

/* SET STATEMENT variable = value, ... FOR statement; every other SET is of no concern. */
static enum ddl_kind read_set(struct reading *r)
{
    if (!accept(r, "STATEMENT"))
        return DDL_NONE;
    while (r->lex.token.kind != SQL_END && !is(r, "FOR"))
        sql_lexer_next(&r->lex);
    if (r->inner || !accept(r, "FOR"))
        return DDL_UNKNOWN;
    r->inner = true;
    return read_statement(r);
}

static const struct {
    const char *word;
    enum ddl_kind kind;
    enum ddl_kind (*read)(struct reading *r); /* NULL: kind */
} statements[] = {
    {"BEGIN", DDL_BEGIN, NULL},
    {"START", DDL_UNKNOWN, read_start},
    {"COMMIT", DDL_COMMIT, NULL},
    {"ROLLBACK", DDL_UNKNOWN, read_rollback},
    {"SAVEPOINT", DDL_SAVEPOINT, NULL},
    {"RELEASE", DDL_NONE, NULL},
    {"XA", DDL_UNKNOWN, read_xa},
    {"CREATE", DDL_UNKNOWN, read_create},
    {"ALTER", DDL_UNKNOWN, read_alter},
    {"DROP", DDL_UNKNOWN, read_drop},
    {"RENAME", DDL_UNKNOWN, read_rename},
    {"TRUNCATE", DDL_UNKNOWN, read_truncate},
    {"INSERT", DDL_UNKNOWN, read_insert},
    {"REPLACE", DDL_UNKNOWN, read_insert},
    {"UPDATE", DDL_UNKNOWN, read_update},
    {"DELETE", DDL_UNKNOWN, read_delete},
    {"SET", DDL_UNKNOWN, read_set},
    {"LOAD", DDL_DML, NULL},
    {"CALL", DDL_DML, NULL},
    {"DO", DDL_DML, NULL},
    {"SELECT", DDL_DML, NULL},
    {"WITH", DDL_DML, NULL},
    {"VALUES", DDL_DML, NULL},
    {"GRANT", DDL_NONE, NULL},
    {"REVOKE", DDL_NONE, NULL},
    {"FLUSH", DDL_NONE, NULL},
    {"ANALYZE", DDL_NONE, NULL},
    {"OPTIMIZE", DDL_NONE, NULL},
    {"REPAIR", DDL_NONE, NULL},
    {"CHECK", DDL_NONE, NULL},
    {"INSTALL", DDL_NONE, NULL},
    {"UNINSTALL", DDL_NONE, NULL},
    {"USE", DDL_NONE, NULL},
    {"LOCK", DDL_NONE, NULL},
    {"UNLOCK", DDL_NONE, NULL},
    {"RESET", DDL_NONE, NULL},
    {"PURGE", DDL_NONE, NULL},
    {"CHANGE", DDL_NONE, NULL},
    {"STOP", DDL_NONE, NULL},
    {"KILL", DDL_NONE, NULL},
};

static enum ddl_kind read_statement(struct reading *r)
{
    if (r->lex.token.kind == SQL_END)
        return DDL_NONE; /* nothing but comments */
    for (size_t i = 0; i < ARRAY_LEN(statements); i++)
        if (accept(r, statements[i].word))
            return statements[i].read != NULL ? statements[i].read(r) : statements[i].kind;
    return DDL_UNKNOWN;
}

void ddl_parse(struct str database, struct str sql, struct arena *a, struct ddl *out)
{
    struct reading r = {.database = database, .a = a, .out = out};

    *out = (struct ddl){.kind = DDL_UNKNOWN};
    sql_lexer_init(&r.lex, sql);
    out->kind = read_statement(&r);
}

static bool same_name(struct str a, struct str b)
{
    return a.len == b.len && (a.len == 0 || strncasecmp(a.ptr, b.ptr, a.len) == 0);
}

/* Indexes, comments and the like leave the columns as they are. */
static bool keeps_columns(const struct ddl *ddl)
{
    return ddl->kind == DDL_ALTER_TABLE && !ddl->changes_values && !ddl->changes_rows &&
           !ddl->changes_checks;
}

bool ddl_concerns(const struct ddl *ddl, struct str database, struct str table)
{
    bool named = false;

    if (ddl->temporary || ddl->kind == DDL_NONE)
        return false;
    for (size_t i = 0; i < ddl->n_tables; i++) {
        const struct ddl_table *t = &ddl->tables[i];
        const bool whole = t->table.len == 0;

        named = named || (!keeps_columns(ddl) && same_name(t->database, database) &&
                          (whole || same_name(t->table, table))) ||
                (t->new_table.ptr != NULL && same_name(t->new_database, database) &&
                 same_name(t->new_table, table));
    }
    return named || ddl->n_tables == 0;
}
