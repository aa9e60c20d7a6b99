"""An index that the engine takes nothing for: it is held and says why, the others go on, nothing is lost."""
import contextlib
import threading
import time

from servers import Failed, wait_until

ROWS = 400


def two_tables(w, **config):
    w.sql("CREATE TABLE idle (id INT PRIMARY KEY, a INT, t VARCHAR(20))", "CREATE TABLE busy (id INT PRIMARY KEY, a INT, t TEXT)",
          "INSERT INTO idle (id, a) VALUES (1, 1)",
          "INSERT INTO busy SELECT seq, 0, '' FROM seq_1_to_%d" % ROWS if w.db.is_mariadb else
          "INSERT INTO busy WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)"
          " SELECT i, 0, '' FROM n" % ROWS)
    idle = {"table": "idle", "columns": ["id", "a", {"name": "t", "type": "date"}]}
    return w.follow(w.definitions(idle, {"table": "busy"}), **config)


def table(w, daemon, name):
    return next(t for t in daemon.status()["tables"] if t["table"] == f"{w.schema}.{name}")


def wait_held(w, daemon, name, *words):
    held = wait_until(f"the index of {name} is held",
                      lambda: table(w, daemon, name)["state"] == "held" and table(w, daemon, name), 60)
    if not any(word in held["reason"] for word in words) or not held["fix"]:
        raise Failed(f"reason and fix are {held['reason']!r} and {held['fix']!r}")
    return held


def set_cluster(w, **settings):
    w.engine.ask("PUT", "/_cluster/settings", {"transient": settings})


def says_why_no_index_is_made(w, daemon):
    done = daemon.command("index", "create", f"{w.schema}.idle", ok=(1, 75))
    if "disks are too full" not in done.stderr:
        raise Failed(f"index create said: {done.stderr}")


@contextlib.contextmanager
def flooded(w, index):
    """The engine is at its real flood stage: no disk has as much room as its watermarks ask for."""
    disk = "cluster.routing.allocation.disk"
    marks = [f"{disk}.watermark.{name}" for name in ("low", "high", "flood_stage")]
    others = {f"{disk}.threshold_enabled": True, "cluster.info.update.interval": "10s"}

    def is_blocked():
        blocks = w.engine.ask("GET", f"/{index}/_settings?flat_settings=true")[index]["settings"]
        return blocks.get("index.blocks.read_only_allow_delete") == "true"

    set_cluster(w, **others, **dict(zip(marks, ("3000tb", "2000tb", "1000tb"))))
    try:
        wait_until("the engine blocks its indexes", is_blocked, 60)
        yield
    finally:
        set_cluster(w, **dict(zip(marks, ("3b", "2b", "1b"))))  # bytes of room are enough
        wait_until("the engine lets go of its indexes", lambda: not is_blocked(), 60)
        set_cluster(w, **{name: None for name in (*marks, *others)})
        w.engine.ask("PUT", "/_cluster/settings", {"persistent": {"cluster.blocks.create_index": None}})


def test_the_flood_stage_of_an_engine_holds_what_is_written_and_stops_no_table(w):
    daemon = two_tables(w, delivery={"bytes": "1MiB"})
    with flooded(w, f"{w.index('busy')}_v1"):
        since = time.monotonic()
        w.sql("DELETE FROM busy WHERE id = 1", "UPDATE busy SET a = 1, t = REPEAT('x', 4000)")
        held = wait_held(w, daemon, "busy", "flood", "disk", "read-only")
        if "make room on the engine's disks" not in held["fix"] or "index create" in held["fix"]:
            raise Failed(f"a full disk's fix is {held['fix']!r}")
        # Longer than one index may fill the queue that others need: this trouble is everybody's.
        wait_until("it has been held for long", lambda: time.monotonic() - since > 40, 60, 1)
        if table(w, daemon, "busy")["state"] != "held":
            raise Failed(f"it is {table(w, daemon, 'busy')}")
        says_why_no_index_is_made(w, daemon)
        if "sends nothing" in daemon.log_tail(10**7):
            raise Failed("the source was connected again although all of it was read")
        w.sql("UPDATE busy SET a = 2", "UPDATE idle SET a = 2")
    w.equal(daemon, seconds=90)
    wait_until("both are available again",
               lambda: all(t["state"] == "available" for t in daemon.status()["tables"]))
    if daemon.json("dead-letter", "list")["items"]:
        raise Failed("there are dead letters")


def test_deletes_for_an_index_that_is_gone_hold_it_and_make_no_index(w):
    daemon = two_tables(w)
    w.engine.ask("DELETE", f"/{w.index('busy')}_v1")
    w.sql("DELETE FROM busy WHERE id = 1", "UPDATE idle SET a = 2")
    held = wait_held(w, daemon, "busy", "no such index")
    if held["fix"] != f"millrace index create {w.schema}.busy":
        raise Failed(f"a deleted index's fix is {held['fix']!r}")
    w.equal(daemon, [f"{w.schema}.idle"])
    there = list(w.engine.ask("GET", f"/{w.index('busy')}*", ok=(200, 404)))
    if there:
        raise Failed(f"there are now {there}")
    daemon.build(f"{w.schema}.busy")
    w.sql("DELETE FROM busy WHERE id = 2")
    w.equal(daemon)


def test_f29_a_write_alias_that_is_moved_by_hand_holds_the_index_until_it_is_back(w):
    daemon = two_tables(w)
    ours, other = f"{w.index('busy')}_v1", f"{w.index('busy')}_by_hand"
    w.engine.ask("PUT", f"/{other}")

    def move(source, goal, ours=ours):
        alias = f"{ours}_write"
        w.engine.ask("POST", "/_aliases", {"actions": [{"remove": {"index": source, "alias": alias}},
                                                       {"add": {"index": goal, "alias": alias}}]})

    move(ours, other)
    w.sql("UPDATE busy SET a = 1 WHERE id = 7")  # shows where it went
    wait_held(w, daemon, "busy", f"points to {other}, not to {ours}")
    w.sql("UPDATE busy SET a = 2", "UPDATE idle SET a = 2")
    w.equal(daemon, [f"{w.schema}.idle"])
    if w.engine.count(other) != 1:
        raise Failed(f"{w.engine.count(other)} documents were written to an index that is not ours")
    # Another one is led astray as well, later, and stays so: each is looked at for itself.
    idle = f"{w.index('idle')}_v1"
    move(idle, other, idle)
    w.sql("UPDATE idle SET a = 3")
    wait_held(w, daemon, "idle", f"points to {other}, not to {idle}")
    move(other, ours)
    w.equal(daemon, [f"{w.schema}.busy"], seconds=60)
    move(other, idle, idle)
    w.equal(daemon, seconds=60)
    if w.engine.count(other) != 2:
        raise Failed(f"{w.engine.count(other)} documents were written to an index that is not ours")
    w.engine.ask("DELETE", f"/{other}")


def test_a_held_index_does_not_keep_the_build_of_another_from_its_end(w):
    daemon = two_tables(w)
    w.engine.ask("POST", f"/{w.index('busy')}_v1/_close")
    w.sql("UPDATE busy SET a = 3")
    wait_held(w, daemon, "busy", "closed")
    daemon.build(f"{w.schema}.idle")
    w.sql("UPDATE idle SET a = 3")
    w.equal(daemon, [f"{w.schema}.idle"])
    stopped = table(w, daemon, "busy")
    if stopped["state"] != "stopped" or "index create" not in stopped["fix"]:
        raise Failed(f"it is {stopped}")
    daemon.build(f"{w.schema}.busy")
    w.sql("UPDATE busy SET a = 4")
    w.equal(daemon)


def test_without_purging_a_held_index_that_fills_the_queue_stops_its_table_while_others_wait_for_room(w):
    daemon = two_tables(w, delivery={"bytes": "1MiB", "purge": "off"})
    w.sql("INSERT INTO idle VALUES (2, 2, 'no date')")
    wait_until("a dead letter is there", lambda: daemon.json("dead-letter", "list")["items"])
    w.engine.ask("POST", f"/{w.index('busy')}_v1/_close")
    w.sql("UPDATE busy SET a = 3, t = REPEAT('x', 8000)", "UPDATE idle SET a = 3")
    wait_held(w, daemon, "busy", "closed")
    replay = threading.Thread(target=daemon.command, args=("dead-letter", "replay", "--all"), kwargs={"ok": None})
    replay.start()
    stopped = wait_until("the table is stopped",
                         lambda: table(w, daemon, "busy")["state"] == "stopped" and table(w, daemon, "busy"), 60)
    if "index create" not in stopped["fix"]:
        raise Failed(f"it is {stopped}")
    replay.join()
    w.sql("UPDATE idle SET t = NULL")
    w.equal(daemon, [f"{w.schema}.idle"])
    daemon.build(f"{w.schema}.busy")
    w.equal(daemon)


def test_sigterm_does_not_wait_for_an_index_that_takes_nothing(w):
    daemon = two_tables(w)
    w.engine.ask("POST", f"/{w.index('busy')}_v1/_close")
    w.sql("UPDATE busy SET a = 3", "UPDATE idle SET a = 3")
    wait_held(w, daemon, "busy", "closed")
    if daemon.stop(seconds=30) != 0:
        raise Failed("it did not end well")
    w.engine.ask("POST", f"/{w.index('busy')}_v1/_open")
    daemon.start()
    w.equal(daemon)


def test_when_the_mapping_refuses_every_document_the_index_is_held_and_few_letters_are_made(w):
    """F20: the failed queue does not grow to the size of the table."""
    daemon = two_tables(w)
    w.sql("INSERT INTO idle (id, a) SELECT id + 1, a FROM busy")
    w.equal(daemon)
    w.sql("UPDATE idle SET t = 'no date'")
    held = wait_held(w, daemon, "idle", "refused")
    if "correct the definition" not in held["fix"]:
        raise Failed(f"the fix of a wrong mapping is {held['fix']!r}")
    w.sql("UPDATE idle SET a = a + 1", "UPDATE busy SET a = 1")
    w.equal(daemon, [f"{w.schema}.busy"])
    letters = daemon.json("dead-letter", "list", "--limit", "1000")["items"]
    if len(letters) > ROWS // 4:
        raise Failed(f"{len(letters)} dead letters were made of {ROWS} documents")
    if table(w, daemon, "idle")["state"] != "held":
        raise Failed(f"it is {table(w, daemon, 'idle')}")
    w.sql("UPDATE idle SET t = '2024-05-06'")
    w.equal(daemon, seconds=90)
    wait_until("both are available again",
               lambda: all(t["state"] == "available" for t in daemon.status()["tables"]), 60)
    wait_until("no dead letter is left", lambda: not daemon.json("dead-letter", "list")["items"], 60)
