/*
 * The form of a definition file: one table of fields per object.
 *
 * Reading, checking, storing, exporting, comparing and documenting all walk these tables, so a
 * new field needs one row.
 *
 * @thread any (constant)
 */
#ifndef SYNC_DEFINITION_FORM_H
#define SYNC_DEFINITION_FORM_H

#include "src/base/base.h"
#include "src/base/str.h"
#include "sync/definition/rule.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum form_type {
    FORM_TEXT = 0,   /* struct str */
    FORM_TEXTS,      /* a text or a list: struct str * and a count */
    FORM_TEXT_LISTS, /* a list of lists: struct str ** and a count, each ending with an empty
                        str */
    FORM_BOOL,       /* bool */
    FORM_COUNT,      /* uint32_t, at least 1 */
    FORM_DURATION,   /* uint32_t seconds, written 60s, 5m, 2h */
    FORM_CHOICE,     /* an enum: index into `choices` */
    FORM_JSON,       /* any value, as JSON text in struct str */
    FORM_JSON_MAP,   /* a map, as JSON text */
    FORM_OBJECT,     /* an embedded struct */
    FORM_OBJECTS,    /* a list: pointer and count */
    FORM_COLUMNS, /* FORM_OBJECTS in which a text is short for {name: TEXT}; absent differs from
                     empty */
    FORM_JSON_OBJECTS, /* a list of `object`, kept as JSON text; its offsets are unused */
};

enum {
    FORM_REQUIRED = 1,
    FORM_SECRET = 4,   /* never exported, logged or shown */
    FORM_PATH = 8,     /* relative to the folder of the file */
    FORM_REBUILD = 16, /* changing it needs a new index version */
    FORM_LIST = 32,    /* export as a list even if it has one text */
    FORM_SETTINGS =
        64 /* index settings: each one decides itself whether it needs a new version */
};

#define FORM_NONE SIZE_MAX

struct form;

struct form_field {
    const char *name;
    enum form_type type;
    unsigned flags;
    size_t at;       /* offset of the value */
    size_t count_at; /* offset of its size_t count */
    size_t given_at; /* offset of a bool, 0 if none; for FORM_COLUMNS the bool means "absent" */
    const struct form *object;
    const char *const *choices; /* ends with NULL */
    const char *preset;         /* the default, as written; a value equal to it is dropped */
    rule_fn rule;               /* applied to each text */
    const char *help;
};

struct form {
    const char *noun; /* "a table" */
    size_t size;
    size_t place_at; /* offset of its struct place; FORM_NONE if none */
    const struct form_field *fields;
    size_t n_fields;
    bool open; /* accept other fields, too */
    /* Drop values equal to a default that depends on other fields.  May be NULL. */
    void (*settle)(void *object);
};

extern const struct form form_topic, form_database, form_table, form_relation, form_column;

/* All forms, outer ones first, for the documentation and its test. */
extern const struct form *const forms[];
extern const size_t n_forms;

const struct form_field *form_find(const struct form *f, struct str name);
/* "text", "list of texts", "true or false" ..., for messages and the documentation. */
const char *form_type_name(const struct form_field *f);

#endif
