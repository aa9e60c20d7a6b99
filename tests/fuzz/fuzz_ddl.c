/*
 * Statements: never fails, never reads beyond the text, whatever it is.
 */
#include "config.h"

#include "tests/fuzz/fuzz.h"

#include "src/base/arena.h"
#include "sync/binlog/ddl.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct arena *a = arena_new();
    struct ddl ddl;

    ddl_parse(STR("d"), (struct str){(const char *)bytes, len}, a, &ddl);
    assert(ddl_kind_name(ddl.kind) != NULL);
    for (size_t i = 0; i < ddl.n_tables; i++)
        assert(ddl.tables[i].table.len <= len);
    arena_free(a);
    return 0;
}
