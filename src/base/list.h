/*
 * Intrusive doubly-linked lists: the listed object contains a struct link.
 *
 * The list itself is a struct link that points to its first and last object. The two pointers
 * of an unlisted object are NULL. Removing needs no search.
 */
#ifndef SRC_BASE_LIST_H
#define SRC_BASE_LIST_H

#include "src/base/base.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>

struct link {
    struct link *prev, *next;
};

static inline void list_init(struct link *list)
{
    list->prev = list->next = list;
}

static inline bool list_is_empty(const struct link *list)
{
    return list->next == list;
}

static inline bool link_is_listed(const struct link *l)
{
    return l->next != NULL;
}

static inline void link_insert(struct link *l, struct link *before)
{
    assert(!link_is_listed(l));
    l->prev = before->prev;
    l->next = before;
    l->prev->next = l;
    before->prev = l;
}

static inline void list_push_back(struct link *list, struct link *l)
{
    link_insert(l, list);
}

static inline void list_push_front(struct link *list, struct link *l)
{
    link_insert(l, list->next);
}

static inline void list_remove(struct link *l)
{
    l->prev->next = l->next;
    l->next->prev = l->prev;
    l->prev = l->next = NULL;
}

/* Returns NULL if the list is empty. */
static inline struct link *list_first(const struct link *list)
{
    return list_is_empty(list) ? NULL : list->next;
}

#define LIST_ITEM(l, type, member) CONTAINER_OF(l, type, member)

/* The loop body may remove l. */
#define LIST_EACH(l, list)                                                 \
    for (struct link *l = (list)->next, *l##_next_ = l->next; l != (list); \
         l = l##_next_, l##_next_ = l->next)

#endif
