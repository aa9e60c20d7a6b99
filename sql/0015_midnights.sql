-- shared: it only adds tables, and programs that do not know them lose nothing of theirs.
-- Where each topic's log was at midnight (src/store/midnight.h).

CREATE TABLE IF NOT EXISTS midnight (
    topic {key} NOT NULL,
    zone {word} NOT NULL,
    day {number} NOT NULL,
    epoch {number} NOT NULL,
    log_file {text} NOT NULL,
    log_offset {number} NOT NULL,
    PRIMARY KEY (topic, zone, day)
) {keyed};
