CREATE DATABASE golden_transforms CHARACTER SET utf8mb4;
USE golden_transforms;
CREATE TABLE person (
    id INT PRIMARY KEY, first VARCHAR(40), middle VARCHAR(40), last VARCHAR(40), tags VARCHAR(100), born VARCHAR(40),
    seen BIGINT, seen_ms BIGINT, active VARCHAR(10), flag TINYINT, amount VARCHAR(30), doc TEXT, mail VARCHAR(80), j JSON,
    price DECIMAL(8,2), at DATETIME(3), boss INT
);
