"""Whoever waits for a build is told what for, at once where somebody must do something."""
import fcntl
import os
import subprocess
import time

from servers import BINARY, Database, Failed, wait_until
from test_builds import numbers
from test_faults import no_dump_threads, reset_log, topic_state


def failed(w, *create):
    """A daemon whose topic has failed, as its server's log began anew; before, create was begun."""
    w.db = w.also(Database(w.options.server, "failed"))
    w.db.start()
    w.make_schema()
    daemon = w.follow(numbers(w, "thing"))
    if create:
        daemon.command("index", "create", f"{w.schema}.thing", *create)
        wait_until("some rows", lambda: w.engine.count(f"{w.index('thing')}_v2") > 0)
    daemon.kill()
    no_dump_threads(w)
    reset_log(w)
    w.sql("UPDATE thing SET a = 0")
    daemon.start()
    wait_until("the topic has failed", lambda: topic_state(daemon)["state"] == "fail")
    return daemon


def test_nothing_is_built_of_a_topic_that_has_failed_and_it_is_said_why(w):
    daemon = failed(w)
    since = time.monotonic()
    done = daemon.command("index", "create", f"{w.schema}.thing", ok=None, timeout=20)
    if done.returncode != 1 or "has failed" not in done.stderr or "topic reset" not in done.stderr:
        raise Failed(f"after {time.monotonic() - since:.1f} s, {done.returncode}: {done.stderr}")
    if len(daemon.json("version", "list")["items"]) != 1:
        raise Failed("a version was made that nobody can fill")
    daemon.command("topic", "reset", w.schema, "-y")
    daemon.build(f"{w.schema}.thing")
    w.equal(daemon)


def test_a_build_whose_topic_fails_says_so_and_what_to_do(w):
    daemon = failed(w, "--rate", "100", "--no-wait")
    def told():
        jobs = daemon.json("job", "list")["items"]
        return jobs and "has failed" in jobs[0]["waits_for"] and "topic reset" in jobs[0]["fix"]
    wait_until(lambda: f"it is told, but {daemon.json('job', 'list')}", told)


def text_of(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def test_whoever_follows_a_build_is_told_that_its_topic_has_failed(w):
    w.db = w.also(Database(w.options.server, "fails"))
    w.db.start()
    w.make_schema()
    daemon = w.follow(numbers(w, "thing"))
    said = os.path.join(daemon.folder, "said")
    with open(said, "w", encoding="utf-8") as out, subprocess.Popen(
            [BINARY, "index", "create", f"{w.schema}.thing", "--rate", "100", "--config", daemon.config_file],
            stdin=subprocess.DEVNULL, stdout=out, stderr=out) as follower:
        try:
            wait_until("some rows", lambda: any(j["rows_done"] > 0 for j in daemon.json("job", "list")["items"]))
            w.sql("REVOKE REPLICATION SLAVE ON *.* FROM millrace@'127.0.0.1'")
            no_dump_threads(w)
            w.sql("UPDATE thing SET a = a + 1 WHERE id = 1")
            daemon.command("index", "set", f"{w.schema}.thing", "--rate", "0")
            wait_until(lambda: f"it is said, but {text_of(said)}", lambda: "the build waits: topic" in text_of(said)
                       and "GRANT REPLICATION SLAVE ON *.* TO 'millrace'@'127.0.0.1'" in text_of(said))
            fix = daemon.json("status")["topics"][0]["fix"]
            if fix != "GRANT REPLICATION SLAVE, REPLICATION CLIENT ON *.* TO 'millrace'@'127.0.0.1'":
                raise Failed(f"the fix is {fix}")
            w.sql("GRANT REPLICATION SLAVE ON *.* TO millrace@'127.0.0.1'")
            daemon.command("topic", "resume", w.schema)
            follower.wait(30)
        finally:
            follower.kill()
    if follower.returncode != 0 or "searches use it now" not in text_of(said):
        raise Failed(f"it ended with {follower.returncode}: {text_of(said)}")
    w.equal(daemon)


def test_a_daemon_that_starts_while_apply_works_without_one_waits_for_it(w):
    definitions = numbers(w, "thing", rows=10)
    daemon = w.millrace(start=False, coordination="embedded")
    daemon.apply(definitions)
    with open(os.path.join(daemon.folder, "data/millrace.db.lock"), "r+", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        daemon.start(wait=False)
        wait_until("it says that it waits", lambda: "waiting for the process that uses the data folder" in daemon.log_tail())
    wait_until("it is ready", daemon.is_ready)
    daemon.build(f"{w.schema}.thing")
    w.equal(daemon)
