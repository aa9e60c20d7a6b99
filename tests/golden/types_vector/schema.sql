CREATE DATABASE golden_types_vector CHARACTER SET utf8mb4;
USE golden_types_vector;
CREATE TABLE every (id INT PRIMARY KEY, v VECTOR(3), w VECTOR(1));
