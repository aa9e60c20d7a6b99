#include "config.h"

#include "sync/decode/ddl_swap.h"

#include "sync/decode/ddl.h"

#include <string.h>

#define NAME_MAX_CHARS 64

static const struct tool {
    struct str copy, old; /* suffixes of the names */
    bool dates;           /* the old table's name may have a timestamp before the suffix */
    bool two_steps;
} tools[] = {
    {STR("_gho"), STR("_del"), true, true},
    {STR("_new"), STR("_old"), false, false},
};

/* Cut "_20260131235959" off the end of a name. */
static struct str without_date(struct str name)
{
    size_t n = name.len;

    while (n > 0 && name.ptr[n - 1] >= '0' && name.ptr[n - 1] <= '9')
        n--;
    return n > 0 && name.len - n == 14 && name.ptr[n - 1] == '_' ? (struct str){name.ptr, n - 1}
                                                                 : name;
}

static bool is_derived_from(struct str body, struct str table, bool is_cut)
{
    size_t n = 0;

    while (n < body.len && body.ptr[n] == '_') {
        n++;

        const struct str rest = {body.ptr + n, body.len - n};

        if (str_equal(rest, table) ||
            (is_cut && rest.len < table.len && memcmp(rest.ptr, table.ptr, rest.len) == 0))
            return true;
    }
    return false;
}

/* Match _TABLE_end. */
static bool is_named(struct str name, struct str table, struct str end, bool dates)
{
    struct str body = {name.ptr, name.len};

    if (name.len <= end.len || memcmp(name.ptr + name.len - end.len, end.ptr, end.len) != 0)
        return false;
    body.len -= end.len;
    if (dates)
        body = without_date(body);
    return is_derived_from(body, table, name.len >= NAME_MAX_CHARS);
}

static bool is_in(const struct ddl_table *t, struct str database)
{
    return str_equal(t->database, database) && str_equal(t->new_database, database);
}

/* Match the names of one tool. */
static enum ddl_swap find(const struct tool *tool, const struct ddl *ddl, struct str database,
                          struct str table)
{
    bool away = false, back = false;

    for (size_t i = 0; i < ddl->n_tables; i++) {
        const struct ddl_table *t = &ddl->tables[i];

        if (!is_in(t, database))
            continue;
        away = away || (str_equal(t->table, table) &&
                        is_named(t->new_table, table, tool->old, tool->dates));
        back = back ||
               (str_equal(t->new_table, table) && is_named(t->table, table, tool->copy, false));
    }
    if (away && back)
        return DDL_SWAP_WHOLE;
    if (!tool->two_steps || ddl->n_tables != 1)
        return DDL_SWAP_NONE;
    if (away)
        return DDL_SWAP_AWAY;
    return back ? DDL_SWAP_BACK : DDL_SWAP_NONE;
}

enum ddl_swap ddl_find_swap(const struct ddl *ddl, struct str database, struct str table)
{
    enum ddl_swap found = DDL_SWAP_NONE;

    if (ddl->kind != DDL_RENAME_TABLE)
        return DDL_SWAP_NONE;
    for (size_t i = 0; i < ARRAY_LEN(tools) && found == DDL_SWAP_NONE; i++)
        found = find(&tools[i], ddl, database, table);
    return found;
}
