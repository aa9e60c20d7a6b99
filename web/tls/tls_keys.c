#include "config.h"

#include "web/tls/tls_keys.h"

#include "src/base/buf.h"
#include "src/base/mem.h"
#include "src/file/whole_file.h"

#include <errno.h>
#include <gnutls/x509.h>
#include <stdlib.h>
#include <string.h>

/* Keys that are made for each connection, and ciphers that authenticate what they hide. */
#define SUITES                                                                     \
    "NORMAL:-VERS-ALL:+VERS-TLS1.3%s:-CIPHER-ALL:+AES-256-GCM:+CHACHA20-POLY1305:" \
    "+AES-128-GCM:-KX-ALL:+ECDHE-ECDSA:+ECDHE-RSA:%%SERVER_PRECEDENCE"

struct tls_keys {
    unsigned n_refs; /* atomic */
    gnutls_certificate_credentials_t credentials;
    gnutls_priority_t priority;
    int64_t end_ms;
};

/* ---- the files ---- */

static bool read_file(struct buf *out, const char *setting, const char *path, bool is_secret,
                      struct err *err)
{
    bool exposed = false;

    if (!whole_file_read(path, out, &exposed))
        return err_set_code(err, ERR_REJECT, "errno", errno, "%s: %s: %s", setting, path,
                            strerror(errno));
    return !is_secret || !exposed ||
           err_set(err, ERR_REJECT, "%s: others may read or change %s; fix: chmod 600 %s",
                   setting, path, path);
}

static gnutls_datum_t datum(const struct buf *b)
{
    return (gnutls_datum_t){(unsigned char *)b->ptr, (unsigned)b->len};
}

/* What cannot be read as PEM, or does not fit, is told by its setting. */
static bool refuse(struct err *err, const char *setting, const char *path, int code)
{
    return err_set_code(
        err, ERR_REJECT, "gnutls", code, "%s: %s: %s; fix: %s", setting, path,
        gnutls_strerror(code),
        code == GNUTLS_E_CERTIFICATE_KEY_MISMATCH
            ? "name the key that the certificate was made with"
            : "name a file in PEM, as the authority or openssl writes it; a key "
              "must not need a password");
}

/* When the first certificate, which is the port's own, ends. */
static bool read_end(struct tls_keys *k, const struct tls_keys_source *from,
                     const struct buf *pem, struct err *err)
{
    const gnutls_datum_t text = datum(pem);
    gnutls_x509_crt_t *certificates = NULL;
    unsigned n = 0;
    const int code =
        gnutls_x509_crt_list_import2(&certificates, &n, &text, GNUTLS_X509_FMT_PEM, 0);

    if (code < 0)
        return refuse(err, "web_tls.cert_file", from->cert_file, code);
    k->end_ms = (int64_t)gnutls_x509_crt_get_expiration_time(certificates[0]) * 1000;
    for (unsigned i = 0; i < n; i++)
        gnutls_x509_crt_deinit(certificates[i]);
    gnutls_free(certificates);
    return true;
}

static bool take_files(struct tls_keys *k, const struct tls_keys_source *from, struct buf *cert,
                       struct buf *key, struct err *err)
{
    if (!read_file(cert, "web_tls.cert_file", from->cert_file, false, err) ||
        !read_end(k, from, cert, err) ||
        !read_file(key, "web_tls.key_file", from->key_file, true, err))
        return false;

    const gnutls_datum_t c = datum(cert), s = datum(key);
    const int code =
        gnutls_certificate_set_x509_key_mem(k->credentials, &c, &s, GNUTLS_X509_FMT_PEM);

    return code >= 0 || refuse(err, "web_tls.key_file", from->key_file, code);
}

static bool load(struct tls_keys *k, const struct tls_keys_source *from, struct err *err)
{
    struct buf cert = {0}, key = {0};
    const bool ok = take_files(k, from, &cert, &key, err);

    if (key.ptr != NULL)
        explicit_bzero(key.ptr, key.cap);
    buf_free(&key);
    buf_free(&cert);
    return ok;
}

/* ---- life ---- */

static bool prepare(struct tls_keys *k, const char *min_version, struct err *err)
{
    struct buf text = {0};

    if (gnutls_certificate_allocate_credentials(&k->credentials) != 0)
        return err_set(err, ERR_FATAL, "web_tls: out of memory");
    buf_printf(&text, SUITES, strcmp(min_version, "1.3") == 0 ? "" : ":+VERS-TLS1.2");

    const int code = gnutls_priority_init(&k->priority, text.ptr, NULL);

    buf_free(&text);
    return code == 0 || err_set_code(err, ERR_REJECT, "gnutls", code,
                                     "web_tls.min_version: the library of TLS refuses: %s",
                                     gnutls_strerror(code));
}

bool tls_keys_open(struct tls_keys **out, const struct tls_keys_source *from, struct err *err)
{
    struct tls_keys *k = mem_alloc(1, sizeof(*k));

    *k = (struct tls_keys){.n_refs = 1};
    if (!prepare(k, from->min_version, err) || !load(k, from, err)) {
        tls_keys_unref(k);
        return false;
    }
    *out = k;
    return true;
}

struct tls_keys *tls_keys_ref(struct tls_keys *k)
{
    __atomic_add_fetch(&k->n_refs, 1, __ATOMIC_RELAXED);
    return k;
}

void tls_keys_unref(struct tls_keys *k)
{
    if (k == NULL || __atomic_sub_fetch(&k->n_refs, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    if (k->priority != NULL)
        gnutls_priority_deinit(k->priority);
    if (k->credentials != NULL)
        gnutls_certificate_free_credentials(k->credentials);
    free(k);
}

int64_t tls_keys_end_ms(const struct tls_keys *k)
{
    return k->end_ms;
}

gnutls_session_t tls_keys_session(const struct tls_keys *k, int fd)
{
    gnutls_session_t s;

    if (gnutls_init(&s, GNUTLS_SERVER | GNUTLS_NONBLOCK | GNUTLS_NO_SIGNAL) != 0)
        return NULL;
    if (gnutls_priority_set(s, k->priority) != 0 ||
        gnutls_credentials_set(s, GNUTLS_CRD_CERTIFICATE, k->credentials) != 0) {
        gnutls_deinit(s);
        return NULL;
    }
    gnutls_transport_set_int(s, fd);
    return s;
}
