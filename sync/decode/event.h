/*
 * struct event: one binlog event with its common header parsed and its body as a slice; and
 * parsers for the bodies that have a structure.
 *
 * Layouts: libs/mysql/binlog/event/ of MySQL, sql/log_event.h of MariaDB.  Little-endian unless
 * noted.  Parsed bodies borrow from the event.
 */
#ifndef SYNC_DECODE_EVENT_H
#define SYNC_DECODE_EVENT_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "sync/position/gtid.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct gtid_set;
struct unpacker;

#define EVENT_HEADER_LEN 19

/* name, value, text as the servers print it */
#define EVENT_TYPES(X)                                             \
    X(START_V3, 1, "Start_v3")                                     \
    X(QUERY, 2, "Query")                                           \
    X(STOP, 3, "Stop")                                             \
    X(ROTATE, 4, "Rotate")                                         \
    X(INTVAR, 5, "Intvar")                                         \
    X(LOAD, 6, "Load")                                             \
    X(SLAVE, 7, "Slave")                                           \
    X(CREATE_FILE, 8, "Create_file")                               \
    X(APPEND_BLOCK, 9, "Append_block")                             \
    X(EXEC_LOAD, 10, "Exec_load")                                  \
    X(DELETE_FILE, 11, "Delete_file")                              \
    X(NEW_LOAD, 12, "New_load")                                    \
    X(RAND, 13, "Rand")                                            \
    X(USER_VAR, 14, "User_var")                                    \
    X(FORMAT_DESCRIPTION, 15, "Format_desc")                       \
    X(XID, 16, "Xid")                                              \
    X(BEGIN_LOAD_QUERY, 17, "Begin_load_query")                    \
    X(EXECUTE_LOAD_QUERY, 18, "Execute_load_query")                \
    X(TABLE_MAP, 19, "Table_map")                                  \
    X(PRE_GA_WRITE_ROWS, 20, "Write_rows_event_old")               \
    X(PRE_GA_UPDATE_ROWS, 21, "Update_rows_event_old")             \
    X(PRE_GA_DELETE_ROWS, 22, "Delete_rows_event_old")             \
    X(WRITE_ROWS_V1, 23, "Write_rows_v1")                          \
    X(UPDATE_ROWS_V1, 24, "Update_rows_v1")                        \
    X(DELETE_ROWS_V1, 25, "Delete_rows_v1")                        \
    X(INCIDENT, 26, "Incident")                                    \
    X(HEARTBEAT, 27, "Heartbeat")                                  \
    X(IGNORABLE, 28, "Ignorable")                                  \
    X(ROWS_QUERY, 29, "Rows_query")                                \
    X(WRITE_ROWS, 30, "Write_rows")                                \
    X(UPDATE_ROWS, 31, "Update_rows")                              \
    X(DELETE_ROWS, 32, "Delete_rows")                              \
    X(GTID, 33, "Gtid")                                            \
    X(ANONYMOUS_GTID, 34, "Anonymous_Gtid")                        \
    X(PREVIOUS_GTIDS, 35, "Previous_gtids")                        \
    X(TRANSACTION_CONTEXT, 36, "Transaction_context")              \
    X(VIEW_CHANGE, 37, "View_change")                              \
    X(XA_PREPARE, 38, "XA_prepare")                                \
    X(PARTIAL_UPDATE_ROWS, 39, "Update_rows_partial")              \
    X(TRANSACTION_PAYLOAD, 40, "Transaction_payload")              \
    X(HEARTBEAT_V2, 41, "Heartbeat_v2")                            \
    X(GTID_TAGGED, 42, "Gtid_tagged")                              \
    X(ANNOTATE_ROWS, 160, "Annotate_rows")                         \
    X(BINLOG_CHECKPOINT, 161, "Binlog_checkpoint")                 \
    X(MARIADB_GTID, 162, "MariaDB_Gtid")                           \
    X(GTID_LIST, 163, "Gtid_list")                                 \
    X(START_ENCRYPTION, 164, "Start_encryption")                   \
    X(QUERY_COMPRESSED, 165, "Query_compressed")                   \
    X(WRITE_ROWS_COMPRESSED_V1, 166, "Write_rows_compressed_v1")   \
    X(UPDATE_ROWS_COMPRESSED_V1, 167, "Update_rows_compressed_v1") \
    X(DELETE_ROWS_COMPRESSED_V1, 168, "Delete_rows_compressed_v1") \
    X(WRITE_ROWS_COMPRESSED, 169, "Write_rows_compressed")         \
    X(UPDATE_ROWS_COMPRESSED, 170, "Update_rows_compressed")       \
    X(DELETE_ROWS_COMPRESSED, 171, "Delete_rows_compressed")

/* The wire may have other numbers, too. */
enum event_type {
#define EVENT_TYPE(name, number, text) EVENT_##name = number,
    EVENT_TYPES(EVENT_TYPE)
#undef EVENT_TYPE
};

/* Flags of the common header. */
#define EVENT_FLAG_IN_USE     0x0001u
#define EVENT_FLAG_ARTIFICIAL 0x0020u
#define EVENT_FLAG_IGNORABLE  0x0080u

struct event {
    uint8_t type; /* enum event_type, or an unknown number */
    uint16_t flags;
    uint32_t time; /* seconds since 1970 UTC */
    uint32_t server_id;
    struct str file; /* base name; a ROTATE changes it */
    uint64_t start;  /* offsets in that file, counted by the reader; an event inside a */
    uint64_t end;    /* TRANSACTION_PAYLOAD has the offsets of the payload */
    struct str body; /* between header and checksum */
    bool in_payload; /* unpacked from a TRANSACTION_PAYLOAD */
    bool skipped;    /* rows of an unwanted table: the checksum was not verified */
    uint32_t cut; /* 0, or the full length of an event above the limit; body then holds only its
                     beginning */
};

/* This much of a cut event is kept.  No parser needs more, and rows begin before. */
#define EVENT_CUT_LEN ((size_t)128 << 10)
/*
 * Tell whether events of this type are cut above the limit: those with rows, and those that
 * only quote the statement behind them.
 */
bool event_may_be_cut(uint8_t type);

/* For example "Query"; "Unknown" if the number has no name. */
const char *event_name(uint8_t type);

/* The log's FORMAT_DESCRIPTION event: how to read the events after it. */
struct event_format {
    uint16_t version;
    char server[51]; /* "10.11.6-MariaDB-log" */
    bool mariadb;
    bool checksums; /* each event ends with a CRC32 */
    uint32_t created;
    uint8_t header_len;
    bool old_numbers; /* alpha releases of MySQL 5.1 and 5.2: see event_format_type() */
    uint8_t n_types;
    uint8_t post_header_len[255]; /* indexed by type - 1 */
};

/* body starts after the common header and includes the checksum, if any. */
bool event_format_parse(struct str body, struct event_format *out, struct err *err) MUST_CHECK;

/* Map the type number of a common header to the event type in this log. */
uint8_t event_format_type(const struct event_format *f, uint8_t number);

struct event_rotate {
    uint64_t offset;
    struct str file;
};
bool event_rotate_parse(struct str body, struct event_rotate *out, struct err *err) MUST_CHECK;

#define SQL_MODE_ANSI_QUOTES          (UINT64_C(1) << 2)
#define SQL_MODE_NO_BACKSLASH_ESCAPES (UINT64_C(1) << 20)

struct event_query {
    uint16_t error;
    uint16_t collation; /* of the text (character_set_client); 0 if the log does not say */
    uint64_t sql_mode;  /* of the session: SQL_MODE_... */
    struct str database;
    struct str sql;
};
bool event_query_parse(const struct event_format *f, struct str body, struct event_query *out,
                       struct err *err) MUST_CHECK;

/* Unpack a QUERY_COMPRESSED event.  The text has at most max bytes and is borrowed from u. */
bool event_query_unpack(const struct event_format *f, struct str body, struct unpacker *u,
                        size_t max, struct event_query *out, struct err *err) MUST_CHECK;

struct event_xa {
    bool one_phase; /* committed at once */
    uint32_t format;
    struct str gtrid;
    struct str bqual;
};
bool event_xa_parse(struct str body, struct event_xa *out, struct err *err) MUST_CHECK;
/* Print "X'67',X'62',1", as servers do in XA COMMIT. */
void event_xa_format(struct buf *b, const struct event_xa *xa);

struct event_gtid {
    struct gtid gtid;       /* GTID_NONE for ANONYMOUS_GTID */
    int64_t last_committed; /* MySQL */
    int64_t sequence;       /* MySQL */
    uint64_t
        commit_us;    /* original commit, microseconds since 1970; 0 if the log does not say */
    bool standalone;  /* MariaDB: one statement; no COMMIT follows */
    bool ddl;         /* MariaDB */
    bool xa_prepare;  /* MariaDB: ends with XA_PREPARE of xa */
    bool xa_complete; /* MariaDB: XA COMMIT or XA ROLLBACK of xa */
    bool start_alter; /* MariaDB two-phase ALTER: no effect yet ... */
    bool rollback_alter; /* ... or no effect at all */
    struct event_xa xa;
};
/* Parse GTID, ANONYMOUS_GTID, GTID_TAGGED and MARIADB_GTID. */
bool event_gtid_parse(const struct event *e, struct event_gtid *out,
                      struct err *err) MUST_CHECK;

/* Parse PREVIOUS_GTIDS and GTID_LIST: the ids executed before this place. */
bool event_gtid_set_parse(const struct event *e, struct gtid_set **out,
                          struct err *err) MUST_CHECK;

struct event_incident {
    uint16_t code;
    struct str message;
};
bool event_incident_parse(struct str body, struct event_incident *out,
                          struct err *err) MUST_CHECK;

/* The post-header of any rows event.  Cheap to parse. */
enum row_op { ROW_INSERT = 0, ROW_UPDATE, ROW_DELETE };
#define ROWS_STMT_END       0x0001u
#define ROWS_NO_FK_CHECKS   0x0002u
#define ROWS_USE_SQL_FK     0x0010u              /* MySQL 9.6+: cascades are logged as rows */
#define ROWS_TABLE_ID_DUMMY UINT64_C(0xffffffff) /* MariaDB: no rows, only STMT_END */

struct event_rows {
    enum row_op op;
    bool compressed; /* MariaDB: the rows are compressed */
    bool partial;    /* PARTIAL_UPDATE_ROWS */
    bool pre_ga;     /* MySQL 5.1 betas */
    uint16_t flags;
    uint64_t table_id;
    struct str rest; /* column count, bitmaps, rows */
    uint32_t cut;    /* as in struct event: if not 0, the rows cannot be read */
};
/* The size of a table id in events of this type: 6 bytes, 4 in very old logs. */
size_t event_table_id_size(const struct event_format *f, uint8_t type);

/* Tell whether events of this type carry rows. */
bool event_has_rows(uint8_t type);
bool event_rows_parse(const struct event_format *f, uint8_t type, struct str body,
                      struct event_rows *out, struct err *err) MUST_CHECK;

#endif
