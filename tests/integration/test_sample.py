"""A sample of rows and documents: `verify --sample`, and what a build compares before searches see it."""
import re

from servers import Failed, let_pass, wait_until
from test_verify import SHARDS, Damage, make
from test_verify_all import damage_all, expect, fill, verify


def many(w, key="INT", rows=20000, text="seq * 7"):
    """A table that is much larger than its samples."""
    w.sql(f"CREATE TABLE many (id {key} PRIMARY KEY, n INT)", f"INSERT INTO many SELECT {text}, seq FROM seq_1_to_{rows}")
    return w.definitions({"table": "many", "settings": dict(SHARDS)})


def spoil(w, query, how, **values):
    """A foreign client changes or deletes all documents that match."""
    body = {"query": query, **values}
    w.engine.ask("POST", f"/{w.index('many')}/_refresh")
    answer = w.engine.ask("POST", f"/{w.index('many')}/_{how}_by_query?conflicts=proceed&refresh=true", body)
    if answer["failures"]:
        raise Failed(f"{answer}")


def test_a_sample_that_is_larger_than_the_index_compares_all_of_it(w):
    daemon, damage = w.follow(make(w)), Damage(w)
    answer = verify(w, daemon, "--sample", "1000")
    expect(answer, "equal", [])
    if (answer["sample"], answer["documents"]) != (1000, 6):
        raise Failed(f"{answer}")
    wished = damage_all(damage)
    expect(verify(w, daemon, "--sample", "1000", ok=(1,)), "different", wished)
    expect(verify(w, daemon, "--sample", "1000", "--repair", ok=(1,)), "different", wished)
    expect(verify(w, daemon, "--sample", "1000", "--repair", "--yes"), "equal", wished, repaired=7)
    w.equal(daemon)
    if w.table(daemon, "orders")["compared"] is not None:
        raise Failed("a sample counts as a comparison of the whole index")
    if "a sample: 6 of 6 documents" not in daemon.command("verify", f"{w.schema}.orders", "--sample", "6").stdout:
        raise Failed("a person is not told that it was a sample")


def sample_of_many(w, daemon):
    """Damage of a part is met, equal documents are not, and the newest row is always looked at."""
    table, damage = f"{w.schema}.many", Damage(w, "many")
    answer = verify(w, daemon, "--sample", "1000", table="many")
    expect(answer, "equal", [])
    if not 600 < answer["documents"] < 1500:
        raise Failed(f"of 20,000 documents a sample of 1,000 compares {answer['documents']}")
    newest = str(w.sql("SELECT id FROM many ORDER BY id DESC LIMIT 1")[0][0])
    damage.lose(newest)
    expect(verify(w, daemon, "--sample", "1", table="many", ok=(1,)), "different", [(newest, "missing")])
    expect(verify(w, daemon, "--sample", "1", "--repair", table="many"), "equal", [(newest, "missing")], repaired=1)
    spoil(w, {"range": {"n": {"gte": 4000, "lt": 8000}}}, "update", script={"source": "ctx._source.n = -1"})
    spoil(w, {"range": {"n": {"gte": 12000, "lt": 16000}}}, "delete")
    answer = verify(w, daemon, "--sample", "1000", table="many", ok=(1,))
    if answer["counts"]["different"] < 20 or answer["counts"]["missing"] < 1:
        raise Failed(f"{answer['counts']}")
    daemon.command("index", "create", table)


def test_a_sample_of_integer_keys_meets_what_a_part_of_the_index_has(w):
    daemon = w.follow(many(w))
    sample_of_many(w, daemon)


def test_a_sample_of_texts_meets_what_a_part_of_the_index_has(w):
    daemon = w.follow(many(w, "VARCHAR(40)", text="CONCAT('k', MD5(seq))"))
    sample_of_many(w, daemon)


def test_a_sample_of_none_or_too_many_is_refused(w):
    daemon = w.follow(make(w))
    table = f"{w.schema}.orders"
    for words in (["--sample", "0"], ["--sample", "1000001"], ["--sample", "x"], ["--sample", "5", "--key", "1"]):
        if not re.search("sample|--key", daemon.command("verify", table, *words, ok=(2,)).stderr):
            raise Failed(f"{words}")
    if daemon.json("report", "list")["items"] or daemon.json("job", "list")["items"]:
        raise Failed("something was begun")


def build_slowly(w, point, *options, table="orders", seconds=4):
    """A daemon that follows, and whose next build rests at the point before it compares; its documents are there."""
    if not hasattr(w, "daemon_of_builds"):
        w.daemon_of_builds = w.follow(w.made)
    daemon = w.daemon_of_builds
    daemon.stop()
    daemon.start(environment={"MILLRACE_FAILPOINT": f"{point}:1:wait={seconds * 1000}"})
    daemon.command("index", "create", f"{w.schema}.{table}", "--no-wait", *options)
    at = wait_until("it builds", lambda: w.table(daemon, table)["build"])["version"]
    wait_until("the documents are there", lambda: counts(w, table, at) == counts(w, table, at - 1) and is_counting(w, daemon, table))
    damage = Damage(w, table)
    damage.index += f"_v{at}"
    return daemon, damage


def counts(w, table, version):
    return w.engine.ask("GET", f"/{w.index(table)}_v{version}/_count", ok=(200, 404)).get("count", -1)


def is_counting(w, daemon, table):
    waits_for = (w.table(daemon, table)["build"] or {}).get("waits_for") or ""
    return "counting" in waits_for or "comparing" in waits_for


def built(w, daemon, version=2, table="orders"):
    wait_until(f"version {version} is searched", lambda: w.table(daemon, table)["version"] == version and not daemon.json("job", "list")["items"])


def test_what_differs_before_searches_see_a_build_is_repaired(w):
    w.made = make(w)
    daemon, damage = build_slowly(w, "build_counted")
    damage.change(1, lambda d: d.update(note="x"))
    damage.change(4, lambda d: d["items"][0].update(qty=7))
    built(w, daemon)
    w.equal(daemon)
    report = daemon.json("report", "list")["items"]
    if [(r["index"], r["version"], r["verdict"], r["repaired"]) for r in report] != [(w.index("orders"), 2, "equal", 2)]:
        raise Failed(f"{report}")
    told = daemon.json("report", "get", report[0]["job"])
    expect(told, "equal", [("1", "different", "note different"), ("4", "different", "items[0].qty different")], repaired=2)
    if "repaired" not in daemon.command("log", "list").stdout:
        raise Failed("the log does not tell")


def test_a_version_that_still_differs_waits_with_its_report(w):
    w.made = make(w)
    daemon, damage = build_slowly(w, "build_counted")
    damage.change(3, lambda d: d.update(note="x"), above=1 << 53)
    table = wait_until("it waits", lambda: (lambda t: t if t["state"] == "waiting" else None)(w.table(daemon, "orders")))
    wait, job = table["wait"], daemon.json("report", "list")["items"][0]["job"]
    if (wait["reason"], table["version"]) != ("differs", 1) or f"report get {job}" not in wait["detail"]:
        raise Failed(f"{wait}")
    if f"verify {w.schema}.orders --version 2 --repair" not in wait["fix"] or "index cutover" not in wait["fix"]:
        raise Failed(f"{wait}")
    expect(daemon.json("report", "get", job), "different", [("3", "wrong_lineage")])
    for words in (["status"], ["doctor"]):
        said = daemon.command(*words, ok=(0, 1)).stdout
        if "waiting" not in said and "waits" not in said:
            raise Failed(f"{words[0]} does not tell: {said}")
    daemon.kill()
    daemon.start()
    wait_until("it follows", lambda: daemon.command("verify", f"{w.schema}.orders", "--key", "6", ok=(0, 75)).returncode == 0)
    expect(verify(w, daemon, "--version", "2", ok=(1,)), "different", [("3", "wrong_lineage")])
    if w.table(daemon, "orders")["state"] != "waiting":
        raise Failed("a restart publishes it")
    daemon.command("index", "cutover", f"{w.schema}.orders")
    built(w, daemon)


def test_damage_of_a_part_that_a_sample_repairs_is_met_by_the_next_and_the_version_waits(w):
    w.made = many(w)
    daemon, _ = build_slowly(w, "build_counted", table="many", seconds=8)
    w.engine.ask("POST", f"/{w.index('many')}_v2/_refresh")
    answer = w.engine.ask("POST", f"/{w.index('many')}_v2/_update_by_query?conflicts=proceed&refresh=true", {
        "query": {"range": {"n": {"gte": 4000, "lt": 8000}}}, "script": {"source": "ctx._source.n = -1"}})
    if answer["updated"] != 4000:
        raise Failed(f"{answer}")
    table = wait_until("it waits", lambda: (lambda t: t if t["state"] == "waiting" else None)(w.table(daemon, "many")))
    if table["wait"]["reason"] != "differs":
        raise Failed(f"{table}")
    repaired = verify(w, daemon, "--version", "2", "--repair", "--yes", table="many")
    if repaired["verdict"] != "equal" or repaired["repaired"] < 3000:
        raise Failed(f"{repaired['verdict']} {repaired['repaired']}")
    daemon.command("index", "cutover", f"{w.schema}.many")
    built(w, daemon, table="many")
    w.equal(daemon)


def test_full_compares_all_and_none_compares_nothing(w):
    w.made = many(w)
    daemon, damage = build_slowly(w, "build_counted", "--verify", "full", table="many", seconds=6)
    key = w.sql("SELECT id FROM many ORDER BY id LIMIT 1 OFFSET 12345")[0][0]
    damage.change(key, lambda d: d.update(n=-1))
    built(w, daemon, table="many")
    report = daemon.json("report", "list")["items"][0]
    if (report["repaired"], report["documents"], report["verdict"]) != (1, 20000, "equal"):
        raise Failed(f"{report}")
    w.equal(daemon)
    daemon.stop()
    daemon.start(environment={"MILLRACE_FAILPOINT": "build_counted:1:wait=4000"})
    daemon.command("index", "create", f"{w.schema}.many", "--verify", "none", "--no-wait")
    wait_until("it counts", lambda: counts(w, "many", 3) == 20000 and is_counting(w, daemon, "many"))
    damage.index = f"{w.index('many')}_v3"
    newest = w.sql("SELECT MAX(id) FROM many")[0][0]
    damage.change(newest, lambda d: d.update(n=-1))
    built(w, daemon, 3, table="many")
    if len(daemon.json("report", "list")["items"]) != 1:
        raise Failed("something was compared")
    expect(verify(w, daemon, "--sample", "1", "--repair", table="many"), "equal", [(str(newest), "different", "n different")], repaired=1)
    daemon.command("index", "create", f"{w.schema}.many", "--verify", "some", ok=(2,))


def test_a_build_that_is_killed_while_it_compares_goes_on(w):
    w.made = make(w)
    fill(w, 3000)
    daemon, table = w.follow(w.made), f"{w.schema}.orders"
    for version, point in enumerate(("verify_sampled:1", "verify_sampled:3", "build_compared:1"), 2):
        daemon.stop()
        daemon.start(environment={"MILLRACE_FAILPOINT": point + ":kill"})
        daemon.command("index", "create", table, "--no-wait")
        wait_until(f"the daemon is killed at {point}", lambda: daemon.process.poll() is not None, 30)
        if list(w.engine.ask("GET", f"/_alias/{w.index('orders')}")) != [f"{w.index('orders')}_v{version - 1}"]:
            raise Failed(f"searches saw version {version} before it was compared")
        w.sql("UPDATE orders SET note = 'later' WHERE id = 200", f"INSERT INTO orders VALUES ({10000 + version}, 1, 'n', 5)")
        daemon.start()
        built(w, daemon, version)
        w.equal(daemon)


def test_a_topic_that_is_paused_while_a_build_compares_keeps_it_from_nothing_but_going_on(w):
    w.made = make(w)
    for version, point in enumerate(("build_counted", "verify_sampled"), 2):
        daemon, damage = build_slowly(w, point)
        damage.change(1, lambda d: d.update(note="x"))
        daemon.command("topic", "pause", w.schema)
        w.sql("UPDATE orders SET note = 'paused' WHERE id = 2")
        daemon.command("topic", "resume", w.schema)
        built(w, daemon, version)
        w.equal(daemon)
        daemon.stop()


def test_an_empty_table_is_built(w):
    w.sql("CREATE TABLE none (id INT PRIMARY KEY)")
    daemon = w.follow(w.definitions({"table": "none"}))
    daemon.command("index", "create", f"{w.schema}.none", "--verify", "full")
    built(w, daemon, 2, table="none")


def test_a_condition_compares_the_rows_that_meet_it_and_nothing_else(w):
    daemon, damage, table = w.follow(make(w)), Damage(w), f"{w.schema}.orders"
    damage_all(damage)
    answer = verify(w, daemon, "--where", "note IN ('a', 'f') OR id = 2", ok=(1,))
    expect(answer, "different", [("1", "different", "total different"), ("2", "missing")])
    if (answer["where"], answer["documents"]) != ("note IN ('a', 'f') OR id = 2", 3):
        raise Failed(f"{answer}")
    if w.table(daemon, "orders")["compared"] is not None:
        raise Failed("a part counts as a comparison of the whole index")
    expect(verify(w, daemon, "--where", "id = 2", "--repair", "--yes"), "equal", [("2", "missing")], repaired=1)
    expect(verify(w, daemon, "--where", "id IN (2, 6)"), "equal", [])
    if "that meet the condition: 1 of 1" not in daemon.command("verify", table, "--where", "id = 6").stdout:
        raise Failed("a person is not told that it was a part")
    expect(verify(w, daemon, "--where", "id > 1000"), "equal", [])


def test_a_condition_that_is_none_is_refused_with_the_servers_words(w):
    daemon, table = w.follow(make(w)), f"{w.schema}.orders"
    for where, words in (("id = 1; DROP TABLE orders", "ends a statement"), ("id = 1)", "`)` without"), ("(id = 1", "without `)`"),
                         ("note = 'x", "quote is not closed"), ("id = 1 -- no", "comments"), ("", "condition"),
                         ("nothing_like_this = 1", "nothing_like_this"), ("id = = 1", "refuses the condition")):
        said = daemon.command("verify", table, "--where", where, ok=(2,)).stderr
        if words not in said:
            raise Failed(f"{where}: {said}")
    daemon.command("verify", "--all", "--where", "id = 1", ok=(2,))
    daemon.command("verify", table, "--sample", "1", "--where", "id = 1", ok=(2,))
    if daemon.json("report", "list")["items"] or daemon.json("job", "list")["items"] or not w.sql("SELECT * FROM orders"):
        raise Failed("something was begun")


def test_a_condition_concerns_only_its_table_of_a_shared_index(w):
    w.sql("CREATE TABLE question (id INT PRIMARY KEY, title VARCHAR(20))",
          "CREATE TABLE answer (id INT PRIMARY KEY, question_id INT, text VARCHAR(20))",
          "INSERT INTO question SELECT seq, CONCAT('q', seq) FROM seq_1_to_30", "INSERT INTO answer SELECT seq, seq % 30 + 1, 'so' FROM seq_1_to_90")
    daemon = w.follow(w.definitions(
        {"table": "question", "index": "faq", "settings": dict(SHARDS), "join": {"name": "question"}},
        {"table": "answer", "index": "faq", "settings": dict(SHARDS),
         "join": {"name": "answer", "parent": "question", "parent_column": "question_id"}}))
    answer = verify(w, daemon, "--where", "text = 'so' AND id <= 10", table="answer")
    if (answer["verdict"], answer["documents"], answer["table"]) != ("equal", 10, f"{w.schema}.answer"):
        raise Failed(f"{answer}")


def test_children_without_parent_are_counted_apart_and_make_nothing_different(w):
    w.sql("CREATE TABLE question (id INT PRIMARY KEY, title VARCHAR(20))",
          "CREATE TABLE answer (id INT PRIMARY KEY, question_id INT, text VARCHAR(20))",
          "INSERT INTO question SELECT seq, CONCAT('q', seq) FROM seq_1_to_30",
          "INSERT INTO answer SELECT seq, seq % 30 + 1, 'so' FROM seq_1_to_90", "INSERT INTO answer VALUES (91, 77, 'orphan'), (92, NULL, 'free')")
    daemon = w.follow(w.definitions(
        {"table": "question", "index": "faq", "settings": dict(SHARDS), "join": {"name": "question"}},
        {"table": "answer", "index": "faq", "settings": dict(SHARDS),
         "join": {"name": "answer", "parent": "question", "parent_column": "question_id"}}))
    damage = Damage(w, "faq")
    for options in ([], ["--sample", "1000"], ["--where", "id > 80"]):
        answer = verify(w, daemon, *options, table="answer")
        if (answer["verdict"], answer["counts"]["orphan"], answer["differing"]) != ("equal", 1, 0):
            raise Failed(f"{options}: {answer}")
        expect(answer, "equal", [("answer:91", "orphan")])
    w.sql("DELETE FROM question WHERE id = 5")
    w.equal(daemon)
    answer = verify(w, daemon, "--repair", table="question")
    expect(answer, "equal", [("answer:91", "orphan"), ("answer:4", "orphan"), ("answer:34", "orphan"), ("answer:64", "orphan")])
    if "4 children without parent" not in daemon.command("verify", f"{w.schema}.answer").stdout:
        raise Failed("a person is not told")
    version = int(damage.stored("question:7", "question:7")["_version"]) + 1
    w.engine.ask("DELETE", f"/{damage.index}/_doc/question:7?routing=question:7&version={version}&version_type=external")
    answer = verify(w, daemon, table="question", ok=(1,))
    if answer["counts"]["orphan"] != 4 or answer["counts"]["missing"] != 1:
        raise Failed(f"a parent whose document is lost makes no orphans: {answer}")


def test_a_row_whose_key_makes_no_id_keeps_no_build_and_no_verification_waiting(w):
    w.sql("CREATE TABLE word (id VARCHAR(20) PRIMARY KEY, n INT)", "INSERT INTO word VALUES ('', 1), ('a', 2), ('b', 3)")
    daemon = w.follow(w.definitions({"table": "word"}))
    for options in ((), ("--sample", "2")):
        answer = daemon.json("verify", f"{w.schema}.word", *options)
        if (answer["verdict"], answer["equal"], answer["apart_counts"]["dead_letter"]) != ("equal", 2, 1):
            raise Failed(f"{options}: {answer}")
