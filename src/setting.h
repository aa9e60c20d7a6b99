/*
 * struct setting: what can be configured, from one table, and how its values are written.
 *
 * Pure.
 */
#ifndef SRC_SETTING_H
#define SRC_SETTING_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum setting_type {
    SETTING_TEXT = 0,
    SETTING_PATH, /* relative to the configuration file's folder */
    SETTING_LIST, /* one text or a list of texts */
    SETTING_BOOL,
    SETTING_COUNT,    /* a whole number */
    SETTING_COUNT_OR_AUTO, /* a whole number; auto: 0 */
    SETTING_SIZE,     /* bytes: 65536, 64KiB, 8MiB, 1GiB */
    SETTING_DURATION, /* milliseconds: 500ms, 5s, 2m, 1h */
    SETTING_CHOICE,   /* one of `choices` */
};

struct setting {
    const char *name; /* dotted: search.ca_file */
    enum setting_type type;
    const char *preset;  /* the default, as written; NULL: none */
    int64_t min, max;    /* COUNT, SIZE, DURATION; max 0: no limit */
    const char *choices; /* CHOICE: "sqlite mysql", separated by spaces */
    bool secret;         /* masked when shown */
    bool secret_file;    /* PATH: what is in the file is secret */
    const char *later;   /* not NULL: only the default is taken yet, and this is why */
    const char *help;
};

/* The table: setting_table.c. */
extern const struct setting settings[];
extern const size_t n_settings;

/* Its number in the table; n_settings: there is none. */
size_t setting_find(struct str name);
/* Names of the table begin with "name.". */
bool setting_is_section(struct str name);
/* The name that is meant, perhaps; len 0: none is near. */
struct str setting_nearest(struct str name);

/* NULL: text is a value of s, *number for those types that are one (bool: 0, 1); else what was
 * expected. */
const char *setting_parse(const struct setting *s, struct str text, int64_t *number);
/* The same, and within the range; false: ERR_REJECT that names s and what it takes. */
bool setting_check(const struct setting *s, struct str text, int64_t *number,
                   struct err *err) MUST_CHECK;
/* A whole number without a unit. */
bool setting_parse_count(struct str text, int64_t *out) MUST_CHECK;

#endif
