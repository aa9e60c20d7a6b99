"""What happens to a log, or in the middle of what is read from it: docs/binlog.md lists the scenarios."""
import os
import threading
import zlib

from gate import Gate
from servers import Database, Failed, wait_until
from test_faults import no_dump_threads, on_a_private_server, stops_and_begins_anew
from test_xa import end, nested, prepare, read
from workload import Workload

ROWS_EVENTS = {23, 24, 25, 30, 31, 32}
GTIDS = {33: 19 + 17, 162: 19 + 8}  # where MySQL has its number, and MariaDB its domain


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


def transactions(path):
    """The events of a file, each list from a GTID on; the first is what the file begins with."""
    with open(path, "rb") as f:
        log = f.read()
    groups, at = [[]], 4
    while at < len(log):
        size = int.from_bytes(log[at + 9:at + 13], "little")
        if log[at + 4] in GTIDS:
            groups.append([])
        groups[-1].append(bytearray(log[at:at + size]))
        at += size
    return groups


def cut_off(path, word):
    """Transactions with a table of that name lose what follows their rows, and have GTIDs that the server never knew."""
    groups = transactions(path)
    for group in groups[1:]:
        if any(word in event for event in group):
            del group[max(i for i, event in enumerate(group) if event[4] in ROWS_EVENTS) + 1:]
            group[0][GTIDS[group[0][4]] + 3] ^= 1
    with open(path, "r+b") as f:
        f.truncate(4)
        f.seek(4)
        for event in sum(groups, []):
            event[13:17] = (f.tell() + len(event)).to_bytes(4, "little")
            event[-4:] = zlib.crc32(event[:-4]).to_bytes(4, "little")
            f.write(event)


NEVER_WAS = ("UPDATE good SET a = 5 WHERE id = 1", "DELETE FROM good WHERE id = 2", "INSERT INTO good VALUES (3, 3)",
             "UPDATE child SET parent = 2 WHERE id = 1", "INSERT INTO doomed VALUES (1)")
UNDONE = ("UPDATE good SET a = 1 WHERE id = 1", "INSERT INTO good VALUES (2, 2)", "DELETE FROM good WHERE id = 3",
          "UPDATE child SET parent = 1 WHERE id = 1", "DELETE FROM wide WHERE id > 1", "UPDATE wide SET t = 'stays'")


def test_transactions_that_a_crash_cut_off_are_rolled_back_as_a_replica_does(w):
    w.db = w.also(Database(w.options.server, "cut-off"))
    w.db.start()
    w.make_schema()
    w.sql("CREATE TABLE doomed (id INT PRIMARY KEY)", "CREATE TABLE wide (id INT PRIMARY KEY, t TEXT)",
          "INSERT INTO wide VALUES (1, 'stays')")
    daemon = nested(w, {"table": "wide"})
    read(w, daemon)
    daemon.stop()
    no_dump_threads(w)
    w.sql("FLUSH BINARY LOGS")
    name, _ = w.db.log_end()
    w.sql("BEGIN", *NEVER_WAS, "COMMIT")
    w.sql("INSERT INTO good VALUES (500, 1)")
    w.sql("BEGIN", "UPDATE wide SET t = 'goes'",
          *(f"INSERT INTO wide VALUES ({i}, REPEAT('long', 10000))" for i in range(2, 60)),
          "INSERT INTO doomed VALUES (2)", "COMMIT")
    prepare(w, "one", "INSERT INTO good VALUES (600, 1)", "INSERT INTO doomed VALUES (3)")
    end(w, "ROLLBACK", "one")
    w.sql("INSERT INTO good VALUES (501, 1)", "FLUSH BINARY LOGS")
    cut_off(log_file(w, name), b"doomed")
    w.sql("SET sql_log_bin = 0", *UNDONE)
    daemon.start()
    read(w, daemon)
    told = [line for line in daemon.log_tail(1 << 20).splitlines() if "has no end" in line]
    if len(told) < 3 or not all(name in line for line in told):
        raise Failed(f"the log tells of {told}")
    said = daemon.command("binlog", "decode", log_file(w, name))
    if said.stderr.count("no end") != 3 or '"id":501' not in said.stdout or '"id":600' not in said.stdout:
        raise Failed(f"decode printed {len(said.stdout)} bytes, and warned of\n{said.stderr}")


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
