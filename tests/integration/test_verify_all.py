"""`verify` of whole tables: a job with two passes finds what damage a foreign client did, repairs it, and survives kills."""

from gate import Gate, Hold
from servers import Failed, wait_until, while_loaded
from test_delivery_settings import change
from test_kill import Writer
from test_verify import SHARDS, Damage, damage_each_kind, kinds, make


def verify(w, daemon, *options, table="orders", ok=(0,)):
    return daemon.json("verify", f"{w.schema}.{table}", *options, ok=ok)


def expect(answer, verdict, wished, repaired=0):
    if answer["verdict"] != verdict or kinds(answer) != sorted(wished) or answer["repaired"] != repaired:
        raise Failed(f"not {verdict} {wished}: {answer}")


def fill(w, n=2000):
    w.sql("INSERT INTO orders SELECT 100 + seq, seq * 1.5, CONCAT('n', seq), 5 FROM seq_1_to_" + str(n),
          "INSERT INTO item SELECT 100 + seq, 100 + seq, seq, 2.5 FROM seq_1_to_" + str(n))


def damage_all(damage):
    """The same, and a document with an _id that no row has."""
    wished, _ = damage_each_kind(damage)
    damage.put("no-key", {"id": 1}, int(damage.stored(6)["_version"]))
    return [*wished, ("no-key", "unexplained")]


def test_a_whole_index_is_equal_and_damage_of_each_kind_is_found_and_repaired(w):
    definitions = make(w)
    fill(w)
    daemon, damage = w.follow(definitions), Damage(w)
    answer = verify(w, daemon)
    expect(answer, "equal", [])
    if (answer["documents"], answer["equal"]) != (2006, 2006):
        raise Failed(f"{answer}")
    wished = damage_all(damage)
    expect(verify(w, daemon, ok=(1,)), "different", wished)
    found = verify(w, daemon, "--repair", "--dry-run", ok=(1,))
    expect(found, "different", wished)
    if (found["documents"], found["equal"], found["differing"]) != (2008, 2001, 7):
        raise Failed(f"{found}")
    expect(verify(w, daemon, "--repair"), "equal", wished, repaired=7)
    compared = daemon.json("status")["tables"][0]["compared"]
    if (compared["verdict"], compared["repaired"], sum(compared["counts"].values())) != ("equal", 7, 7):
        raise Failed(f"status says of the last comparison: {compared}")
    if compared["repaired_counts"] != compared["counts"]:
        raise Failed(f"all that differed was repaired, but by kind: {compared}")
    if daemon.metric("millrace_table_repaired_by_kind", kind="missing") != compared["counts"]["missing"]:
        raise Failed("the metrics do not say what the last comparison repaired")
    expect(verify(w, daemon), "equal", [])
    daemon.stop()
    daemon.start()
    compared = daemon.json("status")["tables"][0]["compared"]
    if (compared["verdict"], compared["documents"], sum(compared["counts"].values())) != ("equal", 2006, 0):
        raise Failed(f"status says of the last comparison: {compared}")
    w.equal(daemon)
    listed = daemon.json("report", "list")["items"]
    if "2,006 of 2,006 documents" not in daemon.command("verify", "--all").stdout:
        raise Failed("not all indexes are verified")
    if [item["verdict"] for item in listed] != ["equal", "equal", "different", "different", "equal"]:
        raise Failed(f"{listed}")
    if kinds(daemon.json("report", "get", listed[1]["job"])) != sorted(wished):
        raise Failed("the stored report is another one")
    if daemon.json("job", "list")["items"]:
        raise Failed("a job is left")


def test_more_than_a_twentieth_is_changed_only_after_a_look_and_with_yes(w):
    daemon, damage = w.follow(make(w)), Damage(w)
    damage.lose(2)
    refused = daemon.command("verify", f"{w.schema}.orders", "--repair", "--yes", ok=(2,))
    if "first" not in refused.stderr:
        raise Failed(refused.stderr)
    answer = verify(w, daemon, "--repair", ok=(1,))
    expect(answer, "different", [("2", "missing")])
    if "--repair --yes" not in answer["why"] or damage.stored(2)["found"]:
        raise Failed(f"{answer}")
    expect(verify(w, daemon, "--repair", "--yes"), "equal", [("2", "missing")], repaired=1)
    w.equal(daemon)


def test_members_of_a_join_and_their_foreign_documents_are_compared_together(w):
    w.sql("CREATE TABLE question (id INT PRIMARY KEY, title VARCHAR(20))",
          "CREATE TABLE answer (id INT PRIMARY KEY, question_id INT, text VARCHAR(20))",
          "CREATE TABLE remark (id INT PRIMARY KEY, answer_id INT, root INT, text VARCHAR(20), KEY (answer_id))",
          "INSERT INTO question SELECT seq, CONCAT('q', seq) FROM seq_1_to_300",
          "INSERT INTO answer SELECT seq, seq % 300 + 1, 'so' FROM seq_1_to_900",
          "INSERT INTO remark SELECT seq, seq, NULL, 'oh' FROM seq_1_to_600")
    daemon = w.follow(w.definitions(
        {"table": "question", "index": "faq", "settings": dict(SHARDS), "join": {"name": "question"}},
        {"table": "answer", "index": "faq", "settings": dict(SHARDS),
         "join": {"name": "answer", "parent": "question", "parent_column": "question_id"}},
        {"table": "remark", "index": "faq", "settings": dict(SHARDS), "root_column": "root",
         "join": {"name": "remark", "parent": "answer", "parent_column": "answer_id"}}))
    answer = verify(w, daemon, table="answer")
    expect(answer, "equal", [])
    if answer["documents"] != 1800:
        raise Failed(f"{answer}")
    damage = Damage(w, "faq")
    have = damage.stored("remark:3", "question:4")
    damage.put("remark:3", {**have["_source"], "text": "no"}, int(have["_version"]) + 1, "question:4")
    damage.put("nobody:1", {"text": "x"}, int(have["_version"]), "question:4")
    damage.put("answer:5000", have["_source"], int(have["_version"]), "question:4")
    expect(verify(w, daemon, "--repair", table="question"), "equal",
           [("remark:3", "different", "text different"), ("nobody:1", "unexplained"), ("answer:5000", "extra")], repaired=3)
    w.equal(daemon)


def test_a_verification_that_is_killed_at_each_step_goes_on_and_names_the_same(w):
    definitions = make(w)
    fill(w, 5000)
    daemon, damage = w.follow(definitions), Damage(w)
    wished = damage_all(damage)
    for point in ("verify_saved:1", "verify_saved:3", "verify_reported:1"):
        daemon.stop()
        daemon.start(environment={"MILLRACE_FAILPOINT": point + ":kill"})
        wait_until("it follows", lambda: daemon.command("verify", f"{w.schema}.orders", "--key", "6", ok=(0, 75)).returncode == 0)
        job = verify(w, daemon, "--no-wait", "--rate", "2000")["job"]
        wait_until(f"the daemon is killed at {point}", lambda: daemon.process.poll() is not None, 30)
        daemon.start(wait=False)  # its jobs may not go on yet, but are there
        wait_until("the report is there", lambda: "verdict" in daemon.json("report", "get", job, ok=(0, 2)), 60)
        expect(daemon.json("report", "get", job), "different", wished)
    expect(verify(w, daemon, "--repair"), "equal", wished, repaired=7)
    w.equal(daemon)


def test_a_verification_whose_scroll_is_lost_reads_that_slice_again(w):
    daemon = w.follow(make(w))
    fill(w, 6000)
    w.equal(daemon)
    job = verify(w, daemon, "--no-wait", "--rate", "1500")["job"]
    wait_until("it has read some of a slice", lambda: 6006 < daemon.json("report", "get", job).get("rows_done", 0) < 7900, 60, 0.02)
    w.engine.ask("DELETE", "/_search/scroll/_all")
    report = wait_until("the report is there", lambda: (r := daemon.json("report", "get", job, ok=None)).get("verdict") and r, 60)
    if (report["verdict"], report["documents"]) != ("equal", 6006):
        raise Failed(f"{report}")


def test_a_load_gives_no_false_alarm_and_two_runs_at_once_are_one(w):
    daemon, work, _ = w.work_on_shop()
    writer = Writer(w, work, pause=0.02)
    try:
        judged = 0
        for _ in while_loaded(20):
            answer = verify(w, daemon, ok=(0, 1, 75))
            if answer["differences"]:
                raise Failed(f"a false alarm: {answer}")
            judged += answer["equal"]
        if not judged:
            raise Failed("nothing was judged")
        job = verify(w, daemon, "--no-wait", "--rate", "1")["job"]
        second = daemon.command("verify", f"{w.schema}.orders", ok=(75,))
        if f"job {job}" not in second.stderr:
            raise Failed(second.stderr)
    finally:
        writer.rest()
        writer.end()


def test_what_cannot_be_judged_is_unknown_with_its_reason(w):
    daemon = w.follow(make(w))
    table = f"{w.schema}.orders"
    job = verify(w, daemon, "--no-wait", "--rate", "1")["job"]
    daemon.build(table)
    daemon.command("index", "delete", table, "--yes")
    report = wait_until("it ends", lambda: (lambda r: r if "verdict" in r else None)(daemon.json("report", "get", job)), 60)
    if report["verdict"] != "unknown" or not report["why"]:
        raise Failed(f"{report}")
    for words in (["report", "get", "999"], ["report", "get", "x"], ["verify", table, "--version", "1"], ["verify", f"{w.schema}.none"]):
        daemon.command(*words, ok=(1, 2))
    expect(verify(w, daemon), "equal", [])


def with_another_topic(w):
    """An index of a second topic, which no verification of the first one waits for."""
    other = f"{w.schema}_busy"
    w.sql("CREATE TABLE orders (id INT PRIMARY KEY, name VARCHAR(20))", "INSERT INTO orders SELECT seq, 'so' FROM seq_1_to_300",
          f"CREATE OR REPLACE DATABASE {other}", f"GRANT SELECT ON {other}.* TO millrace@'127.0.0.1'",
          f"CREATE TABLE {other}.busy (id INT PRIMARY KEY, text LONGTEXT)")
    made, busy = w.definitions({"table": "orders"}), w.definitions({"table": "busy"})
    busy["tables"][0]["table"] = f"{other}.busy"
    return other, {"topics": [*made["topics"], {**made["topics"][0], "name": other}],
                   "databases": [*made["databases"], {"name": other, "topic": other}], "tables": [*made["tables"], *busy["tables"]]}


class HoldBusy(Hold):
    def begin(self, path, body):
        if "-busy" in path or b"-busy" in body:
            super().begin(path, body)


def test_a_repair_waits_while_the_queue_is_above_half_of_a_mark_and_says_so(w):
    other, made = with_another_topic(w)
    with Gate(w.engine) as gate:
        gate.watch = hold = HoldBusy()
        daemon, damage = w.follow(made, search={"url": [gate.url]}, delivery={"workers": 1, "high_water_mark": 20, "bytes": "64MiB"}), Damage(w)
        # A document in a request counts twice as much as a queued one: two have room in 1 MiB, and fill its half, either way.
        for mark, rows, text in (("high_water_mark", 15, "'x'"), ("bytes", 2, "REPEAT('x', 180000)")):
            hold.open.clear()
            w.sql(f"REPLACE INTO {other}.busy SELECT seq, {text} FROM seq_1_to_{rows}")
            wait_until("delivery holds the changes", lambda: (d := daemon.status()["delivery"])["queued"] + d["in_flight"] >= rows)
            for key in (2, 3):
                damage.change(key, lambda d: d.update(name="wrong"))
            job = verify(w, daemon, "--repair", "--no-wait")["job"]
            wait_until("the job says that it waits, and for what",
                       lambda: daemon.json("report", "get", job).get("waits_for", "").endswith(f"no more than half of delivery.{mark}"), 30)
            verify(w, daemon, "--repair", "--key", "3")  # few keys wait for nothing
            if damage.stored(2)["_source"]["name"] != "wrong" or damage.stored(3)["_source"]["name"] != "so":
                raise Failed("the job's repair did not wait, or the one of a key did")
            hold.open.set()
            report = wait_until("the report is there", lambda: (r := daemon.json("report", "get", job, ok=None)).get("verdict") and r, 60)
            if report["verdict"] != "equal" or damage.stored(2)["_source"]["name"] != "so":
                raise Failed(f"{report}")
            change(daemon, "high_water_mark=1000", "bytes=1MiB")
