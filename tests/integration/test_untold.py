"""What nothing tells when it happens (docs/progress.md): `verify` names exactly these documents, and repairs them."""
from servers import Failed, wait_until
from test_cascades import logs_cascades
from test_verify import Damage, kinds


def found(w, daemon, table, wished):
    """A verification of the table names these documents and no others; a repair makes all equal."""
    answer = daemon.json("verify", f"{w.schema}.{table}", ok=(1,))
    if kinds(answer) != sorted(wished):
        raise Failed(f"not {wished}: {answer}")
    repaired = daemon.json("verify", f"{w.schema}.{table}", "--repair", "--yes")
    if (repaired["verdict"], repaired["repaired"]) != ("equal", len(wished)):
        raise Failed(f"{repaired}")
    w.equal(daemon, [f"{w.schema}.{table}"])


def test_changes_that_a_session_keeps_out_of_the_log_are_found(w):
    w.sql("CREATE TABLE item (id INT PRIMARY KEY, a INT)", "INSERT INTO item SELECT seq, seq FROM seq_1_to_100")
    daemon = w.follow(w.definitions({"table": "item"}))
    w.sql("SET SESSION sql_log_bin = 0", "DELETE FROM item WHERE id = 3", "UPDATE item SET a = 0 WHERE id = 4",
          "INSERT INTO item VALUES (500, 5)", "SET SESSION sql_log_bin = 1")
    found(w, daemon, "item", [("3", "extra"), ("4", "different", "a different"), ("500", "missing")])


def test_rows_that_the_trigger_of_a_logged_statement_changes_are_found(w):
    w.sql("CREATE TABLE cause (id INT PRIMARY KEY, a INT)", "CREATE TABLE result (id INT PRIMARY KEY, a INT)",
          "INSERT INTO cause VALUES (1, 1), (2, 2)", "INSERT INTO result SELECT seq, seq FROM seq_1_to_100",
          "CREATE TRIGGER then_result AFTER UPDATE ON cause FOR EACH ROW UPDATE result SET a = NEW.a WHERE id = NEW.id")
    daemon = w.follow(w.definitions({"table": "cause"}, {"table": "result"}))
    w.sql("SET binlog_format = STATEMENT", "UPDATE cause SET a = a + 10", "SET binlog_format = ROW")
    found(w, daemon, "result", [("1", "different", "a different"), ("2", "different", "a different")])


def test_children_whose_key_differs_from_the_parents_in_accents_only_are_found(w):
    w.sql("CREATE TABLE kind (code VARCHAR(20) COLLATE utf8mb4_general_ci PRIMARY KEY)",
          "CREATE TABLE item (id INT PRIMARY KEY, code VARCHAR(20) COLLATE utf8mb4_general_ci,"
          " FOREIGN KEY (code) REFERENCES kind (code) ON UPDATE CASCADE)",
          "INSERT INTO kind VALUES ('caf\u00e9')", "INSERT INTO item VALUES (1, 'caf\u00e9'), (2, 'cafe')")
    daemon = w.follow(w.definitions({"table": "item"}))
    w.sql("UPDATE kind SET code = 'bar'")
    if logs_cascades(w):
        w.equal(daemon)
    else:
        found(w, daemon, "item", [("2", "different", "code different")])


def test_a_default_that_is_given_and_taken_away_while_the_daemon_is_away_is_found(w):
    w.sql("CREATE TABLE item (id INT PRIMARY KEY, a INT)", "INSERT INTO item VALUES (1, 1), (2, 2)")
    daemon = w.follow(w.definitions({"table": "item"}))
    daemon.stop()
    w.sql("ALTER TABLE item ADD COLUMN b INT DEFAULT 5", "ALTER TABLE item ALTER COLUMN b DROP DEFAULT",
          "UPDATE item SET a = 7 WHERE id = 1")
    daemon.start()
    w.sql("INSERT INTO item VALUES (3, 3, 3)")
    wait_until("the row that came after is searchable", lambda: Damage(w, "item").stored(3)["found"], 60)
    found(w, daemon, "item", [("2", "different", "b missing")])
