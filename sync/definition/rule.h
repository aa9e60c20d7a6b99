/*
 * Rules for single texts of a definition: names, addresses.
 *
 * Each rule returns NULL if the text is fine, else a static phrase to follow "`TEXT` ":
 * "`Orders` is no index name: ...".
 *
 * @thread any (pure)
 */
#ifndef SYNC_DEFINITION_RULE_H
#define SYNC_DEFINITION_RULE_H

#include "src/base/base.h"
#include "src/base/str.h"

#include <stdbool.h>

typedef const char *(*rule_fn)(struct str text);

/*
 * A topic or database: letters, digits, `_` and `-`, so that the name fits in paths and in
 * DATABASE.TABLE.
 */
const char *rule_name(struct str text);
/* The same, for a database whose name on its server may differ. */
const char *rule_database(struct str text);
/* DATABASE.TABLE */
const char *rule_table(struct str text);
/* An alias that both engines allow and that cannot be mistaken for a version (`_v2`). */
const char *rule_index(struct str text);
/* One ingest pipeline of the engine. */
const char *rule_pipeline(struct str text);
/* A field of a document. */
const char *rule_field(struct str text);
/* host, host:port, [v6]:port or a socket path */
const char *rule_address(struct str text);
/* now, FILE:POSITION or a GTID set of MySQL or MariaDB */
const char *rule_start(struct str text);
/* UTC or an offset, +08:00 */
const char *rule_time_zone(struct str text);
const char *rule_day_zone(struct str text);
/* The name of an environment variable. */
const char *rule_environment(struct str text);

#endif
