/*
 * The rows of the table, and the thread that reads them.
 */
#include "config.h"

#include "tests/unit/unit.h"

#include "tests/component/delivery_rig_reads.h"

#include "tests/component/delivery_rig_parts.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/base/map.h"
#include "src/base/mem.h"
#include "src/base/queue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* text NULL: there is none any more. */
static void set(struct rig *r, struct map *texts, int id, const char *text)
{
    char name[16];

    snprintf(name, sizeof(name), "%d", id);
    pthread_mutex_lock(&r->lock);
    free(text == NULL ? map_remove(texts, str_from(name))
                      : map_put(texts, str_from(name), mem_copy(text)));
    pthread_mutex_unlock(&r->lock);
}

void rig_set_row(struct rig *r, int id, const char *text)
{
    set(r, r->table.rows, id, text);
}

void rig_set_place(struct rig *r, int id, const char *routing)
{
    set(r, r->table.places, id, routing);
}

void rig_set_part(struct rig *r, int id, const char *text)
{
    set(r, r->table.parts, id, text);
}

void rig_set_reach(struct rig *r, uint64_t reach)
{
    pthread_mutex_lock(&r->lock);
    r->reads.reach = reach;
    pthread_mutex_unlock(&r->lock);
}

static void append_part(const struct rig_table *table, struct str key, struct buf *body)
{
    const char *part = map_find(table->parts, key);

    if (part == NULL)
        buf_append(body, STR("null"));
    else
        buf_append_json(body, str_from(part));
}

static void append_document(struct rig *r, const struct load_batch *batch, struct str key,
                            const char *text, struct buf *body)
{
    if (batch->area > 0) {
        append_part(&r->table, key, body);
        return;
    }
    buf_append(body, STR("{\"text\":"));
    buf_append_json(body, str_from(text));
    if (r->target->n_areas > 0) {
        buf_append(body, STR(",\"part\":"));
        append_part(&r->table, key, body);
    }
    buf_append_char(body, '}');
}

static bool can_read(struct rig_reads *reads, struct load_item *item)
{
    if (reads->reach > 0 && item->at_least > reads->reach) {
        item->ahead = item->failed = true;
        return err_set(&item->err, ERR_RETRY, "the stream has not come so far");
    }
    if (reads->fails > 0) {
        reads->fails--;
        item->failed = true;
        return err_set(&item->err, ERR_RETRY, "the database is away");
    }
    return true;
}

static void read_row(struct rig *r, struct load_batch *batch, struct load_item *item)
{
    const char *text = map_find(r->table.rows, item->key);
    struct buf body = {0};

    item->stamp = item->at_least;
    if (!can_read(&r->reads, item))
        return;
    item->stays = text == NULL && r->reads.stays;
    if (text == NULL)
        return;
    if (strcmp(text, "reject") == 0) {
        item->failed = true;
        err_set(&item->err, ERR_REJECT, "no document can be made of this row");
        return;
    }
    const char *place = map_find(r->table.places, item->key);

    append_document(r, batch, item->key, text, &body);
    item->elsewhere = place != NULL && !str_equal(str_from(place), item->routing);
    if (item->elsewhere) {
        item->other = arena_copy(batch->arena, str_from(place));
        buf_free(&body);
        return;
    }
    item->found = true;
    item->body = arena_copy(batch->arena, buf_str(&body));
    buf_free(&body);
}

/* Which ones is chosen alike in each run. */
static bool is_left(const struct rig_reads *reads, size_t i)
{
    return i > 0 && (reads->n_left + reads->n_batches) * 2654435761u % 100 < reads->leaves;
}

static void read_rows(struct rig *r, struct load_batch *batch)
{
    for (size_t i = 0; i < batch->n_items; i++) {
        struct load_item *item = &batch->items[i];

        item->left = is_left(&r->reads, i);
        r->reads.n_left += item->left;
        if (!item->left)
            read_row(r, batch, item);
        batch->bytes += item->body.len;
    }
}

void *rig_load(void *arg)
{
    struct rig *r = arg;
    struct load_batch *batch;

    while ((batch = queue_pop(r->reads.queue)) != NULL) {
        pthread_mutex_lock(&r->lock);
        r->reads.n_batches++;
        r->reads.n_area_batches += batch->area > 0;
        read_rows(r, batch);
        pthread_mutex_unlock(&r->lock);

        const size_t n = batch->n_items;

        delivery_loaded(r->delivery, batch);
        __atomic_add_fetch(&r->reads.n_documents, n, __ATOMIC_SEQ_CST);
    }
    return NULL;
}
