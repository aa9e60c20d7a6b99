SET NAMES utf8mb4;
USE golden_family;
INSERT INTO site VALUES ('a', 'b|c', 1), ('a|b', 'c', 2), ('a', 'b,c', 3), ('a,b', 'c', 4), ('a%2Cb', 'c', 5), ('', '', 6);
-- 1 to 6 below a site; 7 below none that is there; 8 below half a site.
INSERT INTO area VALUES ('a', 1, 'b|c', 1), ('a|b', 2, 'c', 2), ('a', 3, 'b,c', 3), ('a,b', 4, 'c', 4), ('a%2Cb', 5, 'c', 5), ('', 6, '', 6),
    ('a', 7, 'none', 7), ('a', 8, NULL, 8);
-- By the area: whatever they say themselves.
INSERT INTO shelf VALUES (1, 'a', 1, 'b,c'), (2, 'a|b', 2, 'c'), (3, 'a', 3, NULL), (4, 'a,b', 4, 'x'), (5, 'a%2Cb', 5, NULL), (6, '', 6, 'x'), (7, 'a', 7, 'b|c'),
-- By themselves: the area has no site, is not there, or is another to the last character.
    (8, 'a', 8, 'b|c'), (9, 'a', 99, 'b,c'), (10, 'A', 1, 'of A'), (11, 'a ', 1, 'of a '),
-- Nothing tells all of it: half a key, no parent.
    (12, 'a', 8, NULL), (13, 'a', 99, NULL), (14, NULL, 1, 'c'), (15, 'a', NULL, 'b,c');
INSERT INTO box VALUES (1, 1, 'x', 'x'), (2, 2, 'x', NULL), (3, 3, NULL, NULL), (4, 4, NULL, 'x'), (5, 5, 'x', 'x'), (6, 6, 'x', 'x'), (7, 7, 'x', 'x'),
    (8, 8, 'x', 'x'), (9, 9, 'x', 'x'), (10, 10, 'x', 'x'), (11, 11, NULL, NULL), (12, 12, 'x', 'y,z'), (13, 13, 'x', NULL), (14, 14, NULL, 'x'), (15, 15, 'x', 'x'),
    (16, 99, 'a,b', 'c'), (17, 99, 'a', 'b,c'), (18, 99, NULL, 'c'), (19, NULL, 'a', 'b,c');
INSERT INTO top VALUES (b'1', 1.50, '2024-02-29 01:02:03.004', 1999, 1), (b'100000011', 20, '1999-12-31', 2024, 2);
INSERT INTO mid VALUES (1, b'1', 1.50, '2024-02-29 01:02:03.004', 1999), (2, b'100000011', 20, '1999-12-31', 2024), (3, b'1', NULL, '1999-12-31', 2024), (18446744073709551615, b'0', 0, '0001-01-01', 1901);
INSERT INTO low VALUES (1, 1, NULL, 0, NULL, NULL), (2, 2, b'1', 1, '2024-02-29', 2000), (3, 3, b'10', 2.25, '2024-02-29 00:00:00.5', 2001), (4, 3, NULL, 1, '2024-02-29', 2000),
    (5, 4, b'1', 1.5, '2024-02-29 01:02:03.004', 1999), (6, 4, b'1', 1.5, NULL, 1999), (7, 18446744073709551615, NULL, 1, NULL, NULL);
