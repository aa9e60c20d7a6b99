/*
 * The certificate of the port, its private key, and the ciphers that the port takes.
 *
 * Immutable and shared: each connection keeps those that it began with, so new ones may come
 * while it lasts.
 *
 * @thread any
 */
#ifndef WEB_TLS_KEYS_H
#define WEB_TLS_KEYS_H

#include "src/base/base.h"
#include "src/base/err.h"

#include <gnutls/gnutls.h>
#include <stdbool.h>
#include <stdint.h>

struct tls_keys;

struct tls_keys_source {
    const char *cert_file;   /* PEM: the certificate, then those of its authorities */
    const char *key_file;    /* PEM, without a password */
    const char *min_version; /* "1.2" or "1.3" */
};

/*
 * Read the files.  Blocks on them.  ERR_REJECT names the setting: a file that is not there or
 * no PEM, a key of another certificate, a key that others may read.
 */
bool tls_keys_open(struct tls_keys **out, const struct tls_keys_source *from,
                   struct err *err) MUST_CHECK;
struct tls_keys *tls_keys_ref(struct tls_keys *k) RETURNS_NONNULL MUST_CHECK;
void tls_keys_unref(struct tls_keys *k); /* NULL is fine */

/* When the certificate ends: wall time, in milliseconds. */
int64_t tls_keys_end_ms(const struct tls_keys *k);

/*
 * A new session of the server's side; gnutls_deinit() it before k goes.  NULL: out of memory.
 * Does not block later: its calls say GNUTLS_E_AGAIN.
 */
gnutls_session_t tls_keys_session(const struct tls_keys *k, int fd) MUST_CHECK;

#endif
