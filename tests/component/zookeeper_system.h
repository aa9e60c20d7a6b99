/*
 * What this program asks the system for, as a test wants it: the time and the names of hosts.
 * It replaces the C library's clock_gettime() and getaddrinfo() for Millrace and for the
 * ZooKeeper client.
 *
 * @thread any
 */
#ifndef TESTS_COMPONENT_ZOOKEEPER_SYSTEM_H
#define TESTS_COMPONENT_ZOOKEEPER_SYSTEM_H

#include <stdbool.h>
#include <stdint.h>

/* The machine slept just now: Millrace's clock went on, and the client's did not. */
void let_machine_sleep(int64_t ms);
/* The client's clock went on, and Millrace's did not. */
void let_client_age(int64_t ms);
/* While it stands still the client does not give up what it waits for. */
void stop_client_clock(bool stops);
/* How often a name was looked up so far. */
unsigned count_lookups(void);

#endif
