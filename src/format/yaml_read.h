/*
 * Parses YAML and JSON texts into a tree, each node with its place.
 *
 * Accepts a strict subset of YAML for definitions and configuration: one document, UTF-8, no
 * anchors, aliases, tags or duplicate names; names are texts; size and depth are bounded. The
 * same call reads JSON.
 */
#ifndef SRC_FORMAT_YAML_READ_H
#define SRC_FORMAT_YAML_READ_H

#include "src/base/base.h"
#include "src/base/str.h"
#include "src/format/problem.h"
#include "src/format/yaml.h"

#include <stddef.h>

#define YAML_TEXT_MAX  ((size_t)4 * 1024 * 1024) /* bytes */
#define YAML_DEPTH_MAX 48

/* Returns NULL after adding at least one error to problems. An empty text is an empty map. */
struct yaml_node *yaml_read(struct arena *a, const char *file, struct str text,
                            struct problems *problems) MUST_CHECK;

#endif
