/*
 * The address of a MySQL store: mysql://user@host:port/database.
 */
#ifndef SRC_CONFIG_STORE_ADDRESS_H
#define SRC_CONFIG_STORE_ADDRESS_H

#include "src/base/base.h"
#include "src/base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct store_address {
    char *user, *host, *database;
    uint16_t port;
};

/* Refuses a password in the address.  Release with store_address_free(). */
bool store_address_parse(struct store_address *out, const char *text,
                         struct err *err) MUST_CHECK;
void store_address_free(struct store_address *a);

#endif
