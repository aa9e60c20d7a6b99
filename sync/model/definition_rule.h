/*
 * What single texts of a definition must look like: names, addresses.
 *
 * Each rule returns NULL when the text is fine, else a static phrase that goes on from "`TEXT`
 * ":
 * "`Orders` is no index name: ...".
 *
 * @thread any (pure)
 */
#ifndef SYNC_MODEL_DEFINITION_RULE_H
#define SYNC_MODEL_DEFINITION_RULE_H

#include "src/base/base.h"
#include "src/base/str.h"

#include <stdbool.h>

typedef const char *(*rule_fn)(struct str text);

/* Topics and databases: letters, digits, `_` and `-`, so that they fit in paths and in
 * DATABASE.TABLE. */
const char *rule_name(struct str text);
/* The same, of what a server may call otherwise. */
const char *rule_database(struct str text);
/* DATABASE.TABLE */
const char *rule_table(struct str text);
/* An alias as both engines allow it, that cannot be taken for a version (`_v2`). */
const char *rule_index(struct str text);
/* A field of a document. */
const char *rule_field(struct str text);
/* host, host:port, [v6]:port or the path of a socket */
const char *rule_address(struct str text);
/* now, FILE:POSITION or a GTID set of MySQL or MariaDB */
const char *rule_start(struct str text);
/* UTC or an offset, +08:00 */
const char *rule_time_zone(struct str text);
/* A name of an environment variable. */
const char *rule_environment(struct str text);

#endif
