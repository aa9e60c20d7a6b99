#include "config.h"

#include "src/mysql/login.h"

#include <arpa/inet.h>
#include <stddef.h>
#include <string.h>

/* Returns the host without port and brackets. */
static struct str host_of(struct str address)
{
    const char *colon = memrchr(address.ptr, ':', address.len);
    const char *bracket = memrchr(address.ptr, ']', address.len);
    const bool one_colon = colon != NULL && memchr(address.ptr, ':', address.len) == colon;

    if (colon != NULL && (bracket == NULL ? one_colon : colon > bracket))
        address.len = (size_t)(colon - address.ptr);
    if (address.len >= 2 && address.ptr[0] == '[' && address.ptr[address.len - 1] == ']')
        address = (struct str){address.ptr + 1, address.len - 2};
    return address;
}

bool mysql_login_is_local(struct str address)
{
    char text[INET6_ADDRSTRLEN];
    struct in_addr four;
    struct in6_addr six;

    if (address.len == 0 || address.ptr[0] == '/')
        return true;

    const struct str host = host_of(address);

    if (str_equal(host, STR("localhost")))
        return true;
    if (host.len >= sizeof(text))
        return false;
    memcpy(text, host.ptr, host.len);
    text[host.len] = '\0';
    if (inet_pton(AF_INET, text, &four) == 1)
        return ntohl(four.s_addr) >> 24 == 127;
    return inet_pton(AF_INET6, text, &six) == 1 && IN6_IS_ADDR_LOOPBACK(&six);
}

enum mysql_login mysql_login_allowed(bool has_tls, bool is_verified, bool has_key,
                                     struct str address)
{
    if (has_tls && is_verified)
        return MYSQL_LOGIN_ANY;
    /* Inside TLS these methods send the plain password: a known key does not help there. */
    return (has_key && !has_tls) || mysql_login_is_local(address) ? MYSQL_LOGIN_ENCRYPTED
                                                                  : MYSQL_LOGIN_PROVEN;
}

#define PROVEN    "mysql_native_password,client_ed25519,parsec"
#define ENCRYPTED PROVEN ",caching_sha2_password,sha256_password"

const char *mysql_login_methods(enum mysql_login allowed)
{
    static const char *const methods[] = {
        [MYSQL_LOGIN_PROVEN] = PROVEN,
        [MYSQL_LOGIN_ENCRYPTED] = ENCRYPTED,
        [MYSQL_LOGIN_ANY] = ENCRYPTED ",mysql_clear_password,dialog",
    };

    return methods[allowed];
}
