"""What cannot be followed stops its table with a reason and a way out, and never the others."""
import os

from servers import Failed, wait_until
from world import PASSWORD


def stopped(w, daemon, name):
    state = wait_until(f"the table {name} stops", lambda: w.table(daemon, name)["state"] == "stopped"
                       and w.table(daemon, name))
    if not state.get("reason") or not state.get("fix"):
        raise Failed(f"a reason or a way out is missing: {state}")
    return state


def test_truncate_that_is_not_followed_stops_the_table_and_a_build_is_the_way_out(w):
    daemon = w.follow_good_and_bad(schema_changes="stop")
    w.sql("TRUNCATE TABLE bad", "INSERT INTO bad VALUES (5, 5)", "UPDATE good SET a = 7")
    stopped(w, daemon, "bad")
    w.equal(daemon, [f"{w.schema}.good"])
    daemon.build(f"{w.schema}.bad")
    w.sql("INSERT INTO bad VALUES (6, 6)", "UPDATE good SET a = 8")
    w.equal(daemon)


def test_drop_that_is_not_followed_stops_the_table_and_a_build_is_the_way_out(w):
    daemon = w.follow_good_and_bad(schema_changes="stop")
    w.sql("DROP TABLE bad", "UPDATE good SET a = 7")
    stopped(w, daemon, "bad")
    w.equal(daemon, [f"{w.schema}.good"])
    w.sql("CREATE TABLE bad (id INT PRIMARY KEY, a INT)", "INSERT INTO bad VALUES (9, 9)")
    daemon.build(f"{w.schema}.bad")
    w.sql("INSERT INTO bad VALUES (6, 6)", "UPDATE good SET a = 8")
    w.equal(daemon)


def test_a_stop_outlives_a_restart(w):
    daemon = w.follow_good_and_bad(schema_changes="stop")
    w.sql("TRUNCATE TABLE bad", "UPDATE good SET a = 7")
    stopped(w, daemon, "bad")
    daemon.kill()
    daemon.start()
    stopped(w, daemon, "bad")
    w.sql("UPDATE good SET a = 9")
    w.equal(daemon, [f"{w.schema}.good"])


def test_a_renamed_away_key_column_stops_the_table(w):
    daemon = w.follow_good_and_bad()
    w.sql("ALTER TABLE bad DROP PRIMARY KEY, ADD COLUMN k INT PRIMARY KEY AUTO_INCREMENT FIRST",
          "INSERT INTO bad (id, a) VALUES (7, 7)", "UPDATE good SET a = 7")
    w.equal(daemon, [f"{w.schema}.good"])
    daemon.command("status")


def test_a_session_that_logs_statements_stops_the_table_it_changed_only(w):
    daemon = w.follow_good_and_bad()
    w.sql("SET binlog_format = STATEMENT", "UPDATE bad SET a = 9", "SET binlog_format = ROW", "UPDATE good SET a = 7")
    state = stopped(w, daemon, "bad")
    if "binlog_format" not in state["reason"]:
        raise Failed(f"the reason is {state['reason']!r}")
    said = daemon.command("doctor", ok=(1,)).stdout
    if state["reason"][:40] not in said or "index create" not in said:
        raise Failed(f"doctor does not name the table that stopped:\n{said}")
    w.equal(daemon, [f"{w.schema}.good"])
    daemon.build(f"{w.schema}.bad")
    w.sql("UPDATE bad SET a = a + 1", "UPDATE good SET a = 8")
    w.equal(daemon)


def test_a_password_file_that_is_away_while_a_build_ends_loses_no_change(w):
    w.sql("CREATE TABLE good (id INT PRIMARY KEY, a INT)", "INSERT INTO good VALUES (1, 1), (2, 2)",
          "CREATE TABLE other (id INT PRIMARY KEY, a INT)", "INSERT INTO other SELECT id + 10, a FROM good",
          "INSERT INTO other VALUES " + ", ".join(f"({i}, 0)" for i in range(20, 60)))
    daemon = w.follow(w.definitions({"table": "good"}, {"table": "other"}))
    daemon.command("index", "create", f"{w.schema}.other", "--rate", "1", "--no-wait")
    wait_until("the build runs", lambda: w.table(daemon, "other")["build"])
    os.unlink(os.path.join(daemon.folder, "source.password"))
    daemon.command("index", "set", f"{w.schema}.other", "--rate", "0")
    wait_until("the build ends", lambda: w.table(daemon, "other")["version"] == 2, 30)
    wait_until("it says what is missing", lambda: "source.password" in daemon.log_tail(10**6), 30)
    w.sql("INSERT INTO good VALUES (3, 3)", "UPDATE other SET a = 7", "DELETE FROM good WHERE id = 1")
    w.equal(daemon)
    daemon.write("source.password", PASSWORD + "\n")
    w.sql("INSERT INTO good VALUES (4, 4)", "UPDATE other SET a = 8")
    w.equal(daemon)


def test_a_topic_whose_versions_cannot_be_followed_waits_and_loses_no_change(w):
    w.sql("CREATE TABLE good (id INT PRIMARY KEY, a INT)", "INSERT INTO good VALUES (1, 1), (2, 2)")
    definitions = w.definitions({"table": "good"})
    definitions["databases"][0] |= {"address": f"127.0.0.1:{w.db.port}", "user": "millrace",
                                    "password_file": "own.password"}
    daemon = w.millrace()
    daemon.write("own.password", PASSWORD + "\n")
    daemon.apply(definitions)
    daemon.build(f"{w.schema}.good")
    daemon.stop()
    os.unlink(os.path.join(daemon.folder, "own.password"))
    w.sql("INSERT INTO good VALUES (3, 3)")
    daemon.start()
    wait_until("it says what is missing", lambda: "own.password" in daemon.log_tail(), 30)
    w.sql("DELETE FROM good WHERE id = 1")
    daemon.write("own.password", PASSWORD + "\n")
    w.equal(daemon)
