/*
 * Statements, as any session reads them: never fails, never reads beyond the text, whatever it
 * is; what it names has a name.
 */
#include "config.h"

#include "tests/fuzz/fuzz.h"

#include "src/base/arena.h"
#include "sync/decode/ddl.h"

#include <assert.h>

static void check(const struct ddl *ddl)
{
    assert(ddl_kind_name(ddl->kind) != NULL);
    for (size_t i = 0; i < ddl->n_columns; i++) {
        const struct ddl_column *c = &ddl->columns[i];
        const bool renames = c->op == DDL_COLUMN_CHANGE || c->op == DDL_COLUMN_RENAME;

        assert(c->name.ptr != NULL && renames == (c->new_name.ptr != NULL));
    }
    assert(ddl->n_columns == 0 || (ddl->n_tables > 0 && ddl->changes_values));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct arena *a = arena_new();

    for (unsigned mode = 0; mode < 8; mode++) {
        const struct sql_dialect dialect = {
            .mariadb = mode & 1, .ansi_quotes = mode & 2, .no_backslash_escapes = mode & 4};
        struct ddl ddl;

        ddl_parse(STR("d"), (struct str){(const char *)bytes, len}, dialect, a, &ddl);
        check(&ddl);
    }
    arena_free(a);
    return 0;
}
