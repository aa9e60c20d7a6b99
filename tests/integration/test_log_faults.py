"""What happens to a log, or in the middle of what is read from it: docs/binlog.md lists the scenarios."""
import os
import threading

from gate import Gate
from servers import Database, Failed, wait_until
from test_faults import no_dump_threads, on_a_private_server, stops_and_begins_anew
from workload import Workload

ROWS_EVENTS = {23, 24, 25, 30, 31, 32}


def log_file(w, name):
    return os.path.join(w.db.folder, "data", name)


def test_another_server_behind_the_address_stops_the_topic_with_a_way_out(w):
    daemon, work, connection = on_a_private_server(w, "first")
    work.run(connection, 50)
    w.equal(daemon)
    daemon.stop()
    first = w.db
    first.stop()
    w.db = w.also(Database(w.options.server, "second"))
    w.db.port = first.port
    w.db.start()
    w.make_schema()
    w.load_shop()
    connection = w.db.connect(w.schema)
    work = Workload(w.rng)
    work.run(connection, 150)
    daemon.start()
    # On MySQL nothing shows that it will never have the transactions of the first one.
    stops_and_begins_anew(w, daemon, work, connection, states=("fail",) if w.db.is_mariadb else ("connecting",))


def test_a_server_that_lost_the_end_of_its_log_stops_the_topic_with_a_way_out(w):
    """It crashed with sync_binlog=0: the tables have what the log has not."""
    daemon, work, connection = on_a_private_server(w, "lost-end")
    work.run(connection, 50)
    name, end = w.db.log_end()
    work.run(connection, 50)
    w.equal(daemon)
    daemon.stop()
    connection.close()
    w.db.kill()
    os.truncate(log_file(w, name), end)
    w.db.start()
    daemon.start()
    stops_and_begins_anew(w, daemon, work, w.db.connect(w.schema))


def flip_a_bit(path, begin, end):
    """In the rows of the first event with rows from begin on."""
    with open(path, "r+b") as f:
        while begin < end:
            f.seek(begin)
            head = f.read(19)
            if head[4] in ROWS_EVENTS:
                f.seek(begin + 19 + 12)
                byte = f.read(1)[0]
                f.seek(begin + 19 + 12)
                f.write(bytes([byte ^ 0x10]))
                return
            begin += int.from_bytes(head[9:13], "little")
    raise Failed("no event has rows")


def test_a_bit_that_is_flipped_in_the_log_stops_the_topic_with_a_way_out(w):
    daemon, work, connection = on_a_private_server(w, "flipped")
    w.equal(daemon)
    daemon.stop()
    no_dump_threads(w)
    name, begin = w.db.log_end()
    work.run(connection, 50)
    flip_a_bit(log_file(w, name), begin, w.db.log_end()[1])
    daemon.start()
    stops_and_begins_anew(w, daemon, work, connection, ["checksum"])


def test_a_commit_that_waits_for_a_replica_is_not_read_too_early(w):
    """Semi-synchronous replication: the log has it seconds before SELECT."""
    w.db.restart("--rpl-semi-sync-master-wait-point=AFTER_SYNC", "--rpl-semi-sync-master-timeout=2000")
    w.sql("CREATE TABLE parent (id INT PRIMARY KEY, a INT)", "CREATE TABLE child (id INT PRIMARY KEY, parent INT, a INT, "
          "KEY (parent))", "INSERT INTO parent VALUES (1, 1)", "INSERT INTO child VALUES (1, 1, 1), (2, 1, 2), (3, 1, 3)")
    daemon = w.follow(w.definitions({"table": "parent", "relations": [
        {"from": "id", "table": "child", "to": "parent", "as": "children", "many": True}]}))
    w.sql("XA START 'x'", "UPDATE child SET a = 30 WHERE id = 3", "XA END 'x'", "XA PREPARE 'x'")
    for statement in ("UPDATE child SET a = a + 10 WHERE id = 1", "DELETE FROM child WHERE id = 2", "XA COMMIT 'x'"):
        # Without a replica that answers, the server waits once for the time-out and then no more.
        w.sql("SET GLOBAL rpl_semi_sync_master_enabled = OFF", "SET GLOBAL rpl_semi_sync_master_enabled = ON")
        before = w.db.log_end()
        writer = threading.Thread(target=w.sql, args=(statement,))
        writer.start()
        wait_until("the log has the commit", lambda: w.db.log_end() != before)
        writer.join()
        w.equal(daemon)
    w.sql("SET GLOBAL rpl_semi_sync_master_enabled = OFF")


test_a_commit_that_waits_for_a_replica_is_not_read_too_early.servers = ("mariadb", "mariadb11")
test_a_commit_that_waits_for_a_replica_is_not_read_too_early.why = "its plugin is not in every package"


def test_a_kill_between_two_rows_of_one_event_loses_none_of_them(w):
    w.sql("CREATE TABLE many (id INT PRIMARY KEY, a INT)")
    with Gate(w.engine) as gate:
        daemon = w.follow(w.definitions({"table": "many"}), search={"url": gate.url}, delivery={"batch_max": 50})
        passed = []

        def refuse(method, path):
            if "_bulk" not in path:
                return None
            passed.append(path)
            return None if len(passed) <= 3 else 503
        gate.refuse = refuse
        w.sql("INSERT INTO many VALUES " + ", ".join(f"({i}, {i})" for i in range(500)))
        wait_until("some of the rows are delivered, and no more", lambda: len(passed) > 4)
        daemon.kill()
        gate.refuse = None
        daemon.start()
        w.equal(daemon)
