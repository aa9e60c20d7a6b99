#include "config.h"

#include "sync/catalog/table_indexes.h"

#include "src/base/buf.h"
#include "src/mysql/mysql.h"
#include "sync/catalog/catalog.h"
#include "sync/value/schema.h"

static bool lists(const struct str *columns, size_t n, struct str name)
{
    for (size_t i = 0; i < n; i++)
        if (str_equal_any_case(columns[i], name))
            return true;
    return false;
}

static bool is_nullable(const struct schema *s, struct str column)
{
    size_t at = schema_find(s, column);

    return at == SIZE_MAX || s->columns[at].nullable;
}

bool table_indexes_have_key(const struct table_facts *f, const struct str *columns, size_t n)
{
    for (size_t i = 0; i < f->n_indexes; i++) {
        const struct catalog_index *index = &f->indexes[i];
        bool inside = index->is_unique;

        for (size_t k = 0; inside && k < index->n_columns; k++)
            inside = lists(columns, n, index->columns[k]) &&
                     !is_nullable(f->schema, index->columns[k]);
        if (inside)
            return true;
    }
    return false;
}

bool table_indexes_have_unique(const struct table_facts *f, const struct str *columns, size_t n)
{
    for (size_t i = 0; i < f->n_indexes; i++) {
        const struct catalog_index *index = &f->indexes[i];
        size_t k = 0;

        while (k < index->n_columns && lists(columns, n, index->columns[k]))
            k++;
        if (index->is_unique && k == index->n_columns && k == n)
            return true;
    }
    return false;
}

bool table_indexes_begin_with(const struct table_facts *f, const struct str *columns, size_t n)
{
    for (size_t i = 0; i < f->n_indexes; i++) {
        const struct catalog_index *index = &f->indexes[i];
        size_t k = 0;

        while (k < n && k < index->n_columns && lists(columns, n, index->columns[k]))
            k++;
        if (k == n)
            return true;
    }
    return false;
}

bool table_indexes_single_out(const struct table_facts *f, const struct str *columns, size_t n)
{
    for (size_t i = 0; i < f->n_indexes; i++) {
        const struct catalog_index *index = &f->indexes[i];
        size_t k = 0;

        while (k < index->n_columns && lists(columns, n, index->columns[k]))
            k++;
        if (index->is_unique && !index->has_prefix && k == index->n_columns)
            return true;
    }
    return false;
}

static bool has(const struct catalog_index *index, size_t n, struct str column)
{
    return lists(index->columns, n < index->n_columns ? n : index->n_columns, column);
}

/* Tell whether the primary key that the index ends with continues the order of columns. */
static bool ends_in_order(const struct table_facts *f, const struct catalog_index *index,
                          const struct str *columns, size_t n)
{
    const struct schema *s = f->schema;
    size_t at = index->n_columns;

    if (!str_equal_any_case(s->engine, STR("InnoDB")))
        return false;
    for (size_t i = 0; at < n && i < s->n_key; i++) {
        const struct str next = s->columns[s->key[i]].name;

        if (has(index, index->n_columns, next))
            continue;
        if (!str_equal_any_case(columns[at], next))
            return false;
        at++;
    }
    return at == n || s->n_key == 0; /* then a unique key takes its place */
}

const struct catalog_index *table_indexes_in_order(const struct table_facts *f,
                                                   const struct str *columns, size_t n)
{
    const struct catalog_index *found = NULL;

    for (size_t i = 0; i < f->n_indexes; i++) {
        const struct catalog_index *index = &f->indexes[i];
        size_t k = 0;

        while (k < n && k < index->n_columns &&
               str_equal_any_case(index->columns[k], columns[k]))
            k++;
        if (index->has_prefix || (k < n && k < index->n_columns) ||
            (k < n && !ends_in_order(f, index, columns, n)))
            continue;
        if (found == NULL || str_equal(index->name, STR("PRIMARY")))
            found = index;
    }
    return found;
}

void table_indexes_append(struct buf *b, const struct str *names, size_t n, bool quoted)
{
    for (size_t i = 0; i < n; i++) {
        if (i > 0)
            buf_append(b, STR(", "));
        if (quoted)
            mysql_quote_name(b, names[i]);
        else
            buf_append(b, names[i]);
    }
}
