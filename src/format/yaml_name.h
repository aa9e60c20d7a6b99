/*
 * Names inside a YAML file that is written as text: in flow form, and in comments.
 *
 * @thread any (pure)
 */
#ifndef SRC_FORMAT_YAML_NAME_H
#define SRC_FORMAT_YAML_NAME_H

#include "src/base/str.h"

#include <stddef.h>

struct buf;

/* Append a name: plain unless some reader of YAML could misread it. */
void yaml_append_name(struct buf *yaml, struct str name);
/* The same for one name, or a list in brackets for several. */
void yaml_append_names(struct buf *yaml, const struct str *names, size_t n);
/* Append text for a comment, without control characters. */
void yaml_append_comment(struct buf *yaml, struct str text);

#endif
