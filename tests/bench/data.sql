-- The benches' data: 500,000 flat rows and 100,000 orders with three items each, at @scale = 1.
-- Every value follows from its row's number, so the data is the same on every server and day.
DROP TABLE IF EXISTS order_item, orders, product, customer, flat, number, word;
CREATE TABLE number (i INT PRIMARY KEY);
INSERT INTO number WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) SELECT i FROM n;
CREATE TABLE word (i INT PRIMARY KEY, w VARCHAR(12));
INSERT INTO word VALUES (0, 'red'), (1, 'steel'), (2, 'cotton'), (3, 'summer'), (4, 'light'), (5, 'heavy'), (6, 'small'),
    (7, 'garden'), (8, 'office'), (9, 'kitchen'), (10, 'bottle'), (11, 'chair'), (12, 'table'), (13, 'lamp'), (14, 'paper'),
    (15, 'wood'), (16, 'glass'), (17, 'leather'), (18, 'round'), (19, 'blue'), (20, 'black'), (21, 'soft'), (22, 'quiet');

CREATE TABLE customer (id INT NOT NULL PRIMARY KEY, name VARCHAR(80) NOT NULL, city VARCHAR(40), email VARCHAR(80));
CREATE TABLE product (id INT NOT NULL PRIMARY KEY, name VARCHAR(120) NOT NULL, list_price DECIMAL(10, 2));
CREATE TABLE orders (id INT NOT NULL PRIMARY KEY, customer_id INT NOT NULL, status VARCHAR(12), created DATETIME,
    total DECIMAL(12, 2), KEY (customer_id));
CREATE TABLE order_item (id INT NOT NULL PRIMARY KEY, order_id INT NOT NULL, product_id INT NOT NULL, qty INT,
    price DECIMAL(10, 2), KEY (order_id), KEY (product_id));
CREATE TABLE flat (id INT NOT NULL PRIMARY KEY, code VARCHAR(12), a INT, b BIGINT, name VARCHAR(80), status VARCHAR(12),
    price DECIMAL(10, 2), created DATETIME);

SET @n = CEIL(20 * @scale);
INSERT INTO customer SELECT k.i, CONCAT(w, ' customer ', k.i), CONCAT('city ', k.i % 500), CONCAT('c', k.i, '@example.org')
    FROM (SELECT (x.i - 1) * 1000 + y.i AS i FROM number x, number y WHERE x.i <= @n) k JOIN word ON word.i = k.i * 7 % 23;
SET @n = CEIL(5 * @scale);
INSERT INTO product SELECT k.i, CONCAT(w, ' product ', k.i), k.i % 9000 / 100
    FROM (SELECT (x.i - 1) * 1000 + y.i AS i FROM number x, number y WHERE x.i <= @n) k JOIN word ON word.i = k.i * 5 % 23;
SET @customers = (SELECT COUNT(*) FROM customer), @products = (SELECT COUNT(*) FROM product), @n = CEIL(100 * @scale);
INSERT INTO orders SELECT i, 1 + i * 7919 % @customers, ELT(1 + i % 4, 'new', 'paid', 'shipped', 'done'),
    '2024-01-01' + INTERVAL i * 37 SECOND, i * 31 % 100000 / 100
    FROM (SELECT (x.i - 1) * 1000 + y.i AS i FROM number x, number y WHERE x.i <= @n) k;
INSERT INTO order_item SELECT (o.id - 1) * 3 + n.i, o.id, 1 + (o.id * 3 + n.i) * 104729 % @products, 1 + (o.id + n.i) % 9,
    (o.id + n.i) % 9000 / 100 FROM orders o JOIN number n WHERE n.i <= 3;
SET @n = CEIL(500 * @scale);
INSERT INTO flat SELECT k.i, k.i * 7919 % 100000, k.i % 1000, k.i * 1000003,
    CONCAT(p.w, ' ', q.w, ' ', k.i), ELT(1 + k.i % 4, 'new', 'active', 'sold', 'gone'), k.i * 31 % 1000000 / 100,
    '2024-01-01' + INTERVAL k.i SECOND
    FROM (SELECT (x.i - 1) * 1000 + y.i AS i FROM number x, number y WHERE x.i <= @n) k
    JOIN word p ON p.i = k.i * 3 % 23 JOIN word q ON q.i = k.i * 11 % 23;
ANALYZE TABLE customer, product, orders, order_item, flat;
