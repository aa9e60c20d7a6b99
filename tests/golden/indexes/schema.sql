CREATE DATABASE golden_indexes CHARACTER SET utf8mb4;
USE golden_indexes;
CREATE TABLE ten (d INT);
CREATE TABLE root (
    id INT PRIMARY KEY, ci VARCHAR(30) COLLATE utf8mb4_unicode_ci, bin VARCHAR(30) COLLATE utf8mb4_bin,
    latin VARCHAR(30) CHARACTER SET latin1, raw VARBINARY(20), n INT, de DECIMAL(12,2), da DATE, dt DATETIME(3),
    ts TIMESTAMP(1) NULL, fl FLOAT, y YEAR, b BIT(20),
    KEY (ci), KEY (bin), KEY (latin), KEY (raw), KEY (n), KEY (de), KEY (da), KEY (dt), KEY (ts), KEY (fl), KEY (y), KEY (b), KEY (n, latin)
);
CREATE TABLE by_ci (id INT PRIMARY KEY, k VARCHAR(30) COLLATE utf8mb4_unicode_ci, KEY (k));
CREATE TABLE by_bin (id INT PRIMARY KEY, k VARCHAR(30) COLLATE utf8mb4_bin, UNIQUE KEY (k));
CREATE TABLE by_latin (id INT PRIMARY KEY, k VARCHAR(30) CHARACTER SET latin1, KEY (k));
CREATE TABLE by_raw (id INT PRIMARY KEY, k VARBINARY(30), UNIQUE KEY (k));
CREATE TABLE by_big (id INT PRIMARY KEY, k BIGINT UNSIGNED, root_id INT, KEY (k), KEY (root_id));
CREATE TABLE by_dec (id INT PRIMARY KEY, k DECIMAL(30,4), KEY (k));
CREATE TABLE by_date (id INT PRIMARY KEY, k DATE, KEY (k));
CREATE TABLE by_time (id INT PRIMARY KEY, k DATETIME, UNIQUE KEY (k));
CREATE TABLE by_float (id INT PRIMARY KEY, k FLOAT, KEY (k));
CREATE TABLE by_year (id INT PRIMARY KEY, k YEAR, KEY (k));
CREATE TABLE by_bit (id INT PRIMARY KEY, k BIT(20), KEY (k));
CREATE TABLE by_pair (a INT, b VARCHAR(30) CHARACTER SET latin1, v INT, KEY (v), PRIMARY KEY (a, b));
CREATE TABLE pairs (a VARCHAR(30), b INT, c DATETIME(1), v INT, KEY (v), PRIMARY KEY (a, b, c));
