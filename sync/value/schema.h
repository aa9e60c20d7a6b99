/*
 * struct schema: the shape of a table at one moment; immutable and reference-counted.
 *
 * Built from information_schema (sync/catalog/catalog) or from full binlog metadata.
 *
 * @thread any (atomic count, no other mutable state)
 */
#ifndef SYNC_VALUE_SCHEMA_H
#define SYNC_VALUE_SCHEMA_H

#include "src/base/arena.h"
#include "src/base/base.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The store keeps these numbers (sync/routing/shapes): append new types. */
enum column_type {
    COLUMN_UNKNOWN = 0,
    COLUMN_TINYINT,
    COLUMN_SMALLINT,
    COLUMN_MEDIUMINT,
    COLUMN_INT,
    COLUMN_BIGINT,
    COLUMN_DECIMAL,
    COLUMN_FLOAT,
    COLUMN_DOUBLE,
    COLUMN_BIT,
    COLUMN_YEAR,
    COLUMN_DATE,
    COLUMN_TIME,
    COLUMN_DATETIME,
    COLUMN_TIMESTAMP,
    COLUMN_CHAR,
    COLUMN_VARCHAR,
    COLUMN_BINARY,
    COLUMN_VARBINARY,
    COLUMN_TEXT, /* TINYTEXT to LONGTEXT */
    COLUMN_BLOB, /* TINYBLOB to LONGBLOB */
    COLUMN_ENUM,
    COLUMN_SET,
    COLUMN_JSON, /* also MariaDB's LONGTEXT with a json_valid check */
    COLUMN_POINT,
    COLUMN_GEOMETRY, /* all other spatial types */
    COLUMN_UUID,
    COLUMN_INET4,
    COLUMN_INET6,
    COLUMN_VECTOR,
};

struct column {
    struct str name;
    struct str type_text; /* as information_schema prints it: "decimal(10,2) unsigned" */
    enum column_type type;
    bool is_unsigned;
    bool nullable;
    bool has_default; /* a default other than NULL */
    bool generated;
    bool invisible;
    bool row_end; /* MariaDB system versioning: the column with the time a row version ended */
    bool compressed;   /* MariaDB COMPRESSED */
    bool old_temporal; /* MariaDB's pre-5.6 storage with fraction digits */
    uint8_t fsp;       /* fraction digits of a temporal */
    uint8_t precision; /* DECIMAL */
    uint8_t scale;     /* DECIMAL */
    uint32_t length; /* characters of CHAR/VARCHAR, bytes of BINARY, bits of BIT, dimensions of
                        VECTOR */
    struct str charset; /* "utf8mb4"; "" if the type has none; "binary" for byte columns */
    struct str collation;
    struct str expression; /* of a generated column, as the server prints it */
    struct str *labels;    /* ENUM and SET, UTF-8 */
    size_t n_labels;
};

/* Tell whether its values are numbers or times. */
static inline bool column_is_scalar(const struct column *c)
{
    return c->type >= COLUMN_TINYINT && c->type <= COLUMN_TIMESTAMP;
}

#define SCHEMA_HASH STR("DB_ROW_HASH") /* the name given to every hash column */

/*
 * The columns of a unique index.  An index on prefixes of columns counts as one on the columns.
 */
struct schema_unique {
    size_t *columns; /* indexes into columns; SIZE_MAX for an expression */
    size_t n;
};

struct schema {
    struct str database;
    struct str table;
    struct column *columns;
    size_t n_columns;
    size_t *key; /* the primary key: indexes into columns, in key order */
    size_t n_key;
    struct schema_unique *uniques; /* without the primary key */
    size_t n_uniques;
    bool uniques_known; /* false if the schema does not come from information_schema */
    bool is_view;
    bool any_case; /* the server compares table names without case */
    struct str engine;
    struct arena *arena; /* owns every byte above */
    unsigned refs;       /* change with schema_ref() and schema_unref() only */
};

/* Create an empty schema with one reference and an arena for its parts. */
struct schema *schema_new(struct str database, struct str table) RETURNS_NONNULL MUST_CHECK;

struct schema *schema_ref(struct schema *s) RETURNS_NONNULL;
void schema_unref(struct schema *s); /* NULL is allowed */

/*
 * Count the hash columns that MariaDB adds for unique keys that are too long or USING HASH.
 * They come and go with their indexes, and row events include them.
 */
size_t schema_n_hashes(const struct schema *s);

/*
 * Tell whether MariaDB system versioning keeps older rows of the same key in this table.  The
 * log has all of them.
 */
bool schema_keeps_history(const struct schema *s);

/*
 * Tell whether a unique index or the primary key lies within these columns, so that no two rows
 * agree in all of them.  Rows with NULLs may agree, but make no _id.  Requires uniques_known.
 */
bool schema_is_unique(const struct schema *s, const struct str *columns, size_t n);

/* Returns the column's index, or SIZE_MAX.  Compares names without case, as the server does. */
size_t schema_find(const struct schema *s, struct str name);

#endif
