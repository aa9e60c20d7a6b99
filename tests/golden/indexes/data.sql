USE golden_indexes;
SET time_zone = '+00:00';
INSERT INTO ten VALUES (0),(1),(2),(3),(4),(5),(6),(7),(8),(9);
INSERT INTO root
    SELECT i, CONCAT('key ', i), CONCAT('key ', i), CONCAT('key ', i), CONCAT('key ', i), i, i / 4, DATE '2000-01-01' + INTERVAL i DAY,
        TIMESTAMP '2000-01-01 00:00:00' + INTERVAL i HOUR, TIMESTAMP '2000-01-01 00:00:00' + INTERVAL i HOUR, i / 4, 1950 + i % 150, i
    FROM (SELECT a.d + 10 * b.d + 100 * c.d + 1000 * e.d AS i FROM ten a, ten b, ten c, ten e) x WHERE i < 4000;
INSERT INTO by_ci SELECT id, ci FROM root;
INSERT INTO by_bin SELECT id, bin FROM root;
INSERT INTO by_latin SELECT id, latin FROM root;
INSERT INTO by_raw SELECT id, raw FROM root;
INSERT INTO by_big SELECT id, n, id FROM root;
INSERT INTO by_dec SELECT id, de FROM root;
INSERT INTO by_date SELECT id, da FROM root;
INSERT INTO by_time SELECT id, dt FROM root;
INSERT INTO by_float SELECT id, fl FROM root;
INSERT INTO by_year SELECT id, y FROM root;
INSERT INTO by_bit SELECT id, b FROM root;
INSERT INTO by_pair SELECT n, latin, id FROM root;
INSERT INTO pairs SELECT ci, n % 100, dt, id FROM root;
ANALYZE TABLE root, by_ci, by_bin, by_latin, by_raw, by_big, by_dec, by_date, by_time, by_float, by_year, by_bit, by_pair, pairs;
