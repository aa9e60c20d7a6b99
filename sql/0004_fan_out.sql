-- Changes of related rows that lead to very many documents (src/store/fan_out.h).

CREATE TABLE IF NOT EXISTS fan_out (
    id {serial},
    topic {key} NOT NULL,
    index_name {key} NOT NULL,
    version {number} NOT NULL,
    member {key} NOT NULL,
    place {number} NOT NULL,
    by_row {number} NOT NULL,
    table_name {key} NOT NULL,
    key_hash {number} NOT NULL,
    key_bytes {text} NOT NULL,
    source {key} NOT NULL,
    at_least {number} NOT NULL,
    again {number} NOT NULL,
    run {number} NOT NULL,
    mark {number} NOT NULL,
    cursor_bytes {text} NOT NULL,
    documents {number} NOT NULL,
    created_ms {number} NOT NULL,
    updated_ms {number} NOT NULL
) {rows};

CREATE INDEX fan_out_version ON fan_out (index_name, version, key_hash);
CREATE INDEX fan_out_run ON fan_out (topic, run);
