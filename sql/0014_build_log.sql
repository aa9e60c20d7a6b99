-- shared: programs that do not know it log no builds here, and their versions are shown without
-- What each build was given, made and came to (src/store/build_log.h).

CREATE TABLE IF NOT EXISTS build_log (
    id {serial},
    index_name {key} NOT NULL,
    version {number} NOT NULL,
    table_name {key} NOT NULL,
    kind {word} NOT NULL,
    parameters {text} NOT NULL,
    mappings {text} NOT NULL,
    settings {text} NOT NULL,
    nodes {text} NOT NULL,
    outcome {word} NOT NULL,
    error {text} NOT NULL,
    begun_ms {number} NOT NULL,
    ended_ms {number} NOT NULL,
    UNIQUE (index_name, version)
) {rows};
