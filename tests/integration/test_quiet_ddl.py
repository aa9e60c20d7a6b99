"""Statements that change rows, columns or names in ways that neither the log nor a plain look at the table shows."""
from servers import Failed, wait_until
from test_images import all_run


def test_an_ALTER_that_deletes_duplicates_builds_the_index_again(w):
    daemon = w.follow_good_and_bad()
    w.sql("INSERT INTO bad VALUES (3, 1), (4, 1), (5, 5)")
    w.equal(daemon)
    w.sql("ALTER IGNORE TABLE bad ADD UNIQUE (a)", "UPDATE good SET a = 7")
    w.equal(daemon)
    wait_until("bad is built again", lambda: w.table(daemon, "bad")["version"] == 2 and w.table(daemon, "bad")["state"] == "available")
    w.sql("INSERT INTO bad VALUES (6, 6)")
    w.equal(daemon)


def index_changes(w):
    w.sql("CREATE TABLE bad (id INT PRIMARY KEY, a INT, t TEXT)", "INSERT INTO bad VALUES (3, 3, 'three'), (4, 4, 'four')")
    daemon = w.follow(w.definitions({"table": "bad"}))
    number = 10
    for change in ("ALTER TABLE bad ADD UNIQUE long_one (t)", "CREATE UNIQUE INDEX short_one USING HASH ON bad (a)",
                   "DROP INDEX long_one ON bad", "ALTER TABLE bad DROP INDEX short_one, ADD UNIQUE again (t)",
                   "ALTER TABLE bad COMMENT 'none of it'", "ALTER TABLE bad DROP KEY again"):
        number += 1
        w.sql(f"INSERT INTO bad VALUES ({number}, {number}, 'before {number}')", change,
              f"INSERT INTO bad VALUES ({number + 50}, {number + 50}, 'after {number}')",
              f"UPDATE bad SET t = 'both {number}' WHERE id = {number}", f"DELETE FROM bad WHERE id = {number + 49}")
        w.equal(daemon)
    all_run(w, daemon)
    if int(w.table(daemon, "bad")["version"]) != 1 or [e for e in daemon.json("log", "list", f"{w.schema}.bad")["items"]
                                                      if e["event"] == "stopped"]:
        raise Failed("an index of the table made its documents be built again")


def test_indexes_whose_hidden_columns_come_and_go_stop_nothing(w):
    for metadata in ("NO_LOG", "FULL"):
        w.db.restart(f"--binlog-row-metadata={metadata}")
        w.make_schema()
        index_changes(w)
        w.daemons[-1].stop()
        w.engine.ask("DELETE", f"/{w.schema}-*", ok=(200, 404))


def test_history_that_is_deleted_by_a_statement_stops_nothing(w):
    w.sql("CREATE TABLE good (id INT PRIMARY KEY, a INT)", "INSERT INTO good VALUES (1, 1)",
          "CREATE TABLE exact (id INT PRIMARY KEY, a INT, f BIGINT UNSIGNED GENERATED ALWAYS AS ROW START,"
          " t BIGINT UNSIGNED GENERATED ALWAYS AS ROW END, PERIOD FOR SYSTEM_TIME (f, t)) WITH SYSTEM VERSIONING",
          "INSERT INTO exact (id, a) VALUES (1, 1), (2, 2)")
    daemon = w.follow(w.definitions({"table": "good"}, {"table": "exact", "columns": ["id", "a"]}))
    w.sql("DELETE HISTORY FROM exact", "UPDATE good SET a = 2", "DELETE HISTORY FROM exact BEFORE SYSTEM_TIME NOW()", "UPDATE good SET a = 3")
    w.equal(daemon)
    all_run(w, daemon)


def test_names_in_another_case_are_those_of_the_log(w):
    """Of the definition and of statements, where the server makes all names of tables lower case."""
    w.db.restart("--lower-case-table-names=1")
    w.make_schema()
    w.sql("CREATE TABLE good (id INT PRIMARY KEY, a INT)", "CREATE TABLE bad (id INT PRIMARY KEY, a INT)",
          "CREATE TABLE child (id INT PRIMARY KEY, bad INT, KEY (bad))",
          "INSERT INTO good VALUES (1, 1), (2, 2)", "INSERT INTO bad VALUES (1, 1), (2, 2)", "INSERT INTO child VALUES (1, 1)")
    daemon = w.follow(w.definitions(
        {"table": "Good", "index": w.index("good")},
        {"table": "BAD", "index": w.index("bad"), "relations": [
            {"from": "id", "table": "Child", "to": "bad", "as": "children", "many": True}]}))
    w.sql("UPDATE good SET a = 3 WHERE id = 1", "UPDATE BAD SET a = 4 WHERE id = 1", "INSERT INTO CHILD VALUES (2, 2)", "DELETE FROM good WHERE id = 2")
    w.equal(daemon)
    w.sql("ALTER TABLE Bad ADD COLUMN b INT DEFAULT 5", "INSERT INTO bad VALUES (3, 3, 3)")
    w.equal(daemon)
    for statement in ("TRUNCATE TABLE Bad", "DROP TABLE bAD"):
        w.sql("INSERT INTO bad (id, a) VALUES (7, 7), (8, 8)")
        w.equal(daemon)
        w.sql(statement, "CREATE TABLE IF NOT EXISTS Bad (id INT PRIMARY KEY, a INT)", "INSERT INTO bad (id, a) VALUES (1, 9)", "UPDATE good SET a = 9")
        w.equal(daemon)


for test in (test_an_ALTER_that_deletes_duplicates_builds_the_index_again, test_indexes_whose_hidden_columns_come_and_go_stop_nothing,
             test_history_that_is_deleted_by_a_statement_stops_nothing):
    test.servers, test.why = ("mariadb", "mariadb11"), "only MariaDB has it"
test_names_in_another_case_are_those_of_the_log.servers = ("mariadb", "mariadb11")
test_names_in_another_case_are_those_of_the_log.why = "its setting cannot be changed any more"


def test_another_collation_of_a_column_that_rows_are_joined_by_builds_the_index_again(w):
    w.sql("CREATE TABLE head (id INT PRIMARY KEY, code VARCHAR(10) COLLATE utf8mb4_general_ci)",
          "CREATE TABLE item (id INT PRIMARY KEY, head VARCHAR(10) COLLATE utf8mb4_general_ci, KEY (head))",
          "INSERT INTO head VALUES (1, 'a'), (2, 'b')", "INSERT INTO item VALUES (1, 'A'), (2, 'b')")
    daemon = w.follow(w.definitions({"table": "head", "relations": [
        {"from": "code", "table": "item", "to": "head", "as": "items", "many": True}]}))
    w.sql("ALTER TABLE head MODIFY code VARCHAR(10) COLLATE utf8mb4_bin",
          "ALTER TABLE item MODIFY head VARCHAR(10) COLLATE utf8mb4_bin")
    w.equal(daemon, seconds=60)


def test_a_key_whose_unique_index_goes_stops_the_table_until_there_is_one_again(w):
    """Rows that then share a key are never one document."""
    w.sql("CREATE TABLE good (id INT PRIMARY KEY, a INT)",
          "CREATE TABLE bad (id INT PRIMARY KEY, code VARCHAR(9) NOT NULL, a INT, UNIQUE code (code))",
          "INSERT INTO good VALUES (1, 1)", "INSERT INTO bad VALUES (1, 'x', 1), (2, 'y', 2)")
    daemon = w.follow(w.definitions({"table": "good"}, {"table": "bad", "key": ["code"]}))
    w.sql("ALTER TABLE bad ADD UNIQUE other (a)", "INSERT INTO bad VALUES (3, 'z', 3)")
    w.equal(daemon)
    w.sql("DROP INDEX code ON bad", "INSERT INTO bad VALUES (4, 'x', 4)", "UPDATE good SET a = 2")
    found = wait_until("the table stops", lambda: w.table(daemon, "bad")["state"] == "stopped" and w.table(daemon, "bad"))
    if "unique" not in found["reason"] or "`code`" not in found["reason"] or "rebuilt automatically" not in found["fix"]:
        raise Failed(f"reason or fix is missing: {found}")
    w.equal(daemon, [f"{w.schema}.good"])
    wait_until("the build is refused with the same reason", lambda: "unique" in w.table(daemon, "bad")["fix"])
    w.sql("DELETE FROM bad WHERE id = 4", "CREATE UNIQUE INDEX again ON bad (code)", "INSERT INTO bad VALUES (5, 'v', 5)")
    w.equal(daemon, seconds=60)
