"""Rows and columns that the log has and a plain look at the table does not show."""
from test_images import all_run
from test_stops import stopped
from test_xa import prepare, end

METADATA = {"mariadb": ("NO_LOG", "FULL"), "mariadb11": ("NO_LOG", "MINIMAL", "FULL"), "mysql8": ("MINIMAL", "FULL"),
            "mysql9": ("MINIMAL", "FULL")}


def with_all_metadata(w, follow, *options):
    """The same with the log naming columns and not."""
    for metadata in METADATA[w.db.flavour]:
        w.db.restart(f"--binlog-row-metadata={metadata}", *options)
        w.make_schema()
        daemon = follow(w)
        w.equal(daemon)
        all_run(w, daemon)
        daemon.stop()
        w.engine.ask("DELETE", f"/{w.schema}-*", ok=(200, 404))


PERIOD = """, began TIMESTAMP(6) GENERATED ALWAYS AS ROW START, ended TIMESTAMP(6) GENERATED ALWAYS AS ROW END,
            PERIOD FOR SYSTEM_TIME (began, ended)"""


def versioned(w, period, *session):
    """Flat, as the root of a relation, and as a related table; the last is versioned while it is followed."""
    columns = "(id INT PRIMARY KEY, head INT NOT NULL DEFAULT 1, a INT, name TEXT, UNIQUE (name)"
    w.sql(f"CREATE TABLE head {columns}{period}) WITH SYSTEM VERSIONING",
          f"CREATE TABLE item {columns}{period}) WITH SYSTEM VERSIONING", f"CREATE TABLE later {columns})",
          *(f"INSERT INTO {t} (id, a, name) VALUES (1, 1, 'one'), (2, 2, 'two'), (3, 3, 'three')" for t in ("head", "item", "later")))
    daemon = w.follow(w.definitions(
        {"table": "item"}, {"table": "later"},
        {"table": "head", "relations": [{"from": "id", "table": "item", "to": "head", "as": "items", "many": True,
                                         "columns": ["id", "a"]}]}))
    for t in ("head", "item"):
        w.sql(*session, f"UPDATE {t} SET a = 10 WHERE id = 1", f"INSERT INTO {t} (id, a) VALUES (4, 4)",
              f"DELETE FROM {t} WHERE id = 2", f"REPLACE INTO {t} (id, a) VALUES (3, 30)")
    w.equal(daemon)
    w.sql("UPDATE item SET head = 3 WHERE id = 1", "UPDATE item SET id = 9 WHERE id = 3", "DELETE HISTORY FROM item",
          "UPDATE head SET id = 8 WHERE id = 4",
          "BEGIN", "UPDATE item SET a = 7", "DELETE FROM item WHERE id = 4", "COMMIT")
    w.equal(daemon)
    w.sql("UPDATE later SET a = 11 WHERE id = 1", "ALTER TABLE later ADD SYSTEM VERSIONING", "UPDATE later SET a = 12",
          "DELETE FROM later WHERE id = 2")
    w.equal(daemon)
    w.sql("SET system_versioning_alter_history = KEEP", "ALTER TABLE later DROP SYSTEM VERSIONING",
          "UPDATE later SET a = 13 WHERE id = 1", "DELETE FROM later WHERE id = 3")
    return daemon


def test_old_rows_of_a_versioned_table_are_in_no_document(w):
    with_all_metadata(w, lambda w: versioned(w, ""))


def test_a_versioned_table_with_columns_for_its_time_has_its_own_key(w):
    with_all_metadata(w, lambda w: versioned(w, PERIOD))


def test_minimal_images_of_a_versioned_table_are_read_again(w):
    def follow(w):
        w.sql("CREATE TABLE v (id INT PRIMARY KEY, a INT, b INT DEFAULT 5) WITH SYSTEM VERSIONING", "INSERT INTO v VALUES (1, 1, 1), (2, 2, 2)")
        daemon = w.follow(w.definitions({"table": "v"}))
        w.sql("UPDATE v SET a = 10 WHERE id = 1", "INSERT INTO v (id) VALUES (3), (4)", "DELETE FROM v WHERE id = 2", "UPDATE v SET id = 7 WHERE id = 3")
        prepare(w, "x", "UPDATE v SET a = 44 WHERE id = 4", "DELETE FROM v WHERE id = 1")
        w.sql("UPDATE v SET b = 9 WHERE id = 7")
        end(w, "COMMIT", "x")
        return daemon
    with_all_metadata(w, follow, "--binlog-row-image=MINIMAL")


def test_old_rows_are_known_when_the_table_is_versioned_no_more(w):
    w.db.restart("--binlog-row-metadata=FULL")
    w.sql("CREATE TABLE v (id INT PRIMARY KEY, a INT)", "INSERT INTO v VALUES (1, 1), (2, 2)")
    daemon = w.follow(w.definitions({"table": "v"}))
    daemon.kill()
    w.sql("ALTER TABLE v ADD SYSTEM VERSIONING", "UPDATE v SET a = 12", "DELETE FROM v WHERE id = 2",
          "SET system_versioning_alter_history = KEEP", "ALTER TABLE v DROP SYSTEM VERSIONING")
    daemon.start()
    w.equal(daemon)
    all_run(w, daemon)


for test in (test_old_rows_of_a_versioned_table_are_in_no_document, test_a_versioned_table_with_columns_for_its_time_has_its_own_key,
             test_minimal_images_of_a_versioned_table_are_read_again, test_old_rows_are_known_when_the_table_is_versioned_no_more):
    test.servers, test.why = ("mariadb", "mariadb11"), "MySQL has no versioned tables"


def test_a_key_that_the_server_makes_itself_is_a_key(w):
    def follow(w):
        w.sql("SET GLOBAL show_gipk_in_create_table_and_information_schema = OFF", "SET sql_generate_invisible_primary_key = ON",
              "CREATE TABLE keyless (a INT, b VARCHAR(20))", "INSERT INTO keyless VALUES (1, 'one'), (2, 'two')")
        daemon = w.follow(w.definitions({"table": "keyless"}))
        w.sql("UPDATE keyless SET b = 'new' WHERE a = 1", "DELETE FROM keyless WHERE a = 2", "INSERT INTO keyless VALUES (3, 'three')")
        w.sql("SET GLOBAL show_gipk_in_create_table_and_information_schema = ON")  # for the judge
        return daemon
    with_all_metadata(w, follow)


test_a_key_that_the_server_makes_itself_is_a_key.servers = ("mysql8", "mysql9")
test_a_key_that_the_server_makes_itself_is_a_key.why = "MariaDB makes no keys"


def test_columns_that_indexes_are_made_of_are_passed_over(w):
    more = ("UNIQUE (b), UNIQUE (a, b)" if w.db.is_mariadb else
            "INDEX ((a + 1)), INDEX ((UPPER(c))), INDEX ((CAST(j->'$.n' AS UNSIGNED ARRAY)))")

    def follow(w):
        w.sql("CREATE TABLE indexed (id INT PRIMARY KEY, a INT, b TEXT, c VARCHAR(20), j JSON, d INT INVISIBLE DEFAULT 3,"
              f" v INT AS (a + 1) VIRTUAL, {more})", "INSERT INTO indexed (id, a, b) VALUES (1, 1, 'one'), (2, 2, 'two')")
        daemon = w.follow(w.definitions({"table": "indexed"}))
        w.sql("INSERT INTO indexed (id, a, b, c, j) VALUES (3, 3, 'three', 'c', '{\"n\": [1, 2]}')", "UPDATE indexed SET a = 5, d = 6 WHERE id = 1",
              "DELETE FROM indexed WHERE id = 2")
        return daemon
    with_all_metadata(w, follow)


def test_columns_that_came_without_a_log_are_learned_by_a_build(w):
    w.db.restart(f"--binlog-row-metadata={METADATA[w.db.flavour][0]}")
    w.make_schema()
    daemon = w.follow_good_and_bad()
    w.sql("SET sql_log_bin = 0", "ALTER TABLE bad ADD COLUMN b INT")
    w.sql("INSERT INTO bad VALUES (3, 3, 3)", "INSERT INTO good VALUES (3, 3)")
    stopped(w, daemon, "bad")
    daemon.build(f"{w.schema}.bad")
    w.sql("INSERT INTO bad VALUES (4, 4, 4)", "UPDATE bad SET b = 5 WHERE id = 1")
    w.equal(daemon)
    all_run(w, daemon)
