-- shared: programs that do not know it record nothing here
-- What people and scripts have changed (src/store/audit.h).

CREATE TABLE IF NOT EXISTS audit (
    id {serial},
    at_ms {number} NOT NULL,
    who {key} NOT NULL,
    node {key} NOT NULL,
    method {word} NOT NULL,
    target {text} NOT NULL,
    what {text} NOT NULL,
    object {key} NOT NULL,
    asked {text} NOT NULL,
    answered {text} NOT NULL
) {rows};
