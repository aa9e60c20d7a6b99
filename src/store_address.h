/*
 * mysql://user@host:port/database, the address of a store.
 */
#ifndef SRC_STORE_ADDRESS_H
#define SRC_STORE_ADDRESS_H

#include "src/base/base.h"
#include "src/base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct store_address {
    char *user, *host, *database;
    uint16_t port;
};

/* Refuses a password, which does not belong into an address.  To be released. */
bool store_address_parse(struct store_address *out, const char *text,
                         struct err *err) MUST_CHECK;
void store_address_free(struct store_address *a);

#endif
