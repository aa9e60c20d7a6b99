#include "config.h"

#include "src/net/reach.h"

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>

struct reach_net {
    unsigned char prefix[16];
    unsigned bits;
    const char *kind;
};

/* By the registries of special-purpose addresses of the IANA. */
static const struct reach_net v4[] = {
    {{0}, 8, "this network"},
    {{10}, 8, "private"},
    {{100, 64}, 10, "shared by a carrier"},
    {{127}, 8, "loopback"},
    {{169, 254}, 16, "link-local"},
    {{172, 16}, 12, "private"},
    {{192, 0, 0}, 24, "reserved"},
    {{192, 0, 2}, 24, "for documentation"},
    {{192, 88, 99}, 24, "reserved"},
    {{192, 168}, 16, "private"},
    {{198, 18}, 15, "for benchmarks"},
    {{198, 51, 100}, 24, "for documentation"},
    {{203, 0, 113}, 24, "for documentation"},
    {{224}, 4, "multicast"},
    {{240}, 4, "reserved"},
};

/* The first that holds the address counts. */
static const struct reach_net v6[] = {
    {{0}, 128, "unspecified"},
    {{[15] = 1}, 128, "loopback"},
    {{[10] = 0xff, [11] = 0xff}, 96, "an IPv4 address inside IPv6"},
    {{0}, 96, "an IPv4 address inside IPv6"},
    {{0x20, 0x01}, 23, "reserved"},
    {{0x20, 0x01, 0x0d, 0xb8}, 32, "for documentation"},
    {{0x20, 0x02}, 16, "an IPv4 address inside IPv6"},
    {{0x3f, 0xff}, 20, "for documentation"},
    {{0x20}, 3, NULL}, /* the only block of public addresses so far */
    {{0xfc}, 7, "unique-local"},
    {{0xfe, 0x80}, 10, "link-local"},
    {{0xfe, 0xc0}, 10, "site-local"},
    {{0xff}, 8, "multicast"},
    {{0}, 0, "reserved"},
};

static const unsigned char nat64[12] = {0x00, 0x64, 0xff, 0x9b};

static bool holds(const struct reach_net *n, const unsigned char *address)
{
    const size_t whole = n->bits / 8;
    const unsigned rest = n->bits % 8;

    return memcmp(n->prefix, address, whole) == 0 &&
           (rest == 0 || (n->prefix[whole] ^ address[whole]) >> (8 - rest) == 0);
}

static const char *find(const struct reach_net *list, size_t n, const unsigned char *address)
{
    for (size_t i = 0; i < n; i++)
        if (holds(&list[i], address))
            return list[i].kind;
    return NULL;
}

const char *reach_inside(const struct sockaddr *a)
{
    struct sockaddr_in four;
    struct sockaddr_in6 six;

    if (a->sa_family == AF_INET) {
        memcpy(&four, a, sizeof(four));
        return find(v4, ARRAY_LEN(v4), (const unsigned char *)&four.sin_addr);
    }
    if (a->sa_family != AF_INET6)
        return "of another kind than IPv4 and IPv6";
    memcpy(&six, a, sizeof(six));

    const unsigned char *bytes = six.sin6_addr.s6_addr;

    if (memcmp(bytes, nat64, sizeof(nat64)) == 0)
        return find(v4, ARRAY_LEN(v4), bytes + sizeof(nat64));
    return find(v6, ARRAY_LEN(v6), bytes);
}
