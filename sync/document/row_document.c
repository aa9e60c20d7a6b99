#include "config.h"

#include "sync/document/row_document.h"

#include "src/base/buf.h"
#include "sync/binlog/schema.h"
#include "sync/binlog/value.h"
#include "sync/document/branch.h"
#include "sync/document/key.h"

static const struct value *value_at(const size_t *map, const struct value *row, size_t at)
{
    return &row[map != NULL ? map[at] : at];
}

bool row_document_members(const struct branch *b, const size_t *map, const struct value *row,
                          struct buf *out, struct err *err)
{
    for (size_t i = 0; i < b->n_fields; i++) {
        const struct branch_field *f = &b->fields[i];

        if (i > 0)
            buf_append_char(out, ',');
        if (!b->values)
            buf_append(out, f->field.member);
        if (f->constant.len > 0)
            buf_append(out, f->constant);
        else if (!field_append(&f->field, value_at(map, row, f->at), out, err))
            return err_wrap(err, "%" STR_FMT, STR_ARG(b->schema->table));
    }
    return true;
}

bool row_document_key(const struct branch *b, const size_t *map, const struct value *row,
                      struct buf *key, struct err *err)
{
    for (size_t i = 0; i < b->n_joins; i++) {
        const struct branch_join *j = &b->joins[i];

        if (!key_append(key, j->inner, value_at(map, row, j->inner_at), err))
            return err_wrap(err, "%" STR_FMT, STR_ARG(b->schema->table));
    }
    return true;
}

bool row_document_outer_key(const struct branch *b, const struct value *row, struct buf *key,
                            struct err *err)
{
    for (size_t i = 0; i < b->n_joins; i++) {
        const struct branch_join *j = &b->joins[i];

        if (!key_append(key, j->outer, &row[j->outer_at], err))
            return err_wrap(err, "%" STR_FMT, STR_ARG(b->parent->schema->table));
    }
    return true;
}

bool row_document_id(const struct branch *root, struct str key, struct buf *id, struct err *err)
{
    return key_append_id(id, root->order, root->n_order, key, err) ||
           err_wrap(err, "%" STR_FMT, STR_ARG(root->schema->table));
}

bool row_document_parse_id(const struct branch *root, struct str id, struct buf *key,
                           struct err *err)
{
    return key_parse_id(key, root->order, root->n_order, id, err) ||
           err_wrap(err, "%" STR_FMT, STR_ARG(root->schema->table));
}
