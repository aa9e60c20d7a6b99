CREATE DATABASE golden_joins CHARACTER SET utf8mb4;
USE golden_joins;
-- A root with join columns of many types; each related table compares in its own way.
CREATE TABLE root (
    id INT PRIMARY KEY,
    ci VARCHAR(30) CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci, bin VARCHAR(30) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
    latin VARCHAR(30) CHARACTER SET latin1 COLLATE latin1_swedish_ci, three VARCHAR(30) CHARACTER SET utf8mb3 COLLATE utf8mb3_general_ci,
    raw VARBINARY(20), n INT, un BIGINT UNSIGNED, de DECIMAL(12,2), da DATE, dt DATETIME(3), ts TIMESTAMP(1) NULL, fl FLOAT, e ENUM('x','y','Z'), b BIT(9), y YEAR,
    KEY (ci), KEY (bin), KEY (latin), KEY (three), KEY (raw), KEY (n), KEY (un), KEY (de), KEY (da), KEY (dt), KEY (ts), KEY (fl), KEY (e), KEY (b), KEY (y)
);
CREATE TABLE by_ci (id INT PRIMARY KEY, k VARCHAR(30) CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci, KEY (k));
CREATE TABLE by_general (id INT PRIMARY KEY, k VARCHAR(30) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci, KEY (k));
CREATE TABLE by_bin (id INT PRIMARY KEY, k VARCHAR(30) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin, KEY (k));
CREATE TABLE by_latin (id INT PRIMARY KEY, k VARCHAR(30) CHARACTER SET latin1 COLLATE latin1_general_cs, KEY (k));
CREATE TABLE by_text (id INT PRIMARY KEY, k TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci, KEY (k(10)));
CREATE TABLE by_raw (id INT PRIMARY KEY, k VARBINARY(30), KEY (k));
CREATE TABLE by_tiny (id INT PRIMARY KEY, k TINYINT, KEY (k));
CREATE TABLE by_big (id INT PRIMARY KEY, k BIGINT UNSIGNED, KEY (k));
CREATE TABLE by_dec (id INT PRIMARY KEY, k DECIMAL(30,4), KEY (k));
CREATE TABLE by_word (id INT PRIMARY KEY, k VARCHAR(20) CHARACTER SET latin1, KEY (k));
CREATE TABLE by_date (id INT PRIMARY KEY, k DATE, KEY (k));
CREATE TABLE by_time (id INT PRIMARY KEY, k DATETIME, KEY (k));
CREATE TABLE by_double (id INT PRIMARY KEY, k DOUBLE, KEY (k));
CREATE TABLE by_float (id INT PRIMARY KEY, k FLOAT, KEY (k));
CREATE TABLE by_year (id INT PRIMARY KEY, k YEAR, KEY (k));
CREATE TABLE by_pair (id INT, a VARCHAR(20) COLLATE utf8mb4_unicode_ci, b INT, v VARCHAR(20), PRIMARY KEY (id, a), KEY (a, b));
CREATE TABLE by_zero (id INT PRIMARY KEY, k INT(5) ZEROFILL, KEY (k));
