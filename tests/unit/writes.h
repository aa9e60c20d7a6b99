/* Making writes of documents in tests: small, of one index, with tickets that are counted. */
#ifndef TESTS_UNIT_WRITES_H
#define TESTS_UNIT_WRITES_H

#include "sync/checkpoint/ticket.h"
#include "sync/delivery/document/target.h"
#include "sync/delivery/document/write.h"

static inline struct target *a_target(const char *index)
{
    return target_new(str_from(index), str_from("write_alias"), STR("shop.orders"),
                      STR("shop"));
}

static inline struct write *a_write(struct target *t, enum doc_op op, const char *id,
                                    uint64_t version, const char *body)
{
    return write_new(&(struct doc_write){
        .target = target_ref(t),
        .op = op,
        .version = version,
        .id = str_from(id),
        .key = str_from(id),
        .body = str_from(body),
    });
}

/* With a ticket of its own in c. */
static inline struct write *counted(struct write *w, struct ticket_counters *c)
{
    w->waiter.ticket = ticket_new(NULL, 0, c);
    return w;
}

#endif
