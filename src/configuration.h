/*
 * The daemon's configuration: a value for each setting.
 *
 * Precedence: --set, environment (MILLRACE_A__B for a.b), file, default.  Each value remembers
 * where it came from.  An unknown name is an error with the nearest known one, line and caret.
 *
 * @thread any once loaded (immutable)
 */
#ifndef SRC_CONFIGURATION_H
#define SRC_CONFIGURATION_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "src/problem.h"
#include "src/setting.h"

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
};

/*
 * NULL: problems has at least one error (a missing file that was named, too).  Without any file
 * the defaults and the other sources count.
 */
struct configuration *configuration_load(const struct configuration_source *source,
                                         struct problems *problems) MUST_CHECK;
void configuration_free(struct configuration *c); /* NULL is fine */

/* The file that was read; NULL: none. */
const char *configuration_file(const struct configuration *c);

/* name is a literal of the table.  Texts live as long as c; NULL: not set and no default. */
/* Where its value stands: "FILE:LINE", "--set", "default" ... */
const char *configuration_origin(const struct configuration *c, const char *name);
const char *configuration_text(const struct configuration *c, const char *name);
int64_t configuration_number(const struct configuration *c, const char *name);
bool configuration_bool(const struct configuration *c, const char *name);
/* n texts, the array and the texts live as long as c. */
const char *const *configuration_list(const struct configuration *c, const char *name,
                                      size_t *n);

/* The text of `name` (a password), or the first line of the file that `name`_file names, or the
 * environment variable that `name`_env names.  *out NULL: none is set; free() it. */
bool configuration_secret(const struct configuration *c, const char *name, char **out,
                          struct err *err) MUST_CHECK;

/* `config show`: YAML lines "name: value  # origin" (origin only when asked). */
void configuration_append_yaml(const struct configuration *c, bool origin, struct buf *out);
/* {"schema":"millrace/config/1","items":[{"name","value","origin"}]} */
void configuration_append_json(const struct configuration *c, struct buf *out);

#endif
