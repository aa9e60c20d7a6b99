#include "config.h"

#include "sync/change/write_gather.h"

#include "src/base/buf.h"
#include "src/base/failpoint.h"
#include "src/base/mem.h"
#include "src/base/thread.h"
#include "sync/delivery/delivery.h"
#include "sync/delivery/document/write.h"

#include <stdlib.h>

#define WRITES_MAX 256
#define TEXT_MAX   (1 << 20) /* bytes of bodies to collect before passing them on */

/* Texts of a collected write are offsets until the text buffer stops moving. */
struct gathered {
    struct doc_write write;
    size_t id, key, routing, body;
};

struct write_gather {
    struct delivery *delivery;
    const struct stop *given_up;
    struct gathered gathered[WRITES_MAX];
    size_t n;
    struct buf text;
};

struct write_gather *write_gather_new(struct delivery *delivery, const struct stop *given_up)
{
    struct write_gather *g = mem_alloc(1, sizeof(*g));

    g->delivery = delivery;
    g->given_up = given_up;
    return g;
}

void write_gather_free(struct write_gather *g)
{
    if (g == NULL)
        return;
    buf_free(&g->text);
    free(g);
}

static struct str text_at(const struct write_gather *g, size_t at, struct str s)
{
    return (struct str){s.len == 0 ? "" : g->text.ptr + at, s.len};
}

void write_gather_flush(struct write_gather *g)
{
    struct doc_write writes[WRITES_MAX];
    struct err err = {0};

    if (g->n == 0)
        return;
    for (size_t i = 0; i < g->n; i++) {
        const struct gathered *from = &g->gathered[i];

        writes[i] = from->write;
        writes[i].id = text_at(g, from->id, from->write.id);
        writes[i].key = text_at(g, from->key, from->write.key);
        writes[i].routing = text_at(g, from->routing, from->write.routing);
        writes[i].body = text_at(g, from->body, from->write.body);
    }
    FAILPOINT(writes_gathered);
    if (stop_is_set(g->given_up) ||
        !delivery_submit_until(g->delivery, g->given_up, writes, g->n, &err))
        for (size_t i = 0; i < g->n; i++) {
            ticket_abandon(writes[i].ticket);
            target_unref(writes[i].target);
        }
    FAILPOINT(writes_queued);
    g->n = 0;
    buf_clear(&g->text);
}

static size_t keep(struct write_gather *g, struct str s)
{
    const size_t at = g->text.len;

    buf_append(&g->text, s);
    return at;
}

void write_gather_add(struct write_gather *g, const struct doc_write *write)
{
    if (g->n == WRITES_MAX || g->text.len > TEXT_MAX)
        write_gather_flush(g);

    struct gathered *to = &g->gathered[g->n++];

    to->write = *write;
    to->id = keep(g, write->id);
    to->key = keep(g, write->key);
    to->routing = keep(g, write->routing);
    to->body = keep(g, write->body);
}
