/*
 * The process as a service: signals, the service manager, limits.
 *
 * Call service_init() before starting any thread: it blocks the signals that service_wait()
 * takes, and each later thread inherits that mask.
 *
 * @thread main
 */
#ifndef SRC_APP_SERVICE_H
#define SRC_APP_SERVICE_H

#include "src/base/base.h"

#include <stdbool.h>
#include <stdint.h>

enum service_event {
    SERVICE_STOP = 0, /* TERM or INT */
    SERVICE_RELOAD,   /* HUP */
};

/*
 * Block the signals, ignore SIGPIPE, forbid core files (they would hold row values), set umask
 * 077, and raise the limit of open files to its maximum.
 */
void service_init(void);

/* Block these signals alone, for service_stops_within(). */
void service_block_signals(void);

/* Block until the next event; meanwhile keep feeding the service manager's watchdog. */
enum service_event service_wait(void);

/* Wait up to ms milliseconds; return true if TERM or INT came.  Leaves HUP pending. */
bool service_stops_within(int64_t ms);

/*
 * From now on, a further TERM or INT ends the process at once.  Call this when stopping begins.
 */
void service_stop_at_once_on_signal(void);

/* Notify the service manager, if any (sd_notify(3)).  Lines are separated by '\n'. */
void service_notify(const char *state);

#endif
