/*
 * struct address: whether one address of a search cluster may be used, and since when.
 *
 *                failed                    ask, when it is due
 *      UP ----------------------> AWAY --------------------------> ASKED
 *       ^                          |  ^                              |
 *       |        worked            |  |           failed             |
 *       +--------------------------+  +------------------------------+
 *       |                     answered, worked                       |
 *       +------------------------------------------------------------+
 *
 * Requests go to what is UP.  What is AWAY is asked one question at a time, after 1 to 30 s
 * (longer each time, with jitter), and is UP again once it has answered.  How long is forgotten
 * only when a request has worked there: one that answers questions and nothing else is asked
 * ever less often.
 *
 * Pure: the time is handed in, random numbers too.
 */
#ifndef SRC_ADDRESS_H
#define SRC_ADDRESS_H

#include "src/base/backoff.h"
#include "src/base/base.h"

#include <stdbool.h>
#include <stdint.h>

#define ADDRESS_ASIDE_MAX_MS 30000

enum address_state {
    ADDRESS_UP = 0,
    ADDRESS_AWAY,
    ADDRESS_ASKED, /* a request finds out whether it is back */
};

struct address {
    enum address_state state;
    bool is_known;    /* it has answered or failed; else it is only said to be there */
    int64_t since_ms; /* it is UP, or not, since then */
    /* AWAY: it may be asked then.  ASKED: again, as that question was given up. */
    int64_t due_ms;
    struct backoff backoff;
};

/* is_up: requests may go there at once; else it is asked first, now. */
void address_init(struct address *a, bool is_up, int64_t now_ms);

/* May a question be asked now? */
bool address_is_due(const struct address *a, int64_t now_ms);
/* A request to it begins that finds out whether it is back; of one that is UP: nothing. */
void address_ask(struct address *a, int64_t now_ms);

/* A question was answered there. */
void address_answered(struct address *a, int64_t now_ms);
/* A request was. */
void address_worked(struct address *a, int64_t now_ms);
/*
 * A request or a question was not.  Of many that break off together one counts.  True: it was
 * UP until now.
 */
bool address_failed(struct address *a, int64_t now_ms, struct random *r);

#endif
