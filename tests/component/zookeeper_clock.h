/*
 * The clocks of this program, as a test wants them: this replaces the library's clock_gettime()
 * for Millrace, which counts the time that the machine sleeps, and for the ZooKeeper client,
 * which does not.
 *
 * @thread any
 */
#ifndef TESTS_COMPONENT_ZOOKEEPER_CLOCK_H
#define TESTS_COMPONENT_ZOOKEEPER_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* The machine slept just now. */
void let_machine_sleep(int64_t ms);
/* The client has no patience left for what it waits for, or never loses it. */
void let_client_age(int64_t ms);
void stop_client_clock(bool stops);

#endif
