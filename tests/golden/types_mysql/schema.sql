CREATE DATABASE golden_types_mysql CHARACTER SET utf8mb4;
USE golden_types_mysql;
CREATE TABLE every (
    id INT NOT NULL PRIMARY KEY, j JSON, p POINT SRID 4326, q GEOMETRY, n VARCHAR(20) COLLATE utf8mb4_0900_ai_ci
);
