-- What the nodes of a cluster tell one another: commands for a topic's owner (src/store/wish.h).

CREATE TABLE IF NOT EXISTS wish (
    id {serial},
    guid {key} NOT NULL,
    topic {key} NOT NULL,
    node {key} NOT NULL,
    user_name {text} NOT NULL,
    method {word} NOT NULL,
    target {text} NOT NULL,
    body {text} NOT NULL,
    can_repeat {number} NOT NULL,
    at_ms {number} NOT NULL,
    state {word} NOT NULL,
    term {number} NOT NULL,
    status {number} NOT NULL,
    answer {text} NOT NULL,
    error {text} NOT NULL,
    ended_ms {number} NOT NULL,
    UNIQUE (guid)
) {rows};

CREATE INDEX wish_state ON wish (state, topic);
