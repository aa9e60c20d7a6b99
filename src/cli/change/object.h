/*
 * One definition as it is stored, read by a command.
 *
 * @thread main
 */
#ifndef SRC_CLI_CHANGE_OBJECT_H
#define SRC_CLI_CHANGE_OBJECT_H

#include "src/base/base.h"

#include <stdint.h>

struct arena;
struct session;
struct yaml_node;

struct stored_object {
    struct arena *arena; /* the caller's */
    struct yaml_node *tree;
    uint64_t revision; /* of the definitions */
};

/*
 * Read the definition of that name; list: "tables".  Otherwise prints the error and returns the
 * exit code that fits.
 */
int object_load(struct session *s, const char *list, const char *name,
                struct stored_object *out) MUST_CHECK;

#endif
