"""What nothing tells when it happens (docs/progress.md): `verify` names exactly these documents, and repairs them."""
from online_change import pt_osc
from servers import Failed, wait_until
from test_cascades import logs_cascades
from test_join import FORUM, forum
from test_verify import Damage, kinds


def found(w, daemon, table, wished):
    """A verification of the table names these documents and no others; a repair makes all equal."""
    answer = daemon.json("verify", f"{w.schema}.{table}", ok=(1,))
    if kinds(answer) != sorted(wished):
        raise Failed(f"not {wished}: {answer}")
    repaired = daemon.json("verify", f"{w.schema}.{table}", "--repair", "--yes")
    if (repaired["verdict"], repaired["repaired"]) != ("equal", sum(kind != "orphan" for _, kind, *_ in wished)):
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


def test_rows_that_an_online_schema_change_leaves_out_are_found(w):
    w.sql("CREATE TABLE item (id INT PRIMARY KEY, a INT)", "INSERT INTO item SELECT seq, seq FROM seq_1_to_100", "INSERT INTO item VALUES (101, 7)")
    daemon = w.follow(w.definitions({"table": "item"}))
    pt_osc(w, "item", "ADD UNIQUE KEY (a)")
    w.sql("UPDATE item SET a = 500 WHERE id = 1")
    wait_until("the change that came after is searchable", lambda: Damage(w, "item").stored(1)["_source"]["a"] == 500, 60)
    found(w, daemon, "item", [("101", "extra")])


def test_a_row_that_shared_its_key_with_another_while_the_daemon_was_away_is_found(w):
    w.sql("CREATE TABLE item (code INT NOT NULL, a INT, UNIQUE KEY one (code))", "INSERT INTO item SELECT seq, seq FROM seq_1_to_100")
    daemon = w.follow(w.definitions({"table": "item", "key": "code"}))
    daemon.stop()
    w.sql("ALTER TABLE item DROP INDEX one", "INSERT INTO item VALUES (5, 50)", "DELETE FROM item WHERE a = 50", "ALTER TABLE item ADD UNIQUE KEY one (code)")
    daemon.start()
    w.sql("UPDATE item SET a = 0 WHERE code = 7")
    wait_until("the change that came after is searchable", lambda: Damage(w, "item").stored(7)["_source"]["a"] == 0, 60)
    found(w, daemon, "item", [("5", "missing")])


def test_what_is_below_a_row_without_a_document_that_a_foreign_key_moves_is_found(w):
    w.sql(*FORUM, "ALTER TABLE answer ADD FOREIGN KEY (question_id) REFERENCES question (id) ON UPDATE CASCADE",
          "INSERT INTO question VALUES (1, 'a'), (2, 'b')", "INSERT INTO answer VALUES (10, 1, 'shown'), (11, 2, 'hidden')",
          "INSERT INTO remark VALUES (5, 1, 10, NULL, 'x'), (6, 1, 11, NULL, 'y')")
    definitions = forum(w)
    definitions["tables"][1]["filter"] = "body <> 'hidden'"
    daemon = w.follow(definitions)
    w.sql("UPDATE question SET id = 21 WHERE id = 2")
    wait_until("the change is searchable", lambda: Damage(w, "forum").stored("question:21")["found"], 60)
    if logs_cascades(w):
        w.equal(daemon)
    else:
        found(w, daemon, "remark", [("remark:6,1", "orphan"), ("remark:6,1", "wrong_routing")])


def test_an_index_that_is_restored_from_a_copy_is_found(w):
    w.sql("CREATE TABLE item (id INT PRIMARY KEY, a INT)", "INSERT INTO item SELECT seq, seq FROM seq_1_to_100")
    daemon = w.follow(w.definitions({"table": "item"}))
    index, copy = f"{w.index('item')}_v1", w.index("copy")
    aliases = w.engine.ask("GET", f"/{index}/_alias")[index]["aliases"]
    w.engine.ask("PUT", f"/{index}/_settings", {"index.blocks.write": True})
    w.engine.ask("PUT", f"/{index}/_clone/{copy}")
    w.engine.ask("PUT", f"/{index}/_settings", {"index.blocks.write": None})
    w.sql("UPDATE item SET a = 0 WHERE id = 4", "DELETE FROM item WHERE id = 5", "INSERT INTO item VALUES (500, 5)")
    w.equal(daemon)
    daemon.stop()
    w.engine.ask("DELETE", f"/{index}")
    w.engine.ask("PUT", f"/{copy}/_clone/{index}", {"aliases": aliases})
    w.engine.ask("PUT", f"/{index}/_settings", {"index.blocks.write": None})
    daemon.start()
    w.sql("UPDATE item SET a = 0 WHERE id = 7")
    wait_until("the change that came after is searchable", lambda: Damage(w, "item").stored(7)["_source"]["a"] == 0, 60)
    found(w, daemon, "item", [("4", "different", "a different"), ("5", "extra"), ("500", "missing")])


def test_a_time_that_a_filter_makes_a_date_of_is_found_when_the_day_is_another_one(w):
    w.sql("CREATE TABLE item (id INT PRIMARY KEY, t TIME)", "INSERT INTO item VALUES (1, '10:00:00'), (2, NULL)",
          "SET GLOBAL init_connect = 'SET timestamp = 1700000000'")  # for all users without SUPER
    try:
        daemon = w.follow(w.definitions({"table": "item", "filter": "CAST(t AS DATE) < '2024-01-01' OR t IS NULL"}))
    finally:
        w.sql("SET GLOBAL init_connect = ''")
    daemon.stop()
    daemon.start()
    w.sql("INSERT INTO item VALUES (3, NULL)")
    wait_until("the row that came after is searchable", lambda: Damage(w, "item").stored(3)["found"], 60)
    found(w, daemon, "item", [("1", "extra")])
