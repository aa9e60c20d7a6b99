SET NAMES utf8mb4;
USE golden_types_mariadb;
INSERT INTO every VALUES
    ('123E4567-e89b-12d3-a456-426655440000', '::ffff:192.0.2.1', '2001:db8::ff00:42:8329', '{"b" : 1, "a" : [ ]}', '{"b" : 1}', REPEAT('abc', 100), REPEAT(x'00', 50), '99'),
    ('00000000-0000-0000-0000-000000000001', '::', NULL, NULL, NULL, NULL, NULL, 5);
