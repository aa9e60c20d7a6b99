#include "config.h"

#include "rebalance/coordination/zookeeper_parts.h"

#include "src/base/mem.h"

#include <stdlib.h>
#include <string.h>

static struct note *find_note(const struct zookeeper *z, enum note_kind kind, struct str name)
    NEEDS(z->lock)
{
    LIST_EACH(l, &z->notes)
    {
        struct note *n = LIST_ITEM(l, struct note, link);

        if (n->kind == kind && str_equal(buf_str(&n->name), name))
            return n;
    }
    return NULL;
}

static struct note *make_note(enum note_kind kind, struct str name)
{
    struct note *n = mem_alloc(1, sizeof(*n));

    n->kind = kind;
    buf_append(&n->name, name);
    return n;
}

static void put(struct zookeeper *z, enum note_kind kind, struct str name) NEEDS(z->lock)
{
    if (find_note(z, kind, name) == NULL)
        list_push_back(&z->notes, &make_note(kind, name)->link);
}

void zookeeper_notes_put_first(struct zookeeper *z, enum note_kind kind, struct str name)
{
    if (find_note(z, kind, name) == NULL)
        list_push_front(&z->notes, &make_note(kind, name)->link);
}

void zookeeper_notes_add(struct zookeeper *z, enum note_kind kind, struct str name)
{
    lock_acquire(&z->lock);
    put(z, kind, name);
    lock_release(&z->lock);
}

/* What can be done with most events needs a connection. */
static struct link *first_note(const struct zookeeper *z) NEEDS(z->lock)
{
    LIST_EACH(l, &z->notes)
    {
        const enum note_kind kind = LIST_ITEM(l, struct note, link)->kind;

        if (z->state.status == COORDINATION_CONNECTED || kind == NOTE_STATE ||
            kind == NOTE_TAKEN)
            return l;
    }
    return NULL;
}

static void free_note(struct note *n)
{
    list_remove(&n->link);
    buf_free(&n->name);
    free(n);
}

void zookeeper_notes_drop_all(struct zookeeper *z)
{
    lock_acquire(&z->lock);
    LIST_EACH(l, &z->notes)
    {
        free_note(LIST_ITEM(l, struct note, link));
    }
    lock_release(&z->lock);
}

void zookeeper_notes_drop(struct zookeeper *z, enum note_kind kind, struct str name)
{
    lock_acquire(&z->lock);

    struct note *n = find_note(z, kind, name);

    if (n != NULL)
        free_note(n);
    lock_release(&z->lock);
}

bool zookeeper_notes_take(struct zookeeper *z, enum note_kind *kind)
{
    lock_acquire(&z->lock);

    struct link *first = first_note(z);

    if (first != NULL) {
        struct note *n = LIST_ITEM(first, struct note, link);

        *kind = n->kind;
        buf_clear(&z->told_name);
        buf_append(&z->told_name, buf_str(&n->name));
        free_note(n);
    }
    lock_release(&z->lock);
    return first != NULL;
}

/* Takes "name/" or "name" from the front. */
static struct str take_name(struct str *path)
{
    const char *slash = path->len > 0 ? memchr(path->ptr, '/', path->len) : NULL;
    const struct str name = {path->ptr,
                             slash != NULL ? (size_t)(slash - path->ptr) : path->len};
    const size_t gone = slash != NULL ? name.len + 1 : name.len;

    *path = (struct str){path->ptr + gone, path->len - gone};
    return name;
}

static enum note_kind tell_what(struct str path, struct str *name)
{
    const struct str folder = take_name(&path);

    *name = take_name(&path);
    if (str_equal(folder, STR("locks")))
        return NOTE_LOCK;
    if (str_equal(folder, STR("nodes")) && name->len == 0)
        return NOTE_NODES;
    if (str_equal(folder, STR("nodes")))
        return NOTE_NODE;
    *name = folder;
    return NOTE_VALUE;
}

void zookeeper_notes_on_change(zhandle_t *client, int type, int state, const char *path,
                               void *ctx)
{
    struct zookeeper *z = MAGIC_CAST(zookeeper, ctx);
    const struct str all = str_from(path != NULL ? path : "");
    struct str name;

    (void)client, (void)state;
    if (type == ZOO_SESSION_EVENT || all.len <= z->root.len + 1)
        return;

    const struct str below = {all.ptr + z->root.len + 1, all.len - z->root.len - 1};
    const enum note_kind kind = tell_what(below, &name);

    lock_acquire(&z->lock);

    const bool is_news = !str_equal(all, buf_str(&z->released));

    if (is_news)
        put(z, kind, name);
    lock_release(&z->lock);
    if (is_news)
        z->wake(z->wake_ctx);
}
