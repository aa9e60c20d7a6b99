/*
 * A tree of texts, lists and maps: the content of a definition or configuration file
 * (yaml_read), or what will be written as YAML or JSON.
 *
 * Every scalar stays text, so no number is ever rounded. yaml_scalar_kind() says what a plain
 * scalar means, by the rules of JSON and not of YAML (no `yes`, no octals). All nodes live in
 * the caller's arena.
 */
#ifndef SRC_FORMAT_YAML_H
#define SRC_FORMAT_YAML_H

#include "src/base/base.h"
#include "src/base/str.h"
#include "src/format/problem.h"

#include <stdbool.h>
#include <stddef.h>

struct arena;
struct buf;

enum yaml_kind { YAML_SCALAR = 0, YAML_LIST, YAML_MAP };

struct yaml_node {
    enum yaml_kind kind;
    bool quoted;              /* scalar in quotes or in block style: always a text */
    bool filled;              /* scalar: variables were filled in (variable.h) */
    bool unfilled;            /* scalar: a variable is missing, the text is as written */
    struct str text;          /* scalar; followed by a NUL */
    struct str variables;     /* scalar: "A, B": its text holds their values */
    struct place place;       /* where the node starts */
    struct yaml_node **items; /* list: elements; map: values */
    struct yaml_node **names; /* map: its names, which are scalars */
    size_t n;                 /* number of items */
};

/* What a scalar means as JSON. */
enum yaml_scalar_kind {
    YAML_TEXT = 0,
    YAML_NULL, /* null, ~ or nothing */
    YAML_TRUE,
    YAML_FALSE,
    YAML_NUMBER, /* in exactly the form of JSON numbers */
};
enum yaml_scalar_kind yaml_scalar_kind(const struct yaml_node *n);

/* Returns the value under name, or NULL. */
struct yaml_node *yaml_find(const struct yaml_node *map, struct str name);

/* Returns "a text", "a list" or "a map", for messages. */
const char *yaml_kind_name(const struct yaml_node *n);

/* The functions below make nodes without a place. */
struct yaml_node *yaml_new(struct arena *a, enum yaml_kind kind) RETURNS_NONNULL MUST_CHECK;
/* yaml_new_text() makes a text (quoted); yaml_new_plain() a JSON literal or number. */
struct yaml_node *yaml_new_text(struct arena *a, struct str text) RETURNS_NONNULL MUST_CHECK;
struct yaml_node *yaml_new_plain(struct arena *a, struct str plain) RETURNS_NONNULL MUST_CHECK;
void yaml_push(struct arena *a, struct yaml_node *list, struct yaml_node *item);
/* Appends a pair to a map. The caller knows that name is not there yet. */
void yaml_push_pair(struct arena *a, struct yaml_node *map, struct yaml_node *name,
                    struct yaml_node *value);
/* Adds or replaces the value under name. */
void yaml_put(struct arena *a, struct yaml_node *map, struct str name, struct yaml_node *value);

/*
 * Writes JSON on one line. sorted: puts names in byte order, so equal trees give equal bytes.
 */
void yaml_append_json(struct buf *b, const struct yaml_node *n, bool sorted);
/* Compares two trees, ignoring the order of names. NULL equals only NULL. */
bool yaml_equal(const struct yaml_node *a, const struct yaml_node *b);
/* Writes block YAML; reading it back gives the same tree. */
void yaml_append_yaml(struct buf *b, const struct yaml_node *n);

#endif
