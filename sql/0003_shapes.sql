-- What tables looked like when an index version was made of them, and which are to be built again.

CREATE TABLE IF NOT EXISTS version_shape (
    index_name {key} NOT NULL,
    number {number} NOT NULL,
    shapes {text} NOT NULL,
    PRIMARY KEY (index_name, number)
) {keyed};

CREATE TABLE IF NOT EXISTS rebuild (
    table_name {key} NOT NULL PRIMARY KEY,
    reason {text} NOT NULL,
    at_ms {number} NOT NULL
) {keyed};
