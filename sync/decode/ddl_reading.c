#include "config.h"

#include "sync/decode/ddl_reading.h"

#include "src/base/arena.h"

#include <string.h>

bool ddl_is(const struct ddl_reading *r, const char *word)
{
    return sql_lexer_is(&r->lex, word);
}

bool ddl_accept(struct ddl_reading *r, const char *word)
{
    return sql_lexer_accept(&r->lex, word);
}

void ddl_accept_any(struct ddl_reading *r, const char *const *words)
{
    for (size_t i = 0; words[i] != NULL; i++)
        if (ddl_accept(r, words[i]))
            i = (size_t)-1;
}

void ddl_accept_if_exists(struct ddl_reading *r)
{
    if (ddl_accept(r, "IF")) {
        ddl_accept(r, "NOT");
        ddl_accept(r, "EXISTS");
    }
}

bool ddl_read_identifier(struct ddl_reading *r, struct str *out)
{
    const struct sql_token *t = &r->lex.token;
    const bool quoted = t->text.len > 0 && t->text.ptr[0] == '"';

    if (t->kind != SQL_WORD && t->kind != SQL_QUOTED && !quoted)
        return false;
    *out = sql_token_text(t, r->a);
    sql_lexer_next(&r->lex);
    return true;
}

bool ddl_read_name(struct ddl_reading *r, struct str *database, struct str *table)
{
    *database = r->database;
    if (!ddl_read_identifier(r, table))
        return false;
    if (!sql_lexer_accept_char(&r->lex, '.'))
        return true;
    *database = *table;
    return ddl_read_identifier(r, table);
}

struct ddl_table *ddl_add_table(struct ddl_reading *r)
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

enum ddl_kind ddl_read_table(struct ddl_reading *r, enum ddl_kind kind)
{
    struct str database, table;

    ddl_accept_if_exists(r);
    if (!ddl_read_name(r, &database, &table))
        return DDL_UNKNOWN;

    struct ddl_table *t = ddl_add_table(r);

    t->database = database;
    t->table = table;
    return kind;
}
