PRAGMA application_id = 1298754668;
CREATE TABLE IF NOT EXISTS millrace_migration (
    number INTEGER NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    applied_ms INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS term (
    thing TEXT NOT NULL PRIMARY KEY,
    term INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS setting (
    name TEXT NOT NULL PRIMARY KEY,
    content TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS definition (
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (kind, name)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS checkpoint (
    topic TEXT NOT NULL PRIMARY KEY,
    log_file TEXT NOT NULL,
    log_offset INTEGER NOT NULL,
    gtid TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    fingerprint TEXT NOT NULL,
    event_ms INTEGER NOT NULL,
    state TEXT NOT NULL,
    reason TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS tombstone (
    index_name TEXT NOT NULL,
    doc_id TEXT NOT NULL,
    routing TEXT NOT NULL,
    version INTEGER NOT NULL,
    at_ms INTEGER NOT NULL,
    PRIMARY KEY (index_name, doc_id, routing)
) WITHOUT ROWID;
CREATE INDEX tombstone_at ON tombstone (at_ms);
CREATE TABLE IF NOT EXISTS index_counter (
    index_name TEXT NOT NULL PRIMARY KEY,
    number INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS index_version (
    index_name TEXT NOT NULL,
    number INTEGER NOT NULL,
    state TEXT NOT NULL,
    topic TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    start_version INTEGER NOT NULL,
    definition TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    finished_ms INTEGER NOT NULL,
    PRIMARY KEY (index_name, number)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS job (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL,
    index_name TEXT NOT NULL,
    version INTEGER NOT NULL,
    table_name TEXT NOT NULL,
    bucket INTEGER NOT NULL,
    buckets INTEGER NOT NULL,
    state TEXT NOT NULL,
    cursor_text TEXT NOT NULL,
    rows_done INTEGER NOT NULL,
    rows_total INTEGER NOT NULL,
    parameters TEXT NOT NULL,
    error TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    updated_ms INTEGER NOT NULL,
    UNIQUE (index_name, version, table_name, kind, bucket)
);
INSERT INTO millrace_migration VALUES (1, 'positions', 1763726400000);
INSERT INTO term VALUES ('topic/shop', 5);
INSERT INTO setting VALUES ('definitions/revision', '3');
INSERT INTO definition VALUES ('topic', 'shop', '{"name":"shop"}');
INSERT INTO checkpoint VALUES ('shop', 'binlog.000003', 4242, '0-1-77', 1, 'abc', 1763726400000, 'running', '');
INSERT INTO tombstone VALUES ('orders_v1', '17', '', 4300, 1763726400000);
INSERT INTO index_counter VALUES ('orders', 1);
INSERT INTO index_version VALUES ('orders', 1, 'available', 'shop', 1, 4000, '{}', 1763726400000, 1763726401000);
INSERT INTO job (kind, index_name, version, table_name, bucket, buckets, state, cursor_text, rows_done, rows_total,
    parameters, error, created_ms, updated_ms)
    VALUES ('index', 'orders', 1, 'shop.orders', 0, 1, 'done', '', 10, 10, '{}', '', 1763726400000, 1763726401000);
