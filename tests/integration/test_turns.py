"""Builds and delayed runs take turns: while one writes an index's documents, the other one waits, and says for what."""
import threading

from gate import Gate, Hold
from members import log_of
from servers import Failed, wait_until
from test_delayed import SCHEMA, Shelf, definitions, delivered, name_in, snapshots, waits

MANY = ("INSERT INTO goods SELECT 1000 + seq, NULL, 'many' FROM (WITH RECURSIVE s(seq) AS (SELECT 1 UNION ALL SELECT seq + 1"
        " FROM s WHERE seq < 300) SELECT seq FROM s) n")


class Asked(threading.Thread):
    """A command that is still at work; done() waits for its end."""

    def __init__(self, daemon, *words):
        super().__init__(daemon=True)
        self.daemon_asked, self.words, self.ended = daemon, words, None
        self.start()

    def run(self):
        self.ended = self.daemon_asked.command(*self.words, ok=None)

    def done(self, code, *texts):
        self.join()
        ended = self.ended
        if ended.returncode != code or not all(text in ended.stderr for text in texts):
            raise Failed(f"{self.words}: {ended.returncode} {ended.stdout} {ended.stderr}, and not {code} {texts}")


def slow_build(w, daemon, table=None):
    daemon.command("index", "create", table or f"{w.schema}.goods", "--rate", "10", "--no-wait")
    wait_until("it is being built", lambda: daemon.json("job", "list")["items"])


def let_go(w, daemon, table=None):
    daemon.command("index", "set", table or f"{w.schema}.goods", "--rate", "0")


def follow_slowly(w):
    w.load(SCHEMA)
    w.sql(MANY)
    return w.follow(definitions(w, "label"))


def refused(daemon, *words):
    """The command with one attempt ends with 75; returns what it said."""
    done = daemon.command(*words, "--attempts", "1", ok=None)
    if done.returncode != 75:
        raise Failed(f"{words}: {done.returncode} {done.stdout} {done.stderr}")
    return done.stderr


def has_refused(daemon, path, n):
    """A request for this path was refused so often, as it was not its turn."""
    wait_until(f"{path} is refused {n} times",
               lambda: sum(line.get("status") == 423 and line["target"].endswith(path) for line in log_of(daemon)) >= n, 20, 0.1)


def test_a_run_waits_for_the_build_of_what_it_would_write_and_says_so(w):
    daemon = follow_slowly(w)
    w.sql("UPDATE label SET name = 'rouge' WHERE id = 1")
    waits(daemon, 1)
    slow_build(w, daemon)
    told = daemon.json("delayed", "runs")["waiting"][0]["waits_for"]
    if told not in daemon.command("delayed", "runs").stdout:
        raise Failed("what the command prints does not say for what it waits")
    if "the build of version 2" not in told:
        raise Failed(f"it waits for {told!r}")
    asked = Asked(daemon, "delayed", "run", "--all", "--wait")
    has_refused(daemon, "/delayed/run", 1)
    if daemon.json("delayed", "runs")["items"] or snapshots(daemon, "--status", "running"):
        raise Failed("the run began beside the build")
    let_go(w, daemon)
    asked.done(0, "is being built (version 2)", "attempt 2 of 10")
    w.equal(daemon)
    if snapshots(daemon, "--status", "init") or daemon.json("delayed", "runs")["waiting"]:
        raise Failed("nothing was run")


def test_a_run_is_given_up_after_its_attempts_and_what_waits_stays(w):
    daemon = follow_slowly(w)
    w.sql("UPDATE label SET name = 'rouge' WHERE id = 1")
    waits(daemon, 1)
    slow_build(w, daemon)
    Asked(daemon, "delayed", "run", f"{w.schema}.label", "--attempts", "3").done(
        75, "attempt 2 of 3 in 1 s", "attempt 3 of 3 in 2 s", "given up after 3 attempts", "millrace job list")
    waits(daemon, 1)
    let_go(w, daemon)
    wait_until("the build has ended", lambda: not daemon.json("job", "list")["items"])
    daemon.command("delayed", "run", "--all", "--wait", "--attempts", "1")
    w.equal(daemon)


def test_a_build_of_what_does_not_show_the_table_is_in_no_runs_way(w):
    daemon = follow_slowly(w)
    w.sql("INSERT INTO label SELECT id, 'l', '' FROM goods WHERE id > 1000", "UPDATE label SET name = 'rouge' WHERE id = 1")
    waits(daemon, 301, "--limit", "1000")
    slow_build(w, daemon, f"{w.schema}.label")
    daemon.command("delayed", "run", "--all", "--wait", "--attempts", "1")
    if name_in(w, 10) != "rouge":
        raise Failed("it was not run")
    let_go(w, daemon, f"{w.schema}.label")
    w.equal(daemon)


class Held:
    """A run of the label's change goes on until it is let go: the engine takes nothing."""

    def __init__(self, w, gate, **config):
        self.w, self.gate = w, gate
        w.load(SCHEMA)
        self.daemon = w.follow(definitions(w, "label"), search={"url": [gate.url]}, **config)
        w.sql("UPDATE label SET name = 'rouge' WHERE id = 1")
        waits(self.daemon, 1)
        delivered(w, self.daemon)
        gate.watch = self.hold = Hold()
        self.hold.open.clear()
        self.daemon.command("delayed", "run", "--all")

    def let_go(self):
        self.hold.open.set()

    def ends(self):
        wait_until("the run ends", lambda: not self.daemon.json("delayed", "runs")["items"])


def test_a_build_waits_for_the_run_over_a_restart_and_begins_when_it_has_ended(w):
    with Gate(w.engine) as gate:
        held = Held(w, gate)
        said = refused(held.daemon, "index", "create", f"{w.schema}.goods")
        if "writes documents of index" not in said or "given up" in said:
            raise Failed(f"it says {said}")
        held.daemon.command("index", "create", f"{w.schema}.label", "--no-wait", "--attempts", "1")  # whose documents show no other table
        asked = Asked(held.daemon, "index", "create", f"{w.schema}.goods")
        has_refused(held.daemon, ".goods/index", 2)
        held.daemon.kill()
        held.daemon.start()
        if refused(held.daemon, "index", "create", f"{w.schema}.goods") == "":
            raise Failed("after the restart the run was forgotten")
        held.let_go()
        held.ends()
        asked.done(0, "writes documents of index", "attempt 2 of 10")
        w.equal(held.daemon)
        if w.table(held.daemon, "goods")["version"] != 2:
            raise Failed("nothing was built")


def is_built(w, daemon):
    return any(v["state"] == "changing" for v in daemon.json("version", "list", w.index("goods"))["items"])


def test_a_build_that_a_statement_asks_for_goes_ahead_as_the_run_waits_for_its_end(w):
    with Gate(w.engine) as gate:
        held = Held(w, gate)
        w.sql("TRUNCATE TABLE part")
        wait_until("it is being built", lambda: is_built(w, held.daemon))
        if not held.daemon.json("delayed", "runs")["items"]:
            raise Failed("the run has ended before")
        held.let_go()
        held.ends()
        wait_until("it is built", lambda: w.table(held.daemon, "goods")["version"] == 2)
        w.equal(held.daemon)


def test_a_build_that_an_alter_asks_for_waits_for_the_run_says_so_and_is_not_given_up(w):
    with Gate(w.engine) as gate:
        held = Held(w, gate)
        w.sql("ALTER TABLE goods ADD COLUMN extra INT NOT NULL DEFAULT 5")
        told = wait_until("status says for what it waits", lambda: (t := str(w.table(held.daemon, "goods"))) and "writes documents of index" in t and t)
        if "rebuilt automatically" not in told:
            raise Failed(f"it says {told}")
        held.let_go()
        held.ends()
        wait_until("it is built", lambda: w.table(held.daemon, "goods")["version"] == 2)
        w.equal(held.daemon)


def test_what_stopped_is_built_though_a_run_waits_for_it(w):
    with Gate(w.engine) as gate:
        w.load(SCHEMA)
        made = definitions(w, "label")
        made["tables"][0]["schema_changes"] = "stop"
        daemon = w.follow(made, search={"url": [gate.url]})
        w.sql("UPDATE label SET name = 'rouge' WHERE id = 1")
        waits(daemon, 1)
        delivered(w, daemon)
        gate.watch = hold = Hold()
        hold.open.clear()
        daemon.command("delayed", "run", "--all")
        w.sql("TRUNCATE TABLE part")
        wait_until("the table stops", lambda: w.table(daemon, "goods")["state"] == "stopped")
        asked = Asked(daemon, "index", "create", f"{w.schema}.goods", "--attempts", "1")
        wait_until("it is being built", lambda: is_built(w, daemon))
        hold.open.set()
        asked.done(0)
        wait_until("the run ends", lambda: not daemon.json("delayed", "runs")["items"])
        w.equal(daemon)


def test_what_is_not_delayed_any_more_is_run_after_the_build(w):
    daemon = follow_slowly(w)
    w.sql("UPDATE label SET name = 'rouge' WHERE id = 1")
    waits(daemon, 1)
    slow_build(w, daemon)
    daemon.apply(definitions(w))
    wait_until("its run is put off", lambda: "stays" in daemon.log_tail() and "is being built (version 2)" in daemon.log_tail())
    waits(daemon, 1)
    let_go(w, daemon)
    wait_until("nothing waits", lambda: not snapshots(daemon, "--status", "init"), 90)
    w.equal(daemon)


def test_a_run_that_another_node_is_asked_for_waits_for_a_build_whose_node_is_lost(w):
    m = Shelf(w, nodes=2, topics=2)
    for statement in SCHEMA.split(";"):
        w.db.sql(f"USE {m.schemas[0]}", statement)
    w.db.sql(f"USE {m.schemas[0]}", MANY)
    m.start()
    owner = m.owner(m.schemas[0])
    other = next(node for node in m.nodes if node is not owner)
    w.db.sql(f"UPDATE {m.schemas[0]}.label SET name = 'rouge' WHERE id = 1")
    waits(other, 1)
    slow_build(w, other, f"{m.schemas[0]}.goods")
    asked = Asked(other, "delayed", "run", "--all", "--wait", "--attempts", "30")
    wait_until("it is refused", lambda: "is being built" in refused(other, "delayed", "run", f"{m.schemas[0]}.label"))
    owner.kill()
    m.wait_shared(m.nodes.index(other))
    if "is being built" not in refused(other, "delayed", "run", "--all"):
        raise Failed("the build was forgotten")
    let_go(w, other, f"{m.schemas[0]}.goods")
    asked.done(0, "is being built (version 2)")
    if snapshots(other, "--status", "init"):
        raise Failed("nothing was run")
    m.equal()
    m.end()
