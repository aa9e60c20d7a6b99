#include "config.h"

#include "sync/peers.h"

#include "src/base/clock.h"
#include "src/base/mem.h"
#include "sync/absence.h"
#include "sync/server_access.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct entry {
    struct entry *next;
    char *topic;
    struct peer peer;
    struct absence absence;
};

struct peers {
    pthread_mutex_t lock;

    /* All guarded by lock. */
    struct entry *first;
};

struct peers *peers_new(void)
{
    struct peers *p = mem_alloc(1, sizeof(*p));

    pthread_mutex_init(&p->lock, NULL);
    return p;
}

static void free_entry(struct entry *e)
{
    server_access_unref(e->peer.server);
    free(e->topic);
    free(e);
}

void peers_free(struct peers *p)
{
    if (p == NULL)
        return;
    while (p->first != NULL) {
        struct entry *e = p->first;

        p->first = e->next;
        free_entry(e);
    }
    pthread_mutex_destroy(&p->lock);
    free(p);
}

/* Under lock: where its entry hangs, or the end of the list. */
static struct entry **place_of(struct peers *p, struct str topic)
{
    struct entry **at = &p->first;

    while (*at != NULL && !str_equal(str_from((*at)->topic), topic))
        at = &(*at)->next;
    return at;
}

void peers_put(struct peers *p, struct str topic, const struct peer *peer)
{
    struct entry *e = mem_alloc(1, sizeof(*e)), *before = NULL;

    e->topic = strndup(topic.ptr, topic.len);
    e->peer = *peer;
    server_access_ref(peer->server);
    pthread_mutex_lock(&p->lock);

    struct entry **at = place_of(p, topic);

    before = *at;
    e->next = before == NULL ? NULL : before->next;
    *at = e;
    pthread_mutex_unlock(&p->lock);
    if (before != NULL)
        free_entry(before);
}

void peers_remove(struct peers *p, struct str topic, const struct read_position *reader)
{
    struct entry *gone = NULL;

    pthread_mutex_lock(&p->lock);

    struct entry **at = place_of(p, topic);

    if (*at != NULL && (*at)->peer.reader == reader) {
        gone = *at;
        *at = gone->next;
    }
    pthread_mutex_unlock(&p->lock);
    if (gone != NULL)
        free_entry(gone);
}

bool peers_find(struct peers *p, struct str topic, struct peer *out)
{
    bool found = false;

    pthread_mutex_lock(&p->lock);

    const struct entry *e = *place_of(p, topic);

    if (e != NULL) {
        *out = e->peer;
        server_access_ref(out->server);
        found = true;
    }
    pthread_mutex_unlock(&p->lock);
    return found;
}

bool peers_may_try(struct peers *p, struct str topic)
{
    const int64_t now_ms = clock_mono_ms();

    pthread_mutex_lock(&p->lock);

    struct entry *e = *place_of(p, topic);
    const bool may = e == NULL || absence_may_try(&e->absence, now_ms);

    pthread_mutex_unlock(&p->lock);
    return may;
}

void peers_tell(struct peers *p, struct str topic, bool there)
{
    const int64_t now_ms = clock_mono_ms();

    pthread_mutex_lock(&p->lock);

    struct entry *e = *place_of(p, topic);

    if (e != NULL)
        absence_tell(&e->absence, there, now_ms);
    pthread_mutex_unlock(&p->lock);
}
