"""The machine that the daemon runs on misbehaves (F12, F56, F57, F59): memory, threads, files, disk, clock.

A small library that is loaded before everything else plays that (tests/fakes/preload.c).
"""
import contextlib
import json
import os
import signal
import sqlite3
import subprocess
import time

from servers import RUN, Failed, let_pass, wait_until
from test_purge import SMALL, count, outstanding
from test_held import two_tables, wait_held
from test_late import prepare_wide, spilled, wide
from test_xa import end, nested, read

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fakes", "preload.c")


def preload(**what):
    """The environment of a daemon whose machine is as bad as that."""
    library = os.path.join(RUN, "preload.so")
    if not os.path.exists(library):
        own = f"{library}.{os.getpid()}"
        subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", own, SOURCE, "-ldl"], check=True)
        os.replace(own, library)
    return {"LD_PRELOAD": library} | {f"PRELOAD_{name.upper()}": str(value) for name, value in what.items()}


def changes(w, i):
    w.sql(f"UPDATE busy SET a = {i}, t = REPEAT('{i % 10}', 200) WHERE id % 3 = {i % 3}", f"UPDATE idle SET a = {i}",
          f"DELETE FROM busy WHERE id = {i + 20}")


class Told:
    """What faults there were, a letter each (tests/fakes/preload.c)."""

    def __init__(self, w):
        self.path = os.path.join(RUN, f"{w.schema}.told")
        self.forget()

    def forget(self):
        with open(self.path, "w", encoding="ascii"):
            pass

    def has(self, letters):
        with open(self.path, encoding="ascii") as f:
            text = f.read()
        return all(letter in text for letter in letters)


def begin_badly(w, daemon, i, seconds, told=None, faults="", **what):
    """It is killed, begins again on a bad machine, and has so long, and until these faults were; its exit status, None: it
    goes on."""
    daemon.kill_if_running()
    daemon.start(wait=False, environment=preload(**what, **({"told": told.path} if told else {})))
    changes(w, i)
    begin = time.monotonic()
    lasted = 0
    while daemon.process.poll() is None and (lasted <= seconds or (told and not told.has(faults) and lasted < 30)):
        if lasted > seconds:  # it has had too little to do
            w.sql("UPDATE idle SET a = a + 1")
        let_pass("it has so long, and may end before", 0.05)
        lasted = time.monotonic() - begin
    return daemon.process.poll()


def is_well_again(w, daemon):
    daemon.kill_if_running()
    daemon.start()
    w.equal(daemon)


def test_f12_without_memory_it_ends_or_goes_on_and_loses_nothing(w):
    daemon, told, ends = two_tables(w), Told(w), []
    at = 1
    while at < 200000:
        told.forget()
        status = begin_badly(w, daemon, len(ends), 2, told, malloc=at + w.rng.randrange(at))
        if not told.has("m"):
            break  # it does not ask that often
        ends.append(status)
        if status not in (None, 1, -signal.SIGABRT):
            raise Failed(f"without memory at call {at} or later it ended with {status}: {daemon.log_tail()}")
        at = at * 2 + 1
    is_well_again(w, daemon)
    if len(ends) < 8 or not any(ends):
        raise Failed(f"it never noticed that there was no memory: {ends}")


def test_f12_without_a_thread_or_files_it_says_so_and_loses_nothing(w):
    daemon = two_tables(w)
    for i, what in enumerate(({"thread": 1}, {"thread": 4}, {"thread": 9}, {"files": 12}, {"files": 24})):
        size = os.path.getsize(daemon.log)
        status = begin_badly(w, daemon, i, 4, **what)
        with open(daemon.log, encoding="utf-8", errors="replace") as f:
            f.seek(size)
            said = f.read().lower()
        if status is not None and status not in (1, -signal.SIGABRT):
            raise Failed(f"with {what} it ended with {status}: {daemon.log_tail()}")
        if status is not None and not any(word in said for word in ("thread", "too many", "open files", "resource")):
            raise Failed(f"with {what} it does not say why it ended: {said[-1500:]}")
    is_well_again(w, daemon)


class Disk:
    """The disk below a daemon, which is full for what lies in one place, or for nothing."""

    def __init__(self, w):
        self.control = os.path.join(RUN, f"{w.schema}.full")
        self.free()

    def fill(self, path):
        with open(self.control + ".new", "w", encoding="utf-8") as f:
            f.write(path)
        os.replace(self.control + ".new", self.control)

    def free(self):
        self.fill("")

    def put_below(self, daemon):
        daemon.kill_if_running()
        daemon.start(environment=preload(full=self.control))


def topic(daemon):
    return daemon.json("status")["topics"][0]


def test_f56_a_full_disk_for_rows_of_prepared_transactions_is_told_and_waited_for(w):
    daemon, disk = nested(w), Disk(w)
    wide(w, daemon)
    disk.put_below(daemon)
    disk.fill(os.path.join(daemon.folder, "data", "spill"))
    prepare_wide(w, "large", 100, 80)

    def told():
        reason = topic(daemon)["reason"]
        return "No space left on device" in reason and "free disk space" in reason + topic(daemon)["fix"]

    wait_until(lambda: f"status says that there is no room, and not {topic(daemon)}", told, 60)
    w.sql("UPDATE good SET a = 71")  # behind it
    disk.put_below(daemon)  # killed while it waits
    wait_until(lambda: f"status says so after a kill, and not {topic(daemon)}", told, 60)
    end(w, "COMMIT", "large")
    disk.free()
    read(w, daemon)
    if topic(daemon)["reason"]:
        raise Failed(f"there is room, and status says {topic(daemon)['reason']}")
    prepare_wide(w, "next", 300, 80)
    read(w, daemon)
    if not spilled(daemon):
        raise Failed("nothing has been put on disk")
    end(w, "COMMIT", "next")
    read(w, daemon)


def test_f56_a_full_disk_for_the_log_keeps_nothing_waiting_and_is_told_in_it(w):
    daemon, disk = two_tables(w), Disk(w)
    disk.put_below(daemon)
    disk.fill(daemon.log)
    for i in range(3):
        daemon.build(f"{w.schema}.busy")
        changes(w, i)
    w.equal(daemon)
    lost = daemon.metric("millrace_log_lines_lost_total")
    if lost < 3:
        raise Failed(f"three builds on a full disk have lost {lost} lines of the log")
    disk.free()
    daemon.build(f"{w.schema}.busy")
    w.equal(daemon)
    with open(daemon.log, encoding="utf-8") as f:
        lines = [parsed(line) for line in f]
    told = [line for line in lines if line and line["msg"] == "log lines could not be written and are lost"]
    if lines.count(None) > 1 or sum(line["lines"] for line in told) != daemon.metric("millrace_log_lines_lost_total"):
        raise Failed(f"{lines.count(None)} lines are torn; of {lost} lost ones is told {told}")


def parsed(line):
    try:
        return json.loads(line)
    except ValueError:
        return None


def test_f56_a_full_disk_for_the_store_is_told_and_after_a_kill_nothing_is_lost(w):
    daemon, disk = two_tables(w, coordination="embedded"), Disk(w)
    disk.put_below(daemon)
    for i in range(3):
        disk.fill(os.path.join(daemon.folder, "data"))
        changes(w, i)
        wait_until(lambda: f"status says that there is no room, and not {topic(daemon)}",
                   lambda: any("full" in text or "No space" in text for text in topic(daemon)["warnings"]), 60)
        if i == 1:
            disk.free()
            w.equal(daemon)
            wait_until(lambda: f"the warning goes, and does not stay: {topic(daemon)}", lambda: not topic(daemon)["warnings"], 60)
        else:
            daemon.kill()
            disk.free()
            disk.put_below(daemon)
            w.equal(daemon)


def test_a_backup_that_was_made_while_it_runs_is_gone_on_from(w):
    daemon = two_tables(w)
    path = os.path.join(daemon.folder, "data", "millrace.db")
    changes(w, 1)
    with contextlib.closing(sqlite3.connect(path)) as store, contextlib.closing(sqlite3.connect(f"{path}.copy")) as copy:
        store.backup(copy)
    changes(w, 2)
    w.equal(daemon)
    daemon.kill()
    changes(w, 3)
    os.replace(f"{path}.copy", path)
    for name in ("-wal", "-shm"):
        if os.path.exists(path + name):
            os.remove(path + name)
    daemon.start()
    w.equal(daemon)
    daemon.build(f"{w.schema}.busy")
    w.equal(daemon)


def test_f57_a_disk_that_fails_now_and_then_loses_nothing_that_was_acknowledged(w):
    daemon, told = two_tables(w, coordination="embedded"), Told(w)
    for i, (what, faults) in enumerate((({"sync": 2}, "s"), ({"sync": 5}, "s"), ({"write": 3}, "w"), ({"write": 11}, "w"),
                                        ({"write": 1000000}, "ic"))):
        for k in range(2):
            told.forget()
            status = begin_badly(w, daemon, 2 * i + k, 1.5, told, faults, **what)
            if status not in (None, 1, 75):  # 75: try again
                raise Failed(f"with a disk of {what} it ended with {status}: {daemon.log_tail()}")
            if not told.has(faults):
                raise Failed(f"with a disk of {what} nothing has failed")
    is_well_again(w, daemon)


def test_f59_a_clock_that_is_set_forth_and_back_holds_nothing_up(w):
    w.sql("CREATE TABLE timed (id INT PRIMARY KEY, a INT, changed TIMESTAMP(6) NOT NULL "
          "DEFAULT CURRENT_TIMESTAMP(6) ON UPDATE CURRENT_TIMESTAMP(6), KEY (changed))",
          "CREATE VIEW seen AS SELECT * FROM timed", "INSERT INTO timed (id, a) VALUES (1, 1), (2, 2)",
          "CREATE TABLE busy (id INT PRIMARY KEY, a INT, t TEXT)",
          "INSERT INTO busy VALUES " + ", ".join(f"({i}, 0, '')" for i in range(1, 501)))
    offset = os.path.join(RUN, f"{w.schema}.clock")

    def put(seconds):
        with open(offset + ".new", "w", encoding="ascii") as f:
            f.write(str(seconds))
        os.replace(offset + ".new", offset)

    put(0)
    daemon = w.follow(w.definitions({"table": "busy"}, {"table": "seen", "key": ["id"], "sync_every": "1s",
                                                        "daily_check_column": "changed"}), delivery=SMALL | {"high_water_mark": 10})
    daemon.kill()
    daemon.start(environment=preload(clock=offset))
    for i, seconds in enumerate((3600, -3600, 1, 0, 7200, -86400)):
        put(seconds)
        w.sql(f"UPDATE busy SET a = {i}", f"UPDATE timed SET a = {10 + i}")
        w.equal(daemon, seconds=30)
    w.engine.ask("POST", f"/{w.index('busy')}_v1/_close")
    w.sql("UPDATE busy SET a = 50 WHERE id = 1")
    wait_held(w, daemon, "busy", "closed")
    for i, seconds in enumerate((0, -7200, 3600)):
        put(seconds)
        w.sql(f"UPDATE busy SET a = {60 + i}")
    wait_until("something is purged", lambda: outstanding(daemon) > 0)
    put(-7200)
    w.engine.ask("POST", f"/{w.index('busy')}_v1/_open")
    w.equal(daemon, seconds=60)
    wait_until("nothing purged is left", lambda: outstanding(daemon) == 0, 60)
    if count(daemon, "blown") or daemon.json("dead-letter", "list")["items"]:
        raise Failed("a fuse has blown, or there are dead letters")
