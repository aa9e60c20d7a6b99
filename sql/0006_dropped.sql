-- Versions that are not recorded any more, whose index the engine is still to delete
-- (src/store/store.h).

CREATE TABLE IF NOT EXISTS dropped_version (
    index_name {key} NOT NULL,
    number {number} NOT NULL,
    PRIMARY KEY (index_name, number)
) {rows};
