#include "config.h"

#include "src/file/seal.h"

#include "src/base/buf.h"
#include "src/base/hex.h"
#include "src/base/mem.h"
#include "src/file/secret_file.h"
#include "src/format/json.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PREFIX   STR("sealed:1:")
#define KEY_SIZE 32 /* SIV takes two AES-128 keys */
#define TAG_SIZE 16

struct seal {
    unsigned char key[KEY_SIZE];
};

/* The label takes the nonce's part: SIV allows a constant nonce. */
static const unsigned char nonce[TAG_SIZE] = "millrace sealed";

/* ---- the key ---- */

static bool parse_hex(struct str text, unsigned char *out, size_t n)
{
    bool ok = text.len == 2 * n;

    for (size_t i = 0; ok && i < n; i++) {
        const int byte = hex_byte(text, 2 * i);

        ok = byte >= 0;
        out[i] = (unsigned char)byte;
    }
    return ok;
}

static bool write_whole(int fd, struct str text)
{
    return write(fd, text.ptr, text.len) == (ssize_t)text.len && fsync(fd) == 0;
}

/* Makes a new name survive a power cut. */
static bool sync_folder_of(const char *path)
{
    struct buf folder = {0};

    buf_append(&folder, str_from(path));
    while (folder.len > 0 && folder.ptr[folder.len - 1] != '/')
        folder.len--;
    buf_append(&folder, STR("."));

    const int fd = open(folder.ptr, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const bool ok = fd >= 0 && fsync(fd) == 0;
    const int why = errno;

    if (fd >= 0)
        close(fd);
    buf_free(&folder);
    errno = why;
    return ok;
}

/* Writes the key to a temporary file and links it to its name once complete, unless another
 * process was first. So nobody ever sees half a key. */
static bool make_file(const char *path, struct err *err)
{
    unsigned char key[KEY_SIZE];
    struct buf text = {0}, own = {0};
    int fd = -1;

    if (gnutls_rnd(GNUTLS_RND_KEY, key, sizeof(key)) != 0)
        return err_set(err, ERR_FATAL, "no random bytes for a key");
    buf_append_hex(&text, (struct str){(const char *)key, sizeof(key)});
    buf_append_char(&text, '\n');
    buf_printf(&own, "%s.%ld", path, (long)getpid());
    unlink(own.ptr); /* left by a process that was killed here */
    fd = open(own.ptr, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

    bool ok = fd >= 0 && write_whole(fd, buf_str(&text)) &&
              (link(own.ptr, path) == 0 || errno == EEXIST) && sync_folder_of(path);
    const int why = errno;

    if (fd >= 0) {
        unlink(own.ptr);
        close(fd);
    }
    explicit_bzero(key, sizeof(key));
    explicit_bzero(text.ptr, text.len);
    buf_free(&text);
    buf_free(&own);
    return ok ||
           err_set_code(err, ERR_REJECT, "errno", why, "key file %s: %s", path, strerror(why));
}

bool seal_open(struct seal **out, const char *path, struct err *err)
{
    struct seal *s = mem_alloc(1, sizeof(*s));
    char *line = NULL;
    bool ok =
        (access(path, F_OK) == 0 || make_file(path, err)) && secret_file_read(path, &line, err);

    if (ok && !parse_hex(str_from(line), s->key, KEY_SIZE))
        ok = err_set(err, ERR_REJECT,
                     "key file %s: its first line is not a key of %d hexadecimal digits; fix: "
                     "restore the file from a backup, or remove it and apply the definitions "
                     "with a password again",
                     path, 2 * KEY_SIZE);
    if (line != NULL)
        explicit_bzero(line, strlen(line));
    free(line);
    if (ok)
        *out = s;
    else
        seal_close(s);
    return ok;
}

void seal_close(struct seal *s)
{
    if (s == NULL)
        return;
    explicit_bzero(s->key, sizeof(s->key));
    free(s);
}

/* ---- texts ---- */

static gnutls_aead_cipher_hd_t cipher(const struct seal *s)
{
    const gnutls_datum_t key = {(unsigned char *)(uintptr_t)s->key, KEY_SIZE};
    gnutls_aead_cipher_hd_t h;
    const int code = gnutls_aead_cipher_init(&h, GNUTLS_CIPHER_AES_128_SIV, &key);

    assert(code == 0);
    return h;
}

void seal_text(const struct seal *s, struct str label, struct str text, struct buf *out)
{
    size_t len = text.len + TAG_SIZE;
    unsigned char *bytes = mem_alloc(len, 1);
    gnutls_aead_cipher_hd_t h = cipher(s);
    const int code = gnutls_aead_cipher_encrypt(h, nonce, sizeof(nonce), label.ptr, label.len,
                                                TAG_SIZE, text.ptr, text.len, bytes, &len);

    assert(code == 0);
    gnutls_aead_cipher_deinit(h);
    buf_append(out, PREFIX);
    buf_append_hex(out, (struct str){(const char *)bytes, len});
    free(bytes);
}

bool seal_is_text(struct str text)
{
    return str_has_prefix(text, PREFIX);
}

bool seal_open_text(const struct seal *s, struct str label, struct str sealed, struct buf *out)
{
    if (!seal_is_text(sealed) || (sealed.len - PREFIX.len) / 2 < TAG_SIZE)
        return false;

    const struct str hex = {sealed.ptr + PREFIX.len, sealed.len - PREFIX.len};
    const size_t n = hex.len / 2;
    unsigned char *bytes = mem_alloc(n, 1), *plain = mem_alloc(n, 1);
    size_t len = n;
    bool ok = parse_hex(hex, bytes, n);

    if (ok) {
        gnutls_aead_cipher_hd_t h = cipher(s);

        ok = gnutls_aead_cipher_decrypt(h, nonce, sizeof(nonce), label.ptr, label.len, TAG_SIZE,
                                        bytes, n, plain, &len) == 0;
        gnutls_aead_cipher_deinit(h);
    }
    if (ok)
        buf_append(out, (struct str){(const char *)plain, len});
    explicit_bzero(plain, n);
    free(plain);
    free(bytes);
    return ok;
}

/* ---- bodies ---- */

/* Appends body with its part raw replaced. */
static void replace_part(struct str body, struct str raw, struct str by, struct buf *out)
{
    const size_t before = (size_t)(raw.ptr - body.ptr), until = before + raw.len;

    buf_append(out, (struct str){body.ptr, before});
    buf_append(out, by);
    buf_append(out, (struct str){body.ptr + until, body.len - until});
}

/* Finds the password in the body, with its quotes, and whether it is sealed. */
static bool find_password(struct str body, struct str *raw, struct str *inner, bool *sealed)
{
    if (!json_find(body, "/password", raw) || raw->len < 2 || raw->ptr[0] != '"')
        return false;
    *inner = (struct str){raw->ptr + 1, raw->len - 2};
    *sealed = seal_is_text(*inner);
    return true;
}

void seal_body(const struct seal *s, struct str label, struct str body, struct buf *out)
{
    struct str raw, inner;
    struct buf by = {0};
    bool sealed;

    if (!find_password(body, &raw, &inner, &sealed) || sealed) {
        buf_append(out, body);
        return;
    }
    buf_append_char(&by, '"');
    seal_text(s, label, raw, &by);
    buf_append_char(&by, '"');
    replace_part(body, raw, buf_str(&by), out);
    buf_free(&by);
}

void seal_open_body(const struct seal *s, struct str label, struct str body, struct buf *out)
{
    struct str raw, inner;
    struct buf by = {0};
    bool sealed;

    if (find_password(body, &raw, &inner, &sealed) && sealed &&
        seal_open_text(s, label, inner, &by)) {
        replace_part(body, raw, buf_str(&by), out);
        explicit_bzero(by.ptr, by.len);
    } else {
        buf_append(out, body);
    }
    buf_free(&by);
}

bool seal_body_rest(struct str body, struct buf *out)
{
    struct str raw, inner;
    bool sealed;

    if (!find_password(body, &raw, &inner, &sealed))
        return false;
    replace_part(body, raw, STR(""), out);
    return true;
}

bool seal_body_is_open(struct str body)
{
    struct str raw, inner;
    bool sealed;

    return find_password(body, &raw, &inner, &sealed) && !sealed;
}
