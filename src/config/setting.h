/*
 * struct setting: everything that can be configured, in one table, and how its values are
 * written.
 *
 * Pure.
 */
#ifndef SRC_CONFIG_SETTING_H
#define SRC_CONFIG_SETTING_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "src/config/settings.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum setting_kind {
    SETTING_TEXT = 0,
    SETTING_PATH, /* relative to the configuration file's folder */
    SETTING_LIST, /* one text or a list of texts */
    SETTING_BOOL,
    SETTING_COUNT,             /* a whole number */
    SETTING_COUNT_OR_AUTO,     /* a whole number; auto: 0 */
    SETTING_SIZE,              /* bytes: 65536, 64KiB, 8MiB, 1GiB */
    SETTING_DURATION,          /* milliseconds: 500ms, 5s, 2m, 1h */
    SETTING_DURATION_OR_NEVER, /* the same; never: 0 */
    SETTING_CHOICE,            /* one of `choices` */
};

/* When a changed value takes effect. */
enum setting_changes {
    CHANGES_AT_START = 0,
    CHANGES_AT_RELOAD,   /* SIGHUP */
    CHANGES_AT_RUN_TIME, /* SIGHUP; and `config delivery set`, which wins */
};

struct setting {
    const char *name; /* dotted: search.ca_file */
    enum setting_kind kind;
    enum { FIELD_NUMBER = 0, FIELD_TEXT, FIELD_TEXTS } form;
    size_t offset, size; /* of its field in struct settings */
    const char *preset;  /* the default, as written; NULL: none */
    int64_t min, max;    /* COUNT, SIZE, DURATION; max 0: no limit */
    const char *choices; /* CHOICE: "sqlite mysql", separated by spaces */
    enum setting_changes changes;
    bool secret;      /* masked when shown */
    bool secret_file; /* PATH: the file's content is secret */
    const char *help;
};

/* The table: setting_table.c. */
extern const struct setting settings[];
extern const size_t n_settings;

/* The setting's number in the table; n_settings if there is none of this name. */
size_t setting_find(struct str name);
/* True if names in the table begin with "name.". */
bool setting_is_section(struct str name);
/* The nearest known name; len 0 if none is near. */
struct str setting_nearest(struct str name);

/* Check that text is a value of s; ERR_REJECT names s and says what it takes. */
bool setting_check(const struct setting *s, struct str text, struct err *err) MUST_CHECK;
/* Put checked values into the field of s.  Borrows them. */
void setting_put(const struct setting *s, const struct setting_texts *texts,
                 struct settings *out);

#endif
