#include "config.h"

#include "sync/check/check_key.h"

#include "src/base/buf.h"
#include "sync/catalog/table_indexes.h"
#include "sync/catalog/table_key.h"
#include "sync/check/checked_table.h"

/* Suggest a key, in the words of the definition. */
static void fix_key(struct checker *c, const struct checked_table *s)
{
    struct buf names = {0};

    for (size_t i = 0; i < s->facts->n_indexes; i++) {
        const struct catalog_index *index = &s->facts->indexes[i];

        if (!table_indexes_have_key(s->facts, index->columns, index->n_columns))
            continue;
        table_indexes_append(&names, index->columns, index->n_columns, false);
        problems_fix(c->problems, "key: [%" STR_FMT "], which is unique and never NULL",
                     STR_ARG(buf_str(&names)));
        buf_free(&names);
        return;
    }
    problems_fix(c->problems, "ALTER TABLE `%" STR_FMT "`.`%" STR_FMT "` ADD PRIMARY KEY (...)",
                 STR_ARG(s->at.schema), STR_ARG(s->at.name));
}

/* Returns false after a report: a column is missing or may be NULL. */
static bool check_key_columns(struct checker *c, const struct checked_table *s,
                              const struct table_key *key, struct place place)
{
    bool complete = true;

    for (size_t i = 0; i < key->n; i++) {
        const struct column *col = checked_table_column(c, s, key->columns[i], place);

        complete = complete && col != NULL;
        if (col == NULL || !col->nullable)
            continue;
        complete = false;
        problems_add(c->problems, SEVERITY_ERROR,
                     checked_table_place(c, key->columns[i], place),
                     "key column `%" STR_FMT "` may be NULL", STR_ARG(key->columns[i]));
        fix_key(c, s);
    }
    return complete;
}

void definition_check_key(struct checker *c, const struct checked_table *s,
                          const struct table_definition *t)
{
    const struct table_key key = table_key_named(t, s->facts->schema);

    if (key.n == 0) {
        if (s->facts->schema->n_key > 0)
            return;
        problems_add(c->problems, SEVERITY_ERROR, s->place,
                     "table `%" STR_FMT "` has no primary key", STR_ARG(s->table));
        fix_key(c, s);
        return;
    }
    if (!check_key_columns(c, s, &key, t->place) ||
        table_indexes_have_key(s->facts, key.columns, key.n))
        return;
    problems_add(c->problems, SEVERITY_ERROR, checked_table_place(c, key.columns[0], t->place),
                 "the key is not unique: it contains no unique index of `%" STR_FMT "`",
                 STR_ARG(s->table));
    fix_key(c, s);
}

void definition_check_unique_keys(struct checker *c, const struct checked_table *s,
                                  const struct table_definition *t)
{
    for (size_t i = 0; i < t->n_unique_keys; i++) {
        const struct str *columns = t->unique_keys[i];
        const size_t n = unique_key_length(columns);
        struct buf names = {0};
        bool complete = true;

        for (size_t k = 0; k < n; k++)
            complete = checked_table_column(c, s, columns[k], t->place) != NULL && complete;
        if (!complete || table_indexes_have_unique(s->facts, columns, n))
            continue;
        table_indexes_append(&names, columns, n, true);
        problems_add(c->problems, SEVERITY_ERROR, checked_table_place(c, columns[0], t->place),
                     "`%" STR_FMT "` has no unique index on exactly these columns",
                     STR_ARG(s->table));
        problems_fix(c->problems,
                     "ALTER TABLE `%" STR_FMT "`.`%" STR_FMT "` ADD UNIQUE KEY (%" STR_FMT ");",
                     STR_ARG(s->at.schema), STR_ARG(s->at.name), STR_ARG(buf_str(&names)));
        buf_free(&names);
    }
}
