"""Builds of every kind of index by three nodes, to which anything happens meanwhile, while all kinds of work go on.

Runs only where --minutes says for how long, or for three minutes if it is asked for by name. Each round builds one
index and draws what happens; now and then every document is compared with its row.
"""
import signal
import time

import campaign
import yaml
from members import Members
from servers import Failed, let_pass, wait_until
from test_kill import Writer

INDEXES = "article", "busy", "orders", "question", "part", "ware", "house", "shape"
JUDGE_EVERY = 5
ENDS = 0, 75, -signal.SIGKILL


class Mixed(Members):
    """The campaign's tables are a topic beside the others."""

    def __init__(self, w):
        super().__init__(w, topics=2, timeout="2s", cut=True)
        self.schemas.append(w.schema)
        self.tables.append((w.schema, "thing"))
        self.table, self.has_b = "", False
        campaign.load(w)
        for node in self.nodes:
            node.configure(delivery={"workers": 2, "high_water_mark": 40, "reset_after": "300ms", "request_timeout": "10s"})
        w.sql("CREATE TABLE thing (id INT PRIMARY KEY, a INT)", "INSERT INTO thing VALUES (1, 1), (2, 2)")
        self.write_definitions()

    def write_definitions(self):
        for node in self.nodes:
            node.write("definitions.yaml", yaml.safe_dump(self.definitions(), sort_keys=False))

    def definitions(self):
        made = super().definitions()
        if self.w.schema in self.schemas:
            made["tables"] += campaign.definitions(self.w, 1)["tables"]
        return made

    def start(self):
        super().start()
        for index in dict.fromkeys(table["index"] for table in campaign.definitions(self.w, 1)["tables"]):
            table = next(t["table"] for t in campaign.definitions(self.w, 1)["tables"] if t["index"] == index)
            self.nodes[0].build(table, timeout=300)
        return self


# -- what happens during a build; each is over when its generator goes on


def killed(m, rng, node):
    node.kill()
    yield
    node.start(wait=False)


def died(m, rng, node):
    """At an instant that it comes to."""
    node.stop()
    point = rng.choice(["bucket_taken", "chunk_submitted", "chunk_saved", "bucket_ended", "bucket_returned", "bulk_answered", "position_stored",
                        "build_filled", "alias_moved", "fan_out_submitted", "fill_noted"])
    node.start(wait=False, environment={"MILLRACE_FAILPOINT": f"{point}:{rng.randint(1, 4)}:kill"})
    yield
    node.kill_if_running()
    node.start(wait=False)


def hung(m, rng, node):
    m.hang(node)
    yield
    node.process.send_signal(signal.SIGCONT)


def cut_off(m, rng, node):
    party = rng.choice(sorted(m.ways[0]))
    m.ways[m.nodes.index(node)][party].freeze()
    yield
    m.ways[m.nodes.index(node)][party].thaw()


def moved(m, rng, node):
    ask(m, "topic", "move", m.w.schema, "--to", node.config["node_name"], "--yes", "--no-wait")
    yield


def evacuated(m, rng, node):
    ask(m, "node", "evacuate", node.config["node_name"], "--yes", "--no-wait")
    yield
    ask(m, "node", "admit", node.config["node_name"], "--yes", "--no-wait")


def given_up(m, rng, node):
    yield
    node.command("index", "reset", m.table, "--yes", ok=None)


def paused(m, rng, node):
    node.command("topic", "pause", m.w.schema, ok=None)
    yield
    wait_until("the topic goes on", lambda: node.command("topic", "resume", m.w.schema, ok=None).returncode == 0, 60, 0.5)


def faster(m, rng, node):
    node.command("index", "set", m.table, "--rate", str(rng.choice([0, 1, 1000])), ok=None)
    yield


def altered(m, rng, node):
    """So that nothing changes in documents, or so that an index is built anew, which may be the one that is being built."""
    m.w.sql(f"ALTER TABLE {m.table} COMMENT 'turn {rng.random()}'")
    m.has_b = not m.has_b
    m.w.sql(f"ALTER TABLE shape ADD COLUMN b INT DEFAULT {rng.randrange(100)}" if m.has_b else "ALTER TABLE shape DROP COLUMN b")
    yield


def lost(m, rng, node):
    """All connections to the server."""
    m.w.db.kill_connections("user = 'millrace'")
    yield


def blocked(m, rng, node):
    """No version of the index takes anything, so that what waits is held, and purged."""
    set_block(m, True)
    yield
    set_block(m, None)


def set_block(m, block):
    table = next(t for t in m.definitions()["tables"] if t["table"] == m.table)
    wait_until("the block is set", lambda: "error" not in m.w.engine.ask(
        "PUT", f"/{table['index']}_v*/_settings", {"index.blocks.write": block}, ok=(200, 404)), 20)


def engine_restarted(m, rng, node):
    m.w.engine.stop()
    yield
    m.w.engine.start()


def ask(m, *words):
    """Of a node that lives; it may have a reason not to."""
    m.alive().command(*words, ok=None)


FAULTS = killed, died, died, hung, cut_off, cut_off, moved, evacuated, given_up, paused, faster, altered, altered, lost, blocked, blocked, engine_restarted


def in_flight(m):
    return [node.metric("millrace_changes_in_flight") for node in m.nodes]


class Play:
    def __init__(self, m):
        self.m, self.rng, self.lines, self.counts = m, m.w.rng, [], {}

    def tell(self, text):
        self.lines.append(f"{time.strftime('%H:%M:%S', time.gmtime())} {text}")

    def begin(self):
        m = self.m
        m.table = f"{m.w.schema}.{self.rng.choice(INDEXES)}"
        done = self.rng.choice(m.nodes).command("index", "create", m.table, "--no-wait", "--buckets", str(self.rng.randint(1, 9)),
                                                "--rate", str(self.rng.choice([50, 200, 1000])), ok=None)
        self.tell(f"{m.table} is built: {done.returncode} {done.stderr.strip()[:200]}")

    def round(self):
        self.begin()
        let_pass("some of it is done", self.rng.uniform(0, 2))
        faults = []
        for node in self.rng.sample(self.m.nodes, self.rng.choice((1, 1, 2))):
            fault = self.rng.choice(FAULTS)
            self.counts[fault.__name__] = self.counts.get(fault.__name__, 0) + 1
            self.tell(f"{node.config['node_name']} {fault.__name__}")
            steps = fault(self.m, self.rng, node)
            next(steps)
            faults.append(steps)
            let_pass("the next comes a moment later", self.rng.uniform(0, 1))
        let_pass("as long as a session, more or less", self.rng.uniform(0, 6))
        for steps in faults:
            next(steps, None)
        wait_until("all nodes are ready", lambda: all([self.is_well(node) for node in self.m.nodes]), 90, 0.2)
        ask(self.m, "index", "set", self.m.table, "--rate", "0")

    def is_well(self, node):
        ended = node.process.poll()
        if ended not in (None, *ENDS):
            raise Failed(f"{node.config['node_name']} ended with {ended}:\n{node.log_tail(3000)}")
        node.start(wait=False)
        return ended is None and node.is_ready()

    def build_what_is_stopped(self):
        """As a person gave up the build that it needs."""
        for table in self.m.alive().status(ok=(0, 1))["tables"]:
            if table["state"] == "stopped":
                ask(self.m, "index", "create", table["table"], "--no-wait")

    def judge(self):
        m = self.m
        m.wait_shared(*range(len(m.nodes)), seconds=90)
        self.build_what_is_stopped()
        jobs = "SELECT id, kind, index_name FROM job WHERE kind IN ('index', 'bucket')"
        wait_until(lambda: f"no build is left: {m.stored(jobs)} {m.alive().json('job', 'list')}", lambda: not m.stored(jobs), 180, 0.5)
        wait_until("what was changed is read", lambda: all(node.has_done_all() for node in m.nodes), 180)
        wait_until("delayed changes are run", lambda: m.alive().command("delayed", "run", "--all", "--wait", ok=None).returncode == 0, 120)
        m.equal(180)
        letters = m.alive().json("dead-letter", "list")["items"]
        if letters:
            raise Failed(f"dead letters: {letters[:3]}")
        wait_until(lambda: f"nothing is left in the queues: {in_flight(m)}", lambda: not any(in_flight(m)), 60, 0.5)
        self.tell("equal")


def make_test(minutes):
    def test(w):
        m = Mixed(w).start()
        writer, play, rounds = Writer(w, campaign.Work(w.rng), pause=0.1), Play(m), 0
        until = time.monotonic() + 60 * minutes
        try:
            while time.monotonic() < until:
                rounds += 1
                play.round()
                if rounds % JUDGE_EVERY == 0:
                    writer.rest()
                    play.judge()
                    writer.resume()
            writer.rest()
            play.judge()
        except Exception as e:
            raise Failed(f"{e}\nseed {w.options.seed}, round {rounds}:\n" + "\n".join(play.lines[-40:])) from e
        finally:
            writer.end()
        m.end()
        print(f"# {rounds} rounds, {writer.transactions} transactions: " + ", ".join(f"{n} {did}" for did, n in sorted(play.counts.items())))
    return test


def more_tests(options):
    return {"test_builds_by_three_nodes_lose_nothing": make_test(options.minutes or 3)} if options.minutes or options.only else {}
