/*
 * The daemon's configuration: a value for each setting.
 *
 * Precedence: --set, environment (MILLRACE_A__B for a.b), file, default.  Each value remembers
 * where it came from.  Values of the file may take variables of the environment
 * (src/format/variable.h).  An unknown name is an error (in the environment a warning) that
 * shows the place and suggests the nearest known name.
 *
 * A setting that changes at run time may have a second value, chosen at run time, which wins.
 *
 * @thread one at a time; any, while nobody changes it
 */
#ifndef SRC_CONFIG_CONFIGURATION_H
#define SRC_CONFIG_CONFIGURATION_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "src/config/settings.h"
#include "src/format/problem.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct configuration;

struct configuration_source {
    const char *file; /* --config; NULL: ./millrace.yaml, then /etc/millrace/millrace.yaml */
    const char *const *sets; /* "name=value" */
    size_t n_sets;
    char **environment; /* as environ; NULL: none */
    /*
     * Only to find the daemon: settings other than data and socket keep their defaults if the
     * file takes them from a variable that is missing here.
     */
    bool to_connect;
};

/*
 * Load from all sources.  Returns NULL if problems has at least one error; a named file that is
 * missing is one.  Without any file, the defaults and the other sources count.
 */
struct configuration *configuration_load(const struct configuration_source *source,
                                         struct problems *problems) MUST_CHECK;
void configuration_free(struct configuration *c); /* NULL is fine */

/* A configuration in which every setting has its default. */
struct configuration *configuration_new(void) RETURNS_NONNULL MUST_CHECK;
struct configuration *
configuration_copy(const struct configuration *c) RETURNS_NONNULL MUST_CHECK;

/* The file that was read; NULL if none.  Lives as long as c. */
const char *configuration_file(const struct configuration *c);

/* True if to_connect left out settings: nothing but data and socket is to be relied on. */
bool configuration_lacks_variables(const struct configuration *c);

/* The values in force.  Lives as long as c and changes with it. */
const struct settings *configuration_settings(const struct configuration *c);

/*
 * A setting's text; NULL: not set and no default.  name must be in the table.  Lives as long as
 * c.
 */
const char *configuration_text(const struct configuration *c, const char *name);
/* True if any setting whose name begins with prefix ("store_tls.") was configured. */
bool configuration_gives(const struct configuration *c, const char *prefix);
/* True if setting i of the table has the same value in both. */
bool configuration_is_same(const struct configuration *a, const struct configuration *b,
                           size_t i);
/* Check that the settings make sense together; ERR_REJECT names them and the fix. */
bool configuration_check(const struct configuration *c, struct err *err) MUST_CHECK;

/*
 * Read a secret: the text of `name`, or the first line of the file that `name`_file names, or
 * the environment variable that `name`_env names.  Free *out; NULL if none is set.
 */
bool configuration_secret(const struct configuration *c, const char *name, char **out,
                          struct err *err) MUST_CHECK;

/* For `config show`: YAML lines "name: value  # origin" (origin only on request). */
void configuration_append_yaml(const struct configuration *c, bool origin, struct buf *out);
/* {"schema":"millrace/config/1","items":[{"name","value","origin"}]} */
void configuration_append_json(const struct configuration *c, struct buf *out);

/* ---- at run time (src/config/run_time.c) ---- */

/*
 * Choose a value, which wins over the configured one.  Names are those of the table, with or
 * without "delivery.".  text.ptr NULL: drop the choice, so the configured value counts again.
 * Returns false with ERR_REJECT, which says what the setting takes, or suggests a name.
 */
bool configuration_choose(struct configuration *c, struct str name, struct str text,
                          struct err *err) MUST_CHECK;
/* Drop all choices. */
void configuration_reset(struct configuration *c);
/*
 * Copy the configured values of all settings that change at run time from another
 * configuration.
 */
void configuration_take_configured(struct configuration *c, const struct configuration *from);
/* Log each run-time setting that differs. */
void configuration_log_changes(const struct configuration *c,
                               const struct configuration *before);

/*
 * Append [{"name","value","origin","configured"}] of the settings that change at run time: all
 * of them, or the one called name (len > 0).  If `before` is not NULL, only those that differ
 * from it, with "previous".
 */
void configuration_append_run_time(const struct configuration *c,
                                   const struct configuration *before, struct str name,
                                   struct buf *json);

/* Append the choices as {"name": "text"}, to be stored; load them again. */
void configuration_append_chosen(const struct configuration *c, struct buf *json);
bool configuration_load_chosen(struct configuration *c, struct str json,
                               struct err *err) MUST_CHECK;

#endif
