-- What the nodes of a cluster tell one another: commands for a topic's owner (src/store/wish.h),
-- how topics and nodes are (src/store/told.h), and that something is to be loaded again
-- (src/store/change.h).

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

CREATE TABLE IF NOT EXISTS told_topic (
    topic {key} NOT NULL PRIMARY KEY,
    node {key} NOT NULL,
    node_name {text} NOT NULL,
    term {number} NOT NULL,
    at_ms {number} NOT NULL,
    body {text} NOT NULL
) {rows};

CREATE TABLE IF NOT EXISTS told_node (
    node {key} NOT NULL PRIMARY KEY,
    node_name {text} NOT NULL,
    program {text} NOT NULL,
    at_ms {number} NOT NULL,
    body {text} NOT NULL
) {rows};

-- One row.
CREATE TABLE IF NOT EXISTS change_count (
    id {number} NOT NULL PRIMARY KEY,
    number {number} NOT NULL
) {keyed};

REPLACE INTO change_count (id, number) VALUES (1, 0);
