-- Index versions that are complete and wait to be published, and why (src/store/waiting.h).

CREATE TABLE IF NOT EXISTS version_wait (
    index_name {key} NOT NULL,
    number {number} NOT NULL,
    reason {word} NOT NULL,
    detail {text} NOT NULL,
    letters {number} NOT NULL,
    n_rows {number} NOT NULL,
    accepted {number} NOT NULL,
    since_ms {number} NOT NULL,
    PRIMARY KEY (index_name, number)
) {keyed};
