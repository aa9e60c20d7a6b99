/*
 * One object of a definition from its tree, walking its form.
 *
 * Reports everything that is wrong with it and goes on; an object with errors is as complete as
 * it can be, so that what refers to it is not reported again.
 */
#ifndef SYNC_MODEL_DEFINITION_READ_H
#define SYNC_MODEL_DEFINITION_READ_H

#include "src/base/base.h"
#include "src/base/str.h"
#include "src/problem.h"
#include "sync/model/definition.h"
#include "sync/model/definition_form.h"

struct yaml_node;

struct definition_reader {
    struct definitions *d; /* texts and places go here */
    struct problems *problems;
    struct str folder;  /* what relative paths start from; empty: they stay as they are */
    const char *stored; /* not NULL: from the store, and this is how messages call it */
};

/* object is zeroed memory of form->size bytes. */
void definition_read_object(struct definition_reader *r, const struct form *form,
                            const struct yaml_node *node, void *object);

#endif
