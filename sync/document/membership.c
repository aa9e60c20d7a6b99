#include "config.h"

#include "sync/document/membership.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "sync/document/key.h"
#include "sync/value/value.h"

struct str membership_prefix(struct arena *a, struct str name)
{
    struct buf prefix = {0};

    for (size_t i = 0; i < name.len; i++) {
        if (name.ptr[i] == '%')
            buf_append(&prefix, STR("%25"));
        else if (name.ptr[i] == ':')
            buf_append(&prefix, STR("%3A"));
        else
            buf_append_char(&prefix, name.ptr[i]);
    }
    buf_append_char(&prefix, ':');

    const struct str kept = arena_copy(a, buf_str(&prefix));

    buf_free(&prefix);
    return kept;
}

static const struct value *value_at(const size_t *map, const struct value *row, size_t at)
{
    return &row[map != NULL ? map[at] : at];
}

static bool is_known(const struct membership_link *l, const size_t *map,
                     const struct value *row)
{
    for (size_t i = 0; i < l->n; i++)
        if (value_at(map, row, l->at[i])->kind == VALUE_NULL)
            return false;
    return true;
}

bool membership_is_rooted(const struct membership *m, const size_t *map,
                          const struct value *row)
{
    return is_known(&m->parent, map, row) && is_known(&m->root, map, row);
}

bool membership_has_parent(const struct membership *m, const size_t *map,
                           const struct value *row)
{
    return is_known(&m->parent, map, row);
}

static bool append_id(const struct membership_link *l, const size_t *map,
                      const struct value *row, struct buf *id, struct err *err)
{
    const size_t start = id->len;
    struct buf key = {0};
    bool fine = true;

    for (size_t i = 0; fine && i < l->n; i++)
        fine = key_append(&key, l->columns[i], value_at(map, row, l->at[i]), err);
    buf_append(id, l->prefix);
    fine = fine && key_append_id(id, l->columns, l->n, buf_str(&key), err);
    if (fine && id->len - start > KEY_ID_MAX)
        fine = err_set(err, ERR_REJECT,
                       "the key of its parent or root makes an _id of %zu bytes, but the "
                       "search engine takes at most %d",
                       id->len - start, KEY_ID_MAX);
    buf_free(&key);
    return fine;
}

bool membership_append_members(const struct membership *m, const size_t *map,
                               const struct value *row, struct buf *json, struct err *err)
{
    struct buf id = {0};
    bool fine = true;

    buf_append(json, m->members);
    if (m->parent.n > 0) {
        fine = append_id(&m->parent, map, row, &id, err);
        buf_append_json(json, buf_str(&id));
    }
    buf_append(json, m->ends);
    buf_free(&id);
    return fine;
}

/* If the document is routed by its root, the parent shows in the join field only. */
static bool parent_makes_id(const struct membership *m, const size_t *map,
                            const struct value *row, struct err *err)
{
    struct buf id = {0};
    const bool makes = m->n_ancestors == 0 || append_id(&m->parent, map, row, &id, err);

    buf_free(&id);
    return makes;
}

bool membership_append_routing(const struct membership *m, const size_t *map,
                               const struct value *row, struct str id, struct buf *routing,
                               struct err *err)
{
    if (!m->routed)
        return true;
    if (m->root.n > 0)
        return parent_makes_id(m, map, row, err) && append_id(&m->root, map, row, routing, err);
    buf_append(routing, id);
    return true;
}
