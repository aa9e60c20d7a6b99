"""Every column type, from a build and from the stream, on the server that runs."""
from servers import Failed

COMMON = {
    "tiny": ("TINYINT", ["-128", "127", "0"]), "tiny_u": ("TINYINT UNSIGNED", ["255"]),
    "small": ("SMALLINT", ["-32768"]), "small_u": ("SMALLINT UNSIGNED", ["65535"]),
    "medium": ("MEDIUMINT", ["-8388608", "8388607"]), "medium_u": ("MEDIUMINT UNSIGNED", ["16777215"]),
    "plain": ("INT", ["-2147483648", "2147483647"]), "plain_u": ("INT UNSIGNED", ["4294967295"]),
    "big": ("BIGINT", ["-9223372036854775808", "9223372036854775807"]),
    "big_u": ("BIGINT UNSIGNED", ["18446744073709551615", "9007199254740993"]),
    "yes": ("BOOLEAN", ["TRUE", "FALSE"]), "zero": ("INT(5) ZEROFILL", ["42"]),
    "dec": ("DECIMAL(10, 2)", ["12345678.90", "-0.01", "0"]), "dec_whole": ("DECIMAL(18, 0)", ["-999999999999999999"]),
    "dec_wide": ("DECIMAL(65, 30)", ["12345678901234567890123456789012345.123456789012345678901234567891", "-0.5"]),
    "dec_small": ("DECIMAL(5, 5)", ["0.00001", "-0.99999"]),
    "single": ("FLOAT", ["0.1", "-3.4028235e38", "1e-38", "16777217", "8.41"]),
    "twice": ("DOUBLE", ["0.1", "1.7976931348623157e308", "-2.5e-300", "123456789.123456789"]),
    "bits": ("BIT(11)", ["b'10000000001'"]), "bit": ("BIT(1)", ["1", "0"]), "bits64": ("BIT(64)", ["~0 >> 1"]),
    "day": ("DATE", ["'2024-02-29'", "'1000-01-01'", "'9999-12-31'"]),
    "moment": ("DATETIME", ["'2024-02-29 23:59:59'"]), "moment6": ("DATETIME(6)", ["'1999-12-31 23:59:59.000001'"]),
    "moment1": ("DATETIME(1)", ["'2001-01-01 00:00:00.5'"]),
    "stamp": ("TIMESTAMP NULL", ["'2024-06-30 22:00:00'", "'1970-01-01 00:00:01'"]),
    "stamp3": ("TIMESTAMP(3) NULL", ["'2037-01-01 00:00:00.125'"]),
    "time": ("TIME", ["'-838:59:59'", "'838:59:59'", "'00:00:00'"]), "time6": ("TIME(6)", ["'-00:00:00.000001'", "'-12:30:00.5'"]),
    "year": ("YEAR", ["1901", "2155"]),
    "fixed": ("CHAR(20)", ["'pad  '", "''", "'ünïcode'"]), "vary": ("VARCHAR(300)", ["REPEAT('x', 300)", "'a\\nb\\tc\\\\\"'", "''"]),
    "vary_latin": ("VARCHAR(50) CHARACTER SET latin1", ["'Größe'", "'é'"]),
    "vary_utf16": ("VARCHAR(50) CHARACTER SET utf16", ["'日本🎁'"]),
    "words": ("TEXT", ["'日本語 🎁'", "''"]), "long_words": ("MEDIUMTEXT", ["REPEAT('wörd ', 20000)"]),
    "bytes": ("VARBINARY(30)", ["x'00ff10'", "''"]), "fixed_bytes": ("BINARY(8)", ["x'0102000000000000'", "'abcdefgh'", "x'0020'"]),
    "blob": ("BLOB", ["x'deadbeef00'", "REPEAT('b', 5000)"]),
    "label": ("ENUM('red', 'grün', 'it''s', 'a,b')", ["'red'", "'grün'", "'it''s'", "'a,b'"]),
    "labels": ("SET('a', 'b', 'ü')", ["'a,ü'", "''", "'b'"]),
    "json": ("JSON", ["'{\"a\": [1, 2.5, null, true, \"ü\"], \"b\": {}}'", "'[]'", "'\"text\"'", "'12345678901234567890'"]),
}
MARIADB = {
    "uuid": ("UUID", ["'123e4567-e89b-12d3-a456-426655440000'"]),
    "ip4": ("INET4", ["'192.168.0.1'"]), "ip6": ("INET6", ["'2001:db8::ff00:42:8329'", "'::'"]),
}


def columns_for(w):
    return COMMON | (MARIADB if w.db.is_mariadb else {})


def fill(w, columns, first_key, table="every"):
    """One row a value (the others NULL), one with all, one with none."""
    key = first_key
    rows = [[key] + ["NULL"] * len(columns)]
    for position, (_, values) in enumerate(columns.values()):
        for value in values:
            key += 1
            row = [key] + ["NULL"] * len(columns)
            row[1 + position] = value
            rows.append(row)
    rows.append([key + 1] + [values[0] for _, values in columns.values()])
    w.sql("SET sql_mode = ''", "SET time_zone = '+00:00'", "SET NAMES utf8mb4",
          f"INSERT INTO {table} VALUES " + ", ".join("(" + ", ".join(map(str, row)) + ")" for row in rows))


def make(w, columns):
    fields = ", ".join(f"`{name}` {kind}" for name, (kind, _) in columns.items())
    w.sql("SET sql_mode = ''", f"CREATE TABLE every (id INT PRIMARY KEY, {fields}) CHARACTER SET utf8mb4")


def definition(columns):
    # One JSON column holds objects and scalars here, which no engine can search: kept as it is.
    fields = ["id"] + [{"name": n, "type": "keyword"} if n == "bits64" else n for n in columns if n != "json"]
    return {"table": "every", "columns": fields + ["json"],
            "mapping": {"properties": {"json": {"type": "object", "enabled": False}}}}


def test_a_build_gives_every_type_its_form(w):
    columns = columns_for(w)
    make(w, columns)
    fill(w, columns, 1)
    daemon = w.follow(w.definitions(definition(columns)))
    w.equal(daemon)


def test_the_stream_gives_every_type_its_form(w):
    columns = columns_for(w)
    make(w, columns)
    daemon = w.follow(w.definitions(definition(columns)))
    fill(w, columns, 1)
    w.equal(daemon)
    w.sql("SET sql_mode = ''", "UPDATE every SET plain = id", "DELETE FROM every WHERE id % 5 = 0",
          "UPDATE every SET id = id + 1000 WHERE id % 3 = 0")
    w.equal(daemon)


def test_zero_dates_are_null(w):
    w.sql("SET sql_mode = ''", "CREATE TABLE every (id INT PRIMARY KEY, d DATE, t DATETIME, s TIMESTAMP NULL)")
    daemon = w.follow(w.definitions({"table": "every"}))
    w.sql("SET sql_mode = ''", "INSERT INTO every VALUES (1, '0000-00-00', '0000-00-00 00:00:00', '0000-00-00 00:00:00'),"
          " (2, '2024-00-00', '2024-05-00 10:00:00', NULL)")
    w.equal(daemon)


def statements_about(w, table):
    return [row[0] if isinstance(row[0], str) else row[0].decode("utf-8", "replace") for row in w.sql(
        "SELECT argument FROM mysql.general_log WHERE user_host LIKE '%millrace%' AND command_type IN ('Query', 'Execute')"
        f" AND argument LIKE '%`{table}`%' AND argument NOT LIKE '%FOR SHARE%' AND argument NOT LIKE '%LOCK IN SHARE%'")]


def test_rows_of_every_type_are_written_from_the_log_alone(w):
    """What the log says of a column is what the table says of it, so that nothing is read again."""
    columns = columns_for(w)
    try:
        for metadata in ("MINIMAL", "FULL"):
            w.db.sql(f"SET GLOBAL binlog_row_metadata = {metadata}")
            w.sql("DROP TABLE IF EXISTS every")
            make(w, columns)
            daemon = w.follow(w.definitions(definition(columns)))
            w.db.sql("SET GLOBAL log_output = 'TABLE'", "SET GLOBAL general_log = ON")
            fill(w, columns, 1000)
            w.equal(daemon)
            w.db.sql("SET GLOBAL general_log = OFF")
            asked = statements_about(w, "every")
            if asked:
                raise Failed(f"with {metadata} metadata {len(asked)} statements such as {asked[0][:300]}")
            daemon.stop()
    finally:
        w.db.sql("SET GLOBAL general_log = OFF", "SET GLOBAL log_output = DEFAULT", "TRUNCATE TABLE mysql.general_log",
                 "SET GLOBAL binlog_row_metadata = DEFAULT")
