CREATE TABLE IF NOT EXISTS millrace_migration (
    number BIGINT NOT NULL PRIMARY KEY,
    name VARBINARY(255) NOT NULL,
    applied_ms BIGINT NOT NULL
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
CREATE TABLE IF NOT EXISTS term (
    thing VARBINARY(255) NOT NULL PRIMARY KEY,
    term BIGINT NOT NULL
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
CREATE TABLE IF NOT EXISTS setting (
    name VARBINARY(255) NOT NULL PRIMARY KEY,
    content LONGBLOB NOT NULL
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
CREATE TABLE IF NOT EXISTS definition (
    kind VARBINARY(255) NOT NULL,
    name VARBINARY(255) NOT NULL,
    body LONGBLOB NOT NULL,
    PRIMARY KEY (kind, name)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
CREATE TABLE IF NOT EXISTS checkpoint (
    topic VARBINARY(255) NOT NULL PRIMARY KEY,
    log_file LONGBLOB NOT NULL,
    log_offset BIGINT NOT NULL,
    gtid LONGBLOB NOT NULL,
    epoch BIGINT NOT NULL,
    fingerprint LONGBLOB NOT NULL,
    event_ms BIGINT NOT NULL,
    state LONGBLOB NOT NULL,
    reason LONGBLOB NOT NULL
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
CREATE TABLE IF NOT EXISTS tombstone (
    index_name VARBINARY(255) NOT NULL,
    doc_id VARBINARY(512) NOT NULL,
    routing VARBINARY(512) NOT NULL,
    version BIGINT NOT NULL,
    at_ms BIGINT NOT NULL,
    PRIMARY KEY (index_name, doc_id, routing)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
CREATE INDEX tombstone_at ON tombstone (at_ms);
CREATE TABLE IF NOT EXISTS index_counter (
    index_name VARBINARY(255) NOT NULL PRIMARY KEY,
    number BIGINT NOT NULL
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
CREATE TABLE IF NOT EXISTS index_version (
    index_name VARBINARY(255) NOT NULL,
    number BIGINT NOT NULL,
    state VARBINARY(255) NOT NULL,
    topic VARBINARY(255) NOT NULL,
    epoch BIGINT NOT NULL,
    start_version BIGINT NOT NULL,
    definition LONGBLOB NOT NULL,
    created_ms BIGINT NOT NULL,
    finished_ms BIGINT NOT NULL,
    PRIMARY KEY (index_name, number)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
CREATE TABLE IF NOT EXISTS job (
    id BIGINT AUTO_INCREMENT PRIMARY KEY,
    kind VARBINARY(64) NOT NULL,
    index_name VARBINARY(255) NOT NULL,
    version BIGINT NOT NULL,
    table_name VARBINARY(255) NOT NULL,
    bucket BIGINT NOT NULL,
    buckets BIGINT NOT NULL,
    state VARBINARY(64) NOT NULL,
    cursor_text LONGBLOB NOT NULL,
    rows_done BIGINT NOT NULL,
    rows_total BIGINT NOT NULL,
    parameters LONGBLOB NOT NULL,
    error LONGBLOB NOT NULL,
    created_ms BIGINT NOT NULL,
    updated_ms BIGINT NOT NULL,
    UNIQUE (index_name, version, table_name, kind, bucket)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
INSERT INTO millrace_migration VALUES (1, 'positions', 1763726400000);
INSERT INTO term VALUES ('topic/shop', 5);
INSERT INTO setting VALUES ('definitions/revision', '3');
INSERT INTO definition VALUES ('topic', 'shop', '{"name":"shop"}');
INSERT INTO checkpoint VALUES ('shop', 'binlog.000003', 4242, '0-1-77', 1, 'abc', 1763726400000, 'running', '');
INSERT INTO tombstone VALUES ('orders_v1', '17', '', 4300, 1763726400000);
INSERT INTO index_counter VALUES ('orders', 1);
INSERT INTO index_version VALUES ('orders', 1, 'available', 'shop', 1, 4000, '{}', 1763726400000, 1763726401000);
INSERT INTO job (kind, index_name, version, table_name, bucket, buckets, state, cursor_text, rows_done, rows_total,
    parameters, error, created_ms, updated_ms)
    VALUES ('index', 'orders', 1, 'shop.orders', 0, 1, 'done', '', 10, 10, '{}', '', 1763726400000, 1763726401000);
