"""Settings of delivery that change while it works: each is seen to act, and what makes no sense is refused."""
import json
import random
import re
import signal
import threading
import time

from gate import Gate
from servers import Failed, let_pass, stays, wait_until

ROWS = 500


class Watch:
    """What bulk requests look like on their way to the engine, and how long they take there."""

    def __init__(self):
        self.lock, self.delay = threading.Lock(), 0
        self.begun, self.under_way = 0, {}  # {thread: the number of its request}
        self.forget()

    def forget(self):
        """From now on only what begins from now on counts."""
        with self.lock:
            self.batches, self.bodies, self.most = [], [], 0

    def begin(self, path, body):
        if "_bulk" not in path:
            return
        lines = body.split(b"\n")
        with self.lock:
            self.batches.append(sum(1 for line in lines if line.startswith((b'{"index":', b'{"delete":'))))
            self.bodies.append(len(body))
            self.begun += 1
            self.under_way[threading.get_ident()] = self.begun
            self.most = max(self.most, len(self.under_way))
        let_pass("the engine takes so long", self.delay)

    def end(self, path):
        if "_bulk" in path:
            with self.lock:
                del self.under_way[threading.get_ident()]

    def are_over(self, begun):
        """The first so many requests."""
        with self.lock:
            return all(request > begun for request in self.under_way.values())


class Load:
    """Changes rows all the time, until it is stopped."""

    def __init__(self, w):
        self.w, self.stopped, self.rng = w, threading.Event(), random.Random(w.rng.random())
        self.thread = threading.Thread(target=self.run, daemon=True)

    def run(self):
        with self.w.db.connect(self.w.schema) as db, db.cursor() as c:
            while not self.stopped.is_set():
                at = self.rng.randrange(ROWS - 100)
                c.execute("UPDATE thing SET a = a + 1 WHERE id BETWEEN %s AND %s", (at, at + 100))
                db.commit()
                self.stopped.wait(0.1)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stopped.set()
        self.thread.join(60)


def make_things(w):
    w.sql("CREATE TABLE thing (id INT PRIMARY KEY, a INT, t TEXT)",
          "INSERT INTO thing WITH RECURSIVE n AS (SELECT 0 AS i UNION ALL SELECT i + 1 FROM n "
          f"WHERE i + 1 < {ROWS}) SELECT i, 0, REPEAT('x', 4000) FROM n")
    return w.definitions({"table": "thing"})


def watched(w, gate, **config):
    gate.watch = Watch()
    daemon = w.follow(make_things(w), search={"url": [gate.url]}, **config)
    w.equal(daemon)
    return daemon, gate.watch


def change(daemon, *values, **more):
    return daemon.command("config", "delivery", "set", *values, **more)


def settings(daemon):
    return {s["name"]: s for s in daemon.json("config", "delivery", "get")["items"]}


def expect(what, is_so):
    if not is_so:
        raise Failed(what)


def delivery(daemon):
    return daemon.status()["delivery"]


def set_and_watch(daemon, watch, *values, requests=8):
    """Sets, waits until what was under way is over, and looks at what goes then."""
    change(daemon, *values)
    begun = watch.begun + 10  # so many were made before at most, and may still be on their way here
    wait_until("requests that were made before are over", lambda: watch.begun > begun and watch.are_over(begun), 60)
    watch.forget()
    wait_until(lambda: f"{requests} requests after {values}, there were {len(watch.batches)}",
               lambda: len(watch.batches) >= requests, 60)


def test_sizes_and_numbers_of_requests_change_under_load(w):
    with Gate(w.engine) as gate:
        daemon, watch = watched(w, gate)
        with Load(w):
            set_and_watch(daemon, watch, "batch_max=7")
            expect(f"batches of {max(watch.batches)} at batch_max=7", max(watch.batches) <= 7)
            set_and_watch(daemon, watch, "batch_max=auto", "batch_bytes=64KiB")
            expect(f"bodies of {max(watch.bodies)} bytes at 64KiB", max(watch.bodies) <= 70 << 10)
            wait_until("batches above 7 at auto", lambda: max(watch.batches) > 7)
            watch.delay = 0.1
            set_and_watch(daemon, watch, "batch_max=20")
            expect(f"{watch.most} requests at a time at first", watch.most > 1)
            set_and_watch(daemon, watch, "helpers=1", requests=5)
            expect(f"{watch.most} requests at a time with one helper", watch.most == 1)
            set_and_watch(daemon, watch, "helpers=10", "connections=1", requests=5)
            expect(f"{watch.most} requests at a time over one connection", watch.most == 1)
            set_and_watch(daemon, watch, "connections=100", "workers=1", requests=5)
            expect(f"{watch.most} requests at a time of one worker", watch.most == 1)
            set_and_watch(daemon, watch, "workers=30", requests=12)
            expect(f"{watch.most} requests at a time of thirty workers", watch.most > 1)
            watch.delay = 0
        w.equal(daemon)
        change(daemon, "--reset")
        expect("something is still set", "set at run time" not in {s["origin"] for s in settings(daemon).values()})


def test_times_and_limits_change_under_load(w):
    with Gate(w.engine) as gate:
        daemon, watch = watched(w, gate)
        change(daemon, "batch_min=1000", "flush_interval=2s")
        watch.forget()
        began = time.monotonic()
        w.sql("UPDATE thing SET a = 1 WHERE id = 1")
        w.equal(daemon)
        expect("a batch below the minimum did not wait", time.monotonic() - began >= 2)
        change(daemon, "flush_interval=1h")
        w.sql("UPDATE thing SET a = 2 WHERE id = 1")
        change(daemon, "batch_min=1")
        w.equal(daemon)
        w.sql("UPDATE thing SET t = REPEAT('x', 20000)")
        w.equal(daemon)
        change(daemon, "request_timeout=1s", "failures=100")  # no fuse blows
        watch.delay = 2
        with Load(w):
            wait_until("much is held of 64 MiB", lambda: delivery(daemon)["bytes_held"] > 8 << 20, 60)
            wait_until("requests fail after a second", lambda: delivery(daemon)["requests_failed"] > 0)
            change(daemon, "bytes=1MiB", "--reset", "request_timeout")
            watch.delay = 0.1
            # Besides what may be handed over: one slice of a transaction, and the bodies of requests.
            wait_until("little is held of 1 MiB", lambda: delivery(daemon)["bytes_held"] < 4 << 20)
            held = max(delivery(daemon)["bytes_held"] for _ in range(20))
            expect(f"{held} bytes are held of 1 MiB", held < 4 << 20)
        watch.delay = 0
        change(daemon, "--reset")
        w.equal(daemon)


def test_rereads_take_as_many_documents_as_is_set(w):
    w.sql("CREATE TABLE thing (id INT PRIMARY KEY, a INT)",
          "CREATE TABLE part (id INT PRIMARY KEY, thing_id INT, b INT, KEY (thing_id))",
          "INSERT INTO thing WITH RECURSIVE n AS (SELECT 0 AS i UNION ALL SELECT i + 1 FROM n WHERE i + 1 < 200) "
          "SELECT i, 0 FROM n",
          "INSERT INTO part SELECT id, id, 0 FROM thing")
    daemon = w.follow(w.definitions({"table": "thing", "relations": [
        {"from": "id", "table": "part", "to": "thing_id", "as": "parts", "many": True}]}))

    def selects():
        return int(w.db.sql("SHOW GLOBAL STATUS LIKE 'Com_select'")[0][1])

    def cost(n):
        change(daemon, f"load_batch={n}", "loads=1", "read_window=0ms")
        before = selects()
        w.sql("UPDATE part SET b = b + 1")
        w.equal(daemon)
        return selects() - before

    alone, together = cost(1), cost(500)
    expect(f"{alone} statements by ones, {together} together", alone > together + 100)


def reads_that_wait(w):
    """Connections of ours that wait for a locked table."""
    return w.db.sql("SELECT COUNT(*) FROM information_schema.processlist WHERE user = 'millrace'"
                    " AND state LIKE 'Waiting for table%'")[0][0]


def test_as_many_reads_go_at_a_time_as_is_set(w):
    w.sql("CREATE TABLE owner (id INT PRIMARY KEY, name VARCHAR(20))", "INSERT INTO owner VALUES (1, 'one')",
          "CREATE TABLE thing (id INT PRIMARY KEY, owner_id INT, a INT)",
          "INSERT INTO thing WITH RECURSIVE n AS (SELECT 0 AS i UNION ALL SELECT i + 1 FROM n WHERE i + 1 < 50)"
          " SELECT i, 1, 0 FROM n")
    table = {"table": "thing", "relations": [{"from": "owner_id", "table": "owner", "to": "id", "as": "owner"}]}
    daemon = w.follow(w.definitions(table), delivery={"load_batch": 1, "read_window": "0ms"})
    w.equal(daemon)
    for loads in (2, 5):
        change(daemon, f"loads={loads}")
        with w.db.connect(w.schema) as db, db.cursor() as c:
            c.execute("LOCK TABLES owner WRITE, thing WRITE")
            c.execute("UPDATE thing SET a = a + 1")
            wait_until(lambda: f"{loads} reads at a time, there are {w.db.sql('SHOW PROCESSLIST')}",
                       lambda: reads_that_wait(w) == loads, 30)
            c.execute("UNLOCK TABLES")
        w.equal(daemon)


def test_what_was_set_is_kept_and_shown_with_what_was_there_before_g1(w):
    daemon = w.follow(make_things(w), delivery={"workers": 5})
    now = daemon.json("config", "delivery", "set", "workers=20", "batch_max=100")["items"]
    expect(f"set answered {now}", [(s["name"], s["previous"], s["value"]) for s in now]
           == [("workers", "5", "20"), ("batch_max", "auto", "100")])
    now = daemon.json("config", "delivery", "set", "workers=30")["items"]
    expect(f"set answered {now}", [(s["previous"], s["value"]) for s in now] == [("20", "30")])
    for how in daemon.kill, daemon.stop:
        how()
        daemon.start()
        s = settings(daemon)["workers"]
        expect(f"after a restart it is {s}", (s["value"], s["configured"], s["origin"]) == ("30", "5", "set at run time"))
    shown = {s["name"]: s for s in daemon.json("config", "delivery", "get", "workers")["items"]}
    expect(f"one setting is {shown}", list(shown) == ["workers"])
    note = daemon.command("config", "show").stderr
    expect(f"config show said {note}", "delivery.workers" in note and "30" in note)
    change(daemon, "--reset", "workers")
    s = settings(daemon)["workers"]
    expect(f"after a reset it is {s}", s["value"] == "5" and re.search(r"millrace\.yaml:\d+$", s["origin"]))
    w.sql("UPDATE thing SET a = 5")
    w.equal(daemon)


def test_what_makes_no_sense_is_refused_whole_with_the_name_and_the_fix_f64(w):
    daemon = w.follow(make_things(w))
    before = settings(daemon)
    for values, *wanted in [
            (["workers=0"], "delivery.workers: 0 is out of range, 1 to 1000"),
            (["batch_min=0"], "delivery.batch_min: 0 is out of range"),
            (["batch_min=20", "batch_max=10"], "delivery.batch_max, 10, is less than delivery.batch_min, 20", "fix:"),
            (["flush_interval=-1s"], "delivery.flush_interval: expected a time like 500ms"),
            (["purge=purge_two"], "delivery.purge: expected one of purge_one purge_index purge_all off"),
            (["helpers=3", "=5"], "unknown delivery setting"),
            (["helpers=3", "worker=5"], "unknown delivery setting `worker`", "did you mean `workers`?")]:
        done = change(daemon, *values, ok=(1,))
        expect(f"{values}: {done.stderr}", all(part in done.stderr for part in wanted))
    expect("something changed", settings(daemon) == before)
    done = change(daemon, "workers", ok=(2,))
    expect(f"without a value: {done.stderr}", "has no value" in done.stderr)


def test_a_changed_file_is_taken_up_by_a_signal_and_a_bad_one_refused_whole_f64(w):
    with Gate(w.engine) as gate:
        daemon, watch = watched(w, gate, delivery={"batch_max": 500})
        change(daemon, "helpers=3")

        def reload(**delivery):
            daemon.configure(delivery=delivery)
            daemon.process.send_signal(signal.SIGHUP)

        reload(batch_max=7, helpers=5)
        wait_until("batch_max is read again", lambda: settings(daemon)["batch_max"]["value"] == "7")
        s = settings(daemon)["helpers"]
        expect(f"helpers is {s}", (s["value"], s["configured"]) == ("3", "5"))
        wait_until("the audit log has it", lambda: {"name": "batch_max", "previous": "500", "value": "7"}.items() <= dict(
            next((entry for entry in daemon.json("audit", "list")["items"] if entry["who"] == "the configuration file"), {"answered": {"items": [{}]}})[
                "answered"]["items"][0]).items())
        watch.forget()
        w.sql("UPDATE thing SET a = 1 WHERE id < 100")
        w.equal(daemon)
        expect(f"batches of {max(watch.batches)}", max(watch.batches) <= 7)
        reload(batch_max=5, batch_min=6)
        wait_until("the refusal is logged", lambda: "is less than delivery.batch_min" in daemon.log_tail())
        expect("no line is named", re.search(r"millrace\.yaml:\d+", daemon.log_tail()))
        daemon.configure(delivery={})  # commands read it, too
        expect("part of it was taken", settings(daemon)["batch_max"]["value"] == "7")


def drain(daemon, *options, ok=None):
    """How a drain by hand ended."""
    done = daemon.command("drain", "-o", "json", *options, ok=ok)
    return json.loads(done.stdout)["end"], done.returncode


def test_a_drain_by_hand_delivers_what_waits_and_says_how_it_ended(w):
    daemon = w.follow(make_things(w), delivery={"drain_cancel_timeout": "1s"})
    w.equal(daemon)
    change(daemon, "batch_min=1000", "flush_interval=10m")
    w.sql("UPDATE thing SET a = 1 WHERE id < 5")
    wait_until("changes wait", lambda: delivery(daemon)["queued"] == 5, 30)
    expect("the drain did not end as done", drain(daemon) == ("done", 0))
    w.equal(daemon)
    for worker in range(10):
        expect(f"worker {worker} has nothing", drain(daemon, "--worker", str(worker)) == ("done", 0))
    refused = daemon.command("drain", "--worker", "10", ok=None)
    expect(f"worker 10 is accepted: {refused.stderr}", refused.returncode != 0 and "worker" in refused.stderr)
    job = daemon.json("drain", "--no-wait")["job"]
    wait_until("its job is over", lambda: daemon.json("job", "get", job)["items"][0]["state"] == "done", 30)
    expect("its report is lost", daemon.json("report", "get", job)["end"] == "done")
    expect("it is still listed", job not in str(daemon.json("job", "list")["items"]))
    expect("a task that never was has a report", daemon.command("report", "get", "drain-1", ok=None).returncode != 0)
    w.engine.ask("POST", f"/{w.index('thing')}_v1/_close")
    w.sql("UPDATE thing SET a = 2 WHERE id < 5")
    wait_until("changes wait", lambda: delivery(daemon)["queued"] == 5, 30)
    expect("a drain of a closed index is not blocked", drain(daemon) == ("blocked", 1))
    w.engine.ask("POST", f"/{w.index('thing')}_v1/_open")
    change(daemon, "--reset")
    w.equal(daemon)


def stop_with(w, *values):
    """How long a stop takes while no request is answered, and what the log says of it."""
    with Gate(w.engine) as gate:
        daemon, watch = watched(w, gate)
        change(daemon, *values)
        watch.forget()
        watch.delay = 15
        before = daemon.status()["changes"]["read"]
        w.sql("UPDATE thing SET a = 7")
        # Of a transaction that is cut short nothing is under way: it is read again.
        wait_until("all is read, and a request is stuck",
                   lambda: watch.batches and daemon.status()["changes"]["read"] == before + ROWS)
        began = time.monotonic()
        status = daemon.stop()
        took = time.monotonic() - began
        expect(f"it ended with {status}", status == 0)
        watch.delay = 0
        log = daemon.log_tail(6000)
        daemon.start()
        w.equal(daemon)
        return took, log


def test_a_stop_waits_no_longer_than_the_drain_may_take_f63(w):
    took, log = stop_with(w, "drain_timeout=500ms", "drain_cancel_timeout=500ms")
    expect(f"the drain took {took:.1f} s", took < 12)
    expect(f"the log says {log}", "timed out, and requests were not answered" in log)


def test_without_drain_a_stop_waits_for_nothing_and_loses_nothing(w):
    took, log = stop_with(w, "drain=false")
    expect(f"the stop took {took:.1f} s", took < 12)
    expect(f"the log says {log}", "not drained" in log)


def test_killed_while_it_drains_it_loses_nothing_f08(w):
    with Gate(w.engine) as gate:
        daemon, watch = watched(w, gate)
        watch.delay = 1
        with Load(w):
            wait_until("requests are under way", lambda: len(watch.batches) > 10)
        daemon.process.send_signal(signal.SIGTERM)
        let_pass("killed at any moment", w.rng.random())
        daemon.kill()
        watch.delay = 0
        daemon.start()
        w.equal(daemon)


def total(daemon, name):
    return delivery(daemon)["statistics"][name]["total"]


def refuse_bulks(gate):
    """The engine cannot write; what else it is asked it answers."""
    gate.refuse = lambda method, path: 503 if "_bulk" in path else None


def test_the_fuse_acts_as_it_is_set(w):
    with Gate(w.engine) as gate:
        daemon, _ = watched(w, gate)
        change(daemon, "failures=100", "reset_after=1h")
        refuse_bulks(gate)
        w.sql("UPDATE thing SET a = 1")
        wait_until("requests melt", lambda: total(daemon, "melts") >= 4, 60)
        expect("the fuse has blown before it is to", total(daemon, "blown") == 0)
        change(daemon, "failures=2")
        wait_until("the fuse blows at the next", lambda: total(daemon, "blown") == 1, 60)
        refused = gate.refused
        w.sql("UPDATE thing SET a = 2")
        # For a while, of an hour.
        stays("an index whose fuse has blown is not sent to", lambda: gate.refused == refused, 2)
        change(daemon, "reset_after=100ms")
        wait_until("it is tried, now and then", lambda: gate.refused >= refused + 3, 60)
        expect("a try that fails blows it a second time", total(daemon, "blown") == 1)
        change(daemon, "reset_after=1h")
        gate.refuse = None
        change(daemon, "reset_after=200ms")
        wait_until("it heals", lambda: total(daemon, "healed") == 1, 60)
        w.equal(daemon)
        expect(f"{total(daemon, 'melts')} melts of {gate.refused} errors", total(daemon, "melts") == gate.refused)


def test_mark_and_purging_act_as_they_are_set(w):
    with Gate(w.engine) as gate:
        daemon, _ = watched(w, gate, delivery={"workers": 1, "batch_max": 5})
        # What had no answer is written again only after some of these timeouts.
        change(daemon, "purge=off", "high_water_mark=20", "failures=1", "reset_after=1h", "request_timeout=5s")
        refuse_bulks(gate)
        w.sql("UPDATE thing SET a = 1 WHERE id = 1")
        wait_until("the fuse blows", lambda: total(daemon, "blown") == 1)
        w.sql(*(f"UPDATE thing SET a = a + 1 WHERE id BETWEEN {i} AND {i + 9}" for i in range(0, ROWS, 10)))
        wait_until("a caller waits at the mark", lambda: delivery(daemon)["blocked"] > 0)
        queued = delivery(daemon)["queued"]  # the mark's, and what the caller brought
        expect(f"{queued} are queued at a mark of 20", queued < ROWS)
        change(daemon, f"high_water_mark={queued + 20}")
        wait_until("more come in at a higher mark", lambda: delivery(daemon)["queued"] > queued)
        expect("something is purged though that is off", total(daemon, "purged") == 0)
        change(daemon, "purge=purge_one")
        wait_until("nobody waits, as the oldest are purged", lambda: delivery(daemon)["blocked"] == 0, 60)
        purged = total(daemon, "purged")
        expect(f"{purged} are purged, one by one", 0 < purged <= ROWS)
        gate.refuse = None
        change(daemon, "reset_after=100ms")
        w.equal(daemon, seconds=90)
        wait_until("each that was purged is written again",
                   lambda: total(daemon, "repaired") == total(daemon, "purged"), 60)
