USE golden_types_vector;
INSERT INTO every VALUES (1, x'0000003f000080bfcdcccc3d', x'00000000'), (2, NULL, x'cdcc4c4b'), (3, x'010000000000803f00000080', NULL);
