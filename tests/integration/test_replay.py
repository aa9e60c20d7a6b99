"""`replay`: what changed on a day is read and written once more; a session's timestamp makes the days."""
import calendar
import datetime
import json
import threading
import time

from members import Members, store_of
from servers import Database, Failed, wait_until
from test_verify import Damage

TODAY = datetime.datetime.now(datetime.timezone.utc).date()
FIRST, DAY, AFTER = (TODAY - datetime.timedelta(days=n) for n in (4, 3, 2))  # the log begins in the first


def at(day, hour=12, minute=0, second=0):
    return calendar.timegm(day.timetuple()) + hour * 3600 + minute * 60 + second


def on(w, when, *statements):
    """As if it were that time: the log's events and the columns' defaults say so."""
    w.sql(f"SET timestamp = {when}", "SET time_zone = '+00:00'", *statements)


def private(w, name, *options):
    """Another test's transactions would be of today."""
    w.db = w.also(Database(w.options.server, name))
    w.db.start(*options)
    w.make_schema()


def make(w, *tables, topic=None, **config):
    """A daemon whose log begins in FIRST, behind what made the tables."""
    file, offset = w.db.log_end()
    daemon = w.follow(w.definitions(*tables, start=f"{file}:{offset}", **topic or {}), **config)
    on(w, at(FIRST), "CREATE TABLE begins (id INT PRIMARY KEY)")
    return daemon


ITEM = ("CREATE TABLE item (id INT PRIMARY KEY, name VARCHAR(20), changed TIMESTAMP DEFAULT CURRENT_TIMESTAMP "
        "ON UPDATE CURRENT_TIMESTAMP)")


def make_items(w, n=200, replay=None, check=None, **more):
    w.sql(ITEM, f"SET timestamp = {at(FIRST, 1)}",
          "INSERT INTO item (id, name) VALUES " + ", ".join(f"({i}, 'n{i}')" for i in range(1, n + 1)))
    config = {name: value for name, value in (("replay", replay), ("check", check)) if value}
    return make(w, {"table": "item"} | more, **config), Damage(w, "item")


def replay(w, daemon, *options, table="item", day=DAY, ok=(0,)):
    answer = daemon.json("replay", f"{w.schema}.{table}", "--day", str(day), *options, ok=ok)
    if "verdict" not in answer:
        raise Failed(f"{answer}")
    return answer


def expect(answer, verdict, written, why=""):
    if (answer["verdict"], answer["written"], answer["documents"]) != (verdict, written, written) or why not in answer["why"]:
        raise Failed(f"not {verdict} of {written} because {why!r}: {answer}")


def wrong(d):
    d.update(name="wrong")


def names(damage, *keys):
    found = [damage.stored(key) for key in keys]
    return [f["_source"]["name"] if f["found"] else None for f in found]


def change(w, tens, day):
    """Nine items from the tens on."""
    on(w, at(day), f"UPDATE item SET name = CONCAT('on-', id) WHERE id BETWEEN {tens + 1} AND {tens + 9}")


def test_a_replay_repairs_what_changed_on_the_day_and_only_that(w):
    private(w, "days")
    daemon, damage = make_items(w)
    change(w, 0, FIRST)
    change(w, 10, DAY)
    on(w, at(DAY, 23, 59, 59), "DELETE FROM item WHERE id = 100")
    on(w, at(AFTER, 0), "UPDATE item SET name = 'midnight' WHERE id = 101")
    change(w, 20, AFTER)
    on(w, at(AFTER, 13), "INSERT INTO item (id, name) VALUES (999, 'later')")
    w.equal(daemon)
    lost = damage.stored(50)["_source"] | {"id": 100}
    for key in 5, 12, 13, 25, 101:
        damage.change(key, wrong)
    damage.lose(14)
    damage.put(100, lost, int(damage.stored(999)["_version"]) + 1)  # as from a client that does not know of the delete
    expect(replay(w, daemon), "replayed", 10)
    if names(damage, 5, 12, 13, 14, 25, 100, 101) != ["wrong", "on-12", "on-13", "on-14", "wrong", None, "wrong"]:
        raise Failed(f"{names(damage, 5, 12, 13, 14, 25, 100, 101)}")
    expect(replay(w, daemon, day=AFTER), "replayed", 11)
    if names(damage, 5, 25, 101) != ["wrong", "on-25", "midnight"]:
        raise Failed(f"{names(damage, 5, 25, 101)}")
    wait_until("no job is left", lambda: not daemon.json("job", "list")["items"])
    if daemon.json("log", "list")["items"][0]["event"] != "replayed":
        raise Failed("the log does not tell of the replay")


def test_a_day_begins_at_midnight_in_its_zone(w):
    """In Apia it is UTC+13, so the day begins at 11:00 of the day before."""
    private(w, "zone")
    w.sql(ITEM, "INSERT INTO item (id, name) VALUES " + ", ".join(f"({i}, 'n{i}')" for i in range(1, 6)))
    daemon = make(w, {"table": "item"}, topic={"day_zone": "Pacific/Apia"})
    for key, when in ((1, at(DAY, 10, 59, 59)), (2, at(DAY, 11)), (3, at(AFTER, 10, 59, 59)), (4, at(AFTER, 11))):
        on(w, when, f"UPDATE item SET name = 'on-{key}' WHERE id = {key}")
    w.equal(daemon)
    expect(replay(w, daemon, day=AFTER), "replayed", 2)
    found = daemon.command("replay", f"{w.schema}.item", "--day", "2026-02-30", ok=(2,))
    if "is not a day" not in found.stderr:
        raise Failed(found.stderr)
    daemon.command("replay", f"{w.schema}.item", "--day", str(TODAY + datetime.timedelta(days=3)), ok=(2,))


def test_rows_that_documents_show_lead_to_them(w):
    private(w, "related")
    w.sql("CREATE TABLE brand (id INT PRIMARY KEY, name VARCHAR(20), hidden INT)",
          "CREATE TABLE article (id INT PRIMARY KEY, name VARCHAR(20), brand_id INT, KEY (brand_id))",
          "INSERT INTO brand VALUES (1, 'a', 0), (2, 'b', 0), (3, 'c', 0)",
          "INSERT INTO article SELECT seq, CONCAT('n', seq), seq % 3 + 1 FROM (SELECT a.n * 100 + b.n AS seq FROM "
          "(SELECT 0 AS n UNION SELECT 1 UNION SELECT 2) a, (" +
          " UNION ".join(f"SELECT {i} AS n" for i in range(100)) + ") b) numbers")
    brand = {"from": "brand_id", "table": "brand", "to": "id", "as": "brand", "columns": ["id", "name"]}
    daemon, damage = make(w, {"table": "article", "relations": [brand]}), Damage(w, "article")
    on(w, at(DAY), "UPDATE brand SET name = 'x' WHERE id = 2", "UPDATE brand SET name = 'y' WHERE id = 2",
       "UPDATE brand SET hidden = 1 WHERE id = 3")
    on(w, at(AFTER), "UPDATE brand SET name = 'z' WHERE id = 1")
    w.equal(daemon)
    for key in 3, 4, 5:  # of brands 1, 2, 3
        damage.change(key, lambda d: d.update(brand={"id": 7, "name": "wrong"}))
    expect(replay(w, daemon, table="article"), "replayed", 100)
    found = [damage.stored(key)["_source"]["brand"]["name"] for key in (3, 4, 5)]
    if found != ["wrong", "y", "wrong"]:
        raise Failed(f"{found}")


def test_children_lie_with_their_parents_after_a_replay(w):
    private(w, "join")
    w.sql("CREATE TABLE question (id INT PRIMARY KEY, name VARCHAR(20))",
          "CREATE TABLE answer (id INT PRIMARY KEY, name VARCHAR(20), question_id INT)",
          "INSERT INTO question VALUES (1, 'a'), (2, 'b'), (3, 'c')", "INSERT INTO answer VALUES (1, 'x', 1), (2, 'y', 2), (3, 'z', 3)")
    shards = {"number_of_shards": 3, "number_of_replicas": 0}
    daemon = make(w, {"table": "question", "index": "forum", "settings": shards, "join": {"name": "question"}},
                  {"table": "answer", "index": "forum", "settings": dict(shards),
                   "join": {"name": "answer", "parent": "question", "parent_column": "question_id"}})
    on(w, at(DAY), "UPDATE answer SET question_id = 3 WHERE id = 1", "DELETE FROM answer WHERE id = 2",
       "UPDATE question SET name = 'd' WHERE id = 3")
    on(w, at(AFTER), "UPDATE answer SET name = 'later' WHERE id = 3")
    w.equal(daemon)
    answer = replay(w, daemon, table="question")
    expect(answer, "replayed", 4)  # the answer at both of its places, the one that is gone, the question
    w.equal(daemon)


def test_a_day_before_the_log_begins_is_replayed_by_the_column(w):
    private(w, "before")
    daemon, damage = make_items(w, daily_check_column="changed")
    on(w, at(DAY), "UPDATE item SET name = 'new' WHERE id = 7")
    w.equal(daemon)
    long_ago = FIRST - datetime.timedelta(days=30)
    on(w, at(long_ago), "UPDATE item SET name = 'old' WHERE id IN (8, 9)")
    on(w, at(long_ago, 24), "UPDATE item SET name = 'old' WHERE id = 10")
    w.equal(daemon)
    for key in 7, 8, 10:
        damage.change(key, wrong)
    expect(replay(w, daemon, day=long_ago), "by_column", 2, "no deleted rows")
    if names(damage, 7, 8, 10) != ["wrong", "old", "wrong"]:
        raise Failed(f"{names(damage, 7, 8, 10)}")


def test_where_the_log_is_purged_the_column_says_what_changed_and_without_one_nobody_does(w):
    private(w, "purged")
    w.sql("CREATE TABLE plain (id INT PRIMARY KEY, name VARCHAR(20))", "INSERT INTO plain VALUES (1, 'a')", ITEM,
          "INSERT INTO item (id, name) VALUES (1, 'a'), (2, 'b'), (3, 'c')")
    daemon = make(w, {"table": "plain"}, {"table": "item", "daily_check_column": "changed"})
    damage = Damage(w, "item")
    on(w, at(DAY), "UPDATE item SET name = 'new' WHERE id = 2", "UPDATE plain SET name = 'new'")
    on(w, at(DAY, 13), "FLUSH LOGS")
    on(w, at(AFTER), "UPDATE item SET name = 'newer' WHERE id = 3")
    w.equal(daemon)
    expect(replay(w, daemon), "replayed", 1)
    file, _ = w.db.log_end()

    def purge():
        w.sql(f"PURGE BINARY LOGS TO '{file}'")
        return w.sql("SHOW BINARY LOGS")[0][0] == file
    wait_until("the log is purged", purge)
    for key in 2, 3:
        damage.change(key, wrong)
    expect(replay(w, daemon), "by_column", 1, "has purged that part of its log")
    if names(damage, 2, 3) != ["new", "wrong"]:
        raise Failed(f"{names(damage, 2, 3)}")
    answer = replay(w, daemon, table="plain", ok=(1,))
    expect(answer, "not_replayed", 0, "no daily_check_column")
    if "fix: millrace verify" not in answer["why"]:
        raise Failed(answer["why"])
    said = daemon.command("replay", "--all", "--day", str(DAY), ok=(1,))
    if "no daily_check_column" not in said.stdout or "daily_check_column is in that day" not in said.stdout:
        raise Failed(said.stdout)


def test_a_table_that_had_other_columns_then_is_told_and_not_guessed(w):
    private(w, "columns", "--binlog-row-metadata=" + ("MINIMAL" if w.options.server.startswith("mysql") else "NO_LOG"))
    w.sql("CREATE TABLE item (id INT PRIMARY KEY, other INT, name VARCHAR(20))", "INSERT INTO item VALUES (1, 2, 'a'), (2, 1, 'b')")
    daemon = make(w, {"table": "item", "columns": ["id", "name"]})
    on(w, at(DAY), "UPDATE item SET name = 'c' WHERE id = 1")
    on(w, at(AFTER), "ALTER TABLE item MODIFY other INT FIRST")  # a row then would show the wrong key
    on(w, at(AFTER, 13), "UPDATE item SET name = 'd' WHERE id = 2")
    w.equal(daemon)
    answer = replay(w, daemon, ok=(1,))
    expect(answer, "partly", 0, "its columns were others then")
    w.sql("UPDATE item SET name = 'e' WHERE id = 2")
    w.equal(daemon)
    expect(replay(w, daemon, day=TODAY), "replayed", 1)


def test_a_quiet_server_has_its_midnights_all_the_same(w):
    """No transaction comes for days; the one after them says where all their midnights were."""
    private(w, "quiet")
    daemon, _ = make_items(w)
    on(w, at(FIRST), "UPDATE item SET name = 'first' WHERE id = 3")
    w.equal(daemon)
    expect(replay(w, daemon, day=FIRST, ok=(1,)), "not_replayed", 0, "began before")
    on(w, at(AFTER), "UPDATE item SET name = 'after' WHERE id = 4")
    w.equal(daemon)
    expect(replay(w, daemon), "replayed", 0)
    expect(replay(w, daemon, day=AFTER), "replayed", 1)
    expect(replay(w, daemon, day=TODAY), "replayed", 1)  # up to the end of the log: more than the day does no harm


def test_who_was_away_at_midnight_meets_it_when_it_catches_up(w):
    private(w, "away")
    daemon, damage = make_items(w)
    on(w, at(FIRST), "UPDATE item SET name = 'first' WHERE id = 1")
    w.equal(daemon)
    daemon.stop()
    on(w, at(DAY), "UPDATE item SET name = 'day' WHERE id = 2")
    on(w, at(AFTER), "UPDATE item SET name = 'after' WHERE id = 3")
    daemon.start()
    w.equal(daemon)
    damage.change(2, wrong)
    damage.change(3, wrong)
    expect(replay(w, daemon), "replayed", 1)
    if names(damage, 2, 3) != ["day", "wrong"]:
        raise Failed(f"{names(damage, 2, 3)}")


def test_a_killed_replay_goes_on_where_it_was(w):
    private(w, "killed")
    daemon, damage = make_items(w, n=3000)
    on(w, at(DAY), "UPDATE item SET name = 'new'")
    on(w, at(AFTER), "UPDATE item SET name = 'later' WHERE id = 1")
    w.equal(daemon)
    for key in 2, 1500, 2999:
        damage.change(key, wrong)
    started = daemon.json("replay", f"{w.schema}.item", "--day", str(DAY), "--rate", "1000", "--no-wait")
    job = started["job"]

    def written():
        found = [j for j in daemon.json("job", "list")["items"] if j["id"] == job]
        return found and found[0]["rows_done"] > 400 and found[0]
    progress = wait_until("a part is written", written)
    if progress["rows_done"] >= 3000 or progress["rows_total"] != 3000 or not progress["remaining_seconds"]:
        raise Failed(f"{progress}")
    daemon.kill()
    daemon.start()

    def over():
        answer = daemon.json("report", "get", job)
        return "verdict" in answer and answer
    expect(wait_until("the report is there", over), "replayed", 3000)
    if names(damage, 2, 1500, 2999) != ["new"] * 3:
        raise Failed(f"{names(damage, 2, 1500, 2999)}")
    w.equal(daemon)


def test_of_one_topic_a_single_replay_runs(w):
    private(w, "busy")
    w.sql("CREATE TABLE other (id INT PRIMARY KEY)", ITEM,
          "INSERT INTO item (id, name) VALUES " + ", ".join(f"({i}, 'n{i}')" for i in range(1, 2001)))
    daemon = make(w, {"table": "item"}, {"table": "other"})
    on(w, at(DAY), "UPDATE item SET name = 'new'", "INSERT INTO other VALUES (1)")
    on(w, at(AFTER), "INSERT INTO other VALUES (2)")
    w.equal(daemon)
    job = daemon.json("replay", f"{w.schema}.item", "--day", str(DAY), "--rate", "100", "--no-wait")["job"]
    for table in "item", "other":
        said = daemon.command("replay", f"{w.schema}.{table}", "--day", str(DAY), ok=(75,)).stderr
        if f"job {job} replays a day" not in said or "fix:" not in said:
            raise Failed(said)


def test_a_replay_under_a_load_leaves_everything_equal(w):
    private(w, "load")
    daemon, damage = make_items(w, n=2000)
    on(w, at(DAY), "UPDATE item SET name = 'new'")
    on(w, at(AFTER), "UPDATE item SET name = 'later' WHERE id = 1")
    w.equal(daemon)
    for key in range(1, 2000, 100):
        damage.change(key, wrong)
    over = threading.Event()

    def load():
        n = 0
        connection = w.db.connect(w.schema)
        with connection.cursor() as cursor:
            while not over.is_set():
                n += 1
                cursor.execute(f"UPDATE item SET name = 'load-{n}' WHERE id = {w.rng.randint(1, 2000)}")
                if n % 5 == 0:
                    cursor.execute(f"DELETE FROM item WHERE id = {w.rng.randint(1, 2000)}")
                if n % 7 == 0:
                    cursor.execute(f"REPLACE INTO item (id, name) VALUES ({w.rng.randint(1, 2100)}, 'again-{n}')")
        connection.close()
    writer = threading.Thread(target=load)
    writer.start()
    try:
        answer = replay(w, daemon, "--rate", "0")
    finally:
        over.set()
        writer.join()
    expect(answer, "replayed", 2000)
    w.equal(daemon)


def test_a_run_that_is_overdue_is_told_until_it_was_good(w):
    private(w, "overdue")
    daemon, _ = make_items(w, daily_check_column="changed", replay={"expect_every": "1s"}, check={"expect_every": "1000h"})
    on(w, at(DAY), "UPDATE item SET name = 'new' WHERE id = 1")
    on(w, at(AFTER), "UPDATE item SET name = 'newer' WHERE id = 2")
    w.equal(daemon)

    def runs():
        return daemon.status()["tables"][0]["runs"]

    def overdue(kind):
        return [c for c in daemon.json("doctor")["items"] if c["id"] == "table.runs" and kind in c["message"]]
    wait_until("the replay is overdue", lambda: runs()["replay"] == {"last_success": None, "overdue": True})
    warned = overdue("replay")
    if len(warned) != 1 or warned[0]["status"] != "warn" or "millrace replay" not in warned[0]["fix"] or overdue("check"):
        raise Failed(f"{daemon.json('doctor')['items']}")
    replay(w, daemon)
    daemon.json("check", f"{w.schema}.item")
    first = wait_until("both are kept", lambda: all(r["last_success"] for r in runs().values()) and runs())
    for kind in "check", "replay":
        told = daemon.metric("millrace_table_run_timestamp_seconds", kind=kind)
        if not at(FIRST) < told <= time.time() + 1:
            raise Failed(f"the metrics know of the last {kind} {told}")
    daemon.stop()
    daemon.configure(replay={"expect_every": "1000h"})
    daemon.start()
    found = wait_until("the store has answered", lambda: runs())
    if {k: r["last_success"] for k, r in found.items()} != {k: r["last_success"] for k, r in first.items()} or found["replay"]["overdue"]:
        raise Failed(f"{first} is {found} after a restart")
    if overdue("replay") or overdue("check"):
        raise Failed("what was good lately is overdue")


def test_another_node_begins_a_replay_again_whose_owner_dies(w):
    private(w, "owner")
    m = Members(w, nodes=2, topics=2)
    m.start()
    topic, store, kept = m.schemas[0], store_of(w), (TODAY - datetime.date(1970, 1, 1)).days
    w.db.sql(f"INSERT INTO {topic}.thing VALUES " + ", ".join(f"({i}, 0)" for i in range(10, 1510)))
    m.equal()
    file, offset = w.db.log_end()
    w.db.sql(f"REPLACE INTO {store}.midnight SELECT topic, 'UTC', {kept}, epoch, '{file}', {offset} FROM {store}.checkpoint")
    w.db.sql(f"UPDATE {topic}.thing SET a = 7")
    m.equal()
    owner = m.owner(topic)
    other = next(node for node in m.nodes if node is not owner)
    job = other.json("replay", f"{topic}.thing", "--day", str(TODAY), "--rate", "300", "--no-wait")["job"]
    busy = other.command("replay", f"{topic}.thing", ok=(75,)).stderr
    if f"job {job} replays a day" not in busy:
        raise Failed(busy)

    def is_writing():
        found = [j for j in other.json("job", "list")["items"] if j["id"] == job]
        return found and found[0]["rows_done"] > 100
    wait_until("it writes", is_writing)
    owner.kill()

    def over():
        answer = other.json("report", "get", job)
        return "verdict" in answer and answer
    expect(wait_until("the other node has replayed the day", over, 60), "replayed", 1502)
    m.equal()


def test_what_is_prepared_before_midnight_belongs_to_the_day_of_its_commit(w):
    private(w, "prepared")
    daemon, damage = make_items(w)
    on(w, at(DAY, 12), "UPDATE item SET name = 'day' WHERE id = 2")
    on(w, at(DAY, 23), "XA START 'x'", "UPDATE item SET name = 'xa' WHERE id = 3", "XA END 'x'", "XA PREPARE 'x'")
    on(w, at(AFTER, 0, 30), "UPDATE item SET name = 'first' WHERE id = 4")
    on(w, at(AFTER, 1), "XA COMMIT 'x'")
    w.equal(daemon)
    damage.change(3, wrong)
    expect(replay(w, daemon), "replayed", 1)
    expect(replay(w, daemon, day=AFTER), "replayed", 2)
    if names(damage, 3) != ["xa"]:
        raise Failed(f"{names(damage, 3)}")


def test_a_zone_that_the_machine_does_not_know_stops_only_replays(w):
    private(w, "nowhere")
    w.sql(ITEM, "INSERT INTO item (id, name) VALUES (1, 'a')")
    daemon = make(w, {"table": "item"}, topic={"day_zone": "Mars/Olympus_Mons"})
    on(w, at(DAY), "UPDATE item SET name = 'b'")
    w.equal(daemon)
    said = daemon.command("replay", f"{w.schema}.item", "--day", str(DAY), ok=(2,)).stderr
    if "knows no time zone Mars/Olympus_Mons" not in said or "fix" not in said:
        raise Failed(said)
    warned = [c for c in daemon.json("doctor")["items"] if c["id"] == "topic.day_zone"]
    if [c["status"] for c in warned] != ["warn"] or "tzdata" not in warned[0]["fix"]:
        raise Failed(f"{warned}")
    daemon.command("apply", daemon.write("zone.yaml", json.dumps(w.definitions({"table": "item"}, day_zone="Mars//Olympus"))), ok=(1,))


def test_a_replay_that_is_killed_at_any_step_is_done_to_its_end(w):
    private(w, "steps")
    daemon, damage = make_items(w, n=1200)
    on(w, at(DAY), "UPDATE item SET name = 'new'")
    on(w, at(AFTER), "UPDATE item SET name = 'later' WHERE id = 1")
    w.equal(daemon)
    last = None
    for point in ("replay_read:4", "replay_phased:1", "replay_phased:3", "replay_written:1", "replay_written:2", "replay_reported:1"):
        for key in 2, 1199:
            damage.change(key, wrong)
        daemon.stop()
        daemon.start(environment={"MILLRACE_FAILPOINT": point + ":kill"})
        wait_until("it follows", lambda: daemon.command("verify", f"{w.schema}.item", "--key", "6", ok=(0, 75)).returncode == 0)
        daemon.command("replay", f"{w.schema}.item", "--day", str(DAY), "--rate", "0", "--no-wait", ok=None)  # it may not live to answer
        wait_until(f"the daemon is killed at {point}", lambda: daemon.process.poll() is not None, 30)
        daemon.start()
        wait_until("the job is over", lambda: not daemon.json("job", "list")["items"], 60)
        job = daemon.json("report", "list")["items"][0]["job"]
        if job == last:
            raise Failed(f"no job was left of the replay that ended at {point}")
        last = job
        expect(daemon.json("report", "get", job), "replayed", 1200)
        if names(damage, 2, 1199) != ["new", "new"]:
            raise Failed(f"after {point}: {names(damage, 2, 1199)}")
    w.equal(daemon)
