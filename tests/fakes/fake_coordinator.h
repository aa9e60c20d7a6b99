/*
 * A coordinator that does nothing: it writes down how it was called and answers as told.
 *
 * Links in place of the real one.
 */
#ifndef TESTS_FAKES_FAKE_COORDINATOR_H
#define TESTS_FAKES_FAKE_COORDINATOR_H

#include "src/base/err.h"

#include <stdbool.h>

struct fake_coordinator {
    char call[1024];    /* the last one: its name and what it was given */
    const char *answer; /* what the next calls write; NULL: {} */
    struct err fail;    /* kind other than ERR_NONE: the next calls fail with it */
    bool not_ready;
    int delay_ms; /* how long each call takes */
};

/* Opened by nobody: a test uses it as it is. */
extern struct fake_coordinator fake_coordinator;
struct coordinator *fake_coordinator_get(void);

/* Whether a call was noted, for other threads than the one that calls. */
bool fake_coordinator_was_called(void);
/* Calls that begin wait until hold is taken back. */
void fake_coordinator_hold(bool hold);

/* A status with all there is: two topics, four tables, a build. */
extern const char fake_status[];

#endif
