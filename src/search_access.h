/*
 * struct search_access: how we log in to the search engine, from the configuration.
 *
 * One way at a time: nothing, user and password, an API key, or AWS signatures; a client
 * certificate goes beside each of them.  Keys for AWS that the configuration does not name are
 * taken from the environment, where its own tools put them (AWS_ACCESS_KEY_ID,
 * AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN).
 *
 * Blocks on files of secrets.
 */
#ifndef SRC_SEARCH_ACCESS_H
#define SRC_SEARCH_ACCESS_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/search.h"
#include "src/sigv4.h"

#include <stdbool.h>

struct configuration;

struct search_access {
    struct search_options options; /* of the members below, and of the configuration */
    struct sigv4_key aws;
    char *password, *api_key, *aws_secret, *aws_token; /* ours */
};

/* ERR_REJECT: several ways, or half of one.  No secret is read. */
bool search_access_check(const struct configuration *c, struct err *err) MUST_CHECK;
/* The configuration must outlive it.  ERR_REJECT: a secret is missing or cannot be read. */
bool search_access_open(struct search_access *a, const struct configuration *c,
                        struct err *err) MUST_CHECK;
void search_access_close(struct search_access *a);

#endif
