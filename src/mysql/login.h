/*
 * Which log-in methods a connection allows, so that an impostor server gets no password.
 *
 * Any server may ask for a proof (native passwords, ed25519, PARSEC). A method that encrypts
 * the password with a key that the server offers needs a connection that nobody can intercept,
 * or a key known in advance. A method that sends the password itself needs a server whose
 * certificate we verified. TLS without verification (verify: false) does not count: a man in
 * the middle can decrypt it.
 *
 * @thread any (pure)
 */
#ifndef SRC_MYSQL_LOGIN_H
#define SRC_MYSQL_LOGIN_H

#include "src/base/base.h"
#include "src/base/str.h"

#include <stdbool.h>

/* Returns true for an address on this machine, whatever a name server says. address is host,
 * host:port or a socket path. */
bool mysql_login_is_local(struct str address);

enum mysql_login {
    MYSQL_LOGIN_PROVEN = 0, /* proofs only */
    MYSQL_LOGIN_ENCRYPTED,  /* also a password encrypted with the server's key */
    MYSQL_LOGIN_ANY,        /* also the plain password */
};
/*
 * has_key: the server's public key is known in advance. address: as for mysql_login_is_local().
 */
enum mysql_login mysql_login_allowed(bool has_tls, bool is_verified, bool has_key,
                                     struct str address);

/* Returns the allowed methods under the servers' names, separated by commas; static. */
const char *mysql_login_methods(enum mysql_login allowed);

#endif
