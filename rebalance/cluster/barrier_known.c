#include "config.h"

#include "rebalance/cluster/barrier_parts.h"

const struct barrier_node *barrier_seen(const struct barrier *b, size_t i)
{
    const struct barrier_node *node = &b->nodes[i];

    return str_equal(buf_str(&node->id), buf_str(&b->id)) ? &b->mine : node;
}

struct barrier_node *barrier_at(struct barrier *b, size_t i)
{
    return barrier_seen(b, i) == &b->mine ? &b->mine : &b->nodes[i];
}

bool barrier_lists(const struct barrier *b, struct str id, size_t *at)
{
    size_t low = 0, high = b->n_nodes;

    while (low < high) {
        const int order = str_order(buf_str(&b->nodes[ *at = low + (high - low) / 2].id), id);

        if (order == 0)
            return true;
        if (order < 0)
            low = *at + 1;
        else
            high = *at;
    }
    return false;
}

struct barrier_node *barrier_find(struct barrier *b, struct str id)
{
    size_t at;

    return barrier_lists(b, id, &at) ? &b->nodes[at] : NULL;
}

bool barrier_is_member(const struct barrier *b, struct str id)
{
    return name_set_has(&b->state.members, id);
}

void barrier_read(struct barrier *b, struct barrier_node *node)
{
    const struct str id = barrier_text(b, buf_str(&node->id));
    struct barrier_action *a = barrier_add(b, BARRIER_READ);

    node->is_reading = true;
    node->token = ++b->token;
    a->node = id;
    a->token = node->token;
}

void barrier_read_state(struct barrier *b)
{
    b->is_state_reading = true;
    b->state_token = ++b->token;
    barrier_add(b, BARRIER_READ_STATE)->token = b->state_token;
}

bool barrier_write(struct barrier *b, struct barrier_node *node, const struct node_data *data)
{
    struct buf text = {0};
    struct str id, copy;
    struct barrier_action *a;

    if (node->is_writing || !node->is_known)
        return false;
    node_data_copy(&node->written, data);
    node_data_format(&text, data);
    copy = barrier_text(b, buf_str(&text));
    id = barrier_text(b, buf_str(&node->id));
    a = barrier_add(b, BARRIER_WRITE);
    a->node = id;
    a->text = copy;
    a->version = node->version;
    node->is_writing = true;
    buf_free(&text);
    return true;
}

void barrier_write_state(struct barrier *b, const struct cluster_state *next)
{
    struct buf text = {0};
    struct str copy;
    struct barrier_action *a;

    cluster_state_copy(&b->state_written, next);
    cluster_state_format(&text, next);
    copy = barrier_text(b, buf_str(&text));
    a = barrier_add(b, BARRIER_WRITE_STATE);
    a->text = copy;
    a->version = b->state_version;
    b->is_state_writing = true;
    buf_free(&text);
}
