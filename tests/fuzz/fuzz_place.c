/*
 * A place in the order of a table's rows, as it comes from the store: the types of the columns,
 * then the bytes of the place.  What is taken for a place makes conditions whose words are the
 * program's own, and each of its parts makes more of the same statement.
 */
#include "config.h"

#include "tests/fuzz/fuzz.h"

#include "src/base/buf.h"
#include "sync/document/key.h"
#include "sync/document/plan_node.h"
#include "sync/document/query_part.h"
#include "sync/value/schema.h"

#include <stdlib.h>
#include <string.h>

#define KEYS 3

static const struct str labels[] = {STR("a"), STR("b'c"), STR("")};

/* Skip a quoted text or name; returns the byte behind it. */
static const char *skip_quoted(const char *p, const char *end)
{
    const char quote = *p++;

    while (p < end && *p != quote)
        p++;
    if (p == end)
        abort();
    return p + 1;
}

/* Outside of quotes there are only words, numbers, operators and brackets in pairs. */
static void check_statement(struct str sql)
{
    const char *p = sql.ptr, *const end = sql.ptr + sql.len;
    int open = 0;

    while (p < end) {
        if (*p == '\'' || *p == '`') {
            p = skip_quoted(p, end);
            continue;
        }
        if (strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 _<>=+-.,()",
                   *p) == NULL)
            abort();
        open += (*p == '(') - (*p == ')');
        if (open < 0)
            abort();
        p++;
    }
    if (open != 0)
        abort();
}

static void check_place(const struct query_order *o, struct str place)
{
    struct buf after = {0}, until = {0};
    struct str rest = place, part;
    size_t n = 0, n_columns = 0;

    while (key_next(&rest, &part))
        n++;
    while (query_order_column(o, n_columns) != NULL)
        n_columns++;
    if (n == 0 || n > n_columns || rest.len > 0)
        abort();
    query_part_after(&after, STR("t"), o, place);
    query_part_until(&until, STR("t"), o, place);
    check_statement(buf_str(&after));
    check_statement(buf_str(&until));
    buf_free(&after);
    buf_free(&until);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    static const struct str names[] = {STR("k0"), STR("k1"), STR("k2"), STR("c")};
    struct column columns[KEYS + 1] = {{.name = STR("")}};
    struct plan_join joins[KEYS] = {{.inner = NULL}};
    struct plan_node root = {.joins = joins};
    struct query_order o = {.root = &root};

    if (len < KEYS + 3)
        return 0;
    root.n_joins = 1 + bytes[0] % KEYS;
    for (size_t i = 0; i <= KEYS; i++) {
        columns[i] =
            (struct column){.name = names[i],
                            .type = (enum column_type)(bytes[i + 1] % (COLUMN_VECTOR + 1)),
                            .nullable = bytes[i + 1] >= 128,
                            .charset = STR("utf8mb4"),
                            .collation = STR("utf8mb4_bin"),
                            .labels = (struct str *)(uintptr_t)labels,
                            .n_labels = 3};
        if (i < KEYS)
            joins[i] = (struct plan_join){.outer = &columns[i], .inner = &columns[i]};
    }
    if (bytes[0] >= 128 && column_is_scalar(&columns[KEYS]))
        o.by = &columns[KEYS];
    else if (bytes[0] >= 64 && column_is_scalar(&columns[0]))
        o.by = &columns[0];

    const struct str place = {(const char *)bytes + KEYS + 2, len - KEYS - 2};

    if (query_order_has(&o, place))
        check_place(&o, place);
    return 0;
}
