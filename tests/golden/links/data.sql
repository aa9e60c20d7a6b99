USE golden_links;
INSERT INTO category VALUES (1, NULL, 'all'), (2, 1, 'drinks'), (3, 2, 'hot'), (4, 3, 'tea'), (5, 4, 'green'), (6, 6, 'loop');
INSERT INTO product VALUES (1, 'sencha', 5), (2, 'water', 2), (3, 'thing', NULL), (4, 'ring', 6);
INSERT INTO tag VALUES (1, 'new', 5, 0), (2, 'hot', 9, 0), (3, 'old', 1, 1), (4, 'bio', 5, 0), (5, 'hot', 2, 0);
INSERT INTO product_tag VALUES
    (1, 1, 4, 0), (2, 1, 1, 0), (3, 1, 2, 1), (4, 1, 4, 0), (5, 1, 3, 0), (6, 1, NULL, 0), (7, 1, 99, 0),
    (8, 2, 2, 0), (9, 2, 5, 0), (10, NULL, 1, 0), (11, 99, 1, 0);
INSERT INTO offer VALUES ('a', 1, 4.50), ('b', 1, 3.00), ('c', 1, 4.50), ('d', 1, 9.99), ('a', 2, 1.00);
