/*
 * A time zone by its name: UTC, an offset like +08:00, or a name of the machine's zoneinfo
 * (Europe/Berlin).
 *
 * Blocks on the file.
 */
#ifndef SRC_FILE_ZONE_FILE_H
#define SRC_FILE_ZONE_FILE_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>

struct zone;

/* Whether the text can be the name of a zone; looks at no file. */
bool zone_name_is_fine(struct str name) MUST_CHECK;
/* The caller frees the zone.  ERR_REJECT if this machine does not know the name. */
bool zone_open(struct str name, struct zone **out, struct err *err) MUST_CHECK;

#endif
