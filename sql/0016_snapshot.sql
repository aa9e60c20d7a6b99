-- shared: a program that does not know delayed tables refuses their definitions
-- Changes of delayed tables that wait for a run, and what they lead to (src/store/snapshot.h).

CREATE TABLE IF NOT EXISTS snapshot (
    id {serial},
    topic {key} NOT NULL,
    table_name {key} NOT NULL,
    op {word} NOT NULL,
    row_id {id} NOT NULL,
    day {word} NOT NULL,
    status {word} NOT NULL,
    run {number} NOT NULL,
    version {number} NOT NULL,
    row_json {text} NOT NULL,
    created_ms {number} NOT NULL,
    updated_ms {number} NOT NULL,
    UNIQUE (topic, table_name, op, row_id, day, status)
) {rows};

CREATE INDEX snapshot_status ON snapshot (topic, status, id);
CREATE INDEX snapshot_taken ON snapshot (run, id);

CREATE TABLE IF NOT EXISTS snapshot_lead (
    id {serial},
    snapshot {number} NOT NULL,
    topic {key} NOT NULL,
    index_name {key} NOT NULL,
    version {number} NOT NULL,
    member {key} NOT NULL,
    place {number} NOT NULL,
    by_row {number} NOT NULL,
    was {number} NOT NULL,
    key_hash {number} NOT NULL,
    key_bytes {text} NOT NULL,
    at_least {number} NOT NULL,
    UNIQUE (snapshot, index_name, version, place, by_row, was, key_hash)
) {rows};

CREATE INDEX snapshot_lead_version ON snapshot_lead (index_name, version);

-- One of a topic.
CREATE TABLE IF NOT EXISTS snapshot_run (
    id {serial},
    topic {key} NOT NULL,
    table_name {key} NOT NULL,
    one {number} NOT NULL,
    after_id {number} NOT NULL,
    level {number} NOT NULL,
    level_after {text} NOT NULL,
    n_all {number} NOT NULL,
    n_done {number} NOT NULL,
    created_ms {number} NOT NULL,
    updated_ms {number} NOT NULL,
    UNIQUE (topic)
) {rows};
