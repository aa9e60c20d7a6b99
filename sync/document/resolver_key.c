#include "config.h"

#include "sync/document/resolver.h"

#include "src/base/buf.h"
#include "sync/document/key.h"
#include "sync/document/membership.h"
#include "sync/document/plan_node.h"
#include "sync/document/row_document.h"
#include "sync/value/value.h"

#include <assert.h>

/* Far below any max_allowed_packet. */
#define KEYS_BYTES_MAX (256 << 10)

bool resolver_join_key(const struct plan *p, size_t place, const struct binding *b,
                       const struct value *row, struct buf *join_key)
{
    struct err err = {0};

    assert(p->nodes[place] == b->node);
    return row_document_key(b->node, b->map, row, join_key, &err);
}

bool resolver_row_key(const struct plan *p, size_t place, const struct binding *b,
                      const struct value *row, struct buf *row_key)
{
    const struct plan_node *by_row = p->nodes[place]->by_row;
    struct err err = {0};

    if (b->key == NULL)
        return false;
    for (size_t i = 0; i < by_row->n_joins; i++)
        if (!key_append(row_key, by_row->joins[i].inner, &row[b->key[i]], &err))
            return false;
    return true;
}

unsigned resolver_by_columns(const struct plan *p, size_t place, const struct str *names,
                             size_t n, size_t which[RESOLVER_COLUMNS_MAX], size_t *n_which)
{
    const struct plan_node *b = p->nodes[place];
    unsigned by = 0;

    *n_which = 0;
    for (size_t i = 0; i < b->n_joins && i < RESOLVER_COLUMNS_MAX; i++)
        for (size_t k = 0; k < n; k++)
            if (str_equal_any_case(b->joins[i].inner->name, names[k])) {
                by |= RESOLVER_BY(i);
                which[(*n_which)++] = k;
                break;
            }
    return by;
}

/* Find the part of join_key for the root's key column.  Returns false if there is none. */
static bool find_part(const struct plan_node *b, const struct column *column,
                      struct str join_key, struct str *part)
{
    for (size_t i = 0; i < b->n_joins; i++) {
        if (!key_next(&join_key, part))
            return false;
        if (b->joins[i].outer == column && key_is_integer(column) &&
            key_is_integer(b->joins[i].inner))
            return true;
    }
    return false;
}

/* Another document routes this plan's documents; only the row tells which. */
static bool lies_elsewhere(const struct plan_node *root)
{
    return root->membership != NULL && root->membership->root.n > 0;
}

bool resolver_direct(const struct plan *p, size_t place, struct str join_key, struct buf *id,
                     struct buf *key, struct buf *routing)
{
    const struct plan_node *b = p->nodes[place], *root = p->nodes[0];
    const size_t start = key->len, id_at = id->len;
    struct err err = {0};

    if (b->parent != root || b->n_joins != root->n_joins || lies_elsewhere(root))
        return false;
    for (size_t i = 0; i < root->n_joins; i++) {
        struct str part;

        if (!find_part(b, root->joins[i].inner, join_key, &part)) {
            key->len = start;
            return false;
        }
        key_append_part(key, part);
    }
    if (!row_document_id(root, (struct str){key->ptr + start, key->len - start}, id, &err))
        return false;
    if (root->membership != NULL && root->membership->routed)
        buf_append(routing, (struct str){id->ptr + id_at, id->len - id_at});
    return true;
}

size_t resolver_keys_max(const struct str *keys, size_t n)
{
    size_t bytes = 0, i = 0;

    for (; i < n && i < RESOLVER_KEYS_MAX; i++) {
        bytes += keys[i].len;
        if (i > 0 && bytes > KEYS_BYTES_MAX)
            break;
    }
    return i;
}
