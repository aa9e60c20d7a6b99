-- Who owns what, what is defined, how far each topic has come, and what is being built.
--
-- Words in braces are the two dialects' types (src/store/sqlite.c, src/store/mysql.c).  Keys
-- compare by bytes.  A migration that was released is never changed; the next one goes on from it.

CREATE TABLE IF NOT EXISTS term (
    thing {key} NOT NULL PRIMARY KEY,
    term {number} NOT NULL
) {keyed};

CREATE TABLE IF NOT EXISTS setting (
    name {key} NOT NULL PRIMARY KEY,
    content {text} NOT NULL
) {keyed};

CREATE TABLE IF NOT EXISTS definition (
    kind {key} NOT NULL,
    name {key} NOT NULL,
    body {text} NOT NULL,
    PRIMARY KEY (kind, name)
) {keyed};

CREATE TABLE IF NOT EXISTS checkpoint (
    topic {key} NOT NULL PRIMARY KEY,
    log_file {text} NOT NULL,
    log_offset {number} NOT NULL,
    gtid {text} NOT NULL,
    epoch {number} NOT NULL,
    fingerprint {text} NOT NULL,
    event_ms {number} NOT NULL,
    state {text} NOT NULL,
    reason {text} NOT NULL
) {keyed};

CREATE TABLE IF NOT EXISTS tombstone (
    index_name {key} NOT NULL,
    doc_id {id} NOT NULL,
    routing {id} NOT NULL,
    version {number} NOT NULL,
    at_ms {number} NOT NULL,
    PRIMARY KEY (index_name, doc_id, routing)
) {keyed};

CREATE INDEX tombstone_at ON tombstone (at_ms);

-- Outlives the versions, so that no number is given twice.
CREATE TABLE IF NOT EXISTS index_counter (
    index_name {key} NOT NULL PRIMARY KEY,
    number {number} NOT NULL
) {keyed};

CREATE TABLE IF NOT EXISTS index_version (
    index_name {key} NOT NULL,
    number {number} NOT NULL,
    state {key} NOT NULL,
    topic {key} NOT NULL,
    epoch {number} NOT NULL,
    start_version {number} NOT NULL,
    definition {text} NOT NULL,
    created_ms {number} NOT NULL,
    finished_ms {number} NOT NULL,
    PRIMARY KEY (index_name, number)
) {keyed};

CREATE TABLE IF NOT EXISTS job (
    id {serial},
    kind {word} NOT NULL,
    index_name {key} NOT NULL,
    version {number} NOT NULL,
    table_name {key} NOT NULL,
    bucket {number} NOT NULL,
    buckets {number} NOT NULL,
    state {word} NOT NULL,
    cursor_text {text} NOT NULL,
    rows_done {number} NOT NULL,
    rows_total {number} NOT NULL,
    parameters {text} NOT NULL,
    error {text} NOT NULL,
    created_ms {number} NOT NULL,
    updated_ms {number} NOT NULL,
    UNIQUE (index_name, version, table_name, kind, bucket)
) {rows};
