#include "config.h"

#include "sync/read/source_registry.h"

#include "src/base/backoff.h"
#include "src/base/clock.h"
#include "src/base/lock.h"
#include "src/base/mem.h"
#include "sync/server/server_access.h"

#include <stdlib.h>
#include <string.h>

struct registry_entry {
    struct registry_entry *next;
    char *topic;
    struct registered_source source;
    struct absence absence;
};

struct source_registry {
    struct lock lock;

    /* All guarded by lock. */
    struct registry_entry *first;
};

struct source_registry *source_registry_new(void)
{
    struct source_registry *p = mem_alloc(1, sizeof(*p));

    lock_init(&p->lock, LOCK_private);
    return p;
}

static void keep(const struct registered_source *s)
{
    server_access_ref(s->server);
    s->ref(s->owner);
}

void registered_source_release(struct registered_source *s)
{
    server_access_unref(s->server);
    if (s->owner != NULL)
        s->unref(s->owner);
    *s = (struct registered_source){0};
}

static void free_entry(struct registry_entry *e)
{
    registered_source_release(&e->source);
    free(e->topic);
    free(e);
}

void source_registry_free(struct source_registry *p)
{
    if (p == NULL)
        return;
    while (p->first != NULL) {
        struct registry_entry *e = p->first;

        p->first = e->next;
        free_entry(e);
    }
    lock_fini(&p->lock);
    free(p);
}

/* Returns where the topic's entry hangs, or the end of the list. */
static struct registry_entry **place_of(struct source_registry *p, struct str topic)
    NEEDS(p->lock)
{
    struct registry_entry **at = &p->first;

    while (*at != NULL && !str_equal(str_from((*at)->topic), topic))
        at = &(*at)->next;
    return at;
}

void source_registry_put(struct source_registry *p, struct str topic,
                         const struct registered_source *source)
{
    struct registry_entry *e = mem_alloc(1, sizeof(*e)), *before = NULL;

    e->topic = strndup(topic.ptr, topic.len);
    e->source = *source;
    keep(source);
    lock_acquire(&p->lock);

    struct registry_entry **at = place_of(p, topic);

    before = *at;
    e->next = before == NULL ? NULL : before->next;
    *at = e;
    lock_release(&p->lock);
    if (before != NULL)
        free_entry(before);
}

void source_registry_remove(struct source_registry *p, struct str topic,
                            const struct read_position *reader)
{
    struct registry_entry *gone = NULL;

    lock_acquire(&p->lock);

    struct registry_entry **at = place_of(p, topic);

    if (*at != NULL && (*at)->source.reader == reader) {
        gone = *at;
        *at = gone->next;
    }
    lock_release(&p->lock);
    if (gone != NULL)
        free_entry(gone);
}

bool source_registry_find(struct source_registry *p, struct str topic,
                          struct registered_source *out)
{
    bool found = false;

    lock_acquire(&p->lock);

    const struct registry_entry *e = *place_of(p, topic);

    if (e != NULL) {
        *out = e->source;
        keep(out);
        found = true;
    }
    lock_release(&p->lock);
    return found;
}

bool source_registry_may_try(struct source_registry *p, struct str topic)
{
    const int64_t now_ms = clock_mono_ms();

    lock_acquire(&p->lock);

    struct registry_entry *e = *place_of(p, topic);
    const bool may = e == NULL || absence_may_try(&e->absence, now_ms);

    lock_release(&p->lock);
    return may;
}

void source_registry_tell(struct source_registry *p, struct str topic, bool there)
{
    const int64_t now_ms = clock_mono_ms();

    lock_acquire(&p->lock);

    struct registry_entry *e = *place_of(p, topic);

    if (e != NULL)
        absence_tell(&e->absence, there, now_ms);
    lock_release(&p->lock);
}
