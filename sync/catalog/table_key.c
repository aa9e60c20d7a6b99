#include "config.h"

#include "sync/catalog/table_key.h"

#include "sync/definition/definition.h"
#include "sync/value/schema.h"

#include <stdint.h>

size_t unique_key_length(const struct str *columns)
{
    size_t n = 0;

    while (columns[n].len > 0)
        n++;
    return n;
}

static bool has_no_nulls(const struct schema *s, const struct str *columns)
{
    for (size_t i = 0; columns[i].len > 0; i++) {
        const size_t at = schema_find(s, columns[i]);

        if (at == SIZE_MAX || s->columns[at].nullable)
            return false;
    }
    return true;
}

struct table_key table_key_named(const struct table_definition *t, const struct schema *s)
{
    if (t->n_key > 0)
        return (struct table_key){t->key, t->n_key};
    for (size_t i = 0; s->n_key == 0 && i < t->n_unique_keys; i++)
        if (has_no_nulls(s, t->unique_keys[i]))
            return (struct table_key){t->unique_keys[i], unique_key_length(t->unique_keys[i])};
    return (struct table_key){NULL, 0};
}
