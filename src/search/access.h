/*
 * struct search_access: how we log in to the search engine, from the configuration.
 *
 * Use one method: none, user and password, an API key, or AWS signatures. A client certificate
 * can accompany each. If the configuration has no AWS keys, they come from the environment,
 * where AWS tools put them (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN).
 *
 * Blocks on files of secrets.
 */
#ifndef SRC_SEARCH_ACCESS_H
#define SRC_SEARCH_ACCESS_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/net/sigv4.h"
#include "src/search/search.h"

#include <stdbool.h>

struct configuration;

struct search_access {
    struct search_options options; /* points to the members below and into the configuration */
    struct sigv4_key aws;
    char *password, *api_key, *aws_secret, *aws_token; /* we own these */
};

/* ERR_REJECT if several methods are configured, or half of one. Reads no secret. */
bool search_access_check(const struct configuration *c, struct err *err) MUST_CHECK;
/* The configuration must outlive a. ERR_REJECT if a secret is missing or cannot be read. */
bool search_access_open(struct search_access *a, const struct configuration *c,
                        struct err *err) MUST_CHECK;
void search_access_close(struct search_access *a);

#endif
