/*
 * What the sender does by itself in each turn of the delivery thread: bring back what is due,
 * make room, repeat deletes; and what it may send.
 *
 * @thread delivery's
 */
#ifndef SYNC_DELIVERY_TURN_H
#define SYNC_DELIVERY_TURN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct index_queue;
struct sender;

/* Bring back what is due, store dead letters, settle the budget. */
void sender_turn(struct sender *s);
/* Settle the budget, so that submitters see how much is held. */
void sender_settle(struct sender *s);
/* Tell whether a helper is free. */
bool sender_may_send(const struct sender *s);
/*
 * Tell whether a free helper may send to o: memory has room for one more body; or neither o has
 * a request in flight nor any index one that went without room.
 */
bool sender_may_send_to(const struct sender *s, const struct index_queue *o);
/* Whether a drain sends what this index has. */
bool sender_drains(const struct sender *s, const struct index_queue *o);
/* Tell whether memory has room to send to the index, or read for it, if so many bytes come. */
bool sender_has_room(const struct sender *s, const struct index_queue *o, size_t coming);
/* Return the milliseconds, at most max_ms, until sender_turn() has something new to do. */
int64_t sender_wait_ms(const struct sender *s, int64_t max_ms);

/*
 * Tell whether everything left belongs to indexes that are held or take nothing, or nothing is
 * left.
 */
bool sender_is_stuck(const struct sender *s);

#endif
