"""The daemon dies at the instants that fault scenarios F01 to F08 name (docs/reliability.md), and at an epoch's change."""
import glob
import os
import signal

from gate import Gate
from servers import BINARY, Failed, open_store, wait_until
from test_delivery_settings import change as set_delivery
from test_failover import Stage, lineage

ROWS = 60


def armed(point, nth=1):
    return {"MILLRACE_FAILPOINT": f"{point}:{nth}:kill"}


def followed(w):
    """A table whose daemon is dead."""
    rows = ", ".join(f"({i}, 0, 'as it was')" for i in range(ROWS))
    w.sql("CREATE TABLE part (id INT PRIMARY KEY, a INT, note VARCHAR(40))", f"INSERT INTO part VALUES {rows}")
    daemon = w.follow(w.definitions({"table": "part"}))
    w.equal(daemon)
    daemon.kill()
    return daemon


def change(w, i):
    """Every kind of change, in several transactions."""
    row = i % ROWS
    w.sql(f"UPDATE part SET a = {i}", f"DELETE FROM part WHERE id = {row}", f"REPLACE INTO part VALUES ({1000 + row}, {i}, 'new')",
          f"DELETE FROM part WHERE id = {2000 + i}",  # an i that is drawn twice finds its place free
          f"UPDATE part SET id = {2000 + i} WHERE id = {(row + 7) % ROWS}", f"REPLACE INTO part VALUES ({row}, {i}, 'again')")


def until_dead(daemon, point, work=None):
    def is_dead():
        if daemon.process.poll() is None and work:
            work()
        return daemon.process.poll() is not None
    wait_until(f"the daemon dies at {point}", is_dead, 60, 0.02)
    if daemon.process.returncode != -signal.SIGKILL:
        raise Failed(f"it ended with {daemon.process.returncode}, not at {point}: {daemon.log_tail()}")


def die_at(w, daemon, point, nth, i):
    """A dead daemon finds changes and dies at the nth time; while it does not come there, it is given more."""
    change(w, i)
    daemon.start(wait=False, environment=armed(point, nth))
    until_dead(daemon, point, lambda: change(w, i + 100))


def dies_and_is_equal(w, points, times):
    daemon = followed(w)
    for point in points:
        for nth in times:
            die_at(w, daemon, point, nth, w.rng.randrange(50))
        daemon.start()
        w.equal(daemon, seconds=60)
        daemon.kill()


def documents(w):
    return sorted(w.engine.documents(w.index("part")))


def test_F01_what_was_received_and_not_queued_is_read_again(w):
    dies_and_is_equal(w, ["event_received", "writes_gathered"], (1, 4, 9))


def test_F02_what_was_queued_in_memory_is_read_again(w):
    dies_and_is_equal(w, ["writes_queued", "transaction_built"], (1, 2, 5))


def test_F04_a_batch_that_was_built_and_not_sent_is_sent_again(w):
    dies_and_is_equal(w, ["bulk_built"], (1, 2, 3))


def test_F05_a_request_without_an_answer_is_sent_again_and_no_document_gets_older(w):
    daemon = followed(w)
    for nth in (1, 2, 1):
        die_at(w, daemon, "bulk_sent", nth, w.rng.randrange(50))
        before = {key: version for key, _, version in documents(w)}
        daemon.start()
        w.equal(daemon, seconds=60)
        after = {key: version for key, _, version in documents(w)}
        older = {key: (before[key], after[key]) for key in before.keys() & after.keys() if after[key] < before[key]}
        if older:
            raise Failed(f"documents have older versions than before the kill: {older}")
        daemon.kill()


def test_F06_what_was_acknowledged_before_the_position_is_replayed_and_changes_nothing(w):
    daemon = followed(w)
    for point in ("bulk_answered", "bulk_judged", "position_due"):
        w.sql("UPDATE part SET a = a + 1")
        daemon.start(wait=False, environment=armed(point))
        until_dead(daemon, point)
        wait_until("the engine has all documents", lambda: len({source["a"] for _, source, _ in documents(w)}) == 1)
        before = documents(w)
        daemon.start()
        wait_until("the changes are done again", lambda: daemon.metric("millrace_changes_done_total") >= ROWS)
        w.equal(daemon)
        if documents(w) != before:
            raise Failed(f"what was replayed after a kill at {point} changed documents")
        daemon.stop()  # so that the next one reads its own changes only


def test_F24_a_delete_that_the_engine_has_forgotten_is_read_again_behind_what_it_deleted(w):
    daemon = followed(w)
    daemon.start(environment={"MILLRACE_FAILPOINT": "position_due:1:wait=600000"})  # no position is stored any more
    for i in range(3):
        w.sql(f"INSERT INTO part VALUES ({900 + i}, {i}, 'comes and goes')")
    wait_until("the documents are there", lambda: len(documents(w)) == ROWS + 3)
    w.sql(*["UPDATE part SET a = a + 1"] * 10,  # more than is handed to delivery at a time, so that nothing coalesces
          "DELETE FROM part WHERE id >= 900")
    wait_until("the documents are gone", lambda: len(documents(w)) == ROWS)
    daemon.kill()
    for what in ("_close", "_open"):  # its shards begin anew
        w.engine.ask("POST", f"/{w.index('part')}_v1/{what}")
    daemon.start(environment={"MILLRACE_FAILPOINT": "writes_queued:1:wait=600000"})
    wait_until("the engine has forgotten that they were deleted", lambda: len(documents(w)) > ROWS)
    daemon.kill()
    daemon.start()
    w.equal(daemon)


def stored(daemon):
    """((file, offset), ids of deletes) as the store of a dead daemon has them."""
    with open_store(daemon) as db:
        return (db.execute("SELECT log_file, log_offset FROM checkpoint").fetchone(),
                {int(key) for key, in db.execute("SELECT doc_id FROM tombstone")})


def test_F07_the_store_has_the_old_position_or_the_new_one_with_its_deletes(w):
    daemon = followed(w)
    seen = set()
    for row, (point, nth) in enumerate([("position_fenced", 1), ("position_buried", 1), ("position_stored", 1), ("position_stored", 2),
                                        ("store_commits", 3), ("store_committed", 3), ("store_committed", 5)]):
        w.sql(f"DELETE FROM part WHERE id = {row}", "UPDATE part SET a = a + 1")
        behind = tuple(w.db.log_end())
        daemon.start(wait=False, environment=armed(point, nth))
        until_dead(daemon, point, lambda: w.sql("UPDATE part SET note = CONCAT(a, RAND())"))
        position, deletes = stored(daemon)
        seen.add(tuple(position) >= behind)
        if (tuple(position) >= behind) and row not in deletes:
            raise Failed(f"after a kill at {point} the position {position} is behind the delete of {row}, which is not stored")
        daemon.start()
        w.sql(f"UPDATE part SET note = 'behind the delete of {row}'")  # so that equal means read up to here
        w.equal(daemon, seconds=60)
        daemon.stop()
        if row not in stored(daemon)[1]:
            raise Failed(f"the delete of {row} is not stored in the end")
    if seen != {False, True}:
        raise Failed("the kills did not find the store both before and after")


def test_F07_a_torn_end_of_the_stores_log_gives_the_position_before(w):
    daemon = followed(w)
    for cut in (1, 100, 5000):
        die_at(w, daemon, "position_stored", 2, cut)
        for log in glob.glob(os.path.join(daemon.folder, "data", "millrace.db-wal")):
            os.truncate(log, max(0, os.path.getsize(log) - cut))
        daemon.start()
        w.equal(daemon, seconds=60)
        daemon.kill()


def test_F08_a_kill_while_it_drains_loses_nothing(w):
    daemon = followed(w)
    for i in range(3):
        daemon.start()
        w.engine.signal(signal.SIGSTOP)  # so that it cannot end by itself
        try:
            change(w, i)
            wait_until("changes are queued", lambda: daemon.metric("millrace_changes_in_flight") > 0)
            daemon.process.send_signal(signal.SIGTERM)
            wait_until("it drains", lambda: "stopping: delivering what is queued" in daemon.log_tail(3000))
            daemon.kill()
        finally:
            w.engine.signal(signal.SIGCONT)
        daemon.start()
        w.equal(daemon, seconds=60)
        daemon.kill()


def test_a_kill_between_the_new_epoch_and_the_position_in_it_follows_on_all_the_same(w):
    with Stage(w) as s:
        s.run(50)
        s.equal()
        epoch = int(s.state()["epoch"])
        s.daemon.kill()
        s.pair.switch(s.pair.second, s.pair.first)
        s.lead(s.pair.second)
        s.run(50)
        for point in ("lineage_marked", "epoch_stored"):
            s.daemon.start(wait=False, environment=armed(point))
            until_dead(s.daemon, point)
        s.daemon.start()
        s.run(50)
        s.equal()
        if not epoch < int(s.state()["epoch"]) == lineage(w, w.index("orders")):
            raise Failed(f"the epoch was {epoch}, and is {s.state()['epoch']}, {lineage(w, w.index('orders'))} in the index")


def test_a_kill_right_after_a_version_was_promoted_leaves_nothing_of_the_one_before(w):
    w.sql("CREATE TABLE part (id INT PRIMARY KEY, code VARCHAR(20))", "INSERT INTO part VALUES (1, '1'), (2, 'none')")
    daemon = w.follow(w.definitions({"table": "part", "columns": ["id", {"name": "code", "type": "integer"}]}))

    def letters():
        return [letter["index"] for letter in daemon.json("dead-letter", "list")["items"]]

    wait_until("the first version has its letter", lambda: letters() == [f"{w.index('part')}_v1"])
    daemon.kill()
    daemon.start(environment=armed("version_promoted"))
    daemon.command("index", "create", f"{w.schema}.part", "--no-wait", ok=None)
    until_dead(daemon, "version_promoted")
    daemon.start()
    wait_until(lambda: f"only the second has one, and not {letters()}", lambda: letters() == [f"{w.index('part')}_v2"])
    wait_until("a build that is over has no job", lambda: not daemon.json("job", "list")["items"])


def test_a_kill_between_the_record_and_the_index_of_a_version_that_goes_leaves_no_index(w):
    daemon, index = followed(w), w.index("part")

    def there():
        return sorted(w.engine.ask("GET", f"/{index}_v*/_alias"))

    daemon.start(environment=armed("version_forgotten"))
    daemon.command("index", "create", f"{w.schema}.part", "--no-wait", "--rate", "1")
    wait_until("the second version is being built", lambda: there() == [f"{index}_v1", f"{index}_v2"])
    w.engine.ask("POST", "/_aliases", {"actions": [{"remove": {"index": f"{index}_v1", "alias": index}},
                                                   {"add": {"index": f"{index}_v2", "alias": index}}]})
    daemon.command("index", "reset", f"{w.schema}.part", "-y", ok=None)
    until_dead(daemon, "version_forgotten")
    if there() != [f"{index}_v1", f"{index}_v2"]:
        raise Failed(f"it was not killed before the index was deleted: {there()}")
    daemon.start()
    wait_until(lambda: f"only the first is left, and not {there()}", lambda: there() == [f"{index}_v1"])
    w.equal(daemon)  # by the alias, which a build had moved


def test_a_failpoint_that_there_is_not_is_refused_and_all_are_named(w):
    daemon = w.millrace(start=False)
    w.daemons.remove(daemon)  # which is to fail
    daemon.start(wait=False, environment={"MILLRACE_FAILPOINT": "bulk_sen"})
    wait_until("it ends", lambda: daemon.process.poll() is not None)
    log = daemon.log_tail(100000)
    if daemon.process.returncode == 0 or "names no failpoint" not in log or '"bulk_sent"' not in log:
        raise Failed(f"{BINARY} ended with {daemon.process.returncode}: {log[-1000:]}")


def test_a_table_whose_daemon_dies_while_it_stops_is_built_again_by_itself(w):
    """That it is stopped, and is to be built again, is stored together."""
    daemon = followed(w)
    w.sql("TRUNCATE TABLE part", "INSERT INTO part VALUES (1, 1, 'anew')")
    daemon.start(wait=False, environment=armed("stop_stored"))
    until_dead(daemon, "stop_stored")
    daemon.start()
    w.equal(daemon, seconds=60)


def finality(daemon, key):
    """Of a delete: True where it is final, False where the position has passed it and it is to be repeated, else None."""
    with open_store(daemon) as db:
        file, offset, epoch, final = db.execute(
            "SELECT CAST(log_file AS CHAR), log_offset, epoch, final_version FROM checkpoint").fetchone()
        deleted = db.execute("SELECT version FROM tombstone WHERE CAST(doc_id AS CHAR) = ?", (str(key),)).fetchone()
    if deleted is None or epoch << 53 | int(file.rsplit(".", 1)[1]) << 33 | offset < deleted[0]:
        return None
    return final >= deleted[0]


def test_F25_a_delete_behind_a_lost_answer_is_repeated_over_a_kill(w):
    w.sql("CREATE TABLE part (id INT PRIMARY KEY, a INT)", "INSERT INTO part VALUES (1, 0), (2, 0), (3, 0)")
    index = f"{w.index('part')}_v1"
    with Gate(w.engine) as gate:
        daemon = w.follow(w.definitions({"table": "part"}), search={"url": gate.url}, delivery={"request_timeout": "1s"})
        w.equal(daemon)
        w.sql("DELETE FROM part WHERE id = 3")

        def is_final():
            w.sql("UPDATE part SET a = a + 1 WHERE id = 2")
            return finality(daemon, 3)
        wait_until("a delete is final", is_final, 30, 0.2)
        set_delivery(daemon, "request_timeout=1h")  # the daemon will not repeat it itself
        gate.refuse = lambda method, path: 503 if "_bulk" in path else None
        w.sql("UPDATE part SET a = 1 WHERE id = 1")
        wait_until("an answer is lost", lambda: gate.refused > 0)
        gate.refuse = None
        w.sql("DELETE FROM part WHERE id = 1")
        wait_until("the document is gone", lambda: w.engine.get(index, 1) is None)
        wait_until("the position has passed the delete", lambda: finality(daemon, 1) is not None)
        w.sql("UPDATE part SET a = a + 1 WHERE id = 2")
        w.equal(daemon)
        daemon.kill()
        if finality(daemon, 1) is not False:
            raise Failed("the delete is final, though a copy may come")
        for what in ("_close", "_open"):  # its shards begin anew, and have forgotten the delete
            w.engine.ask("POST", f"/{index}/{what}")
        w.engine.ask("PUT", f"/{index}/_doc/1?version=1&version_type=external", {"id": 1, "a": 1})  # the late copy
        daemon.start()
        set_delivery(daemon, "--reset")
        wait_until("the document is gone again", lambda: w.engine.get(index, 1) is None)
        w.equal(daemon)
