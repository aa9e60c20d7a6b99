/*
 * Variables of the environment in the values of a file: ${NAME} and ${NAME:-default}.
 *
 * NAME is a letter or _, then letters, digits and _.  The default counts if the variable is
 * missing or empty; it ends at the first }.  $${NAME} stands for the text ${NAME}.  Any other
 * $ is text: SQL, patterns and scripts stay as they are.
 *
 * Values are filled in after the file was parsed, so whatever a variable holds stays one value.
 * The names of maps are never filled in.
 *
 * @thread any (pure)
 */
#ifndef SRC_FORMAT_VARIABLE_H
#define SRC_FORMAT_VARIABLE_H

#include "src/base/base.h"
#include "src/base/str.h"
#include "src/format/problem.h"

#include <stdbool.h>
#include <stddef.h>

struct arena;
struct yaml_node;

/* One ${NAME} in a text. */
struct variable_use {
    size_t at, len;    /* in the text, with the braces, and with both $ if escaped */
    struct str name;   /* borrowed from the text */
    struct str preset; /* the default; ptr NULL: none */
    bool escaped;
};
/* Find the first use at or after `from`.  Returns false if the text has no more. */
bool variable_next(struct str text, size_t from, struct variable_use *out) MUST_CHECK;

/* Where values come from. */
struct variables {
    /* ptr NULL: not set.  The value lives as long as `from`. */
    struct str (*find)(const void *from, struct str name);
    const void *from;
};

/* Those of an environment (as environ; NULL: empty), which is borrowed. */
struct variables variables_of_environment(char *const *environment);

/*
 * Fill in the values of a tree.  An unquoted value that becomes a number, true or false means
 * that; any other is a text, also an empty one and `null`.  Who wants a number takes a quoted
 * one, too, if it is `filled`: YAML needs quotes for ${NAME} between other braces.  Adds a
 * problem at the value's place for each variable that is missing, and for values that are not
 * UTF-8 or too large; returns false if there was one.
 */
bool variables_fill(const struct variables *v, struct arena *a, struct yaml_node *tree,
                    struct problems *problems) MUST_CHECK;
/* The reverse for texts that a file is to hold as they are: ${NAME} becomes $${NAME}. */
void variables_escape(struct arena *a, struct yaml_node *tree);

#endif
