#include "config.h"

#include "src/search_access.h"

#include "src/base/mem.h"
#include "src/configuration.h"
#include "src/renewed_key.h"

#include <stdlib.h>
#include <string.h>

/* The setting that says that this way is meant. */
static const char *const ways[] = {"search.user", "search.api_key_file", "search.api_key_env",
                                   "search.aws_region"};
/* What is no way of its own, and the setting that it belongs to. */
static const struct half {
    const char *name, *needs;
} halves[] = {
    {"search.password", "search.user"},
    {"search.password_file", "search.user"},
    {"search.password_env", "search.user"},
    {"search.aws_key_id", "search.aws_region"},
    {"search.aws_credentials_file", "search.aws_region"},
    {"search.aws_secret", "search.aws_key_id"},
    {"search.aws_secret_file", "search.aws_key_id"},
    {"search.aws_secret_env", "search.aws_key_id"},
    {"search.aws_session_token_file", "search.aws_key_id"},
    {"search.aws_session_token_env", "search.aws_key_id"},
    {"search.cert_file", "search.key_file"},
    {"search.key_file", "search.cert_file"},
};

bool search_access_check(const struct configuration *c, struct err *err)
{
    const char *first = NULL;

    for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
        if (configuration_text(c, ways[i]) == NULL)
            continue;
        if (first != NULL)
            return err_set(err, ERR_REJECT,
                           "%s and %s are two ways to log in to the search engine: leave one "
                           "of them",
                           first, ways[i]);
        first = ways[i];
    }
    if (configuration_text(c, "search.aws_region") != NULL &&
        configuration_bool(c, "search.sniff"))
        return err_set(err, ERR_REJECT, "search.sniff and search.aws_region do not go together: "
                                        "the nodes of a domain at AWS cannot be reached");
    for (size_t i = 0; i < ARRAY_LEN(halves); i++)
        if (configuration_text(c, halves[i].name) != NULL &&
            configuration_text(c, halves[i].needs) == NULL)
            return err_set(err, ERR_REJECT, "%s needs %s", halves[i].name, halves[i].needs);
    return true;
}

static char *from_environment(const char *variable)
{
    const char *value = getenv(variable);

    return value != NULL && value[0] != '\0' ? mem_copy(value) : NULL;
}

/* The key that the configuration names. */
static bool read_configured_key(struct search_access *a, const struct configuration *c,
                                struct err *err)
{
    a->aws.id = configuration_text(c, "search.aws_key_id");
    if (!configuration_secret(c, "search.aws_secret", &a->aws_secret, err) ||
        !configuration_secret(c, "search.aws_session_token", &a->aws_token, err))
        return false;
    return a->aws_secret != NULL ||
           err_set(err, ERR_REJECT,
                   "search.aws_key_id has no secret: name its file in search.aws_secret_file");
}

static bool read_key_of_environment(struct search_access *a, struct err *err)
{
    const char *id = getenv("AWS_ACCESS_KEY_ID");

    a->aws.id = id != NULL && id[0] != '\0' ? id : NULL;
    a->aws_secret = from_environment("AWS_SECRET_ACCESS_KEY");
    a->aws_token = from_environment("AWS_SESSION_TOKEN");
    return (a->aws.id != NULL && a->aws_secret != NULL) ||
           err_set(err, ERR_REJECT,
                   "search.aws_region is set, and there is no key to sign with: set "
                   "search.aws_key_id and search.aws_secret_file, or the environment's "
                   "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY");
}

/* Read again whenever it changes. */
static bool read_key_of_file(struct search_access *a, const struct configuration *c,
                             struct err *err)
{
    if (configuration_text(c, "search.aws_key_id") != NULL)
        return err_set(err, ERR_REJECT,
                       "search.aws_credentials_file and search.aws_key_id are two keys to sign "
                       "with: leave one of them");
    a->aws.id = a->aws.secret = "";
    a->options.aws = &a->aws;
    a->options.aws_file = configuration_text(c, "search.aws_credentials_file");
    return renewed_key_check(a->options.aws_file, err);
}

static bool read_aws(struct search_access *a, const struct configuration *c, struct err *err)
{
    a->aws.region = configuration_text(c, "search.aws_region");
    a->aws.service = configuration_text(c, "search.aws_service");
    if (a->aws.region == NULL)
        return true;
    if (configuration_text(c, "search.aws_credentials_file") != NULL)
        return read_key_of_file(a, c, err);
    if (configuration_text(c, "search.aws_key_id") != NULL ? !read_configured_key(a, c, err)
                                                           : !read_key_of_environment(a, err))
        return false;
    a->aws.secret = a->aws_secret;
    a->aws.token = a->aws_token;
    a->options.aws = &a->aws;
    return true;
}

bool search_access_open(struct search_access *a, const struct configuration *c, struct err *err)
{
    *a = (struct search_access){
        .options = {.user = configuration_text(c, "search.user"),
                    .ca_file = configuration_text(c, "search.ca_file"),
                    .cert_file = configuration_text(c, "search.cert_file"),
                    .key_file = configuration_text(c, "search.key_file"),
                    .verify = configuration_bool(c, "search.verify"),
                    .timeout_ms = (unsigned)configuration_number(c, "search.timeout")}};
    a->options.urls = configuration_list(c, "search.url", &a->options.n_urls);
    if (!search_access_check(c, err) ||
        !configuration_secret(c, "search.password", &a->password, err) ||
        !configuration_secret(c, "search.api_key", &a->api_key, err) || !read_aws(a, c, err))
        return false;
    a->options.password = a->password;
    a->options.api_key = a->api_key;
    return true;
}

void search_access_close(struct search_access *a)
{
    free(a->password);
    free(a->api_key);
    free(a->aws_secret);
    free(a->aws_token);
    *a = (struct search_access){0};
}
