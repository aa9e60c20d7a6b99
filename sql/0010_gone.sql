-- Documents whose rows are gone, and that stay until what went with these is found
-- (src/store/gone.h).

CREATE TABLE IF NOT EXISTS gone (
    id {serial},
    topic {key} NOT NULL,
    index_name {key} NOT NULL,
    version {number} NOT NULL,
    member {key} NOT NULL,
    doc_id {id} NOT NULL,
    routing {id} NOT NULL,
    key_bytes {text} NOT NULL,
    UNIQUE (index_name, version, doc_id, routing)
) {rows};
