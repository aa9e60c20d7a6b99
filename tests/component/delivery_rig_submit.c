/*
 * What tests hand to delivery.
 */
#include "config.h"

#include "tests/unit/unit.h"

#include "tests/component/delivery_rig_parts.h"

#include "src/base/buf.h"
#include "src/base/clock.h"
#include "src/base/mem.h"
#include "src/base/thread.h"

#include <stdio.h>
#include <stdlib.h>

void rig_submit(struct rig *r, const struct doc_write *w)
{
    struct err err;

    if (!delivery_submit(r->delivery, w, 1, &err))
        fail_msg("%s", err.msg);
}

static void submit_to(struct rig *r, struct target *t, int id, struct doc_write *w,
                      const char *text)
{
    char name[16];
    struct buf body = {0};

    snprintf(name, sizeof(name), "%d", id);
    if (text != NULL) {
        buf_append(&body, STR("{\"text\":"));
        buf_append_json(&body, str_from(text));
        buf_append_char(&body, '}');
    }
    w->target = target_ref(t);
    w->ticket = ticket_new(NULL, 0, &r->tickets);
    w->id = w->key = str_from(name);
    w->body = buf_str(&body);
    w->commit_ms = clock_wall_ms();
    rig_submit(r, w);
    buf_free(&body);
}

static void submit(struct rig *r, int id, struct doc_write *w, const char *text)
{
    submit_to(r, r->target, id, w, text);
}

void rig_index_to(struct rig *r, struct target *t, int id, uint64_t version, const char *text)
{
    submit_to(r, t, id, &(struct doc_write){.op = DOC_INDEX, .version = version}, text);
}

void rig_repair(struct rig *r, uint64_t version)
{
    const size_t n = rig_purged(r);

    for (size_t i = 0; i < n; i++)
        submit(r, r->purged.ids[i],
               &(struct doc_write){.op = DOC_REFRESH,
                                   .version = version,
                                   .fresh = true,
                                   .stored = true,
                                   .routing = str_from(r->purged.routings[i])},
               NULL);
    pthread_mutex_lock(&r->lock);
    r->purged.n = 0;
    pthread_mutex_unlock(&r->lock);
}

void rig_index(struct rig *r, int id, uint64_t version, const char *text)
{
    submit(r, id, &(struct doc_write){.op = DOC_INDEX, .version = version}, text);
}

void rig_fill(struct rig *r, int id, uint64_t version, const char *text)
{
    submit(r, id,
           &(struct doc_write){
               .op = DOC_INDEX, .version = version, .strict = true, .gathered = true},
           text);
}

void rig_delete(struct rig *r, int id, uint64_t version)
{
    submit(r, id, &(struct doc_write){.op = DOC_DELETE, .version = version}, NULL);
}

void rig_refresh(struct rig *r, int id, uint64_t at_least)
{
    submit(r, id, &(struct doc_write){.op = DOC_REFRESH, .version = at_least}, NULL);
}

void rig_refresh_fresh(struct rig *r, int id, uint64_t at_least)
{
    submit(r, id, &(struct doc_write){.op = DOC_REFRESH, .version = at_least, .fresh = true},
           NULL);
}

void rig_refresh_gathered(struct rig *r, int id, uint64_t at_least)
{
    submit(r, id, &(struct doc_write){.op = DOC_REFRESH, .version = at_least, .gathered = true},
           NULL);
}

void rig_index_many(struct rig *r, int id, int n, uint64_t version, const char *text)
{
    struct doc_write *writes = mem_alloc((size_t)n, sizeof(*writes));
    char(*names)[16] = mem_alloc((size_t)n, sizeof(*names));
    struct buf body = {0};
    struct err err;

    buf_append(&body, STR("{\"text\":"));
    buf_append_json(&body, str_from(text));
    buf_append_char(&body, '}');
    for (int i = 0; i < n; i++) {
        snprintf(names[i], sizeof(names[i]), "%d", id + i);
        writes[i] = (struct doc_write){.target = target_ref(r->target),
                                       .ticket = ticket_new(NULL, 0, &r->tickets),
                                       .op = DOC_INDEX,
                                       .version = version + (uint64_t)i,
                                       .id = str_from(names[i]),
                                       .body = buf_str(&body)};
    }
    if (!delivery_submit(r->delivery, writes, (size_t)n, &err))
        fail_msg("%s", err.msg);
    buf_free(&body);
    free(names);
    free(writes);
}

void rig_refresh_at(struct rig *r, int id, uint64_t at_least, const char *routing)
{
    submit(r, id,
           &(struct doc_write){
               .op = DOC_REFRESH, .version = at_least, .routing = str_from(routing)},
           NULL);
}

void rig_leave(struct rig *r, int id, uint64_t version, const char *routing)
{
    submit(
        r, id,
        &(struct doc_write){
            .op = DOC_DELETE, .strict = true, .version = version, .routing = str_from(routing)},
        NULL);
}

void rig_use_area(struct rig *r)
{
    static const struct str areas[] = {{"part", 4}};

    r->target->areas = areas;
    r->target->n_areas = 1;
}

void rig_refresh_area(struct rig *r, int id, uint64_t at_least)
{
    submit(r, id, &(struct doc_write){.op = DOC_REFRESH, .area = 1, .version = at_least}, NULL);
}

static void *push(void *arg)
{
    struct rig_pusher *p = arg;

    for (int i = 0; i < p->n; i++) {
        if (p->text == NULL)
            rig_refresh(p->rig, i, p->at_least);
        else
            rig_index(p->rig, i, 1, p->text);
        __atomic_fetch_add(&p->n_pushed, 1, __ATOMIC_RELAXED);
    }
    return NULL;
}

void rig_push(struct rig *r, struct rig_pusher *p, int n, const char *text)
{
    *p = (struct rig_pusher){.rig = r, .n = n, .text = text};
    p->thread = thread_start("pusher", push, p);
}

void rig_push_refreshes(struct rig *r, struct rig_pusher *p, int n, uint64_t at_least)
{
    *p = (struct rig_pusher){.rig = r, .n = n, .at_least = at_least};
    p->thread = thread_start("pusher", push, p);
}

int rig_pushed(struct rig_pusher *p)
{
    return __atomic_load_n(&p->n_pushed, __ATOMIC_RELAXED);
}
