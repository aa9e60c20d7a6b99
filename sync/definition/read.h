/*
 * Read one object of a definition from its tree, walking its form.
 *
 * Reports every mistake and goes on.  An object with errors is as complete as possible, so that
 * references to it cause no further reports.
 */
#ifndef SYNC_DEFINITION_READ_H
#define SYNC_DEFINITION_READ_H

#include "src/base/base.h"
#include "src/base/str.h"
#include "src/format/problem.h"
#include "sync/definition/definition.h"
#include "sync/definition/form.h"

struct yaml_node;

struct definition_reader {
    struct definitions *d; /* receives texts and places */
    struct problems *problems;
    struct str folder;  /* base of relative paths; if empty, they stay relative */
    const char *stored; /* if not NULL, the tree is from the store, and messages call it this */
};

/* object is zeroed memory of form->size bytes. */
void definition_read_object(struct definition_reader *r, const struct form *form,
                            const struct yaml_node *node, void *object);

#endif
