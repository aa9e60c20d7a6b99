/*
 * The values of a configuration: one for each setting, with where it came from.
 *
 * Only what makes up src/configuration.h includes this.  Each source puts in what it says,
 * those that count more later; what is wrong with a value is told as a problem at its place.
 */
#ifndef SRC_CONFIGURATION_VALUES_H
#define SRC_CONFIGURATION_VALUES_H

#include "src/base/base.h"
#include "src/base/str.h"
#include "src/problem.h"
#include "src/setting.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ORIGIN_MAX 320

struct arena;

struct value {
    const char **texts; /* n of them, NULL-terminated */
    size_t n;
    int64_t number;
    char origin[ORIGIN_MAX];
};

struct configuration {
    struct arena *arena;
    struct value *values; /* by number of the setting */
    char *file;           /* NULL: none */
    struct str folder;    /* of file */
    bool exposed;         /* others may read the file */
};

/* Where a value stands, for messages and `--origin`. */
struct origin {
    struct place place;
    const char *text;
};

/* Of setting i; checked. */
void configuration_put(struct configuration *c, size_t i, const struct str *texts, size_t n,
                       const struct origin *from, struct problems *problems);
/* There is no setting of this name; says which is meant, perhaps. */
void configuration_report_unknown(struct problems *problems, enum severity severity,
                                  struct place place, struct str name);

/* ---- configuration_file.c ---- */
/* A file that is not there is a problem if it is required. */
void configuration_take_file(struct configuration *c, const char *path, bool required,
                             struct problems *problems);

/* ---- configuration_override.c ---- */
void configuration_take_environment(struct configuration *c, char **environment,
                                    struct problems *problems);
/* "name=value" of --set. */
void configuration_take_sets(struct configuration *c, const char *const *sets, size_t n,
                             struct problems *problems);

#endif
