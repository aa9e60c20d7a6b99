-- shared: an owner that does not know it lets no other node fill such an index
-- Searches for what foreign keys changed while an index was filled on other nodes
-- (src/store/later/kept_search.h).

CREATE TABLE IF NOT EXISTS kept_search (
    id {serial},
    topic {key} NOT NULL,
    index_name {key} NOT NULL,
    version {number} NOT NULL,
    member {key} NOT NULL,
    down {number} NOT NULL,
    query {text} NOT NULL
) {rows};

CREATE INDEX kept_search_of ON kept_search (index_name, version, id);
