"""Nobody who looks waits for an engine, a database or a store that hangs: what is shown is as of when it answered."""
import contextlib
import os
import signal
import threading
import time

from gate import Gate
from servers import Database, Failed, http, wait_until
from world import PASSWORD

PATIENCE = 3  # seconds for all questions below together; each that waited would take search.timeout, 30 s, or more


class Hang:
    """As a gate's watch: requests wait until it is over."""

    def __init__(self):
        self.over, self.begun, self.lock = threading.Event(), 0, threading.Lock()

    def begin(self, path, body):
        with self.lock:
            self.begun += 1
        self.over.wait()

    def end(self, path):
        pass


def looks(daemon, times=1):
    """What people look at; the status, and how long the longest took."""
    longest, status = 0, None
    for _ in range(times):
        for words in (["status"], ["job", "list"], ["index", "list"], ["table", "list"], ["topic", "list"], ["config", "delivery", "get"]):
            since = time.monotonic()
            done = daemon.json(*words)
            longest = max(longest, time.monotonic() - since)
            status = done if words == ["status"] else status
        for path in ("/", "/status", "/metrics", "/readyz"):
            since = time.monotonic()
            if http("GET", daemon.url + path, timeout=60)[0] != 200:
                raise Failed(f"{path} fails")
            longest = max(longest, time.monotonic() - since)
    if longest > ASKED:
        raise Failed(f"somebody waited {longest:.1f} s")
    return status


ASKED = 15  # seconds for what is asked live: 5 s without an answer, and what a busy machine adds; 30 s if it waited


def refused(daemon, *words, says, code=75, seconds=ASKED):
    """A command that ends in time, and says who does not answer."""
    since = time.monotonic()
    done = daemon.command(*words, ok=(code,))
    took, said = time.monotonic() - since, done.stdout + done.stderr
    if says not in said or "All is well" in said:
        raise Failed(f"{words} does not say {says!r}:\n{said}")
    if took > seconds:
        raise Failed(f"{words} took {took:.1f} s")
    return said


def test_nobody_who_looks_waits_for_an_engine_that_hangs(w):
    with Gate(w.engine) as gate:
        w.sql(*[f"CREATE TABLE t{i} (id INT PRIMARY KEY)" for i in range(10)], *[f"INSERT INTO t{i} VALUES (1), (2)" for i in range(10)])
        daemon = w.follow(w.definitions(*[{"table": f"t{i}"} for i in range(10)]), search={"url": [gate.url]})
        wait_until("all documents are counted", lambda: all(t["documents"] == 2 for t in daemon.json("status")["tables"]))
        gate.watch = hang = Hang()
        try:
            status = looks(daemon, 10)
            away = wait_until("the engine is shown as away", lambda: (s := daemon.json("status"))["search"]["health"] == "unreachable" and s)
            looks(daemon)
            if hang.begun > 5:
                raise Failed(f"{hang.begun} questions were asked of an engine that answers none")
            if not away["search"]["as_of"] or "has not answered" not in away["search"]["reason"]:
                raise Failed(f"the engine is shown as {away['search']}")
            if [t["documents"] for t in status["tables"] + away["tables"]] != [2] * 20 or not all(t["documents_as_of"] for t in away["tables"]):
                raise Failed(f"what was known is not shown: {away['tables']}")
            if " since " + away["search"]["as_of"] not in daemon.command("status").stdout:
                raise Failed("nobody sees since when")
        finally:
            gate.watch = None
            hang.over.set()
        w.sql("INSERT INTO t3 VALUES (3)")
        wait_until("it is asked again", lambda: (s := daemon.json("status"))["search"]["health"] == "green" and w.table(daemon, "t3")["documents"] == 3, 60)


def test_the_doctor_and_the_daemon_end_though_the_engine_hangs(w):
    with Gate(w.engine) as gate:
        w.sql("CREATE TABLE part (id INT PRIMARY KEY)")
        daemon = w.follow(w.definitions({"table": "part"}), search={"url": [gate.url]}, index={"trees": False, "verify_every": "never"})
        gate.watch = hang = Hang()
        try:
            wait_until("it is asked", lambda: daemon.json("status") and hang.begun)
            said = refused(daemon, "doctor", says="the search engine did not answer within 5 s", code=1)
            if "find out why the cluster hangs" not in said or f"127.0.0.1:{w.db.port} answers" not in said:
                raise Failed(f"no way out is named, or the others were not looked at:\n{said}")
            refused(daemon, "doctor", says="the search engine has not answered for", code=1, seconds=PATIENCE)
            daemon.command("verify", f"{w.schema}.part", "--no-wait")
            wait_until("a verification asks, too", lambda: daemon.json("job", "list")["items"])
            since = time.monotonic()
            daemon.stop(20)
            if time.monotonic() - since > 10:
                raise Failed(f"it took {time.monotonic() - since:.1f} s")
        finally:
            hang.over.set()


def test_a_lost_index_shows_why_its_documents_are_not_known(w):
    w.sql("CREATE TABLE part (id INT PRIMARY KEY)", "INSERT INTO part VALUES (1)")
    daemon = w.follow(w.definitions({"table": "part"}))
    wait_until("it is counted", lambda: w.table(daemon, "part")["documents"] == 1)
    w.engine.ask("DELETE", f"/{w.index('part')}_v1")
    lost = wait_until("it is not counted any more", lambda: (t := w.table(daemon, "part"))["documents"] is None and t)
    said = daemon.command("status").stdout
    if "no such index" not in lost["documents_reason"] + lost["reason"] or "unknown" not in said or "no such index" not in said:
        raise Failed(f"it is {lost}:\n{said}")
    said = daemon.command("doctor", ok=(1,)).stdout
    if "no such index" not in said or "index create" not in said:
        raise Failed(f"the doctor says nothing of it:\n{said}")


@contextlib.contextmanager
def stopped(server):
    server.signal(signal.SIGSTOP)
    try:
        yield
    finally:
        server.signal(signal.SIGCONT)


def test_nobody_who_looks_waits_for_a_database_that_hangs(w):
    w.db = w.also(Database(w.options.server, "hanging"))
    w.db.start()
    w.make_schema()
    w.sql("CREATE TABLE part (id INT PRIMARY KEY)")
    daemon = w.follow(w.definitions({"table": "part"}))
    wait_until("all is delivered", lambda: daemon.json("status")["topics"][0]["lag_seconds"] == 0)
    with stopped(w.db):
        looks(daemon, 5)
        wait_until("its lag is a bound", lambda: daemon.json("status")["topics"][0]["lag_at_most"])
        looks(daemon)
        refused(daemon, "doctor", says=f"the server of topic {w.schema}, 127.0.0.1:{w.db.port}, did not answer within 5 s", code=1)
        for words in (["explain", f"{w.schema}.part", "1"], ["mapping", f"{w.schema}.part"], ["table", "columns", "generate", f"{w.schema}.part"]):
            refused(daemon, *words, says=f"a server with rows of {w.schema}.part")
    wait_until("all is delivered", lambda: (t := daemon.json("status")["topics"][0])["lag_seconds"] == 0 and not t["lag_at_most"], 60)


def test_nobody_who_looks_waits_for_a_store_that_hangs(w):
    other = w.also(Database(w.options.server, "store"))
    other.start()
    other.sql("CREATE DATABASE millrace CHARACTER SET utf8mb4", f"CREATE USER store@'127.0.0.1' IDENTIFIED BY '{PASSWORD}'",
              "GRANT ALL ON millrace.* TO store@'127.0.0.1'")
    w.sql("CREATE TABLE part (id INT PRIMARY KEY)", "INSERT INTO part VALUES (1)")
    daemon = w.millrace(start=False, store=f"mysql://store@127.0.0.1:{other.port}/millrace", store_password_file="store.password")
    daemon.write("store.password", PASSWORD + "\n")
    os.chmod(os.path.join(daemon.folder, "store.password"), 0o600)
    daemon.start()
    daemon.apply(w.definitions({"table": "part"}))
    daemon.build(f"{w.schema}.part")
    looks(daemon)
    with stopped(other):
        setting = threading.Thread(target=daemon.command, args=("config", "delivery", "set", "workers=3"), kwargs={"ok": None})
        setting.start()  # somebody who waits for the store keeps nobody else
        looks(daemon, 5)
        refused(daemon, "log", "list", says="the store ")
        away = wait_until("the store is shown as away", lambda: (s := looks(daemon))["store"]["reason"] and s)
        if "has not answered" not in away["store"]["reason"] or not away["store"]["as_of"]:
            raise Failed(f"the store is shown as {away['store']}")
        if "Store: away since" not in daemon.command("status").stdout:
            raise Failed("nobody sees that the store is away")
        for words in (["log", "list"], ["dead-letter", "list"], ["dead-letter", "show", "1"]):
            refused(daemon, *words, says="the store has not answered", seconds=PATIENCE)
        refused(daemon, "doctor", says="the store ", code=1)
    setting.join()
    wait_until("it is there again", lambda: not daemon.json("status")["store"]["reason"], 90)
    w.sql("INSERT INTO part VALUES (2)")
    w.equal(daemon, seconds=90)
