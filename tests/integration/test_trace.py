"""`trace` of one document: one sentence says why it is, or is not, as its row; what cannot be judged is never called different."""
import time

from detour import Detour
from servers import Failed, free_port, wait_until
from test_astray import aliases, looks
from test_dead_letters import broken, followed
from test_fan_out import follow, load, rename
from test_held import two_tables, wait_held
from test_kill import Writer
from test_purge import key_of, put_purged_into
from test_verify import SHARDS, Damage, make


def trace(w, daemon, key, ok=(0,), options=(), table="orders"):
    return daemon.json("trace", f"{w.schema}.{table}", str(key), *options, ok=ok)


def expect(answer, code, **wished):
    """The answer has this code, a sentence, a next step unless all is equal, and these members."""
    have = {name: answer[name] for name in wished}
    if answer["code"] != code or have != wished or not answer["sentence"] or code not in answer["facts"]:
        raise Failed(f"not {code} {wished}: {answer}")
    if (answer["next"] == "") != (answer["verdict"] == "equal") or "{" in answer["sentence"] + answer["next"]:
        raise Failed(f"the next step is {answer['next']!r}: {answer}")
    return answer


def test_an_equal_document_is_traced_to_its_version_position_and_lineage(w):
    daemon = w.follow(make(w))
    answer = expect(trace(w, daemon, 1), "equal", verdict="equal", differences=[])
    version, = answer["versions"]
    copy, = version["copies"]
    if (version["state"], version["found"], version["owner"], copy["lineage"]) != ("available", "open", "ours", "ours"):
        raise Failed(f"{version}")
    number = int(copy["epoch"]) << 53 | int(copy["file"]) << 33 | int(copy["position"])
    if str(number) != copy["version"] or copy["version"] != str(Damage(w).stored(1)["_version"]):
        raise Failed(f"the position is not of the version: {copy}")
    if answer["row"]["state"] != "shown" or answer["row"]["document"]["note"] != "a" or answer["delivery"]["stage"] != "none":
        raise Failed(f"{answer}")
    said = daemon.command("trace", f"{w.schema}.orders", "1").stdout
    if not said.startswith("document 1 is as its row says\n") or f"epoch {copy['epoch']}" not in said:
        raise Failed(said)


def test_damage_by_a_foreign_client_is_named_by_its_kind_and_path(w):
    daemon, damage = w.follow(make(w)), Damage(w)
    damage.lose(2)
    damage.change(4, lambda d: d["items"][0].update(qty=7))
    damage.put(77, {"id": 77}, int(damage.stored(1)["_version"]))
    damage.change(5, lambda d: d.update(note="x"), above=1 << 53)
    missing = expect(trace(w, daemon, 2, ok=(1,)), "missing", verdict="different")
    if missing["next"] != f"millrace verify {w.schema}.orders --key 2 --repair":
        raise Failed(f"{missing}")
    path, = expect(trace(w, daemon, 4, ok=(1,)), "different")["differences"][0]["paths"]
    if (path["path"], path["wanted"], path["found"]) != ("items[0].qty", 1, 7):
        raise Failed(f"{path}")
    expect(trace(w, daemon, 77, ok=(1,)), "extra")
    other = expect(trace(w, daemon, 5, ok=(1,)), "wrong_lineage")
    if other["versions"][0]["copies"][0]["lineage"] != "other":
        raise Failed(f"{other}")
    said = daemon.command("trace", f"{w.schema}.orders", "4", ok=(1,)).stdout
    if "items[0].qty: different" not in said or "next: millrace verify" not in said:
        raise Failed(said)


def test_what_of_a_definition_is_pending_is_named(w):
    made = make(w)
    daemon = w.follow(made)
    orders = made["tables"][0]
    del orders["relations"][0]["columns"][2]
    orders["columns"] = ["id", {"name": "note", "type": "text"}]
    orders["daily_check_column"] = "note"  # at once
    daemon.apply(made)
    told = trace(w, daemon, 1)["definition"]
    said = daemon.command("trace", f"{w.schema}.orders", "1").stdout
    if not told["pending"] or told["changes"] != ["columns", "relations[items].columns[price]"]:
        raise Failed(f"{told}")
    if "next index create\n    columns\n    relations[items].columns[price]\n" not in said:
        raise Failed(said)
    daemon.build(f"{w.schema}.orders")
    told = trace(w, daemon, 1)["definition"]
    if told["pending"] or told["changes"]:
        raise Failed(f"{told}")


def test_a_row_without_a_document_says_why(w):
    w.sql("CREATE TABLE orders (id INT PRIMARY KEY, kind INT, gone INT NOT NULL)",
          "INSERT INTO orders VALUES (1, 1, 0), (2, 2, 0), (3, 1, 1), (4, 1, 0)")
    daemon = w.follow(w.definitions({"table": "orders", "filter": "kind = 1", "soft_delete": {"column": "gone", "deleted": 1}}))
    expect(trace(w, daemon, 1), "equal")
    expect(trace(w, daemon, 2), "filtered")
    expect(trace(w, daemon, 3), "soft_deleted")
    expect(trace(w, daemon, 99), "no_row")
    w.sql("DELETE FROM orders WHERE id = 4")
    w.equal(daemon)
    deleted = expect(trace(w, daemon, 4), "no_row")

    def tombstones():
        return trace(w, daemon, 4)["versions"][0]["tombstones"]

    tombstone, = wait_until("its tombstone is stored", tombstones)
    if int(tombstone["version"]) == 0 or deleted["versions"][0]["copies"]:
        raise Failed(f"{tombstone}, {deleted}")


def test_a_dead_letter_is_told_with_its_reason_and_its_replay(w):
    daemon = followed(w)
    letter = broken(w, daemon)
    answer = expect(trace(w, daemon, 2, ok=(75,), table="part"), "dead_letter", verdict="unknown")
    if answer["dead_letters"][0]["id"] != letter["id"] or f"dead-letter replay {letter['id']}" not in answer["next"]:
        raise Failed(f"{answer}")
    if letter["reason"] not in answer["sentence"]:
        raise Failed(f"{answer['sentence']} lacks {letter['reason']}")
    expect(trace(w, daemon, 1, table="part"), "equal")


def test_what_a_person_paused_is_told_as_paused_and_never_as_different(w):
    daemon = two_tables(w)
    daemon.command("index", "pause", f"{w.schema}.busy", "--reason", "the cluster is upgraded")
    Damage(w, "busy").lose(7)
    answer = expect(trace(w, daemon, 7, ok=(75,), table="busy"), "paused")
    if "the cluster is upgraded" not in answer["sentence"] or answer["next"] != f"millrace index resume {w.schema}.busy":
        raise Failed(f"{answer}")
    w.sql("UPDATE busy SET a = 5 WHERE id = 8")
    ways = {"queued", "unstored", "purged"}
    wait_until("its change waits", lambda: ways & set(trace(w, daemon, 8, ok=(75, 0), table="busy")["facts"]))
    expect(trace(w, daemon, 8, ok=(75,), table="busy"), "paused")
    daemon.command("index", "resume", f"{w.schema}.busy")
    wait_until("it is equal", lambda: trace(w, daemon, 8, ok=(0, 75), table="busy")["code"] == "equal")
    daemon.command("topic", "pause", w.schema)
    w.sql("UPDATE busy SET a = 6 WHERE id = 9")
    expect(trace(w, daemon, 9, ok=(75,), table="busy"), "topic_paused", next=f"millrace topic resume {w.schema}")


def test_an_index_that_is_held_closed_or_gone_has_a_code_of_its_own(w):
    daemon = two_tables(w)
    index = f"{w.index('busy')}_v1"
    w.engine.ask("PUT", f"/{index}/_settings", {"index.blocks.write": True})
    w.sql("UPDATE busy SET a = 5 WHERE id = 8")
    held = wait_held(w, daemon, "busy", "blocked", "block")
    answer = expect(trace(w, daemon, 8, ok=(75,), table="busy"), "held")
    if held["reason"] not in answer["sentence"]:
        raise Failed(f"{answer['sentence']} lacks {held['reason']}")
    w.engine.ask("PUT", f"/{index}/_settings", {"index.blocks.write": None})
    wait_until("it is equal", lambda: trace(w, daemon, 8, ok=(0, 75), table="busy")["code"] == "equal", 60)
    w.engine.ask("POST", f"/{index}/_close")
    expect(trace(w, daemon, 8, ok=(75,), table="busy"), "index_closed")
    w.engine.ask("DELETE", f"/{index}")
    expect(trace(w, daemon, 8, ok=(75,), table="busy"), "index_absent")


def test_searches_that_read_another_index_are_told_also_where_the_document_is_equal(w):
    daemon = w.follow(make(w), **looks(w))
    theirs, alias = f"{w.schema}-theirs", w.index("orders")
    w.engine.ask("PUT", f"/{theirs}", {})
    aliases(w, ("remove", f"{alias}_v1", alias), ("add", theirs, alias))
    wait_until("it is told", lambda: trace(w, daemon, 1, ok=(0, 75))["code"] == "astray", 60)
    answer = expect(trace(w, daemon, 1, ok=(75,)), "astray")
    if "equal" not in answer["facts"] or theirs not in answer["sentence"]:
        raise Failed(f"{answer}")


def test_a_part_that_is_not_followed_differs_as_its_definition_wants_it(w):
    daemon = w.follow(make(w))
    w.sql("UPDATE customer SET name = 'Eve'")
    expect(trace(w, daemon, 1), "not_followed", verdict="equal")


def test_a_purged_change_is_told_as_purged(w):
    daemon = two_tables(w)
    daemon.command("index", "pause", f"{w.schema}.busy")
    put_purged_into(w, daemon, f"{w.index('busy')}_v1", "busy", [("7", key_of("7"))])
    answer = trace(w, daemon, 7, table="busy")
    if answer["purged"][0]["times"] != 1 or "purged" not in answer["facts"] or answer["code"] != "equal":
        raise Failed(f"{answer}")


def test_a_job_that_works_off_the_documents_of_an_index_is_told(w):
    load(w)
    daemon = follow(w, delivery={"purge": "off"})
    daemon.stop()
    daemon.start(environment={"MILLRACE_FAILPOINT": "fan_out_paged:1:wait=25000"})  # longer than trace is patient
    daemon.command("index", "pause", f"{w.schema}.orders")
    rename(w, "mug")
    wait_until("the row is a job", lambda: daemon.metric("millrace_fan_out_jobs") == 1, 60)
    answer = expect(trace(w, daemon, 9, ok=(75,)), "paused", fan_out_jobs=1)
    if "fan_out" not in answer["facts"]:
        raise Failed(f"{answer}")
    daemon.command("index", "resume", f"{w.schema}.orders")
    w.equal(daemon, seconds=60)
    wait_until("nothing is left", lambda: daemon.metric("millrace_fan_out_jobs") == 0, 60)
    expect(trace(w, daemon, 9), "equal", fan_out_jobs=0)


def test_a_row_under_a_write_load_is_never_called_different(w):
    daemon, work, _ = w.work_on_shop()
    writer = Writer(w, work, pause=0.001)
    try:
        keys, codes = [row[0] for row in w.sql("SELECT id FROM orders ORDER BY id LIMIT 60")], {}
        until = time.monotonic() + 15
        while time.monotonic() < until:
            for key in keys[:20]:
                answer = trace(w, daemon, key, ok=(0, 75))
                codes[answer["code"]] = codes.get(answer["code"], 0) + 1
        if not codes.get("equal"):
            raise Failed(f"nothing was judged: {codes}")
    finally:
        writer.rest()
        writer.end()
    w.equal(daemon)
    for key in keys[:5]:
        expect(trace(w, daemon, key), trace(w, daemon, key)["code"], verdict="equal")


def test_documents_that_show_a_row_with_an_index_of_its_own_are_listed_without_a_verdict(w):
    definitions = make(w)
    definitions["tables"] += w.definitions({"table": "customer"})["tables"]
    daemon = w.follow(definitions)
    answer = expect(trace(w, daemon, 5, table="customer"), "equal")
    if [(s["id"], s["verdict"]) for s in answer["shown_in"]] != [(str(i), None) for i in (1, 2, 4, 5, 6)]:
        raise Failed(f"{answer}")
    if "unknown" in daemon.command("trace", f"{w.schema}.customer", "5").stdout:
        raise Failed("what was not judged is called unknown")


def test_the_documents_of_a_related_row_are_listed_and_judged(w):
    daemon, damage = w.follow(make(w)), Damage(w)
    answer = expect(trace(w, daemon, 10, table="item"), "shown_equal", more=False)
    if [(s["id"], s["verdict"]) for s in answer["shown_in"]] != [("1", "equal")]:
        raise Failed(f"{answer}")
    expect(trace(w, daemon, 99, table="item"), "shown_nowhere", shown_in=[])
    w.sql("INSERT INTO orders SELECT 1000 + n, 1, 'x', 5 FROM (SELECT @n := @n + 1 AS n FROM information_schema.columns,"
          " (SELECT @n := 0) AS z LIMIT 120) AS rows_")
    w.equal(daemon)
    many = trace(w, daemon, 5, table="customer", ok=(0, 75, 1))
    if len(many["shown_in"]) != 100 or many["more"] is not True:
        raise Failed(f"{len(many['shown_in'])} documents, more is {many['more']}")
    damage.change(4, lambda d: d["items"][0].update(qty=7))
    different = expect(trace(w, daemon, 12, table="item", ok=(1,)), "shown_different")
    if different["next"] != f"millrace trace {w.schema}.orders 4":
        raise Failed(f"{different}")
    said = daemon.command("trace", f"{w.schema}.item", "12", ok=(1,)).stdout
    if "document 4 of" not in said:
        raise Failed(said)


def test_a_child_of_a_join_is_found_by_its_own_key_and_after_its_row_is_gone(w):
    w.sql("CREATE TABLE question (id INT PRIMARY KEY, title VARCHAR(20))",
          "CREATE TABLE answer (id INT PRIMARY KEY, question_id INT, text VARCHAR(20))",
          "INSERT INTO question VALUES (1, 'why'), (2, 'how')", "INSERT INTO answer VALUES (1, 1, 'so'), (2, 2, 'thus'), (3, NULL, 'x')")
    daemon = w.follow(w.definitions(
        {"table": "question", "index": "faq", "settings": dict(SHARDS), "join": {"name": "question"}},
        {"table": "answer", "index": "faq", "settings": dict(SHARDS),
         "join": {"name": "answer", "parent": "question", "parent_column": "question_id"}}))
    answer = expect(trace(w, daemon, 2, table="answer"), "equal", id="answer:2")
    if answer["versions"][0]["copies"][0]["routing"] != "question:2" or answer["row"]["routing"] != "question:2":
        raise Failed(f"{answer}")
    expect(trace(w, daemon, "answer:2", table="question"), "equal", id="answer:2")
    expect(trace(w, daemon, 3, table="answer"), "unrooted")
    have = Damage(w, "faq").stored("answer:1", "question:1")
    w.sql("DELETE FROM answer WHERE id = 1")
    w.equal(daemon)
    Damage(w, "faq").put("answer:1", have["_source"], int(have["_version"]) + (1 << 33), "question:1")
    extra = trace(w, daemon, 1, table="answer", ok=(1,))
    if extra["code"] not in ("extra", "wrong_lineage") or extra["versions"][0]["copies"][0]["routing"] != "question:1":
        raise Failed(f"{extra}")


def test_the_log_shows_the_changes_of_the_row_and_goes_on_from_a_position(w):
    daemon = w.follow(make(w))
    w.sql("UPDATE orders SET note = 'b2', total = 7 WHERE id = 2", "UPDATE orders SET note = 'c2' WHERE id = 3",
          "DELETE FROM orders WHERE id = 2", "UPDATE item SET qty = 5 WHERE id = 12")
    w.equal(daemon)
    log = trace(w, daemon, 2, options=["--log"])["log"]
    changes = [(c["op"], c["columns"]) for c in log["changes"]]
    if changes != [("insert", []), ("update", ["total", "note"]), ("delete", [])] or log["end"] != "end_of_log":
        raise Failed(f"{log}")
    later = trace(w, daemon, 2, options=["--log", "--from", log["changes"][2]["begin"]])["log"]
    if [c["op"] for c in later["changes"]] != ["delete"]:
        raise Failed(f"{later}")
    item = trace(w, daemon, 12, table="item", options=["--log"])["log"]
    if [(c["op"], c["columns"]) for c in item["changes"]] != [("insert", []), ("update", ["qty"])]:
        raise Failed(f"{item}")
    purged = trace(w, daemon, 2, options=["--log", "--from", "binlog.009999:4"])["log"]
    if purged["end"] != "failed" or not purged["why"]:
        raise Failed(f"{purged}")
    said = daemon.command("trace", f"{w.schema}.orders", "2", "--log").stdout
    if "update total note" not in said:
        raise Failed(said)


def test_keys_of_several_columns_and_odd_texts_are_taken_and_wrong_ones_refused(w):
    w.sql("CREATE TABLE odd (a INT, b VARCHAR(30), v INT, PRIMARY KEY (a, b))", "INSERT INTO odd VALUES (1, 'it''s', 2), (2, 'x', 3)")
    daemon = w.follow(w.definitions({"table": "odd"}))
    found = next(key for key, *_ in w.engine.documents(w.index("odd")) if key.startswith("1"))
    expect(trace(w, daemon, found, table="odd"), "equal", id=found)
    table = f"{w.schema}.odd"
    for words in (["trace", table, "1"], ["trace", f"{w.schema}.none", "1"], ["trace", table], ["trace", table, found, "--from", "b.1:4"],
                  ["trace", table, found, "--log", "--from", "nothing"], ["trace", table, "x,y"]):
        done = daemon.command(*words, ok=(2,))
        if done.stdout:
            raise Failed(f"{words} printed {done.stdout}")


def test_a_table_without_a_built_index_has_a_code_until_it_is_built(w):
    w.sql("CREATE TABLE orders (id INT PRIMARY KEY)", "CREATE TABLE note (id INT PRIMARY KEY, order_id INT, KEY (order_id))",
          "INSERT INTO orders WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60) SELECT i FROM n")
    daemon = w.millrace()
    notes = {"from": "id", "table": "note", "to": "order_id", "as": "notes", "many": True}
    daemon.apply(w.definitions({"table": "orders", "relations": [notes]}))
    table = f"{w.schema}.orders"
    expect(trace(w, daemon, 1, ok=(75,)), "no_index", next=f"millrace index create {table}")
    if "no index" not in expect(trace(w, daemon, 1, table="note", ok=(75,)), "shown_unknown")["sentence"]:
        raise Failed("the reason is not told")
    daemon.command("index", "create", table, "--rate", "1", "--no-wait")
    answer = expect(trace(w, daemon, 1, ok=(75,)), "being_built")
    if [v["state"] for v in answer["versions"]] != ["changing"]:
        raise Failed(f"{answer}")
    daemon.command("index", "set", table, "--rate", "0")
    wait_until("it is built", lambda: trace(w, daemon, 1, ok=(0, 75))["code"] == "equal", 60)


def test_a_table_that_goes_is_told_as_stopped_and_a_side_that_is_away_as_that(w):
    with Detour(free_port()) as detour:
        detour.lead_to(w.engine.port)
        daemon = w.follow(make(w), search={"url": [f"http://127.0.0.1:{detour.port}"]})
        expect(trace(w, daemon, 1), "equal")
        detour.lead_to(free_port())
        expect(trace(w, daemon, 1, ok=(75,)), "engine_away")
        detour.lead_to(w.engine.port)
        wait_until("the engine is back", lambda: trace(w, daemon, 1, ok=(0, 75))["code"] == "equal", 60)
        w.sql("DROP TABLE orders")
        wait_until("its table is stopped", lambda: w.table(daemon, "orders")["state"] == "stopped", 60)
        answer = expect(trace(w, daemon, 1, ok=(75,)), "stopped")
        if not answer["values"]["why"] or not answer["next"].startswith("millrace "):
            raise Failed(f"{answer}")
