/*
 * What `init` is to do, from its command line and the environment.
 *
 * @thread main
 */
#ifndef SRC_CLI_INIT_CONFIG_H
#define SRC_CLI_INIT_CONFIG_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "src/cli/command.h"
#include "sync/definition/definition.h"

#include <stdbool.h>
#include <stddef.h>

struct arena;
struct buf;

struct init_config {
    struct str schema;
    struct str name;       /* of the topic, of the database in the file, and of the files */
    struct str password;   /* to be written into a file of its own; empty: none */
    bool is_password_seen; /* it stood on the command line */
    struct topic_definition topic;    /* to log in with */
    struct server_definition drafted; /* the same as the definition file says it */
    struct str folder;                /* of the files */
    struct str configuration_path, definition_path, password_path;
    bool keeps_configuration; /* it is there already, and the command line says none of it */
    const char *data;         /* or NULL */
    const char *const *urls;  /* of the search engine */
    size_t n_urls;
};

/* Everything lives in the arena or in argv.  ERR_REJECT: wrong usage. */
bool init_config_read(const struct invocation *inv, struct arena *a, struct init_config *out,
                      struct err *err) MUST_CHECK;

/*
 * Append the comment by which an editor finds the JSON schema of the file, which is installed
 * beside the documentation.  It must be the first line.
 */
void init_config_append_schema(struct buf *yaml, const char *schema);
/* Append the text of millrace.yaml. */
void init_config_append_yaml(const struct init_config *c, struct buf *yaml);

#endif
