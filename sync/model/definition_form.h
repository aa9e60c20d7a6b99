/*
 * The form of a definition file: for each object one table of its fields.
 *
 * Reading, checking, storing, exporting, comparing and documenting all walk these tables, so a
 * field is added in one place.  A field whose work is not there yet has FORM_LATER: it is read
 * and checked like the others, and then refused with its place.
 *
 * @thread any (constant)
 */
#ifndef SYNC_MODEL_DEFINITION_FORM_H
#define SYNC_MODEL_DEFINITION_FORM_H

#include "src/base/base.h"
#include "src/base/str.h"
#include "sync/model/definition_rule.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum form_type {
    FORM_TEXT = 0,   /* struct str */
    FORM_TEXTS,      /* one text or a list: struct str * and a count */
    FORM_TEXT_LISTS, /* a list of lists: struct str ** and a count, each ended by an empty str
                      */
    FORM_BOOL,       /* bool */
    FORM_COUNT,      /* uint32_t, from 1 */
    FORM_DURATION,   /* uint32_t seconds, written 60s, 5m, 2h */
    FORM_CHOICE,     /* an enum, one of `choices` in its order */
    FORM_JSON,       /* anything, as JSON text in struct str */
    FORM_JSON_MAP,   /* a map, as JSON text */
    FORM_OBJECT,     /* a struct in place */
    FORM_OBJECTS,    /* a list: pointer and count */
    FORM_COLUMNS, /* FORM_OBJECTS where a text stands for {name: TEXT}; absent is not empty */
    FORM_JSON_OBJECTS, /* a list of `object`, kept as JSON text; the offsets do not count */
};

enum {
    FORM_REQUIRED = 1,
    FORM_LATER = 2,    /* not available yet; a bool only when true */
    FORM_SECRET = 4,   /* never exported, logged or shown */
    FORM_PATH = 8,     /* relative to the file's folder */
    FORM_REBUILD = 16, /* a change of it needs a new index version */
    FORM_LIST = 32,    /* written as a list even when it is one text */
    FORM_SETTINGS = 64 /* of an index: each for itself says whether it needs a new version */
};

#define FORM_NONE SIZE_MAX

struct form;

struct form_field {
    const char *name;
    enum form_type type;
    unsigned flags;
    size_t at;       /* offset of the value */
    size_t count_at; /* offset of its size_t count */
    size_t given_at; /* offset of a bool, 0: none; FORM_COLUMNS: the bool that means "absent" */
    const struct form *object;
    const char *const *choices; /* ended by NULL */
    const char *preset;         /* the default, as written; kept as "not given" */
    rule_fn rule;               /* of each text */
    const char *help;
};

struct form {
    const char *noun; /* "a table" */
    size_t size;
    size_t place_at; /* of its struct place; FORM_NONE: none */
    const struct form_field *fields;
    size_t n_fields;
    bool open; /* other fields are fine, too */
    /* Drop what equals a default that depends on other fields; NULL: nothing to do. */
    void (*settle)(void *object);
};

extern const struct form form_topic, form_database, form_table, form_relation, form_column;

/* Every form there is, outer ones first, for the documentation and its test. */
extern const struct form *const forms[];
extern const size_t n_forms;

const struct form_field *form_find(const struct form *f, struct str name);
/* "text", "list of texts", "true or false" ... for messages and the documentation. */
const char *form_type_name(const struct form_field *f);

#endif
