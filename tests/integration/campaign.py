"""Kills of the daemon at named failpoints, while all kinds of work go on.

A round has one point armed, does what makes the daemon come there, and ends when the daemon has died
of it; the next daemon recovers from that and is killed itself.  POINTS says for each point of
src/base/failpoint.def which scene leads there, and how many times it is in a deck of cards that the rounds
are drawn from.  After some kills the work rests, and every index must be what the oracle says.
"""
import os
import re
import statistics
import time

import exchanging
import pymysql
from servers import REPO, Failed, let_pass, wait_until
from test_faults import no_dump_threads, reset_log
from test_kill import Writer
from workload import Workload, text

ARTICLES = 1200  # nearly all of one brand: more than are read again at once
BUSY = 120
WIDE = 5  # rows of a megabyte, so that two images of each are more than is kept in memory

SCHEMA = ("CREATE TABLE brand (id INT PRIMARY KEY, name VARCHAR(40))",
          "CREATE TABLE article (id INT PRIMARY KEY, brand_id INT, note VARCHAR(40), KEY (brand_id))",
          "CREATE TABLE question (id INT PRIMARY KEY, title VARCHAR(40))",
          "CREATE TABLE answer (id INT PRIMARY KEY, question_id INT, body VARCHAR(40), KEY (question_id))",
          "CREATE TABLE part (id INT PRIMARY KEY, code VARCHAR(20))",
          "CREATE TABLE busy (id INT PRIMARY KEY, a INT, t VARCHAR(40))",
          "CREATE TABLE shape (id INT PRIMARY KEY, a INT)",
          "CREATE TABLE gone (id INT PRIMARY KEY, a INT)",
          "CREATE TABLE wide (id INT PRIMARY KEY, a INT, t MEDIUMTEXT)",
          "CREATE TABLE clan (id INT PRIMARY KEY)",
          "CREATE TABLE house (id INT PRIMARY KEY, clan_id INT, FOREIGN KEY (clan_id) REFERENCES clan (id) ON DELETE CASCADE)",
          "CREATE TABLE person (id INT PRIMARY KEY, house_id INT, FOREIGN KEY (house_id) REFERENCES house (id) ON DELETE CASCADE)",
          "CREATE TABLE colour (id INT PRIMARY KEY, name VARCHAR(40))",
          "CREATE TABLE ware (id INT PRIMARY KEY, colour_id INT, note VARCHAR(40), KEY (colour_id))",
          "INSERT INTO brand VALUES (1, 'large'), (2, 'small')", "INSERT INTO colour VALUES (0, 'red'), (1, 'green'), (2, 'blue')",
          "INSERT INTO part VALUES (1, '1'), (2, '2'), (3, '3')", "INSERT INTO shape VALUES (1, 1), (2, 2)",
          "INSERT INTO gone VALUES (1, 1), (2, 2)")


def numbers(count):
    digits = [f"(SELECT 0 d UNION SELECT 1 UNION SELECT 2 UNION SELECT 3 UNION SELECT 4 UNION SELECT 5 UNION SELECT 6"
              f" UNION SELECT 7 UNION SELECT 8 UNION SELECT 9) d{i}" for i in range(4)]
    return f"(SELECT d0.d + 10 * d1.d + 100 * d2.d + 1000 * d3.d AS n FROM {', '.join(digits)}) ns WHERE n < {count}"


def load(w):
    w.load_shop()
    w.sql(*SCHEMA, f"INSERT INTO article SELECT n, IF(n % 20 = 0, 2, 1), 'as it was' FROM {numbers(ARTICLES)}",
          f"INSERT INTO busy SELECT n, 0, '' FROM {numbers(BUSY)}",
          f"INSERT INTO wide SELECT n, 0, REPEAT('x', 1000000) FROM {numbers(WIDE)}")


def definitions(w, interval):
    """interval: of refreshes of one index, a change that needs no build."""
    one = {"number_of_shards": 1, "number_of_replicas": 0}
    shop = w.shop_definitions(on_gap="rebuild")
    shop["tables"][0]["relations"][0]["refresh"] = "area"
    colour = {"from": "colour_id", "table": "colour", "to": "id", "as": "colour", "columns": ["id", "name"]}
    brand = {"from": "brand_id", "table": "brand", "to": "id", "as": "brand", "columns": ["id", "name"]}
    others = w.definitions(
        {"table": "article", "relations": [brand]},
        {"table": "question", "index": "forum", "settings": dict(one), "join": {"name": "question"}},
        {"table": "answer", "index": "forum", "settings": dict(one),
         "join": {"name": "answer", "parent": "question", "parent_column": "question_id"}},
        {"table": "part", "columns": ["id", {"name": "code", "type": "integer"}]},
        {"table": "busy", "settings": dict(one, refresh_interval=f"{interval}s")},
        {"table": "shape"}, {"table": "gone"}, {"table": "house"}, {"table": "person"}, {"table": "wide", "columns": ["id", "a"]},
        {"table": "ware", "relations": [colour]}, {"table": "colour", "delayed": True})
    shop["tables"] += others["tables"]
    return shop


class Work:
    """The shop's, and now and then of the other tables."""

    def __init__(self, rng):
        self.rng, self.shop = rng, Workload(rng)

    def run(self, connection, transactions):
        for _ in range(transactions):
            if self.rng.random() < 0.6:
                self.shop.run(connection, 1)
                continue
            with connection.cursor() as cursor:
                cursor.execute("BEGIN")
                for _ in range(self.rng.choice([1, 1, 2, 5])):
                    cursor.execute(self.other())
                cursor.execute("COMMIT")

    def other(self):
        rng = self.rng
        q, a = rng.randrange(12), rng.randrange(30)
        some, word = rng.choice([str(rng.randrange(12)), str(rng.randrange(12)), "NULL"]), text("ü" * rng.randrange(9))
        row = rng.randrange(ARTICLES)
        return rng.choice([
            f"REPLACE INTO question VALUES ({q}, {word})", f"DELETE FROM question WHERE id = {q}",
            f"REPLACE INTO answer VALUES ({a}, {some}, {word})", f"DELETE FROM answer WHERE id = {a}",
            f"UPDATE answer SET question_id = {some} WHERE id BETWEEN {a} AND {a + 3}",
            f"UPDATE article SET note = {word} WHERE id = {row}", f"DELETE FROM article WHERE id = {a}",
            f"REPLACE INTO article VALUES ({a}, {rng.choice([1, 2])}, {word})",
            f"UPDATE busy SET a = a + 1 WHERE id = {rng.randrange(BUSY)}", f"DELETE FROM busy WHERE id = {a}",
            f"REPLACE INTO busy VALUES ({a}, {q}, {word})", f"REPLACE INTO gone VALUES ({a}, {q})",
            f"REPLACE INTO ware VALUES ({a}, {rng.randrange(4)}, {word})", f"DELETE FROM ware WHERE id = {a}",
            f"REPLACE INTO colour VALUES ({q % 4}, {word})", f"DELETE FROM colour WHERE id = {q % 4}",
            f"UPDATE shape SET a = {a}"])


# -- what makes the daemon come to a point; i counts how often it was tried in this round


def write(_c, _i):
    """Enough is written all the time."""


def build(c, _i):
    if c.is_ready():
        c.ask("index", "create", c.table(c.w.rng.choice(["article", "busy", "question", "orders", "part"])), "--no-wait")


def verify(c, _i):
    if c.is_ready():
        c.ask("verify", c.table(c.w.rng.choice(["article", "busy", "question", "orders"])), "--repair", "--no-wait")


def exchange(_c, _i):
    """Trees are exchanged every second, in half of the campaigns."""


def give_up(c, i):
    """A build that goes on is given up; every other time one that is retired is deleted, too."""
    if c.is_ready():
        if i % 2:
            c.ask("index", "delete", c.table("article"), "-y")
        c.ask("index", "create", c.table("article"), "--no-wait")
        c.ask("index", "reset", c.table("article"), "-y")


def fan_out(c, i):
    c.sql(f"UPDATE brand SET name = 'name {c.kills}.{i}' WHERE id = 1")


def go(c, i):
    """A clan whose houses go with it, and with these their persons; keys do not come again."""
    key = 100 * (1000 * c.rounds + i)
    c.sql(f"INSERT INTO clan VALUES ({key})", *(f"INSERT INTO house VALUES ({key + n}, {key})" for n in range(3)),
          *(f"INSERT INTO person VALUES ({key + n}, {key + n % 3})" for n in range(9)), f"DELETE FROM clan WHERE id = {key}")


def refuse(c, i):
    c.sql("UPDATE part SET code = 'none'" if i % 2 == 0 else f"UPDATE part SET code = '{i}'")


def pause(c, i):
    """By turns; who is killed in between leaves it for resume()."""
    if c.is_ready():
        c.paused = True
        c.ask("index", "pause" if i % 2 == 0 else "resume", c.table("busy"))


def purge(c, i):
    c.resume()
    c.block(i % 8 < 2)
    c.sql("UPDATE busy SET a = a + 1")


def put_off(c, i):
    """What is shown of a delayed table waits for a run, which every other time is asked for."""
    c.sql(f"REPLACE INTO colour VALUES ({i % 3}, 'colour {c.kills}.{i}')")
    if i % 2 and c.is_ready():
        c.ask("delayed", "run", "--all", "--attempts", "1")  # who asks must not outlive the daemon


def put_off_all(c, i):
    """As a whole: the run has what shows it built."""
    c.sql("TRUNCATE TABLE colour", f"REPLACE INTO colour VALUES ({i % 3}, 'whole {c.kills}.{i}')")
    if i % 2 and c.is_ready():
        c.ask("delayed", "run", "--all", "--attempts", "1")  # who asks must not outlive the daemon


def prepare(c, _i):
    xid = f"'{c.w.schema}'"
    c.sql(f"XA START {xid}", "UPDATE wide SET a = a + 1", f"XA END {xid}", f"XA PREPARE {xid}", f"XA COMMIT {xid}")


def reshape(c, _i):
    c.has_b = not c.has_b
    c.sql(f"ALTER TABLE shape ADD COLUMN b INT DEFAULT {c.kills}" if c.has_b else "ALTER TABLE shape DROP COLUMN b")


def empty(c, _i):
    c.sql("TRUNCATE TABLE gone", "REPLACE INTO gone VALUES (1, 7), (3, 7)")  # the writer may have been faster


def lose_log(c, i):
    """The first time, while the daemon is dead; then it must find that by itself."""
    if i == 0:
        no_dump_threads(c.w)
        reset_log(c.w)


def apply(c, i):
    if c.is_ready():
        c.daemon.apply(definitions(c.w, 1 + (c.kills + i) % 5), ok=None)


def set_delivery(c, i):
    if c.is_ready():
        c.ask("config", "delivery", "set", f"batch_max={100 + (c.kills + i) % 300}")


#  point: (scene, cards in the deck, at most the how manieth time)
POINTS = {
    "event_received": (write, 10, 60), "transaction_built": (write, 12, 20), "writes_gathered": (write, 12, 8),
    "writes_queued": (write, 12, 8), "keys_loaded": (write, 12, 12), "bulk_built": (write, 14, 12),
    "bulk_sent": (write, 16, 10), "bulk_answered": (write, 16, 12), "bulk_judged": (write, 14, 12),
    "position_due": (write, 14, 4), "position_fenced": (write, 12, 4), "position_buried": (write, 12, 4),
    "position_stored": (write, 12, 4), "store_commits": (write, 16, 12), "store_committed": (write, 16, 12),
    "term_taken": (write, 4, 1), "shapes_kept": (reshape, 3, 1),
    "fan_out_found": (fan_out, 4, 1), "fan_out_stored": (fan_out, 4, 2), "fan_out_begun": (fan_out, 4, 1),
    "fan_out_paged": (fan_out, 4, 1), "fan_out_submitted": (fan_out, 5, 4), "fan_out_acknowledged": (fan_out, 5, 4),
    "fan_out_moved": (fan_out, 5, 4), "fan_out_over": (fan_out, 4, 1),
    "snapshot_stored": (put_off, 3, 2), "delayed_begun": (put_off, 3, 1), "delayed_put": (put_off, 3, 1), "delayed_ended": (put_off, 3, 1),
    "table_put_off": (put_off_all, 2, 1), "delayed_asked": (put_off_all, 2, 1),
    "gone_found": (go, 4, 2), "gone_stored": (go, 4, 2), "gone_deleted": (go, 4, 2),
    "version_numbered": (build, 3, 1), "version_created": (build, 3, 1), "build_stored": (build, 3, 1),
    "build_fixed": (build, 3, 1), "fill_noted": (build, 3, 1), "bucket_taken": (build, 3, 1), "build_divided": (build, 3, 1), "bucket_ended": (build, 3, 1),
    "chunk_submitted": (build, 3, 3), "chunk_saved": (build, 3, 2),
    "searches_due": (build, 3, 1), "build_filled": (build, 3, 1), "build_counted": (build, 3, 1), "alias_moved": (build, 4, 1),
    "version_promoted": (build, 4, 1), "version_forgotten": (give_up, 3, 1),
    "letters_due": (refuse, 3, 1), "letters_stored": (refuse, 3, 1), "letter_outlived": (refuse, 3, 2),
    "purge_due": (purge, 3, 2), "purge_stored": (purge, 3, 2), "purged_submitted": (purge, 3, 1),
    "purged_written": (purge, 3, 1), "purged_counted": (purge, 3, 1),
    "definitions_stored": (apply, 2, 1), "setting_stored": (set_delivery, 2, 1),
    "pause_stored": (pause, 3, 2),
    "ddl_met": (reshape, 3, 1), "shape_stored": (reshape, 3, 1), "stop_stored": (empty, 2, 1),
    "verify_sampled": (build, 3, 3), "build_compared": (build, 3, 1), "verify_saved": (verify, 3, 2), "verify_sliced": (verify, 3, 2),
    "verify_reported": (verify, 3, 1),
    "trees_half_noted": (exchange, 3, 4), "trees_begun": (build, 2, 1), "trees_filled": (build, 2, 2), "trees_taken": (write, 3, 8),
    "exchange_begun": (exchange, 2, 3), "exchange_drained": (exchange, 2, 2), "exchange_taken": (exchange, 2, 2),
    "exchange_compared": (exchange, 2, 2), "exchange_ended": (exchange, 2, 2),
    "xa_spilled": (prepare, 2, 6), "epoch_stored": (lose_log, 1, 1),
}
ELSEWHERE = {"parts_done": "test_delayed_nodes", "verify_listed": "test_verify_faults", "verify_repaired": "test_verify_faults",
             "definitions_replaced": "test_retired", "version_dropped": "test_retired", "topic_stopped": "test_retired",
             "build_judged": "test_worse", "version_parked": "test_worse", "version_resumed": "test_worse",
             "letters_discarded": "test_retired", "return_ordered": "test_rollback", "alias_returned": "test_rollback",
             "version_returned": "test_rollback",
             "searches_kept": "test_fills_away",
             "repair_submitted": "test_trees_faults",
             "lineage_marked": "test_failpoints: needs a second server", "replay_wanted": "test_dead_letters",
             "bucket_returned": "test_fills_kill", "table_forgotten": "test_table_delete",
             "replay_read": "test_replay", "replay_phased": "test_replay", "replay_written": "test_replay", "replay_reported": "test_replay",
             "node_registered": "test_members_kill", "node_data_written": "test_members_kill",
             "cluster_state_written": "test_members_kill", "lock_granted": "test_members_kill",
             "topic_saved": "test_members_kill", "topic_given_back": "test_members_kill"}
PATIENCE = {write: 6, lose_log: 40}  # seconds for a daemon to come there, others 20; who does not is killed all the same
MISSES = 10  # of a point that none came to yet
# After so many misses of a point the writer rests in its rounds, and the daemon has so many times the time: on a slow
# machine all before it were killed before they had read what was written meanwhile.
REST_AFTER, REST_TIMES = 3, 5
BLOCKED_FOR = 2  # rounds
CHANGED_SILENTLY = ("shape", "gone", "colour")  # by ALTER and TRUNCATE, until a build follows
TRIED_EVERY = {refuse: 0.2, purge: 0.4}


def all_points():
    with open(os.path.join(REPO, "src/base/failpoint.def"), encoding="utf-8") as f:
        return re.findall(r"^POINT\((\w+),", f.read(), re.M)


class Campaign:
    def __init__(self, w, kills):
        self.w, self.goal, self.kills, self.rounds = w, kills, 0, 0
        self.index = exchanging.of_coin(f"{w.options.seed} {w.name}")
        self.points = {name: point for name, point in POINTS.items() if self.index or not name.startswith(("trees_", "exchange_"))}
        self.hits, self.misses = {name: 0 for name in self.points}, {name: 0 for name in self.points}
        self.ready_s, self.equal_s, self.deck = [], [], []
        self.has_b, self.blocked, self.paused = False, False, False
        self.blocked_for = 0  # rounds of other scenes
        unknown = set(all_points()) ^ (set(POINTS) | set(ELSEWHERE))
        if unknown:
            raise Failed(f"campaign.py and src/base/failpoint.def differ in {sorted(unknown)}")
        load(w)
        self.connection = w.db.connect(w.schema)
        self.daemon = w.follow(definitions(w, 1), delivery={"workers": 2, "high_water_mark": 40, "reset_after": "300ms", "request_timeout": "10s"},
                               **self.index)
        self.writer = Writer(w, Work(w.rng), pause=0.03)

    # -- for scenes

    def table(self, name):
        return f"{self.w.schema}.{name}"

    def sql(self, *statements):
        with self.connection.cursor() as cursor:
            for statement in statements:
                self.execute(cursor, statement)

    @staticmethod
    def execute(cursor, statement):
        """One that the server takes for a deadlock with the writer's is nothing yet."""
        while True:
            try:
                return cursor.execute(statement)
            except pymysql.err.OperationalError as e:
                if e.args[0] != pymysql.constants.ER.LOCK_DEADLOCK or "wide" in statement:
                    raise

    def ask(self, *words):
        return self.daemon.command(*words, ok=None)

    def is_dead(self):
        return self.daemon.process.poll() is not None

    def is_ready(self):
        """False when it has died before it could be."""
        try:
            wait_until("it is ready", self.daemon.is_ready, pause=0.02)
        except Failed:
            return False
        return True

    def block(self, blocked):
        if blocked == self.blocked:
            return
        self.blocked, self.blocked_for = blocked, 0
        # An index that is deleted meanwhile has the engine refuse the whole request, and change nothing of the others.
        wait_until("the block is set", lambda: "error" not in self.w.engine.ask(
            "PUT", f"/{self.w.index('busy')}_v*/_settings", {"index.blocks.write": blocked or None}, ok=(200, 404)), 20)

    def unblock_in_time(self, scene):
        """What is purged meets a few other scenes; with marks as low as ours, more would only hold up the stream."""
        self.blocked_for += self.blocked and scene is not purge
        if self.blocked_for > BLOCKED_FOR:
            self.block(False)

    def resume(self):
        """What a scene paused must not stay so."""
        if self.paused and self.is_ready():
            self.paused = self.ask("index", "resume", self.table("busy")).returncode != 0

    # -- rounds

    def cards(self):
        return sum(cards for _, cards, _ in self.points.values())

    def draw(self):
        if not self.deck:
            self.deck = [name for name, (_, cards, _) in self.points.items() for _ in range(cards)]
            self.w.rng.shuffle(self.deck)
        return self.deck.pop()

    def round(self):
        name = self.draw()
        scene, _, most = POINTS[name]
        nth = self.w.rng.randint(1, most)
        self.rounds += 1
        self.unblock_in_time(scene)
        if scene is lose_log:
            scene(self, 0)
        rests = scene is not write and self.misses[name] >= REST_AFTER
        patience = PATIENCE.get(scene, 20) * (REST_TIMES if rests else 1)
        if rests:
            self.writer.rest()
        self.daemon.start(wait=False, environment={"MILLRACE_FAILPOINT": f"{name}:{nth}:kill"})
        began, tried, i = time.monotonic(), 0, 1 if scene is lose_log else 0
        while not self.is_dead() and time.monotonic() < began + patience:
            if scene is not write and time.monotonic() >= tried + TRIED_EVERY.get(scene, 1):
                scene(self, i)
                tried, i = time.monotonic(), i + 1
            let_pass("the rhythm of what a scene does", 0.004)
        self.writer.resume()
        hit = self.is_dead()
        self.note(f"{name}:{nth} {'killed' if hit else 'not reached'} after {time.monotonic() - began:.2f} s")
        if not hit:
            self.daemon.kill()  # at a moment without a name
            self.try_again(name)
        elif self.daemon.process.returncode == -9:
            self.hits[name] += 1
            self.kills += 1
        else:
            raise Failed(f"at {name} the daemon ended with {self.daemon.process.returncode}: {self.daemon.log_tail()}")

    def try_again(self, name):
        self.misses[name] += 1
        if self.misses[name] >= MISSES and not self.hits[name]:
            raise Failed(f"no daemon ever came to {name}")
        self.deck.insert(self.w.rng.randint(0, len(self.deck)), name)

    def note(self, line):
        """How it went, beside the daemon's log."""
        with open(os.path.join(self.daemon.folder, "rounds"), "a", encoding="utf-8") as f:
            f.write(f"{self.rounds} {line}\n")

    # -- judgement

    def heal(self):
        self.block(False)
        self.sql("UPDATE part SET code = id WHERE code = 'none'")

    def run_what_waits(self):
        """Of the delayed table; a run that a daemon began goes on, and then the next one has the rest of what is read."""
        wait_until("what was changed is read", self.daemon.has_done_all, 300)
        wait_until("delayed changes are run", lambda: self.ask("delayed", "run", "--all", "--wait").returncode == 0, 120)

    def stopped(self):
        return [t["table"] for t in self.daemon.status()["tables"] if t["state"] == "stopped"]

    def judge(self):
        self.writer.rest()
        self.heal()
        since = time.monotonic()
        self.daemon.start()
        self.ready_s.append(time.monotonic() - since)
        self.resume()
        for table in self.stopped():
            self.ask("index", "create", table, "--wait")
        self.run_what_waits()
        self.w.equal(self.daemon, seconds=300)
        self.equal_s.append(time.monotonic() - since)
        self.note(f"ready after {self.ready_s[-1]:.2f} s, all equal after {self.equal_s[-1]:.2f} s")
        wait_until(lambda: f"nothing is purged, but {self.daemon.json('status')['delivery']['purged']}",
                   lambda: not self.daemon.status()["delivery"]["purged"], 60)
        wait_until(lambda: f"no dead letter is left, but {self.daemon.json('dead-letter', 'list')['items'][:3]}",
                   lambda: not self.daemon.json("dead-letter", "list")["items"], 60)
        exchanging.found_nothing(self.daemon, but=CHANGED_SILENTLY)
        for table in ("article", "busy", "question", "orders", "part", "shape", "gone", "ware"):
            self.ask("index", "delete", self.table(table), "-y")
        self.daemon.kill()
        self.writer.resume()

    def run(self, judge_every):
        self.daemon.kill()
        due = judge_every
        try:
            while self.kills < self.goal:
                if self.rounds > 2 * self.goal + 100:
                    raise Failed(f"only {self.kills} of {self.rounds} daemons came to their failpoint: {self.hits}")
                self.round()
                if self.kills >= due:
                    self.judge()
                    due = self.kills + judge_every
            self.judge()
        finally:
            self.writer.end()
            self.connection.close()
        self.daemon.start()
        if self.index:
            exchanging.tell_nothing(self.daemon, but=CHANGED_SILENTLY)

    def report(self):
        never = sorted(name for name, hits in self.hits.items() if hits == 0)
        print(f"# kills at failpoints {self.kills}, 0 lost, 0 resurrected; {self.rounds - self.kills} more at no failpoint,"
              f" {self.writer.transactions} transactions meanwhile, judged {len(self.equal_s)} times;"
              f" ready again after {spread(self.ready_s)}, all equal after {spread(self.equal_s)}", flush=True)
        print(f"# failpoints never hit: {', '.join(never) or 'none'}", flush=True)
        print("# hits: " + ", ".join(f"{name} {hits}" for name, hits in self.hits.items()), flush=True)
        return never


def spread(seconds):
    return f"{statistics.median(seconds) * 1000:.0f} ms median, {max(seconds) * 1000:.0f} ms at most"
