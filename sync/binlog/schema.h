/*
 * struct schema: what a table looked like at some moment; immutable and reference-counted.
 *
 * Made from information_schema (sync/model/catalog) or from full binlog metadata.
 *
 * @thread any (atomic count, no other mutable state)
 */
#ifndef SYNC_BINLOG_SCHEMA_H
#define SYNC_BINLOG_SCHEMA_H

#include "src/base/arena.h"
#include "src/base/base.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The numbers are stored (sync/shapes): new types go to the end. */
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
    COLUMN_JSON, /* also MariaDB's LONGTEXT with json_valid */
    COLUMN_POINT,
    COLUMN_GEOMETRY, /* every other spatial type */
    COLUMN_UUID,
    COLUMN_INET4,
    COLUMN_INET6,
    COLUMN_VECTOR,
};

struct column {
    struct str name;
    struct str type_text; /* as information_schema says it: "decimal(10,2) unsigned" */
    enum column_type type;
    bool is_unsigned;
    bool nullable;
    bool has_default; /* other than NULL */
    bool generated;
    bool invisible;
    bool row_end;         /* MariaDB system versioning: until when the row was the present one */
    bool compressed;      /* MariaDB COMPRESSED */
    bool old_temporal;    /* MariaDB pre-5.6 storage with fraction digits */
    uint8_t fsp;          /* fraction digits of temporals */
    uint8_t precision;    /* DECIMAL */
    uint8_t scale;        /* DECIMAL */
    uint32_t length;      /* characters of CHAR/VARCHAR, bytes of BINARY, bits of BIT, dims of VECTOR */
    struct str charset;   /* "utf8mb4", "" for columns without one, "binary" for byte columns */
    struct str collation;
    struct str expression; /* of a generated column, as the server writes it */
    struct str *labels;   /* ENUM and SET, UTF-8 */
    size_t n_labels;
};

#define SCHEMA_HASH STR("DB_ROW_HASH") /* as all hash columns are called here */

/* A unique index, by its columns; one of only their first bytes is as good. */
struct schema_unique {
    size_t *columns; /* indexes into columns; SIZE_MAX: an expression */
    size_t n;
};

struct schema {
    struct str database;
    struct str table;
    struct column *columns;
    size_t n_columns;
    size_t *key; /* indexes into columns of the primary key, in key order */
    size_t n_key;
    struct schema_unique *uniques; /* beside the primary key */
    size_t n_uniques;
    bool uniques_known; /* false: not from information_schema */
    bool is_view;
    bool any_case; /* its server does not tell names of tables apart by case */
    struct str engine;
    struct arena *arena; /* owns every byte above */
    unsigned refs;       /* use schema_ref and schema_unref */
};

/* An empty schema with one reference and an arena to put its parts into. */
struct schema *schema_new(struct str database, struct str table) RETURNS_NONNULL MUST_CHECK;

struct schema *schema_ref(struct schema *s) RETURNS_NONNULL;
void schema_unref(struct schema *s); /* NULL is fine */

/* How many hash columns MariaDB has added to it, for unique keys that are too long or USING HASH:
 * they come and go with indexes, and the log has them. */
size_t schema_n_hashes(const struct schema *s);

/* MariaDB system versioning: beside its rows the table has older ones of the same key, and the
 * log has them all. */
bool schema_keeps_history(const struct schema *s);

/* No two rows have the same in these columns, but for NULLs, which make no _id: a unique index, or
 * the primary key, lies within them.  Of a schema whose unique indexes are known. */
bool schema_is_unique(const struct schema *s, const struct str *columns, size_t n);

/* The column's index, or SIZE_MAX.  Names compare without case, as in the server. */
size_t schema_find(const struct schema *s, struct str name);

#endif
