CREATE DATABASE golden_types_mariadb CHARACTER SET utf8mb4;
USE golden_types_mariadb;
CREATE TABLE every (
    u UUID NOT NULL, four INET6 NOT NULL, six INET6, j LONGTEXT CHECK (json_valid(j)), plain LONGTEXT, packed VARCHAR(1000) COMPRESSED,
    packed_bytes BLOB COMPRESSED, y YEAR(2), PRIMARY KEY (u, four)
);
