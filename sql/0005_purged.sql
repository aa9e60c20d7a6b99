-- Documents that are to be read and written again, as changes of them were purged
-- (src/store/purged.h).

CREATE TABLE IF NOT EXISTS purged (
    id {serial},
    topic {key} NOT NULL,
    table_name {key} NOT NULL,
    index_name {key} NOT NULL,
    doc_id {id} NOT NULL,
    routing {id} NOT NULL,
    key_bytes {text} NOT NULL,
    version {number} NOT NULL,
    unanswered {number} NOT NULL,
    times {number} NOT NULL,
    at_ms {number} NOT NULL,
    UNIQUE (index_name, doc_id, routing)
) {rows};
