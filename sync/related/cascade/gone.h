/*
 * struct gone_set: documents whose rows a read did not find.  They stay in their index until
 * the rows that went along have been found by them (sync/related/cascade/cascades.h).
 *
 * @thread one at a time; the owner guards it
 */
#ifndef SYNC_RELATED_CASCADE_GONE_H
#define SYNC_RELATED_CASCADE_GONE_H

#include "src/base/base.h"
#include "src/base/str.h"
#include "sync/delivery/document/operation.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct map;

enum gone_state {
    GONE_ASKED = 0, /* a sweep re-reads its row, result unknown */
    GONE_NEW,       /* look for what its row leads to */
    GONE_FOLLOWED,  /* that search is over, or under way */
    GONE_LEAVING,   /* its delete is under way */
};

struct gone_document {
    struct gone_document *next; /* in the list of those to store */
    struct target *target;      /* a reference */
    struct str id, routing, key;
    enum gone_state state;
    bool swept;              /* the sweep has it */
    bool coming;             /* its key is to be stored */
    bool stored;             /* the store has it */
    uint64_t stamp, log_end; /* of the last read that did not find it */
    int64_t since_ms;        /* wall time; 0: from before the start */
    struct ticket **tickets; /* held until the document is stored */
    size_t n_tickets;
    char bytes[]; /* the texts */
};

struct gone_set {
    struct map *docs;    /* by index, routing and _id */
    struct map *indexes; /* name -> struct gone_index */
};

/* The documents of one index. */
struct gone_index {
    char *alias;
    size_t n;
    int64_t since_ms; /* of the oldest, or earlier */
};

void gone_set_init(struct gone_set *s);
/* Abandons all tickets. */
void gone_set_fini(struct gone_set *s);

/* Returns NULL if the set lacks it. */
struct gone_document *gone_set_find(const struct gone_set *s, const struct target *t,
                                    struct str routing, struct str id);
/*
 * Add a new document.  It replaces one with the same place, which then belongs to whoever holds
 * it.
 */
struct gone_document *gone_set_add(struct gone_set *s, const struct gone_row *row,
                                   int64_t since_ms) RETURNS_NONNULL;
/* Remove d, unless another document has replaced it. */
void gone_set_remove(struct gone_set *s, const struct gone_document *d);
size_t gone_set_count(const struct gone_set *s);
size_t gone_set_count_of(const struct gone_set *s, struct str index);
/* Of all indexes of the alias; INT64_MAX if there are none. */
int64_t gone_set_oldest_ms(const struct gone_set *s, struct str alias);
/* Find the oldest again, after many were removed. */
void gone_set_look(struct gone_set *s);
/* for (size_t i = 0; (d = gone_set_next(s, &i)) != NULL;); the loop may remove d. */
struct gone_document *gone_set_next(const struct gone_set *s, size_t *i);

/* Note one more read that did not find the row. */
void gone_document_note(struct gone_document *d, const struct gone_row *row);
/* Let these tickets wait until the document is stored; takes them over. */
void gone_document_wait(struct gone_document *d, struct ticket *const *tickets, size_t n);
/* Abandons the tickets that it still has. */
void gone_document_free(struct gone_document *d);

#endif
