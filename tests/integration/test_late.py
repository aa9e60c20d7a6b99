"""Rows that take effect late, under what else may happen to them: kills in the middle, compression, commits that hang."""
import base64
import glob
import os
import threading

import test_xa
from servers import REPO, Failed, wait_until
from test_xa import end, nested, prepare, read

COMPRESSED = {"mariadb": ("--log-bin-compress=ON", "--log-bin-compress-min-len=10"),
              "mariadb11": ("--log-bin-compress=ON", "--log-bin-compress-min-len=10"),
              "mysql8": ("--binlog-transaction-compression=ON",), "mysql9": ("--binlog-transaction-compression=ON",)}


PLUGINS = os.path.join(REPO, "tools/cache/mysql9/usr/lib/mysql/plugin")


def spilled(daemon):
    """Bytes in the file without a name."""
    for link in glob.glob(f"/proc/{daemon.process.pid}/fd/*"):
        try:
            if "/spill/" in os.readlink(link):
                return os.stat(link).st_size
        except FileNotFoundError:
            pass  # closed meanwhile
    return 0


def wide(w, daemon):
    w.sql("CREATE TABLE wide (id INT PRIMARY KEY, t LONGTEXT)", "INSERT INTO wide VALUES (1, 'old'), (2, 'old')")
    daemon.apply(w.definitions({"table": "good"}, {"table": "wide"}))
    daemon.build(f"{w.schema}.wide")


def prepare_wide(w, name, first, n):
    """Of 133 KB each, which no log makes much smaller."""
    def text():
        return base64.b64encode(w.rng.randbytes(100000)).decode()
    prepare(w, name, *(f"INSERT INTO wide VALUES ({i}, '{text()}')" for i in range(first, first + n)))


def test_kills_while_rows_of_prepared_transactions_are_on_disk_lose_none(w):
    daemon = nested(w)
    wide(w, daemon)
    prepare_wide(w, "large", 100, 160)
    for part in (0.2, 0.5, 0.9):
        enough = 12_000_000 * part
        wait_until("rows are on disk", lambda enough=enough: spilled(daemon) > enough, 60, 0.002)
        daemon.kill()
        daemon.start()
    prepare(w, "small", "UPDATE wide SET t = 'prepared' WHERE id = 1", "UPDATE good SET a = 9 WHERE id = 1")
    read(w, daemon)
    leftovers = os.listdir(os.path.join(daemon.folder, "data", "spill"))
    if leftovers:
        raise Failed(f"killed daemons have left {leftovers}")
    end(w, "COMMIT", "large")
    for n in (20, 100):
        wait_until("some of it is delivered", lambda n=n: w.engine.count(w.index("wide")) > n, 60, 0.01)
        daemon.kill()
        daemon.start()
    end(w, "COMMIT", "small")
    read(w, daemon)
    wait_until("the disk is given back", lambda: spilled(daemon) == 0)


def test_rows_of_a_prepared_transaction_that_wait_on_disk_count_in_their_order(w):
    """The later transaction is on disk behind the earlier one, which is given up first."""
    daemon = nested(w)
    wide(w, daemon)
    for name, first in (("one", 100), ("two", 300), ("three", 500)):
        prepare_wide(w, name, first, 70)
    wait_until("rows are on disk", lambda: spilled(daemon) > 15_000_000, 60)
    end(w, "ROLLBACK", "two")
    prepare_wide(w, "four", 700, 40)
    read(w, daemon)
    end(w, "COMMIT", "one")
    read(w, daemon)
    end(w, "COMMIT", "four")
    end(w, "COMMIT", "three")
    read(w, daemon)
    wait_until("the disk is given back", lambda: spilled(daemon) == 0)


def compressed(w):
    w.db.restart(*COMPRESSED[w.db.flavour])
    w.make_schema()


def test_compressed_rows_of_xa_transactions_count_at_their_commit(w):
    compressed(w)
    test_xa.test_prepared_transactions_end_in_any_order_with_others_between(w)


def test_compressed_rows_of_a_commit_in_one_phase_count_at_once(w):
    compressed(w)
    test_xa.test_a_commit_in_one_phase_counts_at_once(w)


def test_compressed_rows_that_were_rolled_back_are_not_in_the_documents(w):
    compressed(w)
    test_xa.test_a_long_transaction_that_is_rolled_back_is_read_once_more(w)


def test_compressed_rows_of_random_xa_transactions_outlive_kills(w):
    compressed(w)
    test_xa.test_random_xa_transactions_and_kills_leave_the_documents_equal(w)


def test_compressed_rows_of_large_prepared_transactions_wait_on_disk(w):
    compressed(w)
    test_xa.test_a_large_prepared_transaction_waits_on_disk(w)


def waits_for_a_replica(w, seconds, commit):
    """The commit is in the log so long before SELECT sees it: there is no replica that answers."""
    word = "master" if w.db.is_mariadb else "source"
    w.sql(f"SET GLOBAL rpl_semi_sync_{word}_timeout = {seconds * 1000}", f"SET GLOBAL rpl_semi_sync_{word}_wait_point = AFTER_SYNC",
          f"SET GLOBAL rpl_semi_sync_{word}_enabled = OFF", f"SET GLOBAL rpl_semi_sync_{word}_enabled = ON")
    before = w.db.log_end()
    writer = threading.Thread(target=commit)
    writer.start()
    wait_until("the log has the commit", lambda: w.db.log_end() != before)
    writer.join()
    w.sql(f"SET GLOBAL rpl_semi_sync_{word}_enabled = OFF")


def test_a_commit_that_waits_long_for_a_replica_is_not_read_too_early(w):
    """Longer than a lock is waited for at a time; on MySQL without GTIDs only locks tell."""
    if not w.db.is_mariadb:
        w.db.restart("--gtid-mode=OFF", "--enforce-gtid-consistency=OFF", f"--plugin-dir={PLUGINS}")
        w.make_schema()
        w.sql("INSTALL PLUGIN rpl_semi_sync_source SONAME 'semisync_source.so'")
    daemon = nested(w)
    prepare(w, "one", "UPDATE child SET a = 30 WHERE id = 3", "UPDATE good SET a = 31 WHERE id = 1")
    read(w, daemon)
    waits_for_a_replica(w, 7, lambda: w.sql("UPDATE child SET a = 20 WHERE id = 2"))
    w.equal(daemon)
    waits_for_a_replica(w, 7, lambda: end(w, "COMMIT", "one"))
    w.equal(daemon)
    if not w.db.is_mariadb:
        w.sql("UNINSTALL PLUGIN rpl_semi_sync_source")


test_a_commit_that_waits_long_for_a_replica_is_not_read_too_early.servers = ("mariadb", "mariadb11", "mysql9")
test_a_commit_that_waits_long_for_a_replica_is_not_read_too_early.why = "its plugin is not in the package"


def test_a_locked_row_of_an_xa_transaction_is_waited_for_and_named(w):
    """Whose lock it is nobody can tell, so nothing is read while it is there; other topics go on."""
    daemon = nested(w)
    prepare(w, "one", "UPDATE good SET a = 31 WHERE id = 1")
    read(w, daemon)
    holder = w.db.connect(w.schema, autocommit=False)
    locker = threading.Thread(target=lambda: holder.cursor().execute("UPDATE good SET a = a + 1 WHERE id = 1"))
    locker.start()
    wait_until("it waits for the row", lambda: w.sql(
        "SELECT 1 FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT'"))
    end(w, "COMMIT", "one")
    locker.join()
    state = wait_until("the topic says what it waits for", lambda: next(
        (t for t in daemon.status()["topics"] if "still locked" in t["reason"]), None), 60)
    if "end that transaction" not in state["reason"]:
        raise Failed(f"the topic is {state}")
    holder.rollback()
    holder.close()
    read(w, daemon)
