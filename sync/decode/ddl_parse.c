#include "config.h"

#include "sync/decode/ddl_reading.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "sync/decode/event.h"

#include <stdlib.h>

static enum ddl_kind table_list(struct ddl_reading *r, enum ddl_kind kind)
{
    do {
        if (ddl_read_table(r, kind) == DDL_UNKNOWN)
            return DDL_UNKNOWN;
    } while (sql_lexer_accept_char(&r->lex, ','));
    return kind;
}

/* old TO new [, old TO new ...] */
static enum ddl_kind rename_list(struct ddl_reading *r)
{
    static const char *const waits[] = {"WAIT", "NOWAIT", NULL};

    do {
        if (ddl_read_table(r, DDL_RENAME_TABLE) == DDL_UNKNOWN)
            return DDL_UNKNOWN;

        struct ddl_table *t = &r->out->tables[r->out->n_tables - 1];

        while (!ddl_is(r, "TO") && r->lex.token.kind == SQL_WORD) {
            ddl_accept_any(r, waits);
            if (!ddl_is(r, "TO"))
                sql_lexer_next(&r->lex); /* seconds */
        }
        if (!ddl_accept(r, "TO") || !ddl_read_name(r, &t->new_database, &t->new_table))
            return DDL_UNKNOWN;
    } while (sql_lexer_accept_char(&r->lex, ','));
    return DDL_RENAME_TABLE;
}

/* ... INDEX name [USING type] ON table */
static enum ddl_kind index_on_table(struct ddl_reading *r)
{
    struct str name;

    ddl_accept_if_exists(r);
    if (!ddl_read_identifier(r, &name))
        return DDL_UNKNOWN;
    if (ddl_accept(r, "USING"))
        sql_lexer_next(&r->lex);
    return ddl_accept(r, "ON") ? ddl_read_table(r, DDL_ALTER_TABLE) : DDL_UNKNOWN;
}

static enum ddl_kind one_database(struct ddl_reading *r, enum ddl_kind kind)
{
    struct str database = r->database;
    const bool own = kind == DDL_ALTER_DATABASE &&
                     (ddl_is(r, "CHARACTER") || ddl_is(r, "CHARSET") || ddl_is(r, "COLLATE") ||
                      ddl_is(r, "DEFAULT") || ddl_is(r, "COMMENT") || ddl_is(r, "ENCRYPTION"));

    ddl_accept_if_exists(r);
    if (!own && !ddl_read_identifier(r, &database))
        return DDL_UNKNOWN;
    ddl_add_table(r)->database = database;
    return kind;
}

static enum ddl_kind read_create(struct ddl_reading *r)
{
    static const char *const index_words[] = {"ONLINE",  "OFFLINE", "UNIQUE", "FULLTEXT",
                                              "SPATIAL", "VECTOR",  NULL};
    const bool replace = ddl_accept(r, "OR") && ddl_accept(r, "REPLACE");

    r->out->temporary = ddl_accept(r, "TEMPORARY");
    if (ddl_accept(r, "TABLE")) {
        r->out->changes_rows = replace;
        return ddl_read_table(r, DDL_CREATE_TABLE);
    }
    if (ddl_accept(r, "DATABASE") || ddl_accept(r, "SCHEMA"))
        return one_database(r, replace ? DDL_DROP_DATABASE : DDL_CREATE_DATABASE);
    ddl_accept_any(r, index_words);
    if (ddl_accept(r, "INDEX"))
        return index_on_table(r);
    return DDL_NONE; /* views, users, routines, triggers, events, servers ... */
}

static enum ddl_kind read_drop(struct ddl_reading *r)
{
    static const char *const index_words[] = {"ONLINE", "OFFLINE", NULL};

    r->out->temporary = ddl_accept(r, "TEMPORARY");
    if (ddl_accept(r, "TABLE") || ddl_accept(r, "TABLES")) {
        ddl_accept_if_exists(r);
        return table_list(r, DDL_DROP_TABLE);
    }
    if (ddl_accept(r, "DATABASE") || ddl_accept(r, "SCHEMA"))
        return one_database(r, DDL_DROP_DATABASE);
    ddl_accept_any(r, index_words);
    if (ddl_accept(r, "INDEX"))
        return index_on_table(r);
    return DDL_NONE;
}

static enum ddl_kind read_alter(struct ddl_reading *r)
{
    static const char *const words[] = {"ONLINE", "OFFLINE", NULL};
    static const char *const waits[] = {"WAIT", "NOWAIT", NULL};

    ddl_accept_any(r, words);

    const bool ignore = ddl_accept(r, "IGNORE");

    ddl_accept_any(r, words);
    if (ddl_accept(r, "DATABASE") || ddl_accept(r, "SCHEMA"))
        return one_database(r, DDL_ALTER_DATABASE);
    if (!ddl_accept(r, "TABLE"))
        return DDL_NONE;
    if (ddl_read_table(r, DDL_ALTER_TABLE) == DDL_UNKNOWN)
        return DDL_UNKNOWN;
    if (ddl_is(r, "WAIT") || ddl_is(r, "NOWAIT")) {
        const bool seconds = ddl_is(r, "WAIT");

        ddl_accept_any(r, waits);
        if (seconds)
            sql_lexer_next(&r->lex);
    }

    ddl_read_alterations(r);
    r->out->changes_rows = r->out->changes_rows || ignore;
    return DDL_ALTER_TABLE;
}

/* Convert X'67', 0x67 or 'g' to bytes.  Returns false on anything else. */
static bool read_xid_part(struct ddl_reading *r, struct buf *out)
{
    const bool hex = ddl_accept(r, "X");
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

static void read_xid(struct ddl_reading *r)
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
    r->out->one_phase = ddl_accept(r, "ONE");
    buf_free(&gtrid);
    buf_free(&bqual);
    buf_free(&text);
}

static enum ddl_kind read_xa(struct ddl_reading *r)
{
    static const struct {
        const char *word;
        enum ddl_kind kind;
    } verbs[] = {
        {"START", DDL_XA_START},     {"BEGIN", DDL_XA_START},   {"END", DDL_XA_END},
        {"PREPARE", DDL_XA_PREPARE}, {"COMMIT", DDL_XA_COMMIT}, {"ROLLBACK", DDL_XA_ROLLBACK},
    };

    for (size_t i = 0; i < ARRAY_LEN(verbs); i++)
        if (ddl_accept(r, verbs[i].word)) {
            read_xid(r);
            return r->out->xid.ptr != NULL ? verbs[i].kind : DDL_UNKNOWN;
        }
    return DDL_UNKNOWN;
}

static enum ddl_kind read_rollback(struct ddl_reading *r)
{
    ddl_accept(r, "WORK");
    return ddl_is(r, "TO") ? DDL_ROLLBACK_TO : DDL_ROLLBACK;
}

static enum ddl_kind read_start(struct ddl_reading *r)
{
    return ddl_accept(r, "TRANSACTION") ? DDL_BEGIN : DDL_NONE; /* START SLAVE */
}

static enum ddl_kind read_rename(struct ddl_reading *r)
{
    if (!ddl_accept(r, "TABLE") && !ddl_accept(r, "TABLES"))
        return DDL_NONE; /* users */
    return rename_list(r);
}

static enum ddl_kind read_truncate(struct ddl_reading *r)
{
    ddl_accept(r, "TABLE");
    return ddl_read_table(r, DDL_TRUNCATE_TABLE);
}

/* INSERT and REPLACE name their only table first. */
static enum ddl_kind read_insert(struct ddl_reading *r)
{
    static const char *const words[] = {"LOW_PRIORITY", "DELAYED", "HIGH_PRIORITY",
                                        "IGNORE",       "INTO",    NULL};

    ddl_accept_any(r, words);
    ddl_read_table(r, DDL_DML);
    return DDL_DML;
}

/* UPDATE of one table: name, optional alias, SET. */
static enum ddl_kind read_update(struct ddl_reading *r)
{
    static const char *const words[] = {"LOW_PRIORITY", "IGNORE", NULL};
    struct str alias;

    ddl_accept_any(r, words);
    ddl_read_table(r, DDL_DML);
    ddl_accept(r, "AS");
    if (!ddl_is(r, "SET") && (!ddl_read_identifier(r, &alias) || !ddl_is(r, "SET")))
        r->out->n_tables = 0;
    return DDL_DML;
}

/* MariaDB's DELETE HISTORY FROM one table: deletes rows that no document shows. */
static bool is_history(const struct ddl_reading *r)
{
    struct sql_lexer next = r->lex;

    return r->lex.dialect.mariadb && sql_lexer_accept(&next, "HISTORY") &&
           sql_lexer_is(&next, "FROM");
}

/* DELETE FROM one table, without USING. */
static enum ddl_kind read_delete(struct ddl_reading *r)
{
    static const char *const words[] = {"LOW_PRIORITY", "QUICK", "IGNORE", NULL};

    ddl_accept_any(r, words);
    if (is_history(r))
        return DDL_NONE;
    if (!ddl_accept(r, "FROM"))
        return DDL_DML;
    ddl_read_table(r, DDL_DML);
    if (r->lex.token.kind != SQL_END && !ddl_is(r, "WHERE") && !ddl_is(r, "ORDER") &&
        !ddl_is(r, "LIMIT"))
        r->out->n_tables = 0;
    return DDL_DML;
}

static enum ddl_kind read_statement(struct ddl_reading *r);

/* SET STATEMENT variable = value, ... FOR statement.  Any other SET is irrelevant. */
static enum ddl_kind read_set(struct ddl_reading *r)
{
    if (!ddl_accept(r, "STATEMENT"))
        return DDL_NONE;
    while (r->lex.token.kind != SQL_END && !ddl_is(r, "FOR"))
        sql_lexer_next(&r->lex);
    if (r->inner || !ddl_accept(r, "FOR"))
        return DDL_UNKNOWN;
    r->inner = true;
    return read_statement(r);
}

static const struct {
    const char *word;
    enum ddl_kind kind;
    enum ddl_kind (*read)(struct ddl_reading *r); /* NULL: return kind */
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

static enum ddl_kind read_statement(struct ddl_reading *r)
{
    if (r->lex.token.kind == SQL_END)
        return DDL_NONE; /* nothing but comments */
    for (size_t i = 0; i < ARRAY_LEN(statements); i++)
        if (ddl_accept(r, statements[i].word))
            return statements[i].read != NULL ? statements[i].read(r) : statements[i].kind;
    return DDL_UNKNOWN;
}

void ddl_parse(struct str database, struct str sql, struct sql_dialect dialect, struct arena *a,
               struct ddl *out)
{
    struct ddl_reading r = {.database = database, .a = a, .out = out};

    *out = (struct ddl){.kind = DDL_UNKNOWN};
    sql_lexer_init(&r.lex, sql, dialect);
    out->kind = read_statement(&r);
    out->columns_unclear = out->columns_unclear || out->kind == DDL_UNKNOWN;
}
