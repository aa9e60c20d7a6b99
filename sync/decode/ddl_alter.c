#include "config.h"

#include "sync/decode/ddl_reading.h"

#include "src/base/arena.h"

#include <ctype.h>
#include <string.h>

/*
 * Words after ADD that start something other than a column.  A word that may also name a column
 * counts only before one of `next`; "(" stands for a parenthesis.
 */
static const struct other {
    const char *word;
    const char *next[5];
} others[] = {
    {"INDEX", {NULL}},
    {"KEY", {NULL}},
    {"CONSTRAINT", {NULL}},
    {"PRIMARY", {NULL}},
    {"UNIQUE", {NULL}},
    {"FOREIGN", {NULL}},
    {"FULLTEXT", {NULL}},
    {"SPATIAL", {NULL}},
    {"CHECK", {NULL}},
    {"PERIOD", {"FOR"}},
    {"SYSTEM", {"VERSIONING"}},
    {"PARTITION", {"(", "PARTITIONS", "IF", "NO_WRITE_TO_BINLOG", "LOCAL"}},
    {"VECTOR", {"(", "INDEX", "KEY", "IF"}},
};

static bool lexer_is(const struct sql_lexer *l, const char *word)
{
    return *word == '(' ? sql_lexer_is_char(l, '(') : sql_lexer_is(l, word);
}

/* VECTOR name (column) is MariaDB's index; vector VARCHAR(10) is a column of that name. */
static bool is_named_index(struct sql_lexer name)
{
    sql_lexer_next(&name);
    if (!sql_lexer_accept_char(&name, '('))
        return false;
    return name.token.kind == SQL_QUOTED ||
           (name.token.kind == SQL_WORD && !isdigit((unsigned char)name.token.text.ptr[0]));
}

static bool is_other_to_add(const struct ddl_reading *r)
{
    struct sql_lexer next = r->lex;
    size_t i = 0;

    while (i < ARRAY_LEN(others) && !ddl_is(r, others[i].word))
        i++;
    if (i == ARRAY_LEN(others))
        return false;
    if (others[i].next[0] == NULL)
        return true;
    sql_lexer_next(&next);
    for (size_t n = 0; n < ARRAY_LEN(others[i].next) && others[i].next[n] != NULL; n++)
        if (lexer_is(&next, others[i].next[n]))
            return true;
    return ddl_is(r, "VECTOR") && is_named_index(next);
}

/* Anything but a column has its name after the word; for a column, the word is the last one. */
static bool is_other_to_drop(const struct ddl_reading *r)
{
    struct sql_lexer next = r->lex;

    sql_lexer_next(&next);
    if (next.token.kind == SQL_END || sql_lexer_is_char(&next, ',') ||
        sql_lexer_is(&next, "RESTRICT") || sql_lexer_is(&next, "CASCADE"))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        if (ddl_is(r, others[i].word))
            return true;
    return false;
}

/* [[database.]table.]column */
static bool read_column(struct ddl_reading *r, struct str *out)
{
    sql_lexer_accept_char(&r->lex, '.');
    do {
        if (!ddl_read_identifier(r, out))
            return false;
    } while (sql_lexer_accept_char(&r->lex, '.'));
    return true;
}

static void add_column(struct ddl_reading *r, struct ddl_column column)
{
    struct ddl *out = r->out;

    if (out->n_columns == r->columns_cap) {
        const size_t cap = r->columns_cap > 0 ? r->columns_cap * 2 : 4;
        struct ddl_column *more = arena_alloc(r->a, cap, sizeof(*more));

        if (out->n_columns > 0)
            memcpy(more, out->columns, out->n_columns * sizeof(*more));
        out->columns = more;
        r->columns_cap = cap;
    }
    out->columns[out->n_columns++] = column;
}

/* Read a column from its name on; only RENAME has a TO between the names. */
static void column(struct ddl_reading *r, enum ddl_column_op op)
{
    struct ddl_column c = {.op = op};
    bool read;

    r->out->changes_values = true;
    ddl_accept_if_exists(r);
    read = read_column(r, &c.name);
    if (read && op == DDL_COLUMN_RENAME)
        read = ddl_accept(r, "TO");
    if (read && (op == DDL_COLUMN_RENAME || op == DDL_COLUMN_CHANGE))
        read = read_column(r, &c.new_name);
    if (read)
        add_column(r, c);
    else
        r->out->columns_unclear = true;
}

/* Skip to the comma or parenthesis that ends a definition. */
static void skip_definition(struct ddl_reading *r)
{
    size_t depth = 0;

    while (r->lex.token.kind != SQL_END) {
        if (depth == 0 && (sql_lexer_is_char(&r->lex, ',') || sql_lexer_is_char(&r->lex, ')')))
            return;
        if (sql_lexer_is_char(&r->lex, '('))
            depth++;
        if (sql_lexer_is_char(&r->lex, ')'))
            depth--;
        sql_lexer_next(&r->lex);
    }
    r->out->columns_unclear = true;
}

/* Read the columns and indexes of ADD ( ... ) to the closing parenthesis. */
static void column_list(struct ddl_reading *r)
{
    do {
        if (!is_other_to_add(r))
            column(r, DDL_COLUMN_ADD);
        skip_definition(r);
    } while (sql_lexer_accept_char(&r->lex, ','));
    sql_lexer_accept_char(&r->lex, ')');
}

/*
 * System versioning adds and drops columns that it does not name.  A primary key drops the one
 * that MySQL generated.
 */
static void other(struct ddl_reading *r, bool drops)
{
    struct ddl *out = r->out;
    const bool hidden = ddl_is(r, "SYSTEM") || (drops && ddl_is(r, "PRIMARY"));

    out->changes_checks = out->changes_checks || ddl_is(r, "CONSTRAINT") || ddl_is(r, "CHECK");
    out->changes_rows = out->changes_rows || (drops && ddl_is(r, "PARTITION"));
    out->changes_values = out->changes_values || hidden;
    out->columns_unclear = out->columns_unclear || hidden;
}

static void read_add(struct ddl_reading *r)
{
    const bool named = ddl_accept(r, "COLUMN");

    if (!named && is_other_to_add(r)) {
        other(r, false);
        return;
    }
    ddl_accept_if_exists(r);
    if (sql_lexer_accept_char(&r->lex, '('))
        column_list(r);
    else
        column(r, DDL_COLUMN_ADD);
}

static void read_drop(struct ddl_reading *r)
{
    if (!ddl_accept(r, "COLUMN") && is_other_to_drop(r))
        other(r, true);
    else
        column(r, DDL_COLUMN_DROP);
}

static void read_modify(struct ddl_reading *r)
{
    ddl_accept(r, "COLUMN");
    column(r, DDL_COLUMN_MODIFY);
}

static void read_change(struct ddl_reading *r)
{
    ddl_accept(r, "COLUMN");
    column(r, DDL_COLUMN_CHANGE);
}

/* Read the table's new name, unless the clause renames something else. */
static void read_rename(struct ddl_reading *r)
{
    struct ddl_table *t = &r->out->tables[0];
    struct str database, table;

    if (ddl_accept(r, "COLUMN")) {
        column(r, DDL_COLUMN_RENAME);
        return;
    }
    if (ddl_is(r, "INDEX") || ddl_is(r, "KEY") || ddl_is(r, "CONSTRAINT"))
        return;
    if (!ddl_accept(r, "TO") && !ddl_accept(r, "AS"))
        sql_lexer_accept_char(&r->lex, '=');
    if (ddl_read_name(r, &database, &table)) {
        t->new_database = database;
        t->new_table = table;
    }
}

/* CONVERT TO CHARACTER SET; MariaDB: CONVERT PARTITION and CONVERT TABLE. */
static void read_convert(struct ddl_reading *r)
{
    r->out->changes_rows = r->out->changes_rows || ddl_is(r, "PARTITION") || ddl_is(r, "TABLE");
    r->out->changes_values = true;
}

static void read_rows(struct ddl_reading *r)
{
    r->out->changes_rows = true;
}

static const struct {
    const char *word;
    void (*read)(struct ddl_reading *r);
} clauses[] = {
    {"ADD", read_add},       {"DROP", read_drop},     {"MODIFY", read_modify},
    {"CHANGE", read_change}, {"RENAME", read_rename}, {"CONVERT", read_convert},
    {"TRUNCATE", read_rows}, {"DISCARD", read_rows},  {"IMPORT", read_rows},
    {"EXCHANGE", read_rows},
};

/* Read one clause from its first word.  Skips clauses that affect neither rows nor columns. */
static void read_clause(struct ddl_reading *r)
{
    for (size_t i = 0; i < ARRAY_LEN(clauses); i++)
        if (ddl_accept(r, clauses[i].word)) {
            clauses[i].read(r);
            return;
        }
    /* A second name follows in lists only: of partitions, or after ORDER BY. */
    if (r->lex.token.kind != SQL_WORD && r->lex.token.kind != SQL_QUOTED)
        r->out->columns_unclear = true;
}

/* Skip to the end of the clause.  A table in it exchanges partitions. */
static void skip_clause(struct ddl_reading *r)
{
    size_t depth = 0;

    while (r->lex.token.kind != SQL_END) {
        if (sql_lexer_is_char(&r->lex, ',') && depth == 0)
            return;
        if (sql_lexer_is_char(&r->lex, ')') && depth == 0)
            r->out->columns_unclear = true;
        if (sql_lexer_is_char(&r->lex, '('))
            depth++;
        if (sql_lexer_is_char(&r->lex, ')') && depth > 0)
            depth--;
        if (depth == 0 && r->out->changes_rows && ddl_accept(r, "TABLE"))
            ddl_read_table(r, DDL_ALTER_TABLE);
        else
            sql_lexer_next(&r->lex);
    }
    if (depth > 0 || r->lex.cut)
        r->out->columns_unclear = true;
}

void ddl_read_alterations(struct ddl_reading *r)
{
    if (r->lex.token.kind == SQL_END)
        return;
    do {
        read_clause(r);
        skip_clause(r);
    } while (sql_lexer_accept_char(&r->lex, ','));
}
