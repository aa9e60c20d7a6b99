/*
 * A tree of texts, lists and maps: what a definition or configuration file says (yaml_read), or
 * what is to be written as YAML or JSON.
 *
 * Every scalar stays a text, so that no number is ever rounded; what a plain text means is
 * yaml_scalar_kind()'s business, by JSON's rules and not YAML's (no `yes`, no octals).
 *
 * Everything lives in the arena given.
 */
#ifndef SRC_YAML_H
#define SRC_YAML_H

#include "src/base/base.h"
#include "src/base/str.h"
#include "src/problem.h"

#include <stdbool.h>
#include <stddef.h>

struct arena;
struct buf;

enum yaml_kind { YAML_SCALAR = 0, YAML_LIST, YAML_MAP };

struct yaml_node {
    enum yaml_kind kind;
    bool quoted;              /* scalar in quotes or as a block: always a text */
    struct str text;          /* scalar; NUL follows */
    struct place place;       /* where it starts */
    struct yaml_node **items; /* list: elements; map: values */
    struct yaml_node **names; /* map: its names, scalars */
    size_t n;                 /* of items */
};

/* What a scalar means as JSON. */
enum yaml_scalar_kind {
    YAML_TEXT = 0,
    YAML_NULL, /* null, ~ or nothing at all */
    YAML_TRUE,
    YAML_FALSE,
    YAML_NUMBER, /* exactly as JSON writes numbers */
};
enum yaml_scalar_kind yaml_scalar_kind(const struct yaml_node *n);

/* The value under name, or NULL. */
struct yaml_node *yaml_find(const struct yaml_node *map, struct str name);

/* "a text", "a list", "a map" for messages. */
const char *yaml_kind_name(const struct yaml_node *n);

/* Made, not read: places are empty. */
struct yaml_node *yaml_new(struct arena *a, enum yaml_kind kind) RETURNS_NONNULL MUST_CHECK;
/* A text (quoted) or the JSON literal or number that plain says. */
struct yaml_node *yaml_new_text(struct arena *a, struct str text) RETURNS_NONNULL MUST_CHECK;
struct yaml_node *yaml_new_plain(struct arena *a, struct str plain) RETURNS_NONNULL MUST_CHECK;
void yaml_push(struct arena *a, struct yaml_node *list, struct yaml_node *item);
/* At the end of a map; the caller knows that name is not there yet. */
void yaml_push_pair(struct arena *a, struct yaml_node *map, struct yaml_node *name,
                    struct yaml_node *value);
/* Add or replace. */
void yaml_put(struct arena *a, struct yaml_node *map, struct str name, struct yaml_node *value);

/* As JSON on one line; sorted: names in byte order, so that equal trees give equal bytes. */
void yaml_append_json(struct buf *b, const struct yaml_node *n, bool sorted);
/* Whether they say the same, names in any order; NULL is like NULL only. */
bool yaml_equal(const struct yaml_node *a, const struct yaml_node *b);
/* As block YAML; reading it back gives the same tree. */
void yaml_append_yaml(struct buf *b, const struct yaml_node *n);

#endif
