"""XA transactions take effect at their commit, and rows that were logged and rolled back never."""
import base64
import os
import random

from servers import Failed, wait_until
from test_stops import stopped


def xid(name):
    return f"'{name}','of {name}',3"


def prepare(w, name, *statements):
    """In a session that is gone then: any other can end the transaction."""
    w.sql(f"XA START {xid(name)}", *statements, f"XA END {xid(name)}", f"XA PREPARE {xid(name)}")


def end(w, verb, name):
    """A prepared transaction is free only a moment after its session has gone."""
    def ended():
        try:
            w.sql(f"XA {verb} {xid(name)}")
            return True
        except Exception as e:
            if "1397" not in str(e):  # XAER_NOTA: its session is not gone yet
                raise
    wait_until(f"XA {verb} {name}", ended)


def read(w, daemon):
    """Everything that is in the log now was read and delivered."""
    w.sql("INSERT INTO good VALUES (1000, 0) ON DUPLICATE KEY UPDATE a = a + 1")
    w.equal(daemon)


def nested(w, *more):
    """A flat table, and documents that hold rows of another one."""
    w.sql("CREATE TABLE good (id INT PRIMARY KEY, a INT)", "CREATE TABLE parent (id INT PRIMARY KEY, a INT)",
          "CREATE TABLE child (id INT PRIMARY KEY, parent INT, a INT, KEY (parent))",
          "INSERT INTO good VALUES (1, 1), (2, 2)", "INSERT INTO parent VALUES (1, 1), (2, 2)",
          "INSERT INTO child VALUES (1, 1, 1), (2, 1, 2), (3, 2, 3)")
    return w.follow(w.definitions({"table": "good"}, {"table": "parent", "relations": [
        {"from": "id", "table": "child", "to": "parent", "as": "children", "many": True}]}, *more))


CHANGES = ("UPDATE good SET a = 5 WHERE id = 1", "UPDATE good SET a = 6 WHERE id = 1", "DELETE FROM good WHERE id = 2",
           "INSERT INTO good VALUES (3, 3)", "INSERT INTO good VALUES (4, 4)", "DELETE FROM good WHERE id = 4",
           "UPDATE good SET id = 30 WHERE id = 3", "UPDATE child SET parent = 2 WHERE id = 1",
           "INSERT INTO parent VALUES (3, 3)", "INSERT INTO child VALUES (4, 3, 4)", "UPDATE parent SET a = 9 WHERE id = 1")


def test_rows_of_an_xa_transaction_count_at_its_commit_and_not_before(w):
    daemon = nested(w)
    prepare(w, "one", *CHANGES)
    read(w, daemon)
    end(w, "COMMIT", "one")
    read(w, daemon)


def test_an_xa_transaction_that_is_rolled_back_never_was(w):
    daemon = nested(w)
    prepare(w, "one", *CHANGES)
    read(w, daemon)
    end(w, "ROLLBACK", "one")
    read(w, daemon)


def test_a_commit_in_one_phase_counts_at_once(w):
    daemon = nested(w)
    w.sql(f"XA START {xid('one')}", *CHANGES, "SAVEPOINT s", "DELETE FROM good", "ROLLBACK TO SAVEPOINT s",
          f"XA END {xid('one')}", f"XA COMMIT {xid('one')} ONE PHASE")
    read(w, daemon)


def test_prepared_transactions_end_in_any_order_with_others_between(w):
    daemon = nested(w)
    prepare(w, "one", "UPDATE good SET a = 11 WHERE id = 1")
    prepare(w, "two", "UPDATE good SET a = 22 WHERE id = 2")
    prepare(w, "three", "INSERT INTO good VALUES (3, 33)")
    w.sql("INSERT INTO good VALUES (7, 7)", "UPDATE child SET a = 70")
    end(w, "COMMIT", "two")
    read(w, daemon)
    w.sql("UPDATE good SET a = 23 WHERE id = 2")
    end(w, "ROLLBACK", "one")
    prepare(w, "one", "UPDATE good SET a = 12 WHERE id = 1")  # the same id once more
    read(w, daemon)
    end(w, "COMMIT", "three")
    end(w, "COMMIT", "one")
    read(w, daemon)


def test_a_kill_between_prepare_and_commit_loses_nothing(w):
    daemon = nested(w)
    prepare(w, "early", "INSERT INTO good VALUES (50, 50)")
    prepare(w, "late", "UPDATE good SET a = 51 WHERE id = 1", "UPDATE child SET parent = 2 WHERE id = 1")
    for i in range(20):
        w.sql(f"INSERT INTO good VALUES ({100 + i}, 1)", f"DELETE FROM good WHERE id = {95 + i}", "FLUSH BINARY LOGS")
    read(w, daemon)
    daemon.kill()
    end(w, "COMMIT", "late")
    daemon.start()
    read(w, daemon)
    daemon.kill()
    daemon.start()
    end(w, "COMMIT", "early")
    read(w, daemon)


def position(daemon):
    topic = daemon.json("status")["topics"][0]
    return topic["file"], topic["position"]


def test_the_position_stays_before_a_prepared_transaction_until_it_is_done(w):
    daemon = nested(w)
    read(w, daemon)
    wait_until("the position has come to the end", lambda: position(daemon) == w.db.log_end())
    before = w.db.log_end()
    prepare(w, "one", "INSERT INTO good VALUES (50, 50)")
    read(w, daemon)
    if position(daemon) != before:
        raise Failed(f"the position is {position(daemon)} and the prepared transaction begins at {before}")
    wait_until("a prepared transaction is no lag",
               lambda: daemon.status()["topics"][0]["lag_bytes"] in (0, None), 10)
    end(w, "COMMIT", "one")
    read(w, daemon)
    wait_until("the position has come to the end", lambda: position(daemon) == w.db.log_end())


def test_a_stop_with_a_prepared_transaction_open_ends_well_and_goes_on(w):
    daemon = nested(w)
    prepare(w, "one", *CHANGES)
    read(w, daemon)
    if daemon.stop() != 0:
        raise Failed("the daemon did not end well")
    w.sql("UPDATE good SET a = a + 100 WHERE id = 1000")
    end(w, "COMMIT", "one")
    daemon.start()
    read(w, daemon)


def test_a_prepared_transaction_outlives_the_server(w):
    daemon = nested(w)
    prepare(w, "one", "UPDATE good SET a = 51 WHERE id = 1", "INSERT INTO child VALUES (9, 1, 9)")
    read(w, daemon)
    w.db.restart(*w.db.options)
    w.sql("INSERT INTO good VALUES (60, 60)")
    end(w, "COMMIT", "one")
    read(w, daemon)
    prepare(w, "two", "UPDATE good SET a = 52 WHERE id = 1")
    w.db.kill()
    w.db.start(*w.db.options)
    end(w, "COMMIT", "two")
    read(w, daemon)


def test_a_build_between_prepare_and_commit_has_the_rows_in_the_end(w):
    w.sql("CREATE TABLE good (id INT PRIMARY KEY, a INT)", "CREATE TABLE later (id INT PRIMARY KEY, a INT)",
          "INSERT INTO later VALUES (1, 1), (2, 2)")
    daemon = w.follow(w.definitions({"table": "good"}))
    prepare(w, "one", "UPDATE later SET a = 11 WHERE id = 1", "DELETE FROM later WHERE id = 2",
            "INSERT INTO later VALUES (3, 3)")
    daemon.apply(w.definitions({"table": "good"}, {"table": "later"}))
    daemon.build(f"{w.schema}.later")
    daemon.build(f"{w.schema}.good")
    w.equal(daemon)
    end(w, "COMMIT", "one")
    read(w, daemon)


def test_a_commit_whose_prepare_was_never_read_stops_the_tables_and_a_build_is_the_way_out(w):
    w.sql("CREATE TABLE good (id INT PRIMARY KEY, a INT)", "CREATE TABLE bad (id INT PRIMARY KEY, a INT)",
          "INSERT INTO bad VALUES (1, 1)")
    prepare(w, "before", "UPDATE bad SET a = 11 WHERE id = 1")
    prepare(w, "other", "INSERT INTO bad VALUES (2, 2)")
    daemon = w.follow(w.definitions({"table": "good"}, {"table": "bad"}))
    end(w, "ROLLBACK", "other")
    read(w, daemon)  # that changed nothing
    end(w, "COMMIT", "before")
    for name in ("good", "bad"):
        state = stopped(w, daemon, name)
        if "XA transaction" not in state["reason"]:
            raise Failed(f"the reason is {state['reason']!r}")
        daemon.build(f"{w.schema}.{name}")
    read(w, daemon)


def test_a_transaction_that_is_prepared_for_long_is_named(w):
    daemon = nested(w)
    prepare(w, "old", "SET TIMESTAMP = UNIX_TIMESTAMP() - 3600", "INSERT INTO good VALUES (50, 50)")

    def warned():
        return [x for x in daemon.json("status")["topics"][0]["warnings"] if "XA" in x]
    text = wait_until("status warns", warned)[0]
    if "X'6f6c64'" not in text or "XA COMMIT" not in text:
        raise Failed(f"the warning is {text!r}")
    if not [i for i in daemon.json("doctor", ok=(0, 1))["items"] if i["id"] == "mysql.xa_prepared"]:
        raise Failed("the doctor does not name it")
    end(w, "ROLLBACK", "old")
    wait_until("the warning goes", lambda: not warned())
    read(w, daemon)


def test_a_large_prepared_transaction_waits_on_disk(w):
    daemon = nested(w)
    w.sql("CREATE TABLE wide (id INT PRIMARY KEY, t LONGTEXT)")
    daemon.apply(w.definitions({"table": "good"}, {"table": "wide"}))
    daemon.build(f"{w.schema}.wide")
    def text():
        return base64.b64encode(w.rng.randbytes(200000)).decode()  # that no log makes much smaller
    prepare(w, "large", *(f"INSERT INTO wide VALUES ({i}, '{text()}')" for i in range(1, 61)))
    prepare(w, "small", "INSERT INTO wide VALUES (100, 'small')")
    read(w, daemon)
    spill = os.path.join(daemon.folder, "data", "spill")
    if not os.path.isdir(spill) or os.listdir(spill):
        raise Failed(f"{spill} should be there, and its file without a name")
    end(w, "COMMIT", "large")
    end(w, "COMMIT", "small")
    read(w, daemon)


def test_rows_that_were_logged_and_rolled_back_are_not_in_the_documents(w):
    daemon = nested(w)
    w.sql("BEGIN", *CHANGES, "CREATE TEMPORARY TABLE x (a INT)", "ROLLBACK")  # that must be logged, so all is
    read(w, daemon)


def test_a_long_transaction_that_is_rolled_back_is_read_once_more(w):
    daemon = nested(w)
    w.sql("CREATE TABLE wide (id INT PRIMARY KEY, t TEXT)", "INSERT INTO wide VALUES (1, 'stays')")
    daemon.apply(w.definitions({"table": "good"}, {"table": "wide"}))
    daemon.build(f"{w.schema}.wide")
    w.sql("BEGIN", "UPDATE wide SET t = 'goes'", "UPDATE good SET a = 77",
          *(f"INSERT INTO wide VALUES ({i}, REPEAT('long', 10000))" for i in range(2, 60)),
          "CREATE TEMPORARY TABLE x (a INT)", "ROLLBACK")
    w.sql("INSERT INTO wide VALUES (3, 'after')")
    read(w, daemon)


def test_going_back_to_a_savepoint_takes_back_only_what_came_after(w):
    daemon = nested(w)
    w.sql("CREATE TABLE aria (id INT PRIMARY KEY) ENGINE = MyISAM")
    w.sql("BEGIN", "UPDATE good SET a = 5 WHERE id = 1", "SAVEPOINT s", *CHANGES[2:], "CREATE TEMPORARY TABLE x (a INT)",
          "ROLLBACK TO SAVEPOINT s", "UPDATE good SET a = 8 WHERE id = 2", "COMMIT")
    read(w, daemon)


def test_rows_of_a_table_that_cannot_be_rolled_back_stand(w):
    w.sql("CREATE TABLE good (id INT PRIMARY KEY, a INT)", "CREATE TABLE firm (id INT PRIMARY KEY, a INT) ENGINE = MyISAM")
    daemon = w.follow(w.definitions({"table": "good"}, {"table": "firm"}))
    if w.db.is_mariadb:  # MySQL with GTIDs refuses to mix them
        w.sql("BEGIN", "INSERT INTO good VALUES (1, 1)", "INSERT INTO firm VALUES (1, 1)", "ROLLBACK",
              "BEGIN", "INSERT INTO firm VALUES (2, 2)", "INSERT INTO good VALUES (2, 2)", "SAVEPOINT s",
              "INSERT INTO firm VALUES (3, 3)", "INSERT INTO good VALUES (3, 3)", "ROLLBACK TO SAVEPOINT s", "COMMIT")
        prepare(w, "mixed", "INSERT INTO good VALUES (4, 4)", "INSERT INTO firm VALUES (4, 4)")
        read(w, daemon)
        end(w, "ROLLBACK", "mixed")
    w.sql("INSERT INTO firm VALUES (10, 10)")
    read(w, daemon)


def test_random_xa_transactions_and_kills_leave_the_documents_equal(w):
    rng = random.Random(w.rng.random())
    daemon = nested(w)
    open_ones, number = [], 0
    for _ in range(60):
        what = rng.randrange(10)
        if what < 5 and len(open_ones) < 6:
            number += 1
            key = 10 * number  # each its own rows, as prepared ones keep theirs locked
            prepare(w, f"n{number}", f"INSERT INTO good VALUES ({2000 + key}, 1), ({2001 + key}, 2)",
                    f"UPDATE good SET a = 3 WHERE id = {2000 + key}", f"DELETE FROM good WHERE id = {2001 + key}",
                    f"INSERT INTO parent VALUES ({key}, {rng.randrange(9)})",
                    f"INSERT INTO child VALUES ({key}, {key}, 1), ({key + 1}, {rng.choice([1, 2, key])}, 2)")
            open_ones.append(f"n{number}")
        elif what < 8 and open_ones:
            end(w, rng.choice(["COMMIT", "COMMIT", "ROLLBACK"]), open_ones.pop(rng.randrange(len(open_ones))))
        elif what == 8:
            w.sql("UPDATE good SET a = a + 1 WHERE id = 1", "FLUSH BINARY LOGS")
        else:
            daemon.kill()
            daemon.start()
    read(w, daemon)
    for name in open_ones:
        end(w, "COMMIT", name)
    read(w, daemon)
    if w.table(daemon, "good")["state"] != "available" or w.table(daemon, "parent")["state"] != "available":
        raise Failed("a table is stopped")
