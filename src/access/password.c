#include "config.h"

#include "src/access/password.h"

#include "src/base/buf.h"
#include "src/base/mem.h"
#include "src/base/random.h"
#include "src/base/utf8.h"

#include <crypt.h>
#include <stdlib.h>
#include <string.h>

#define METHOD     "$y$"
#define SALT_BYTES 32

/* Its password is nobody's: the setting is valid, and no hash ends like this. */
#define OF_NOBODY "$y$j9T$AAAAAAAAAAAAAAAAAAAAA0$"

static bool is_line(struct str s)
{
    for (size_t i = 0; i < s.len; i++)
        if ((unsigned char)s.ptr[i] < ' ' || s.ptr[i] == 0x7f)
            return false;
    return utf8_valid(s);
}

static size_t count_characters(struct str s)
{
    size_t n = 0;

    for (size_t i = 0; i < s.len; i++)
        n += ((unsigned char)s.ptr[i] & 0xc0) != 0x80;
    return n;
}

/* Appends nothing if the library cannot. */
static void hash_with(struct buf *out, const char *setting, struct str password)
{
    struct crypt_data *data = mem_alloc(1, sizeof(*data));
    char text[PASSWORD_MAX + 1] = "";
    const char *hash;

    memcpy(text, password.ptr, password.len);
    hash = crypt_rn(text, setting, data, sizeof(*data));
    if (hash != NULL)
        buf_append(out, str_from(hash));
    explicit_bzero(text, sizeof(text));
    explicit_bzero(data, sizeof(*data));
    free(data);
}

bool password_hash(struct buf *out, struct str password, struct err *err)
{
    char salt[SALT_BYTES], setting[CRYPT_GENSALT_OUTPUT_SIZE];
    const size_t before = out->len;

    if (count_characters(password) < PASSWORD_MIN || password.len > PASSWORD_MAX)
        return err_set(err, ERR_REJECT,
                       "a password has from %d characters to %d bytes; fix: choose another one",
                       PASSWORD_MIN, PASSWORD_MAX);
    if (!is_line(password))
        return err_set(err, ERR_REJECT,
                       "a password is one line of text; fix: choose one without tabs, line "
                       "breaks and control characters");
    random_bytes(salt, sizeof(salt));
    if (crypt_gensalt_rn(METHOD, 0, salt, sizeof(salt), setting, sizeof(setting)) != NULL)
        hash_with(out, setting, password);
    return out->len > before ||
           err_set(err, ERR_FATAL, "this system's libcrypt has no yescrypt");
}

bool password_matches(struct str hash, struct str password)
{
    struct buf setting = {0}, again = {0};

    buf_append(&setting, hash.len > 0 ? hash : STR(OF_NOBODY));
    if (password.len <= PASSWORD_MAX && memchr(password.ptr, '\0', password.len) == NULL)
        hash_with(&again, setting.ptr, password);

    /* Whoever measures how long it takes learns no more than a piece of a hash. */
    const bool is = hash.len > 0 && again.len > 0 && str_equal(hash, buf_str(&again));

    buf_free(&setting);
    buf_free(&again);
    return is;
}
