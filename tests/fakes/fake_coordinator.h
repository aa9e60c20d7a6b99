/*
 * A coordinator that does nothing: it writes down how it was called and answers as told.
 *
 * Links in place of the real one.
 */
#ifndef TESTS_FAKES_FAKE_COORDINATOR_H
#define TESTS_FAKES_FAKE_COORDINATOR_H

#include "src/base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct fake_coordinator {
    char call[1024];    /* the last one: its name and what it was given */
    const char *answer; /* what the next calls write; NULL: {} */
    bool tokens_ended;  /* atomic: no token is one any more */
    struct err fail;    /* kind other than ERR_NONE: the next calls fail with it */
    bool not_ready;
    bool has_no_admin;
    int delay_ms; /* how long each call takes */

    /* Nodes that share the store: a topic has the name of its tables' database. */
    bool is_shared;
    const char *others; /* the topic that another node owns; NULL: none */
    int others_status;  /* what its owner answers beside `answer`; 0: nobody takes requests */
    bool wish_is_open;  /* atomic: a wish for the topic "shop" of this node waits */
    int64_t wish_ms;    /* when it was put */
    const char *wish;   /* its method, target and body, each but the last up to a space */
    int wish_status;    /* what it ended with */
    char wish_answer[1024];
};

/* Opened by nobody: a test uses it as it is. */
extern struct fake_coordinator fake_coordinator;
struct coordinator *fake_coordinator_get(void);

/* Whether a call was noted, for other threads than the one that calls. */
bool fake_coordinator_was_called(void);
/* Set `answer` while other threads call. */
void fake_coordinator_set_answer(const char *answer);
/* Calls that begin wait until hold is taken back. */
void fake_coordinator_hold(bool hold);

/* A status with all there is: two topics, four tables, a build. */
extern const char fake_status[];

#endif
