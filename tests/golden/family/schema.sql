SET NAMES utf8mb4;
CREATE DATABASE golden_family CHARACTER SET utf8mb4;
USE golden_family;
-- A root with a composite key, and three levels below it.
CREATE TABLE site (tenant VARCHAR(20), code VARCHAR(20), v INT, PRIMARY KEY (tenant, code));
CREATE TABLE area (tenant VARCHAR(20), id INT, site VARCHAR(20), v INT, PRIMARY KEY (tenant, id), KEY (tenant, site));
CREATE TABLE shelf (id INT PRIMARY KEY, tenant VARCHAR(20), area INT, site VARCHAR(20), KEY (tenant, area));
CREATE TABLE box (id INT PRIMARY KEY, shelf INT, said VARCHAR(20), site VARCHAR(20), KEY (shelf));
-- A root whose key is of other types, parts of which NOT NULL columns hold.
CREATE TABLE top (b BIT(9), d DECIMAL(8,2), t DATETIME(3), y YEAR, v INT, PRIMARY KEY (b, d, t, y));
CREATE TABLE mid (id BIGINT UNSIGNED PRIMARY KEY, b BIT(9) NOT NULL, d DECIMAL(8,2), t DATETIME(3), y YEAR, KEY (b, d, t, y));
CREATE TABLE low (id INT PRIMARY KEY, up BIGINT UNSIGNED NOT NULL, b BIT(9), d DECIMAL(8,2) NOT NULL, t DATETIME(3), y YEAR, KEY (up));
