#include "config.h"

#include "src/access/token.h"

#include "src/base/hex.h"
#include "src/base/random.h"

#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <string.h>

#define PREFIX      "mrt_" /* so that scanners for leaked secrets can find it */
#define TOKEN_BYTES 32

static void write_hex(char *out, const unsigned char bytes[TOKEN_BYTES])
{
    for (size_t i = 0; i < TOKEN_BYTES; i++)
        out = hex_put(out, bytes[i]);
    *out = '\0';
}

void token_make(char text[TOKEN_TEXT + 1])
{
    unsigned char bytes[TOKEN_BYTES];

    random_bytes(bytes, sizeof(bytes));
    memcpy(text, PREFIX, strlen(PREFIX));
    write_hex(text + strlen(PREFIX), bytes);
    explicit_bzero(bytes, sizeof(bytes));
}

bool token_hash(char hash[TOKEN_HASH + 1], struct str text)
{
    unsigned char sum[TOKEN_BYTES];

    if (text.len != TOKEN_TEXT || memcmp(text.ptr, PREFIX, strlen(PREFIX)) != 0 ||
        gnutls_hash_fast(GNUTLS_DIG_SHA256, text.ptr, text.len, sum) != 0)
        return false;
    write_hex(hash, sum);
    return true;
}
