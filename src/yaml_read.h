/*
 * YAML and JSON texts to a tree, each node with its place.
 *
 * A stricter YAML for people who write definitions and configuration: one document, UTF-8, no
 * anchors, aliases or tags, no duplicate names, names are texts, bounded in size and depth.
 * JSON is read by the same call.
 */
#ifndef SRC_YAML_READ_H
#define SRC_YAML_READ_H

#include "src/base/base.h"
#include "src/base/str.h"
#include "src/problem.h"
#include "src/yaml.h"

#include <stddef.h>

#define YAML_TEXT_MAX  ((size_t)4 * 1024 * 1024) /* bytes of one text */
#define YAML_DEPTH_MAX 48

/* NULL: problems has at least one more error.  An empty text is an empty map. */
struct yaml_node *yaml_read(struct arena *a, const char *file, struct str text,
                            struct problems *problems) MUST_CHECK;

#endif
