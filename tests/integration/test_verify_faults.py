"""`verify` when something dies, breaks, waits or changes in the middle: it goes on from its cursor, says what it waits for,
and counts apart what cannot be judged."""
import json
import signal
import subprocess
import threading

from detour import Detour
from gate import Gate, Hold
from servers import BINARY, Failed, free_port, parse_json, wait_until
from test_dead_letters import broken, followed, letters
from test_failpoints import armed, until_dead
from test_fan_out import definitions as orders_of_products
from test_fan_out import load
from test_held import two_tables
from test_purge import key_of, put_purged_into
from test_relations import grant_alone
from test_verify import SHARDS, Damage, kinds, make
from test_verify_all import expect, fill, verify

OLDER = (1 << 53) - 7  # a version before the first epoch


def begin(w, daemon, *options, table="orders"):
    return verify(w, daemon, "--no-wait", *options, table=table)["job"]


def progress(daemon, job):
    return daemon.json("report", "get", job, ok=(0, 2))


def ended(daemon, job, seconds=60):
    """The report of the job, once it is there."""
    return wait_until(lambda: f"job {job} has its report, but {progress(daemon, job)}",
                      lambda: (r := progress(daemon, job)) and "verdict" in r and r, seconds)


def follows(w, daemon):
    """A daemon that has just started can compare."""
    wait_until("it follows", lambda: daemon.command("verify", f"{w.schema}.orders", "--key", "6", ok=(0, 75)).returncode == 0)


def killed(w, daemon, point, nth, *options):
    """A verification whose daemon is killed at this point, and goes on in the next one, which runs."""
    daemon.stop()
    daemon.start(environment=armed(point, nth))
    follows(w, daemon)
    job = begin(w, daemon, *options)
    until_dead(daemon, point)
    return job


def lose_many(w, damage, keys):
    """Documents of orders that go at once, and the first one's values."""
    w.engine.ask("POST", f"/{damage.index}/_refresh")
    w.engine.ask("POST", f"/{damage.index}/_delete_by_query?refresh=true", {"query": {"terms": {"_id": [str(key) for key in keys[1:]]}}})
    damage.change(keys[0], lambda d: d.update(note="x"))
    return [(str(keys[0]), "different", "note different")] + [(str(key), "missing") for key in keys[1:]]


def test_a_verification_that_is_killed_in_a_repair_goes_on_and_names_all_that_it_found(w):
    definitions = make(w)
    fill(w, 4000)
    daemon, damage = w.follow(definitions), Damage(w)
    for i, (point, nth) in enumerate((("verify_sliced", 2), ("verify_listed", 2), ("verify_repaired", 1), ("verify_repaired", 2))):
        wished = lose_many(w, damage, range(200 + 200 * i, 350 + 200 * i))  # two groups
        job = killed(w, daemon, point, nth, "--repair")
        daemon.start()
        expect(ended(daemon, job), "equal", wished, repaired=len(wished))
    w.equal(daemon)


def test_a_verification_that_was_killed_goes_on_from_its_cursor_and_not_anew(w):
    definitions = make(w)
    fill(w, 5000)
    daemon, damage = w.follow(definitions), Damage(w)
    job = killed(w, daemon, "verify_saved", 2, "--rate", "1000")
    damage.change(1, lambda d: d.update(note="x"))  # behind the cursor, and the ids do not show it
    damage.change(5100, lambda d: d.update(note="x"))
    daemon.start()
    report = ended(daemon, job)
    expect(report, "different", [("5100", "different", "note different")])
    if report["documents"] != 5006:
        raise Failed(f"some documents were counted twice, or not: {report}")
    expect(verify(w, daemon, "--repair"), "equal", [(key, "different", "note different") for key in ("1", "5100")], repaired=2)


def test_a_repair_that_the_engine_refuses_is_a_dead_letter_and_stays_different(w):
    daemon, damage = followed(w), Damage(w, "part")
    letter = broken(w, daemon)
    w.sql("INSERT INTO part SELECT 10 + seq, seq, seq FROM seq_1_to_60")
    wait_until("all are there", lambda: w.engine.count(damage.index) == 63)
    for options in ([], ["--yes"], ["--key", "2", "--key", "3"]):
        daemon.command("dead-letter", "discard", str(letter["id"]), "-y")
        damage.change(3, lambda d: d.update(a=9))
        refused, lost = ("2", "different", "code different"), ("3", "different", "a different")
        answer = daemon.json("verify", f"{w.schema}.part", *options, "--repair", ok=(1,))
        expect(answer, "different", [refused, lost], repaired=1)
        if (answer["differing"], [d["repaired"] for d in answer["differences"]]) != (1, [d["id"] == "3" for d in answer["differences"]]):
            raise Failed(f"{answer}")
        letter, = letters(daemon)
        if letter["doc_id"] != "2":
            raise Failed(f"{letter}")


def waits(daemon, job, word):
    """The job says what it waits for, in its progress and in the list of jobs."""
    def says():
        listed, = [j for j in daemon.json("job", "list")["items"] if j["id"] == job] or [{"waits_for": ""}]
        why = progress(daemon, job).get("waits_for", ""), listed["waits_for"]
        return all(word in each for each in why) and why
    return wait_until(lambda: f"job {job} waits, but {progress(daemon, job)}; {daemon.json('job', 'list')}", says, 30)


def moves(daemon, job, since):
    wait_until(lambda: f"job {job} has done more than {since}, but {progress(daemon, job)}",
               lambda: progress(daemon, job).get("rows_done", 0) > since, 30, 0.02)


def test_a_side_that_is_away_in_the_middle_is_waited_for_and_told(w):
    with Detour(w.engine.port) as engine, Detour(w.db.port) as database:
        definitions = make(w)
        definitions["topics"][0]["address"] = f"127.0.0.1:{database.port}"
        fill(w)
        daemon, damage = w.follow(definitions, search={"url": [f"http://127.0.0.1:{engine.port}"]}), Damage(w)
        damage.lose(1900)
        for side, port, word in ((engine, w.engine.port, "http://127.0.0.1"), (database, w.db.port, "MySQL at 127.0.0.1")):
            job = begin(w, daemon, "--rate", "1500")
            for since in (0, 2100):  # in the rows, and in the ids
                moves(daemon, job, since)
                side.lead_to(free_port())
                waits(daemon, job, word)
                side.lead_to(port)
            report = ended(daemon, job)
            expect(report, "different", [("1900", "missing")])
            if report["documents"] != 2006:
                raise Failed(f"{report}")
        daemon.stop()
        daemon.start(environment={"MILLRACE_FAILPOINT": "verify_repaired:1:wait=2000"})
        follows(w, daemon)
        job = begin(w, daemon, "--repair")
        wait_until("the repair has written", lambda: damage.stored(1900)["found"], 30, 0.02)
        engine.lead_to(free_port())
        waits(daemon, job, "127.0.0.1")
        engine.lead_to(w.engine.port)
        expect(ended(daemon, job), "equal", [("1900", "missing")], repaired=1)


def test_half_a_page_of_ids_from_an_engine_that_could_not_ask_all_shards_is_asked_for_again(w):
    cut = []

    def half(path, body):
        answer = json.loads(body) if "_search" in path and len(cut) < 3 else {}
        if "hits" not in answer:
            return body
        cut.append(path)
        answer["hits"]["hits"] = answer["hits"]["hits"][1::2]
        answer["_shards"]["failed"] = 1
        return json.dumps(answer).encode()

    with Gate(w.engine) as gate:
        daemon, damage = w.follow(make(w), search={"url": gate.url}), Damage(w)
        version = int(damage.stored(1)["_version"])
        for key in range(70, 90):
            damage.put(key, {"id": key}, version)
        gate.alter = half
        expect(verify(w, daemon, ok=(1,)), "different", [(str(key), "extra") for key in range(70, 90)])
    if len(cut) < 3:
        raise Failed("no answer was cut")


def test_who_cannot_judge_for_half_a_minute_ends_with_75_and_says_why(w):
    definitions = make(w)
    w.sql("CREATE TABLE secret (id INT PRIMARY KEY)", "INSERT INTO secret VALUES (1)",
          "CREATE TABLE shut (id INT PRIMARY KEY)", "INSERT INTO shut VALUES (1)",
          "CREATE TABLE gone (id INT PRIMARY KEY)", "INSERT INTO gone SELECT seq FROM seq_1_to_500")
    definitions["tables"] += w.definitions({"table": "secret"}, {"table": "shut"}, {"table": "gone"})["tables"]
    grant_alone(w, "millrace@'127.0.0.1'", "orders", "item", "customer", "secret", "shut", "gone")
    with Detour(w.engine.port) as engine:
        daemon = w.follow(definitions)
        other = w.millrace(search={"url": [f"http://127.0.0.1:{engine.port}"]})
        w.sql("CREATE TABLE alone (id INT PRIMARY KEY)", "INSERT INTO alone VALUES (1)", f"GRANT SELECT ON {w.schema}.alone TO millrace@'127.0.0.1'")
        other.apply(w.definitions({"table": "alone"}))
        other.build(f"{w.schema}.alone")
        w.sql(f"REVOKE SELECT ON {w.schema}.secret FROM millrace@'127.0.0.1'")
        w.engine.ask("POST", f"/{w.index('shut')}_v1/_close")
        gone = begin(w, daemon, "--rate", "100", table="gone")
        moves(daemon, gone, 0)
        w.engine.ask("DELETE", f"/{w.index('gone')}_v1")
        engine.lead_to(free_port())
        asked = [(daemon, "secret", "SELECT command denied"), (daemon, "shut", "closed"), (other, "alone", "127.0.0.1")]
        running = [subprocess.Popen([BINARY, "verify", f"{w.schema}.{table}", "-o", "json", "--config", of.config_file], text=True,
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE) for of, table, _ in asked]
        for (of, table, word), process in zip(asked, running):
            out, error = process.communicate(timeout=90)
            report = parse_json(out) if out else {}
            if process.returncode != 75 or report["verdict"] != "unknown" or word not in report["why"]:
                raise Failed(f"{table}: {process.returncode} {out} {error}")
        report = ended(daemon, gone)
        if report["verdict"] != "unknown" or "index_not_found" not in report["why"]:
            raise Failed(f"{report}")


def test_documents_of_an_older_or_newer_lineage_are_told_and_never_overwritten(w):
    definitions = make(w)
    fill(w, 200)
    daemon, damage = w.follow(definitions), Damage(w)
    source = damage.stored(1)["_source"]
    damage.lose(1)
    for what in ("_close", "_open"):  # its shards begin anew, and have forgotten the delete
        w.engine.ask("POST", f"/{w.index('orders')}_v1/{what}")
    wait_until("its shards are there", lambda: w.engine.ask("GET", f"/_cluster/health/{damage.index}")["status"] == "green")
    damage.put(1, source, OLDER)
    damage.put(77, {"id": 77}, OLDER)
    damage.change(2, lambda d: None, above=1 << 53)
    wished = [(key, "wrong_lineage") for key in ("1", "2", "77")]
    before = [damage.stored(key) for key in (1, 2, 77)]
    for options in ([], ["--repair"], ["--repair", "--yes"]):
        expect(verify(w, daemon, *options, ok=(1,)), "different", wished)
    if [damage.stored(key) for key in (1, 2, 77)] != before:
        raise Failed("a document of another lineage was overwritten")
    daemon.build(f"{w.schema}.orders")
    expect(verify(w, daemon), "equal", [])


def test_an_index_that_keeps_no_values_or_not_all_is_compared_by_ids_and_says_so(w):
    w.sql("CREATE TABLE off (id INT PRIMARY KEY, note VARCHAR(20))", "CREATE TABLE cut (id INT PRIMARY KEY, note VARCHAR(20))",
          "INSERT INTO off SELECT seq, 'as it is' FROM seq_1_to_100", "INSERT INTO cut SELECT seq, 'as it is' FROM seq_1_to_100",
          "CREATE TABLE question (id INT PRIMARY KEY)", "CREATE TABLE answer (id INT PRIMARY KEY, question_id INT)",
          "INSERT INTO question SELECT seq FROM seq_1_to_30", "INSERT INTO answer SELECT seq, seq % 30 + 1 FROM seq_1_to_90")
    daemon = w.follow(w.definitions(
        {"table": "off", "settings": dict(SHARDS), "mapping": {"_source": {"enabled": False}}},
        {"table": "cut", "settings": dict(SHARDS), "mapping": {"_source": {"excludes": ["note"]}}},
        {"table": "question", "index": "faq", "settings": dict(SHARDS), "mapping": {"_source": {"enabled": False}}, "join": {"name": "question"}},
        {"table": "answer", "index": "faq", "settings": dict(SHARDS), "mapping": {"_source": {"enabled": False}},
         "join": {"name": "answer", "parent": "question", "parent_column": "question_id"}}))
    for table, first, wrong in (("off", "", {"note": "wrong"}), ("cut", "", {"note": "wrong"}), ("answer", "answer:", {"question_id": 7})):
        damage = Damage(w, "faq" if first else table)
        at = {"routing": "question:3"} if first else {}
        version = int(damage.stored(f"{first}2", **at)["_version"])
        answer = verify(w, daemon, table=table)
        expect(answer, "equal", [])
        if answer["values_compared"] is not False:
            raise Failed(f"{table}: {answer}")
        damage.put(f"{first}2", {"id": 2} | wrong, version + 1, **at)
        damage.put(f"{first}500", {"id": 500}, version, **at)
        w.engine.ask("DELETE", f"/{damage.index}/_doc/{first}32?version={version + 1}&version_type=external" + ("&routing=question:3" if first else ""))
        wished = [(f"{first}32", "missing"), (f"{first}500", "extra")]
        expect(verify(w, daemon, table=table, ok=(1,)), "different", wished)
        expect(verify(w, daemon, "--repair", table=table), "equal", wished, repaired=2)
        expect(verify(w, daemon, table=table), "equal", [])


def test_rows_that_are_each_larger_than_a_page_are_compared(w):
    w.sql("CREATE TABLE wide (id INT PRIMARY KEY, n INT, t LONGTEXT)",
          *(f"INSERT INTO wide VALUES ({i}, {i}, REPEAT('some words ', {size}))" for i, size in enumerate([450000, 1, 400000], 1)))
    daemon, damage = w.follow(w.definitions({"table": "wide", "settings": dict(SHARDS)})), Damage(w, "wide")
    expect(verify(w, daemon, table="wide"), "equal", [])
    damage.change(3, lambda d: d.update(n=-1))
    damage.lose(1)
    wished = [("1", "missing"), ("3", "different", "n different")]
    expect(verify(w, daemon, table="wide", ok=(1,)), "different", wished)
    expect(verify(w, daemon, "--repair", "--yes", table="wide"), "equal", wished, repaired=2)


def counted(answer, verdict, **reasons):
    """The verdict, and how many documents count apart with which reasons; each of them is listed."""
    have = {name: n for name, n in answer["apart_counts"].items() if n}
    if (answer["verdict"], have, answer["differing"]) != (verdict, reasons, 0) or len(answer["apart"]) < min(1000, sum(reasons.values())):
        raise Failed(f"not {verdict} {reasons}: {answer}")


def test_a_whole_verification_counts_apart_what_may_differ_for_a_known_reason(w):
    definitions = make(w)
    fill(w, 100)
    w.sql("CREATE TABLE polled (id INT PRIMARY KEY, changed TIMESTAMP(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6), KEY (changed))",
          "INSERT INTO polled (id) SELECT seq FROM seq_1_to_30",
          "CREATE TABLE part (id INT PRIMARY KEY, code VARCHAR(20), a INT)", "INSERT INTO part VALUES (1, '10', 1), (2, '20', 1), (3, '30', 1)")
    definitions["tables"] += w.definitions({"table": "polled", "sync_every": "1h", "daily_check_column": "changed"},
                                           {"table": "part", "columns": ["id", {"name": "code", "type": "integer"}, "a"]})["tables"]
    daemon, damage = w.follow(definitions), Damage(w)
    w.sql("UPDATE customer SET name = 'Eve'")
    counted(verify(w, daemon), "equal", not_followed=105)
    w.sql("UPDATE customer SET name = 'Ann'")
    daemon.command("index", "pause", f"{w.schema}.orders")
    damage.lose(4)
    counted(verify(w, daemon, ok=(75,)), "unknown", held=1)
    daemon.command("index", "resume", f"{w.schema}.orders")
    Damage(w, "polled").lose(7)
    counted(verify(w, daemon, table="polled", ok=(75,)), "unknown", read_by_time=1)
    broken(w, daemon)
    counted(verify(w, daemon, table="part"), "equal", dead_letter=1)
    version, stop = int(damage.stored(6)["_version"]), threading.Event()

    def disturb(at):
        while not stop.is_set():
            at += 1
            damage.put(6, {"id": 6, "total": at}, at)

    thread = threading.Thread(target=disturb, args=(version,), daemon=True)
    thread.start()

    def is_seen_changing():  # a writer that a busy machine keeps waiting for as long as three looks take changes nothing
        answer = verify(w, daemon, ok=(1,))
        return kinds(answer) == [("4", "missing")] and answer["apart"] == [{"id": "6", "reason": "changing"}]

    try:
        wait_until("document 6 is called changing, and 4 missing", is_seen_changing, 60)
    finally:
        stop.set()
        thread.join()
    w.sql("DROP TABLE part")
    wait_until("its table is stopped", lambda: w.table(daemon, "part")["state"] == "stopped", 60)
    done = daemon.command("verify", f"{w.schema}.part", ok=(75,))
    if done.stdout or "table" not in done.stderr or "is stopped" not in done.stderr:
        raise Failed(f"a stopped table has a report: {done}")


def reached(daemon, point):
    wait_until(f"{point} is reached", lambda: f'"a failpoint is reached","name":"{point}"' in daemon.log_tail(10**6), 60)


def test_a_whole_verification_counts_apart_what_is_on_its_way(w):
    """In three daemons at once, as each waits for a while before it says so."""
    load(w, orders=1100)
    w.sql("CREATE TABLE clan (id INT PRIMARY KEY)",
          "CREATE TABLE house (id INT PRIMARY KEY, clan_id INT, FOREIGN KEY (clan_id) REFERENCES clan (id) ON DELETE CASCADE)",
          "CREATE TABLE person (id INT PRIMARY KEY, house_id INT, FOREIGN KEY (house_id) REFERENCES house (id) ON DELETE CASCADE)",
          "INSERT INTO clan VALUES (1), (2)", "INSERT INTO house VALUES (1, 1), (2, 2)", "INSERT INTO person SELECT seq, 2 - seq % 2 FROM seq_1_to_20")
    with Gate(w.engine) as gate:
        slow = two_tables(w, search={"url": gate.url})
        wide, kin = w.follow(orders_of_products(w)), w.follow(w.definitions({"table": "house"}, {"table": "person"}))
        slow.stop()
        put_purged_into(w, slow, f"{w.index('busy')}_v1", "busy", [("7", key_of("7"))])
        points = (slow, "purged_written"), (wide, "fan_out_paged"), (kin, "gone_deleted")
        for daemon, point in points:
            daemon.stop()
            daemon.start(environment={"MILLRACE_FAILPOINT": f"{point}:1:wait=60000"})
        w.sql("UPDATE product SET name = 'mug' WHERE id = 1", "DELETE FROM clan WHERE id = 1")
        for daemon, point in points:
            reached(daemon, point)
        Damage(w, "busy").lose(7)
        Damage(w, "house").lose(2)
        counted(verify(w, slow, table="busy", ok=(75,)), "unknown", purged=1)
        gate.watch = Hold()
        gate.watch.open.clear()
        w.sql("UPDATE idle SET a = 7")
        jobs = [(slow, begin(w, slow, table="idle"), {"not_delivered": 1}), (wide, begin(w, wide), {"fan_out": 1100}),
                (kin, begin(w, kin, table="house"), {"cascade": 1})]
        for daemon, job, reasons in jobs:
            counted(ended(daemon, job), "unknown", **reasons)
            daemon.kill()
        gate.watch.open.set()


def test_a_table_or_version_that_becomes_another_in_the_middle_is_unknown_and_one_that_was_closed_is_compared(w):
    definitions = make(w)
    fill(w)
    daemon = w.follow(definitions)

    def during(what):
        job = begin(w, daemon, "--rate", "1000")
        moves(daemon, job, 0)
        what(job)
        return ended(daemon, job)

    def close_for_a_while(job):
        w.engine.ask("POST", f"/{w.index('orders')}_v1/_close")
        waits(daemon, job, "closed")
        w.engine.ask("POST", f"/{w.index('orders')}_v1/_open")

    report = during(close_for_a_while)
    if (report["verdict"], report["documents"]) != ("equal", 2006):
        raise Failed(f"{report}")
    for version, what in enumerate((lambda _: daemon.build(f"{w.schema}.orders"),
                                    lambda _: w.sql("ALTER TABLE orders ADD COLUMN late INT DEFAULT 7")), 1):
        report = during(what)
        if report["verdict"] != "unknown" or f"version {version} of index" not in report["why"] or report["differences"]:
            raise Failed(f"{report}")
        wait_until("the next version is there", lambda version=version: w.table(daemon, "orders")["version"] == version + 1)
    expect(verify(w, daemon), "equal", [])


def test_ctrl_c_leaves_the_job_running_and_its_report_has_positions_and_values_if_asked(w):
    definitions = make(w)
    fill(w, 1500)
    daemon, damage, table = w.follow(definitions), Damage(w), f"{w.schema}.orders"
    damage.change(4, lambda d: d["items"][0].update(qty=7))
    w.sql("UPDATE orders SET note = 'before' WHERE id = 6")
    wait_until("it is delivered", lambda: damage.stored(6)["_source"]["note"] == "before")
    before = int(damage.stored(6)["_version"])
    process = subprocess.Popen([BINARY, "verify", table, "--values", "--rate", "1000", "--config", daemon.config_file],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    job = wait_until("its job runs", lambda: daemon.json("job", "list")["items"])[0]["id"]
    moves(daemon, job, 0)
    process.send_signal(signal.SIGINT)
    out, error = process.communicate(timeout=30)
    if process.returncode in (0, 1) or out or "verdict" in progress(daemon, job):
        raise Failed(f"after Ctrl-C {process.returncode} {out} {error}, {progress(daemon, job)}")
    w.sql("UPDATE orders SET note = 'between' WHERE id = 6")
    wait_until("it is delivered", lambda: damage.stored(6)["_source"]["note"] == "between")
    between = int(damage.stored(6)["_version"])
    report = ended(daemon, job)
    expect(report, "different", [("4", "different", "items[0].qty different")])
    path, = report["differences"][0]["paths"]
    if (path["wanted"], path["found"]) != (1, 7):
        raise Failed(f"no values: {path}")
    if not before <= int(report["from"]) < between <= int(report["to"]):
        raise Failed(f"{before}, {between}, from {report['from']} to {report['to']}")
    said = daemon.command("verify", table, "--no-wait").stdout
    job = daemon.json("job", "list")["items"][0]["id"]
    if f"job {job} " not in said:
        raise Failed(said)
    path, = ended(daemon, job)["differences"][0]["paths"]
    if "wanted" in path or "found" in path:
        raise Failed(f"values are shown, and nobody asked for them: {path}")
