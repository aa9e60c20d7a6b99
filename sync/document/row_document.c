#include "config.h"

#include "sync/document/row_document.h"

#include "src/base/buf.h"
#include "sync/document/key.h"
#include "sync/document/membership.h"
#include "sync/document/plan_node.h"
#include "sync/document/transform_apply.h"
#include "sync/value/schema.h"
#include "sync/value/value.h"

static const struct value *value_at(const size_t *map, const struct value *row, size_t at)
{
    return &row[map != NULL ? map[at] : at];
}

/* Append the text of a value.  Sets *is_null if there is none. */
static bool append_text(const struct plan_field *f, const struct value *v, struct buf *text,
                        bool *is_null, struct err *err)
{
    struct buf json = {0};
    const bool fine = field_append(&f->field, v, &json, err);

    *is_null = fine && str_equal(buf_str(&json), STR("null"));
    if (fine && !*is_null)
        transform_append_text(text, buf_str(&json));
    buf_free(&json);
    return fine;
}

/* Append the texts of the parts that are not NULL, with the separator between them. */
static bool join_parts(const struct plan_field *f, const size_t *map, const struct value *row,
                       struct buf *text, bool *is_null, struct err *err)
{
    *is_null = true;
    for (size_t i = 0; i < f->n_parts; i++) {
        const struct plan_field *part = &f->parts[i];
        const size_t start = text->len;
        bool nothing;

        if (!*is_null)
            buf_append(text, f->transforms.steps[0].by);
        if (!append_text(part, value_at(map, row, part->at), text, &nothing, err))
            return false;
        if (nothing)
            text->len = start;
        *is_null = *is_null && nothing;
    }
    return true;
}

static bool append_transformed(const struct plan_field *f, const size_t *map,
                               const struct value *row, struct buf *out, struct err *err)
{
    struct buf text = {0};
    bool is_null;
    bool fine = f->n_parts > 0
                    ? join_parts(f, map, row, &text, &is_null, err)
                    : append_text(f, value_at(map, row, f->at), &text, &is_null, err);

    if (fine && is_null)
        field_append_null(&f->field, out);
    else if (fine)
        fine = transform_apply(&f->transforms, buf_str(&text), out, err) ||
               err_wrap(err, "column `%" STR_FMT "`", STR_ARG(f->name));
    buf_free(&text);
    return fine;
}

bool row_document_members(const struct plan_node *b, const size_t *map, const struct value *row,
                          struct buf *out, struct err *err)
{
    for (size_t i = 0; i < b->n_fields; i++) {
        const struct plan_field *f = &b->fields[i];

        if (i > 0)
            buf_append_char(out, ',');
        if (!b->values)
            buf_append(out, f->field.member);
        if (f->constant.len > 0)
            buf_append(out, f->constant);
        else if (f->transforms.n > 0
                     ? !append_transformed(f, map, row, out, err)
                     : !field_append(&f->field, value_at(map, row, f->at), out, err))
            return err_wrap(err, "%" STR_FMT, STR_ARG(b->schema->table));
    }
    if (b->membership == NULL || b->membership->members.len == 0)
        return true;
    if (b->n_fields > 0)
        buf_append_char(out, ',');
    return membership_append_members(b->membership, map, row, out, err) ||
           err_wrap(err, "%" STR_FMT, STR_ARG(b->schema->table));
}

bool row_document_is_rooted(const struct plan_node *root, const size_t *map,
                            const struct value *row)
{
    return root->membership == NULL || membership_is_rooted(root->membership, map, row);
}

bool row_document_has_parent(const struct plan_node *root, const size_t *map,
                             const struct value *row)
{
    return root->membership == NULL || membership_has_parent(root->membership, map, row);
}

bool row_document_routing(const struct plan_node *root, const size_t *map,
                          const struct value *row, struct str id, struct buf *routing,
                          struct err *err)
{
    return root->membership == NULL ||
           membership_append_routing(root->membership, map, row, id, routing, err) ||
           err_wrap(err, "%" STR_FMT, STR_ARG(root->schema->table));
}

bool row_document_key(const struct plan_node *b, const size_t *map, const struct value *row,
                      struct buf *key, struct err *err)
{
    for (size_t i = 0; i < b->n_joins; i++) {
        const struct plan_join *j = &b->joins[i];

        if (!key_append(key, j->inner, value_at(map, row, j->inner_at), err))
            return err_wrap(err, "%" STR_FMT, STR_ARG(b->schema->table));
    }
    return true;
}

bool row_document_outer_key(const struct plan_node *b, const struct value *row, struct buf *key,
                            struct err *err)
{
    for (size_t i = 0; i < b->n_joins; i++) {
        const struct plan_join *j = &b->joins[i];

        if (!key_append(key, j->outer, &row[j->outer_at], err))
            return err_wrap(err, "%" STR_FMT, STR_ARG(b->parent->schema->table));
    }
    return true;
}

bool row_document_id(const struct plan_node *root, struct str key, struct buf *id,
                     struct err *err)
{
    const size_t start = id->len;

    if (root->membership != NULL)
        buf_append(id, root->membership->prefix);
    return (key_append_id(id, root->order, root->n_order, key, err) &&
            (id->len - start <= KEY_ID_MAX ||
             err_set(err, ERR_REJECT,
                     "the key makes an _id of %zu bytes, but the search engine takes at most "
                     "%d",
                     id->len - start, KEY_ID_MAX))) ||
           err_wrap(err, "%" STR_FMT, STR_ARG(root->schema->table));
}

bool row_document_parse_id(const struct plan_node *root, struct str id, struct buf *key,
                           struct err *err)
{
    const struct str prefix = root->membership == NULL ? STR("") : root->membership->prefix;

    if (!str_has_prefix(id, prefix))
        return err_set(err, ERR_REJECT, "`%" STR_FMT "` is not the _id of a row of %" STR_FMT,
                       STR_ARG(id), STR_ARG(root->schema->table));
    id = (struct str){id.ptr + prefix.len, id.len - prefix.len};
    return key_parse_id(key, root->order, root->n_order, id, err) ||
           err_wrap(err, "%" STR_FMT, STR_ARG(root->schema->table));
}
