#include "config.h"

#include "sync/read/commit_wait.h"

#include "src/base/buf.h"
#include "src/mysql/mysql.h"
#include "sync/decode/table_map.h"
#include "sync/document/key.h"
#include "sync/value/value.h"

#include <string.h>

#define TABLE_MS "10000"

/* Of these types a literal finds the row by its key; others could scan, and lock, the table. */
static bool can_be_named(const struct column *c)
{
    switch (key_class_of(c)) {
    case KEY_NUMBER: return key_is_integer(c);
    case KEY_TEXT: return !key_sorts_by_number(c);
    case KEY_BYTES:
    case KEY_DATE:
    case KEY_DATETIME: return true;
    case KEY_NONE:
    case KEY_REAL:
    case KEY_YEAR:
    case KEY_TIME:
    case KEY_UUID:
    case KEY_INET4:
    case KEY_INET6: break;
    }
    return false;
}

static bool append_condition(struct buf *sql, const struct column *c,
                             const struct table_map *map, const struct value *row)
{
    const size_t at = schema_find(map->schema, c->name);
    struct buf key = {0};
    struct err ignored = {0};
    struct str rest, part;

    if (at == SIZE_MAX || !can_be_named(c) || !key_append(&key, c, &row[at], &ignored)) {
        buf_free(&key);
        return false;
    }
    rest = buf_str(&key);

    const bool ok = key_next(&rest, &part);

    if (ok) {
        mysql_quote_name(sql, c->name);
        buf_append(sql, STR(" = "));
        key_append_literal(sql, c, part);
    }
    buf_free(&key);
    return ok;
}

void commit_wait_format(struct buf *sql, const struct schema *known,
                        const struct table_map *map, const struct value *row)
{
    const size_t start = sql->len;

    if (known == NULL || known->n_key == 0 || !str_equal_any_case(known->engine, STR("InnoDB")))
        return;

    buf_append(sql, STR("SELECT 1 FROM "));
    mysql_quote_name(sql, known->database);
    buf_append_char(sql, '.');
    mysql_quote_name(sql, known->table);
    for (size_t i = 0; i < known->n_key; i++) {
        buf_append(sql, i == 0 ? STR(" WHERE ") : STR(" AND "));
        if (!append_condition(sql, &known->columns[known->key[i]], map, row)) {
            sql->len = start;
            sql->ptr[start] = '\0';
            return;
        }
    }
    buf_append(sql, STR(" LOCK IN SHARE MODE"));
}

void commit_wait_format_table(struct buf *sql, struct str database, struct str table)
{
    buf_append(sql, STR("SELECT /*+ MAX_EXECUTION_TIME(" TABLE_MS ") */ 1 FROM "));
    mysql_quote_name(sql, database);
    buf_append_char(sql, '.');
    mysql_quote_name(sql, table);
    buf_append(sql, STR(" WHERE FALSE"));
}
