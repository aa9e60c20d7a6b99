/*
 * The optional metadata of a TABLE_MAP event: signs, character sets, names, labels, key.
 *
 * MySQL 8 and MariaDB 10.5 write the same fields but count character columns differently.  Bits
 * are highest first here, unlike everywhere else.  Skips unknown fields.
 */
#ifndef SYNC_DECODE_TABLE_METADATA_H
#define SYNC_DECODE_TABLE_METADATA_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "sync/decode/wire.h"
#include "sync/value/schema.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct charset_converter;

struct column_metadata {
    bool nullable;
    bool is_unsigned;
    bool invisible;
    uint32_t collation; /* 0 if the log does not say */
    struct str name;    /* ptr NULL if the log does not say */
    struct str labels;  /* ENUM and SET: raw list; ptr NULL if the log does not say */
    uint32_t n_labels;
    uint32_t geometry; /* 1: POINT */
    uint32_t dimensions;
};

struct table_metadata {
    const struct wire_column *wire;  /* the caller sets wire, columns and nullable */
    struct column_metadata *columns; /* malloc'ed; table_metadata_fini() frees it */
    size_t n_columns;
    bool has_names;
    struct str key; /* raw list of column numbers; ptr NULL if the log does not say */
    bool key_has_prefixes;
    struct charset_converter *converter; /* made on demand */
};

/* Strings borrow from fields. */
bool table_metadata_parse(struct table_metadata *m, struct str fields, bool mariadb,
                          struct err *err) MUST_CHECK;
void table_metadata_fini(struct table_metadata *m);

/*
 * Describe column i as far as the log does.  Allocates strings in a; name.ptr is NULL if the
 * log has no name.
 */
void table_metadata_column(struct table_metadata *m, size_t i, struct arena *a,
                           struct column *out);

/* Set the key of s if the log has it. */
void table_metadata_key(const struct table_metadata *m, struct schema *s);

#endif
