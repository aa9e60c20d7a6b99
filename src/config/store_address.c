#include "config.h"

#include "src/config/store_address.h"

#include "src/base/mem.h"

#include <stdlib.h>
#include <string.h>

#define SCHEME       "mysql://"
#define PORT_DEFAULT 3306

static bool refuse(struct err *err, const char *text, const char *why)
{
    return err_set(err, ERR_REJECT,
                   "store: \"%.100s\" %s; write sqlite, or mysql://user@host:port/database",
                   text, why);
}

static char *piece(const char *start, const char *end)
{
    char *copy = mem_alloc((size_t)(end - start) + 1, 1);

    memcpy(copy, start, (size_t)(end - start));
    return copy;
}

static bool parse_port(uint16_t *port, const char *text)
{
    char *end = NULL;
    unsigned long n = strtoul(text, &end, 10);

    *port = (uint16_t)n;
    return text[0] >= '0' && text[0] <= '9' && *end == '\0' && n > 0 && n <= UINT16_MAX;
}

/* "host", "host:port" or "[address]:port" */
static bool take_host(struct store_address *out, char *host)
{
    char *colon = host[0] == '[' ? strstr(host, "]:") : strchr(host, ':');

    out->port = PORT_DEFAULT;
    if (host[0] == '[') {
        char *end = strchr(host, ']');

        if (end == NULL || (end[1] != '\0' && end[1] != ':'))
            return false;
        *end = '\0';
        out->host = mem_copy(host + 1);
        return colon == NULL || parse_port(&out->port, colon + 2);
    }
    if (colon != NULL) {
        *colon = '\0';
        if (!parse_port(&out->port, colon + 1))
            return false;
    }
    out->host = mem_copy(host);
    return host[0] != '\0';
}

bool store_address_parse(struct store_address *out, const char *text, struct err *err)
{
    const char *start = text + sizeof(SCHEME) - 1;

    *out = (struct store_address){0};
    if (strncmp(text, SCHEME, sizeof(SCHEME) - 1) != 0)
        return refuse(err, text, "is no store");

    const char *at = strchr(start, '@'), *slash = strchr(start, '/');

    if (at == NULL || slash == NULL || slash < at || at == start || slash[1] == '\0' ||
        strchr(slash + 1, '/') != NULL)
        return refuse(err, text, "lacks a part");
    if (memchr(start, ':', (size_t)(at - start)) != NULL)
        return err_set(err, ERR_REJECT,
                       "store: a password does not belong in the address; fix: put it into a "
                       "file and name the file in store_password_file");
    out->user = piece(start, at);
    out->database = mem_copy(slash + 1);

    char *host = piece(at + 1, slash);
    bool ok = take_host(out, host);

    free(host);
    if (ok)
        return true;
    store_address_free(out);
    return refuse(err, text, "has a host or port that cannot be");
}

void store_address_free(struct store_address *a)
{
    free(a->user);
    free(a->host);
    free(a->database);
    *a = (struct store_address){0};
}
