#include "config.h"

#include "rebalance/words/pulls.h"

#include "src/base/clock.h"
#include "src/base/lock.h"
#include "src/base/mem.h"

#include <stdlib.h>
#include <string.h>

struct pulls {
    struct lock lock;
    /* All guarded by lock. */
    struct pull list[PULLS_MAX];
    size_t n;
};

struct pulls *pulls_new(void)
{
    struct pulls *p = mem_alloc(1, sizeof(*p));

    lock_init(&p->lock, LOCK_private);
    return p;
}

void pulls_free(struct pulls *p)
{
    if (p == NULL)
        return;
    lock_fini(&p->lock);
    free(p);
}

static void set_text(char *out, size_t size, struct str text)
{
    const size_t n = text.len < size ? text.len : size - 1;

    if (n > 0)
        memcpy(out, text.ptr, n);
    out[n] = '\0';
}

/* A new entry, in the place of the one that asked least lately if there is no other. */
static struct pull *take_place(struct pulls *p) NEEDS(p->lock)
{
    struct pull *oldest = &p->list[0];

    if (p->n < PULLS_MAX)
        return &p->list[p->n++];
    for (size_t i = 1; i < p->n; i++)
        if (p->list[i].asked_ms < oldest->asked_ms)
            oldest = &p->list[i];
    return oldest;
}

static struct pull *find(struct pulls *p, const struct word_pull *who) NEEDS(p->lock)
{
    struct pull *new;

    for (size_t i = 0; i < p->n; i++)
        if (str_equal(who->list, str_from(p->list[i].list)) &&
            str_equal(who->address, str_from(p->list[i].address)))
            return &p->list[i];
    new = take_place(p);
    *new = (struct pull){0};
    set_text(new->list, sizeof(new->list), who->list);
    set_text(new->address, sizeof(new->address), who->address);
    return new;
}

void pulls_note(struct pulls *p, const struct word_pull *who, const char *etag, bool sent)
{
    const int64_t now_ms = clock_wall_ms();

    lock_acquire(&p->lock);

    struct pull *entry = find(p, who);

    entry->asked_ms = now_ms;
    if (sent)
        entry->pulled_ms = now_ms;
    if (sent)
        set_text(entry->etag, sizeof(entry->etag), str_from(etag));
    else if (who->has.len > 0)
        set_text(entry->etag, sizeof(entry->etag), who->has);
    lock_release(&p->lock);
}

size_t pulls_copy(struct pulls *p, struct pull *out)
{
    lock_acquire(&p->lock);

    const size_t n = p->n;

    memcpy(out, p->list, n * sizeof(*out));
    lock_release(&p->lock);
    return n;
}
