/*
 * The process as a service: signals, the service manager, limits.
 *
 * service_init() comes before any thread, since it blocks the signals that service_wait() then
 * takes; every later thread inherits that.
 *
 * @thread main
 */
#ifndef SRC_SERVICE_H
#define SRC_SERVICE_H

#include "src/base/base.h"

#include <stdint.h>

enum service_event {
    SERVICE_STOP = 0, /* TERM or INT */
    SERVICE_RELOAD,   /* HUP */
};

/* Block the signals, ignore PIPE, no core files (they would hold row values), umask 077. */
void service_init(void);

/* Wait for what comes next; keeps the service manager's watchdog fed meanwhile. */
enum service_event service_wait(void);

/* From now on a further TERM or INT ends the process at once.  Call when stopping begins. */
void service_stop_at_once_on_signal(void);

/* Tell the service manager, if there is one (sd_notify(3)); lines are separated by '\n'. */
void service_notify(const char *state);

#endif
