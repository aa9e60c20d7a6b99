#include "config.h"

#include "src/search/access.h"

#include "src/base/mem.h"
#include "src/config/configuration.h"
#include "src/net/aws_credentials.h"

#include <stdlib.h>
#include <string.h>

/* The setting that selects this method. */
static const char *const ways[] = {"search.user", "search.api_key_file", "search.api_key_env",
                                   "search.aws_region"};
/* Settings that only complement a method, and the setting that each belongs to. */
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

/* Sniffing sends our log-in to the addresses that an engine reports. So require that somebody
 * named them (sniff hosts), or that this cluster's certificate authority vouches for them. */
static bool check_sniff(const struct configuration *c, const char *way, struct err *err)
{
    const struct search_settings *s = &configuration_settings(c)->search;

    if (!s->sniff || way == NULL || s->sniff_hosts.n > 0 ||
        (s->urls.n > 0 && strncmp(s->urls.items[0], "https://", 8) == 0 && s->tls.verify &&
         s->tls.ca_file != NULL))
        return true;
    return err_set(err, ERR_REJECT,
                   "search.sniff would send the credentials of %s to any address that the "
                   "engine reports; fix: name the hosts in search.sniff_hosts, or use https "
                   "with search.ca_file",
                   way);
}

bool search_access_check(const struct configuration *c, struct err *err)
{
    const struct search_settings *s = &configuration_settings(c)->search;
    const char *first = NULL;

    for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
        if (configuration_text(c, ways[i]) == NULL)
            continue;
        if (first != NULL)
            return err_set(
                err, ERR_REJECT,
                "%s and %s are two ways to log in to the search engine; fix: remove one "
                "of them",
                first, ways[i]);
        first = ways[i];
    }
    if (s->aws_region != NULL && s->sniff)
        return err_set(
            err, ERR_REJECT,
            "search.sniff does not work with search.aws_region: clients cannot reach "
            "the nodes of a domain at AWS; fix: remove search.sniff");
    for (size_t i = 0; i < ARRAY_LEN(halves); i++)
        if (configuration_text(c, halves[i].name) != NULL &&
            configuration_text(c, halves[i].needs) == NULL)
            return err_set(err, ERR_REJECT, "%s needs %s", halves[i].name, halves[i].needs);
    return check_sniff(c, first, err);
}

static char *from_environment(const char *variable)
{
    const char *value = getenv(variable);

    return value != NULL && value[0] != '\0' ? mem_copy(value) : NULL;
}

/* Reads the key that the configuration names. */
static bool read_configured_key(struct search_access *a, const struct configuration *c,
                                struct err *err)
{
    a->aws.id = configuration_settings(c)->search.aws_key_id;
    if (!configuration_secret(c, "search.aws_secret", &a->aws_secret, err) ||
        !configuration_secret(c, "search.aws_session_token", &a->aws_token, err))
        return false;
    return a->aws_secret != NULL ||
           err_set(err, ERR_REJECT,
                   "search.aws_key_id has no secret; fix: name its file in "
                   "search.aws_secret_file");
}

static bool read_key_of_environment(struct search_access *a, struct err *err)
{
    const char *id = getenv("AWS_ACCESS_KEY_ID");

    a->aws.id = id != NULL && id[0] != '\0' ? id : NULL;
    a->aws_secret = from_environment("AWS_SECRET_ACCESS_KEY");
    a->aws_token = from_environment("AWS_SESSION_TOKEN");
    return (a->aws.id != NULL && a->aws_secret != NULL) ||
           err_set(err, ERR_REJECT,
                   "search.aws_region needs a key to sign with; fix: set search.aws_key_id "
                   "and search.aws_secret_file, or AWS_ACCESS_KEY_ID and "
                   "AWS_SECRET_ACCESS_KEY in the environment");
}

/* Uses a key file, which we read again whenever it changes. */
static bool read_key_of_file(struct search_access *a, const struct configuration *c,
                             struct err *err)
{
    const struct search_settings *s = &configuration_settings(c)->search;

    if (s->aws_key_id != NULL)
        return err_set(err, ERR_REJECT,
                       "search.aws_credentials_file and search.aws_key_id both give a key to "
                       "sign with; fix: remove one of them");
    a->aws.id = a->aws.secret = "";
    a->options.aws = &a->aws;
    a->options.aws_file = s->aws_credentials_file;
    return aws_credentials_check(a->options.aws_file, err);
}

static bool read_aws(struct search_access *a, const struct configuration *c, struct err *err)
{
    const struct search_settings *s = &configuration_settings(c)->search;

    a->aws.region = s->aws_region;
    a->aws.service = s->aws_service;
    if (a->aws.region == NULL)
        return true;
    if (s->aws_credentials_file != NULL)
        return read_key_of_file(a, c, err);
    if (s->aws_key_id != NULL ? !read_configured_key(a, c, err)
                              : !read_key_of_environment(a, err))
        return false;
    a->aws.secret = a->aws_secret;
    a->aws.token = a->aws_token;
    a->options.aws = &a->aws;
    return true;
}

bool search_access_open(struct search_access *a, const struct configuration *c, struct err *err)
{
    const struct search_settings *s = &configuration_settings(c)->search;

    *a = (struct search_access){.options = {.urls = s->urls.items,
                                            .n_urls = s->urls.n,
                                            .sniff_hosts = s->sniff_hosts.items,
                                            .n_sniff_hosts = s->sniff_hosts.n,
                                            .user = s->user,
                                            .ca_file = s->tls.ca_file,
                                            .cert_file = s->tls.cert_file,
                                            .key_file = s->tls.key_file,
                                            .verify = s->tls.verify,
                                            .timeout_ms = s->timeout_ms}};
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
