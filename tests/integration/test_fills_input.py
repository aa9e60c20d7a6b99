"""Builds in buckets of tables, columns and moments that are no easy ones; one daemon, which has its store alone."""
import threading
from concurrent.futures import ThreadPoolExecutor

from servers import Failed, let_pass, wait_until
from test_fills import numbers

# Each has 3,000 rows unless its name says otherwise: name, what is filled in as `at`.
TIMES = {"nulls": "NULL", "future": "IF(n % 100 = 0, '9999-12-31 23:59:59', '2024-01-01' + INTERVAL n MINUTE)", "one_time": "'2024-01-01'"}
KEYS = {"no_rows": None, "one_row": "7", "gap": "IF(n < 1500, n, 9000000000000000000 + n)"}


def make(w, name, key="n", at="NULL", rows=3000, type="DATETIME"):
    w.sql(f"CREATE TABLE {name} (id BIGINT PRIMARY KEY, at {type}, a INT, KEY (at))")
    if key is not None:
        w.sql(f"INSERT INTO {name} SELECT {key}, {at}, n FROM {numbers(4)} WHERE n < {1 if name == 'one_row' else rows}", f"ANALYZE TABLE {name}")


def definitions(w, *names):
    return w.definitions(*({"table": name, "columns": ["id", "a"], "bucket_column": "at"} for name in names))


def follow(w, *names):
    return w.follow(definitions(w, *names))


def job(daemon, w, name):
    """The build of a table and its buckets."""
    items = (daemon.json("job", "get", f"{w.schema}.{name}", ok=None) or {}).get("items", [])
    return next((item for item in items if item["kind"] == "index"), None), [item for item in items if item["kind"] == "bucket"]


def at_work(daemon, w, name):
    """Waits until every bucket has rows, and more to come."""
    wait_until(lambda: f"buckets of {name} are at work: {job(daemon, w, name)}",
               lambda: [b for b in job(daemon, w, name)[1] if b["state"] == "running" and b["rows_done"] > 0], 30, 0.05)


def version(w, daemon, name):
    return w.table(daemon, name)["version"]


def test_tables_of_any_rows_and_times_are_built_in_buckets_by_column_key_and_mod(w):
    for name, at in TIMES.items():
        make(w, name, at=at)
    for name, key in KEYS.items():
        make(w, name, key)
    names = [*TIMES, *KEYS]
    daemon = w.millrace()
    daemon.apply(definitions(w, *names))
    for number, ways in enumerate(({name: "column" for name in names}, {name: "mod" if name in TIMES else "key" for name in names}), 1):
        for name, by in ways.items():
            daemon.command("index", "create", f"{w.schema}.{name}", "--buckets", "5", "--buckets-by", by, "--no-wait", "--verify", "none")
        for name in names:
            wait_until(lambda n=name, by=ways: f"{n} by {by[n]} is built: {w.table(daemon, n)}",
                       lambda n=name, v=number: w.table(daemon, n)["version"] == v and w.table(daemon, n)["build"] is None, 60, 0.2)
    w.equal(daemon)


def test_a_bucket_column_of_text_is_refused_and_the_version_before_stays(w):
    make(w, "thing")
    daemon = follow(w, "thing")
    w.sql("ALTER TABLE thing MODIFY at VARCHAR(40)")
    for by in "column", "mod":
        refused = daemon.build(f"{w.schema}.thing", "--buckets", "4", "--buckets-by", by, ok=(1,))
        if "`at` is varchar(40), and buckets need numbers or times" not in refused.stderr:
            raise Failed(f"by {by}: {refused.stderr}")
    daemon.build(f"{w.schema}.thing", "--buckets", "4", "--buckets-by", "key")
    w.equal(daemon)


def test_a_bucket_column_that_is_dropped_in_the_middle_ends_the_build_and_later_ones_say_why_or_go_by_key(w):
    make(w, "thing", at="'2024-01-01' + INTERVAL n MINUTE")
    daemon = follow(w, "thing")
    daemon.command("index", "create", f"{w.schema}.thing", "--buckets", "4", "--rate", "200", "--no-wait")
    at_work(daemon, w, "thing")
    w.sql("ALTER TABLE thing DROP COLUMN at")
    wait_until(lambda: f"the build ends, and another one by itself is published: {job(daemon, w, 'thing')}",
               lambda: job(daemon, w, "thing")[0] is None and version(w, daemon, "thing") == 3, 60, 0.1)
    ends = [i["build"] for i in daemon.json("log", "list", f"{w.schema}.thing")["items"] if i.get("build", {}).get("end") == "failed"]
    if not ends or "while the index was built" not in ends[0]["error"]:
        raise Failed(f"{ends}")
    refused = daemon.build(f"{w.schema}.thing", "--buckets", "4", ok=(1,))
    if "has no column `at`" not in refused.stderr:
        raise Failed(refused.stderr)
    daemon.build(f"{w.schema}.thing", "--buckets", "4", "--buckets-by", "key")
    w.equal(daemon)


def test_a_build_ends_equal_whose_table_and_definition_change_and_whose_engine_begins_anew_under_it(w):
    make(w, "thing", at="'2024-01-01' + INTERVAL n MINUTE")
    daemon = follow(w, "thing")
    daemon.command("index", "create", f"{w.schema}.thing", "--buckets", "4", "--rate", "300", "--no-wait")
    at_work(daemon, w, "thing")
    w.sql("ALTER TABLE thing ADD b INT NOT NULL DEFAULT 3", "UPDATE thing SET a = -1 WHERE id < 40", "DELETE FROM thing WHERE id > 2950")
    daemon.apply(w.definitions({"table": "thing", "columns": ["id"], "bucket_column": "at"}))
    daemon.apply(w.definitions({"table": "thing", "columns": ["id", "a"], "bucket_column": "at"}))
    w.engine.kill()
    let_pass("the build meets an engine that is away", 1)
    w.engine.start()
    daemon.command("index", "set", f"{w.schema}.thing", "--rate", "0", ok=None)
    wait_until(lambda: f"it ends: {job(daemon, w, 'thing')}", lambda: version(w, daemon, "thing") >= 2 and job(daemon, w, "thing")[0] is None, 60, 0.1)
    w.equal(daemon)


def test_a_build_whose_new_index_somebody_deletes_says_so_and_the_next_one_goes(w):
    make(w, "thing", at="'2024-01-01' + INTERVAL n MINUTE")
    daemon = follow(w, "thing")
    daemon.command("index", "create", f"{w.schema}.thing", "--buckets", "4", "--rate", "200", "--no-wait")
    at_work(daemon, w, "thing")
    w.engine.ask("DELETE", f"/{w.index('thing')}_v2")

    def told():
        build = job(daemon, w, "thing")[0]
        return build is not None and build["waits_for"] and build["fix"]

    wait_until(lambda: f"it says what to do: {job(daemon, w, 'thing')}", told, 40, 0.2)
    daemon.command("index", "reset", f"{w.schema}.thing", "--yes")
    daemon.build(f"{w.schema}.thing", "--buckets", "4")
    w.equal(daemon)


NEVER = "rows come faster than it reads them, so it never ends like this"


class Growth(threading.Thread):
    """Rows come behind all others, 200 in half a second."""

    def __init__(self, w):
        super().__init__(daemon=True)
        self.w, self.done, self.n = w, threading.Event(), 100000
        self.start()

    def run(self):
        while not self.done.wait(0.25):
            self.n += 100
            self.w.sql("INSERT INTO thing VALUES " + ",".join(f"({self.n + i},NULL,{i})" for i in range(100)))

    def end(self):
        self.done.set()
        self.join()


def test_a_build_that_reads_no_faster_than_rows_come_says_so_and_what_helps(w):
    make(w, "thing")
    daemon = follow(w, "thing")
    growth = Growth(w)
    beside = ThreadPoolExecutor(1)
    waiting = beside.submit(daemon.command, "index", "create", f"{w.schema}.thing", "--rate", "50", "--buckets-by", "key", "--wait")
    wait_until(lambda: f"it is slow: {job(daemon, w, 'thing')}", lambda: (job(daemon, w, "thing")[0] or {}).get("slow"), 40, 0.2)
    build = job(daemon, w, "thing")[0]
    told = w.table(daemon, "thing")["build"]
    if "rows come faster than it reads them" not in build["waits_for"] or f"millrace index set {w.schema}.thing --rate" not in build["fix"] or \
            build["remaining_seconds"] is not None or not 150 <= build["growth"] <= 600 or told["waits_for"] != build["waits_for"] or not told["slow"]:
        raise Failed(f"{build} {told}")
    way_out = f"let it read more than its limit of 50 rows a second: millrace index set {w.schema}.thing --rate N"
    found, = [check for check in daemon.json("doctor", ok=None)["items"] if check["id"] == "table.build"]
    if found["status"] != "warn" or found["fix"] != way_out or found["message"] != f"the build of version 2 of its index goes on, but {NEVER}":
        raise Failed(f"the doctor says {found}")
    if f"\n  but {NEVER}" not in (shown := daemon.command("status", ok=None).stdout):
        raise Failed(f"the status is {shown}")
    daemon.command("index", "set", f"{w.schema}.thing", "--rate", "1500")
    wait_until(lambda: f"it is not slow any more: {job(daemon, w, 'thing')}", lambda: not (job(daemon, w, "thing")[0] or {}).get("slow"), 20, 0.1)
    wait_until(lambda: f"it ends: {job(daemon, w, 'thing')}", lambda: job(daemon, w, "thing")[0] is None, 40, 0.1)
    growth.end()
    beside.shutdown()
    # The limit may be the new one: who waits looks from time to time.
    if f"millrace: the build goes on, but {NEVER}\n  fix: let it read more than its limit of " not in (said := waiting.result().stderr):
        raise Failed(f"who waits reads {said}")
    w.equal(daemon)
