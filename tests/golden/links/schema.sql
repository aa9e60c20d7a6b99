CREATE DATABASE golden_links CHARACTER SET utf8mb4;
USE golden_links;
CREATE TABLE product (id INT PRIMARY KEY, name VARCHAR(40), category INT, KEY (category));
CREATE TABLE tag (id INT PRIMARY KEY, name VARCHAR(20), weight INT, deleted INT NOT NULL DEFAULT 0, KEY (name));
-- A tag may be given twice; `deleted` is a column of both tables.
CREATE TABLE product_tag (
    nr INT PRIMARY KEY, product_id INT, tag_id INT, deleted INT NOT NULL DEFAULT 0, KEY (product_id), KEY (tag_id)
);
CREATE TABLE category (id INT PRIMARY KEY, parent INT, name VARCHAR(20), KEY (parent));
CREATE TABLE offer (shop VARCHAR(10), product_id INT, price DECIMAL(8,2), PRIMARY KEY (shop, product_id), KEY (product_id));
