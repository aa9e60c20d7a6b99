/*
 * struct address: whether we may use one address of a search cluster, and since when.
 *
 *                failed                    ask, when it is due
 *      UP ----------------------> AWAY --------------------------> ASKED
 *       ^                          |  ^                              |
 *       |        worked            |  |           failed             |
 *       +--------------------------+  +------------------------------+
 *       |                     answered, worked                       |
 *       +------------------------------------------------------------+
 *
 * Requests go to addresses that are UP. We probe an AWAY address with one question at a time,
 * after 1 to 30 s (longer each time, with jitter); an answer makes it UP again. Only a
 * successful request resets the delay, so we probe ever less often an address that answers
 * questions and nothing else.
 *
 * Pure: the caller passes the time and the random numbers.
 */
#ifndef SRC_NET_ADDRESS_H
#define SRC_NET_ADDRESS_H

#include "src/base/backoff.h"
#include "src/base/base.h"

#include <stdbool.h>
#include <stdint.h>

#define ADDRESS_ASIDE_MAX_MS 30000

enum address_state {
    ADDRESS_UP = 0,
    ADDRESS_AWAY,
    ADDRESS_ASKED, /* a probe is finding out whether it is back */
};

struct address {
    enum address_state state;
    bool is_known;    /* it has answered or failed; otherwise nobody has tried it yet */
    int64_t since_ms; /* time of the last change between UP and not UP */
    /* AWAY: when to probe. ASKED: when to give that probe up and send another. */
    int64_t due_ms;
    struct backoff backoff;
};

/* is_up: requests may go there at once. Otherwise a probe, due now, must succeed first. */
void address_init(struct address *a, bool is_up, int64_t now_ms);

/* Returns true if a probe is due. */
bool address_is_due(const struct address *a, int64_t now_ms);
/* Records the start of a probe. Does nothing if the address is UP. */
void address_ask(struct address *a, int64_t now_ms);

/* Records the answer to a probe. */
void address_answered(struct address *a, int64_t now_ms);
/* Records a successful request. */
void address_worked(struct address *a, int64_t now_ms);
/*
 * Records a failed request or probe. Many that break off together count once. Returns true if
 * the address was UP until now.
 */
bool address_failed(struct address *a, int64_t now_ms, struct random *r);

#endif
