-- What went wrong and what was done: dead letters, stopped tables, the sync log.

CREATE TABLE IF NOT EXISTS dead_letter (
    id {serial},
    topic {key} NOT NULL,
    table_name {key} NOT NULL,
    index_name {key} NOT NULL,
    doc_id {id} NOT NULL,
    routing {id} NOT NULL,
    key_text {text} NOT NULL,
    op {word} NOT NULL,
    reason {text} NOT NULL,
    body {text} NOT NULL,
    version {number} NOT NULL,
    status {number} NOT NULL,
    attempts {number} NOT NULL,
    first_ms {number} NOT NULL,
    last_ms {number} NOT NULL,
    UNIQUE (index_name, doc_id, routing)
) {rows};

CREATE TABLE IF NOT EXISTS table_stop (
    table_name {key} NOT NULL PRIMARY KEY,
    reason {text} NOT NULL,
    way_out {text} NOT NULL,
    log_file {text} NOT NULL,
    log_offset {number} NOT NULL,
    at_ms {number} NOT NULL
) {keyed};

CREATE TABLE IF NOT EXISTS sync_log (
    id {serial},
    at_ms {number} NOT NULL,
    table_name {key} NOT NULL,
    index_name {key} NOT NULL,
    event {key} NOT NULL,
    detail {text} NOT NULL,
    version {number} NOT NULL
) {rows};

CREATE INDEX sync_log_table ON sync_log (table_name, id);

-- Why a version failed; null for those that were made before.
ALTER TABLE index_version ADD COLUMN error {text};
