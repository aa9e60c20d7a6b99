/*
 * The values of a configuration: one for each setting, with its origin.
 *
 * Only the sources behind src/config/configuration.h include this.  Each source puts its
 * values; sources with higher precedence come later and overwrite.  A bad value becomes a
 * problem at its place.
 */
#ifndef SRC_CONFIG_VALUES_H
#define SRC_CONFIG_VALUES_H

#include "src/base/base.h"
#include "src/base/buf.h"
#include "src/base/str.h"
#include "src/config/configuration.h"
#include "src/config/setting.h"
#include "src/format/problem.h"
#include "src/format/variable.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

struct setting_value {
    struct setting_texts configured, chosen; /* chosen.n 0: nothing was chosen at run time */
    const char *origin;                      /* of the configured values */
};

struct configuration {
    struct arena *arena;
    struct setting_value *values; /* by number of the setting */
    struct settings settings;     /* the values in force */
    char *file;                   /* NULL: none */
    struct str folder;            /* of file */
    bool exposed;                 /* others may read the file */
    bool to_connect;      /* only settings that lead to the daemon need their variables */
    bool lacks_variables; /* some other settings lack theirs, and have their defaults */
    struct variables variables;
    struct buf used; /* ", A, B,": the variables that the file takes values from */
};

/* A value's place, for messages and `--origin`. */
struct origin {
    struct place place;
    const char *text;
};

/* The texts in force. */
static inline const struct setting_texts *value_texts(const struct setting_value *v)
{
    return v->chosen.n > 0 ? &v->chosen : &v->configured;
}

static inline const char *value_origin(const struct setting_value *v)
{
    if (v->chosen.n > 0)
        return "set at run time";
    return v->configured.n > 0 ? v->origin : "not set";
}

/* Update the field of setting i after its value changed. */
void configuration_changed(struct configuration *c, size_t i);
/* Configure setting i.  A bad value adds a problem and is not taken. */
void configuration_put(struct configuration *c, size_t i, const struct str *texts, size_t n,
                       const struct origin *from, struct problems *problems);
/* Report an unknown name, with the nearest known one. */
void configuration_report_unknown(struct problems *problems, enum severity severity,
                                  struct place place, struct str name);

/* ---- src/config/file.c ---- */
/* A missing file is a problem only if it is required. */
void configuration_take_file(struct configuration *c, const char *path, bool required,
                             struct problems *problems);

/* ---- src/config/override.c ---- */
void configuration_take_environment(struct configuration *c, char **environment,
                                    struct problems *problems);
/* The "name=value" texts of --set. */
void configuration_take_sets(struct configuration *c, const char *const *sets, size_t n,
                             struct problems *problems);

#endif
