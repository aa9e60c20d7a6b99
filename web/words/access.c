#include "config.h"

#include "web/words/access.h"

#include "src/base/buf.h"
#include "src/base/mem.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define BYTES 16 /* of an address; those of IPv4 are mapped to IPv6 */

struct network {
    uint8_t bytes[BYTES];
    unsigned bits; /* how many of them count */
};

struct word_access {
    char *token;
    struct network *networks;
    size_t n;
};

/* ---- addresses ---- */

static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};

static void map_v4(uint8_t out[BYTES], const struct in_addr *v4)
{
    memcpy(out, mapped, sizeof(mapped));
    memcpy(out + sizeof(mapped), v4, BYTES - sizeof(mapped));
}

static bool parse_host(struct network *out, const char *host)
{
    struct in_addr v4;

    if (inet_pton(AF_INET, host, &v4) == 1) {
        map_v4(out->bytes, &v4);
        out->bits = 32;
        return true;
    }
    out->bits = 128;
    return inet_pton(AF_INET6, host, out->bytes) == 1;
}

/* "10.0.0.0/8" or an address.  The bits behind the slash are of its own kind. */
static bool parse_network(struct network *out, const char *text)
{
    const char *slash = strchr(text, '/');
    const size_t len = slash != NULL ? (size_t)(slash - text) : strlen(text);
    char host[INET6_ADDRSTRLEN + 1], *end = NULL;
    unsigned long bits;

    if (len >= sizeof(host))
        return false;
    memcpy(host, text, len);
    host[len] = '\0';
    if (!parse_host(out, host))
        return false;
    if (slash != NULL) {
        bits = strtoul(slash + 1, &end, 10);
        if (slash[1] < '0' || slash[1] > '9' || *end != '\0' || bits > out->bits)
            return false;
        out->bits = out->bits == 32 ? (unsigned)bits + 96 : (unsigned)bits;
    } else {
        out->bits = 128;
    }
    return true;
}

static bool is_in(const struct network *n, const uint8_t address[BYTES])
{
    const size_t whole = n->bits / 8;
    const unsigned rest = n->bits % 8;
    const uint8_t mask = (uint8_t)(0xff00U >> rest);

    return memcmp(n->bytes, address, whole) == 0 &&
           (rest == 0 || ((n->bytes[whole] ^ address[whole]) & mask) == 0);
}

static bool read_peer(uint8_t out[BYTES], const struct sockaddr *peer)
{
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;

    if (peer->sa_family == AF_INET) {
        memcpy(&v4, peer, sizeof(v4));
        map_v4(out, &v4.sin_addr);
        return true;
    }
    if (peer->sa_family != AF_INET6)
        return false;
    memcpy(&v6, peer, sizeof(v6));
    memcpy(out, &v6.sin6_addr, BYTES);
    return true;
}

/* ---- the whole ---- */

static bool is_token_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '-' || c == '_';
}

static bool check_token(const char *token, struct err *err)
{
    const size_t n = token != NULL ? strlen(token) : 0;

    for (size_t i = 0; i < n; i++)
        if (!is_token_char(token[i]))
            return err_set(err, ERR_REJECT,
                           "words.token has another character than letters, digits, - and _");
    if (n >= WORD_TOKEN_MIN && n <= WORD_TOKEN_MAX)
        return true;
    return err_set(err, ERR_REJECT,
                   "words.listen needs a token of %d to %d characters; fix: write one into the "
                   "file that words.token_file names, such as the output of openssl rand -hex "
                   "16",
                   WORD_TOKEN_MIN, WORD_TOKEN_MAX);
}

static bool read_networks(struct word_access *a, const char *const *allow, size_t n,
                          struct err *err)
{
    static const char *const here[] = {"127.0.0.0/8", "::1"};

    if (n == 0) {
        allow = here;
        n = ARRAY_LEN(here);
    }
    a->networks = mem_alloc(n, sizeof(*a->networks));
    for (; a->n < n; a->n++)
        if (!parse_network(&a->networks[a->n], allow[a->n]))
            return err_set(err, ERR_REJECT,
                           "words.allow: \"%.100s\" is no address and no network; fix: write "
                           "it as 10.0.0.7 or 10.0.0.0/8",
                           allow[a->n]);
    return true;
}

bool word_access_open(struct word_access **out, const char *token, const char *const *allow,
                      size_t n_allow, struct err *err)
{
    struct word_access *a;

    if (!check_token(token, err))
        return false;
    a = mem_alloc(1, sizeof(*a));
    a->token = mem_copy(token);
    if (!read_networks(a, allow, n_allow, err)) {
        word_access_free(a);
        return false;
    }
    *out = a;
    return true;
}

void word_access_free(struct word_access *a)
{
    if (a == NULL)
        return;
    free(a->token);
    free(a->networks);
    free(a);
}

bool word_access_is_token(const struct word_access *a, struct str token)
{
    const size_t n = strlen(a->token);
    unsigned differ = token.len != n;

    for (size_t i = 0; i < n; i++)
        differ |=
            (unsigned char)a->token[i] ^ (unsigned char)(i < token.len ? token.ptr[i] : '\0');
    return differ == 0;
}

bool word_access_admits(const struct word_access *a, const struct sockaddr *peer)
{
    uint8_t address[BYTES];

    if (!read_peer(address, peer))
        return false;
    for (size_t i = 0; i < a->n; i++)
        if (is_in(&a->networks[i], address))
            return true;
    return false;
}
