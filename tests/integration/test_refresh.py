"""`index refresh` reads some rows again and writes their documents into the version that searches use, and no others."""
from members import Load, Members
from servers import Failed, open_store, stays, wait_until, while_loaded
from test_failpoints import armed, until_dead
from test_kill import Writer
from test_verify import SHARDS, Damage, kinds, make
from test_verify_faults import ended, follows


def fill(w, n=2000):
    w.sql("INSERT INTO orders VALUES " + ", ".join(f"({100 + i}, {i * 1.5}, 'n{i}', 5)" for i in range(1, n + 1)),
          "INSERT INTO item VALUES " + ", ".join(f"({100 + i}, {100 + i}, {i}, 2.5)" for i in range(1, n + 1)))


def refresh(w, daemon, *options, table="orders", ok=(0,)):
    return daemon.json("index", "refresh", f"{w.schema}.{table}", *options, ok=ok)


def refused(w, daemon, *options, says, code, table="orders"):
    done = daemon.command("index", "refresh", f"{w.schema}.{table}", *options, ok=(code,))
    for words in says:
        if words not in done.stderr:
            raise Failed(f"no {words!r} in {done.stderr}")


def expect(what, is_, wanted):
    if is_ != wanted:
        raise Failed(f"{what}: {is_}, and not {wanted}")


def versions(w, name="orders"):
    """{_id: version of the document}"""
    return {key: version for key, _, version in w.engine.documents(w.index(name))}


def spoil(damage, *keys):
    for key in keys:
        damage.change(key, lambda d: d.update(note="not ours"))


def test_a_range_is_read_again_equal_or_not_and_nothing_else(w):
    daemon, damage = w.follow(make(w)), Damage(w)
    spoil(damage, 2, 3, 5)
    damage.lose(1)
    damage.put(77, {"id": 77}, int(damage.stored(6)["_version"]))
    before = versions(w)
    answer = refresh(w, daemon, "--where", "id BETWEEN 1 AND 4")
    expect("the answer", (answer["verdict"], answer["documents"], answer["repaired"], answer["rewritten"]), ("equal", 4, 3, 1))
    expect("what differed", kinds(answer), [("1", "missing"), ("2", "different", "note different"), ("3", "different", "note different")])
    after = versions(w)
    expect("what was not asked for", {key: after[key] for key in ("5", "6", "77")}, {key: before[key] for key in ("5", "6", "77")})
    if after["4"] <= before["4"]:
        raise Failed("what was equal is not written again")
    expect("a document outside", damage.stored(5)["_source"]["note"], "not ours")
    if daemon.json("version", "list")["items"][0]["version"] != 1 or daemon.json("job", "list")["items"]:
        raise Failed("there is a new version, or a job is left")
    expect("the event", daemon.json("log", "list", f"{w.schema}.orders")["items"][0]["event"], "refreshed")
    said = daemon.command("index", "refresh", f"{w.schema}.orders", "--where", "id > 4").stdout
    if "2 were read again and written; 1 of them differed before" not in said:
        raise Failed(f"it says {said}")
    daemon.command("verify", f"{w.schema}.orders", "--repair", "--yes")
    w.equal(daemon)


def test_only_a_key_deletes_the_document_of_a_row_that_is_gone_or_that_a_filter_leaves_out(w):
    w.sql("CREATE TABLE thing (id INT PRIMARY KEY, a INT)", "INSERT INTO thing VALUES (1, 1), (2, 2), (3, -1)")
    daemon, damage = w.follow(w.definitions({"table": "thing", "filter": "a > 0", "settings": dict(SHARDS)})), Damage(w, "thing")
    version = int(damage.stored(1)["_version"])
    damage.put(3, {"id": 3, "a": -1}, version)
    damage.put(9, {"id": 9, "a": 5}, version)
    answer = refresh(w, daemon, "--where", "a < 2", table="thing")
    expect("the answer", (answer["verdict"], answer["documents"], answer["rewritten"]), ("equal", 1, 1))
    expect("documents", sorted(versions(w, "thing")), ["1", "2", "3", "9"])
    answer = refresh(w, daemon, "--key", "3", "--key", "9", table="thing")
    expect("the answer", (answer["verdict"], kinds(answer)), ("equal", [("3", "extra"), ("9", "extra")]))
    w.equal(daemon)


def test_keys_of_rows_that_are_there_and_of_one_that_is_gone(w):
    w.sql("CREATE TABLE part (a INT, b VARCHAR(10), n INT, PRIMARY KEY (a, b))",
          "INSERT INTO part VALUES (1, 'x', 1), (1, 'y', 2), (2, 'x', 3)")
    daemon, damage = w.follow(w.definitions({"table": "part", "settings": dict(SHARDS)})), Damage(w, "part")
    have = damage.stored("1,x")
    damage.put("1,x", {**have["_source"], "n": 99}, int(have["_version"]) + 1)
    damage.put("2,x", {**have["_source"], "n": 98}, int(have["_version"]) + 1)
    damage.put("7,z", have["_source"], int(have["_version"]))
    before = versions(w, "part")
    answer = refresh(w, daemon, "--key", "1,x", "--key", "7,z", "--key", "1,y", "--key", "8,never", table="part")
    expect("the answer", (answer["verdict"], answer["documents"], answer["repaired"], answer["rewritten"]), ("equal", 4, 2, 1))
    after = versions(w, "part")
    expect("documents", sorted(after), ["1,x", "1,y", "2,x"])
    if after["1,y"] <= before["1,y"] or after["2,x"] != before["2,x"]:
        raise Failed(f"not what was named was written: {before}, {after}")
    refresh(w, daemon, "--key", "2,x", table="part")
    w.equal(daemon)


def test_under_a_load_nothing_is_overwritten_by_something_older(w):
    daemon, work, _ = w.work_on_shop()
    writer = Writer(w, work, pause=0.01)
    written = 0
    try:
        for _ in while_loaded(15):
            written += refresh(w, daemon, "--where", "id % 2 = 0", ok=(0, 75))["rewritten"]
            refresh(w, daemon, "--key", str(w.rng.randrange(1, 200)), ok=(0, 75))
    finally:
        writer.rest()
        writer.end()
    if written == 0:
        raise Failed("nothing was written")
    w.equal(daemon)


def test_a_refresh_that_is_killed_goes_on_from_its_cursor(w):
    definitions = make(w)
    fill(w)
    daemon, damage = w.follow(definitions), Damage(w)
    spoil(damage, 3, 2000)
    daemon.stop()
    daemon.start(environment=armed("verify_saved", 2))
    follows(w, daemon)
    job = refresh(w, daemon, "--where", "id > 0", "--rate", "700", "--no-wait")["job"]
    until_dead(daemon, "verify_saved")
    with open_store(daemon) as store:
        done, = [row for row in store.execute("SELECT kind, rows_done FROM job")]
    if done[0] != "refresh" or not 0 < done[1] < 2006:
        raise Failed(f"the store has {done}")
    daemon.start()
    report = ended(daemon, job)
    expect("the report", (report["verdict"], report["documents"], report["repaired"], report["rewritten"]), ("equal", 2006, 2, 2004))
    w.equal(daemon)


def test_a_key_whose_daemon_is_killed_in_the_middle_is_read_again(w):
    daemon, damage = w.follow(make(w)), Damage(w)
    spoil(damage, 2)
    daemon.stop()
    daemon.start(environment=armed("repair_submitted"))
    wait_until("it follows", lambda: daemon.command("index", "refresh", f"{w.schema}.orders", "--key", "2", ok=None) and
               daemon.process.poll() is not None, 30)
    until_dead(daemon, "repair_submitted")
    daemon.start()
    wait_until("it is as its row", lambda: damage.stored(2)["_source"]["note"] == "b", 30)
    wait_until("no job is left", lambda: not daemon.json("job", "list")["items"], 30)
    w.equal(daemon)


def test_a_refresh_that_runs_is_shown_and_can_be_cancelled(w):
    definitions = make(w)
    fill(w, 300)
    daemon = w.follow(definitions)
    job = refresh(w, daemon, "--where", "id > 0", "--rate", "20", "--no-wait")["job"]
    shown = wait_until("it is in the list", lambda: [j for j in daemon.json("job", "get", job)["items"] if j["rows_done"] > 0])[0]
    expect("what is shown", (shown["kind"], shown["phase"], shown["table"]), ("refresh", "rows", f"{w.schema}.orders"))
    if shown["rows_done"] > shown["rows_total"]:
        raise Failed(f"more than all: {shown}")
    refused(w, daemon, "--key", "1", says=[f"job {job}"], code=75)
    ended_ = daemon.json("index", "refresh", f"{w.schema}.orders", "--cancel")
    expect("the answer", ended_["count"], 1)
    report = daemon.json("report", "get", job, ok=None)
    if report["verdict"] == "equal" and not report["why"] or "cancelled" not in report["why"] or not 0 < report["rewritten"] < 306:
        raise Failed(f"the report: {report}")
    expect("jobs", daemon.json("job", "list")["items"], [])
    again = daemon.command("index", "refresh", f"{w.schema}.orders", "--cancel")
    if "no refresh runs" not in again.stdout:
        raise Failed(f"it says {again.stdout}")
    refresh(w, daemon, "--key", "1")


def test_a_page_that_takes_longer_than_a_minute_is_waited_for_and_a_cancel_or_a_stop_ends_it_at_once(w):
    """So long as the server needs to find enough rows that meet a condition; here another one locks them meanwhile."""
    definitions = make(w)
    fill(w, 300)
    daemon = w.follow(definitions)

    def begin():
        wait_until("it follows", lambda: daemon.command("index", "refresh", f"{w.schema}.orders", "--key", "1", ok=(0, 75)).returncode == 0)
        job = refresh(w, daemon, "--where", "id > 0", "--rate", "20", "--no-wait")["job"]
        wait_until("it runs", lambda: [j for j in daemon.json("job", "get", job)["items"] if j["rows_done"] > 0])
        locker = w.db.connect(w.schema)
        with locker.cursor() as cursor:
            cursor.execute("LOCK TABLES orders WRITE")
        wait_until("it waits for its page", lambda: any("orders" in str(row) and "metadata lock" in str(row)
                                                        for row in w.db.sql("SHOW FULL PROCESSLIST")))
        return job, locker

    job, locker = begin()
    stays("it waits for the page", lambda: not daemon.json("job", "get", job)["items"][0]["waits_for"], 65, 0.5)
    locker.close()
    report = ended(daemon, job)
    expect("the report", (report["verdict"], report["rewritten"]), ("equal", 306))
    job, locker = begin()
    expect("the answer", daemon.json("index", "refresh", f"{w.schema}.orders", "--cancel")["count"], 1)
    if "cancelled" not in (why := daemon.json("report", "get", job, ok=None)["why"]):
        raise Failed(f"the report says {why}")
    locker.close()
    job, locker = begin()
    daemon.process.terminate()
    daemon.process.wait(15)
    locker.close()
    daemon.start()
    report = ended(daemon, job)
    expect("the report", (report["verdict"], report["rewritten"]), ("equal", 306))
    w.equal(daemon)


def test_what_cannot_be_refreshed_is_refused_with_its_reason(w):
    w.sql("CREATE TABLE plain (id INT PRIMARY KEY, a INT)", "INSERT INTO plain VALUES (1, 1)")
    definitions = make(w)
    definitions["tables"] += w.definitions({"table": "plain"})["tables"]
    daemon = w.millrace()
    daemon.apply(definitions)
    daemon.build(f"{w.schema}.orders")
    refused(w, daemon, says=["--where", "--key"], code=2)
    refused(w, daemon, "--where", "id > 0", "--key", "1", says=["--where", "--key"], code=2)
    refused(w, daemon, "--where", "no_such > 1", says=["the server refuses the condition", "no_such"], code=2)
    refused(w, daemon, "--where", "id > 0; DELETE FROM orders", says=["id > 0; DELETE FROM orders"], code=2)
    refused(w, daemon, "--where", "id > 0 INTO OUTFILE 'x'", says=["the server refuses the condition"], code=2)
    refused(w, daemon, "--key", "no number", says=["no number"], code=2)
    refused(w, daemon, "--key", "1", says=["no table or index", "none"], code=2, table="none")
    refused(w, daemon, "--key", "1", says=["index create"], code=2, table="plain")
    daemon.command("index", "create", f"{w.schema}.plain", "--hold", "--no-wait")
    refused(w, daemon, "--key", "1", says=["index create"], code=2, table="plain")
    daemon.command("index", "pause", f"{w.schema}.orders", "--reason", "the engine rests")
    refused(w, daemon, "--key", "1", says=["pause", "millrace index resume"], code=2)
    daemon.command("index", "resume", f"{w.schema}.orders")
    daemon.command("topic", "pause", w.schema)
    refused(w, daemon, "--key", "1", says=["is not running yet", "millrace status"], code=75)
    daemon.command("topic", "resume", w.schema)
    wait_until("it follows", lambda: daemon.command("index", "refresh", f"{w.schema}.orders", "--key", "1", ok=(0, 75)).returncode == 0)
    expect("the rows", w.sql("SELECT COUNT(*) FROM orders")[0][0], 6)


def test_a_refresh_waits_while_its_index_takes_nothing_and_says_so(w):
    definitions = make(w)
    fill(w, 100)
    daemon, damage = w.follow(definitions), Damage(w)
    job = refresh(w, daemon, "--where", "id > 0", "--rate", "20", "--no-wait")["job"]
    wait_until("it runs", lambda: [j for j in daemon.json("job", "get", job)["items"] if j["rows_done"] > 0])
    daemon.command("index", "pause", f"{w.schema}.orders", "--reason", "the engine rests")
    said = wait_until("it says what it waits for", lambda: (j := daemon.json("job", "get", job)["items"][0])["waits_for"] and j, 30)
    if "takes nothing now" not in said["waits_for"]:
        raise Failed(f"it waits for {said['waits_for']}")
    stays("it goes on waiting", lambda: daemon.json("job", "list")["items"], 3, 0.2)
    daemon.command("index", "resume", f"{w.schema}.orders")
    report = ended(daemon, job)
    expect("the report", (report["verdict"], report["rewritten"]), ("equal", 106))
    w.equal(daemon)


def test_any_node_of_a_cluster_refreshes_and_another_one_goes_on_when_the_owner_dies(w):
    m = Members(w, nodes=3).start()
    schema = m.topics_of(1)[0]
    owner, asked = m.owner(schema), m.nodes[0]
    index, table = f"{w.schema}-{schema}", f"{schema}.thing"
    w.sql(f"INSERT INTO {schema}.thing VALUES " + ", ".join(f"({i}, 0)" for i in range(1000, 1300)))
    wait_until("it is delivered", lambda: w.engine.count(index) == 302, 30)
    w.engine.ask("POST", f"/{index}/_update/1250?refresh=true", {"doc": {"a": 99}})
    load = Load(m, pause=0.2)
    job = asked.json("index", "refresh", table, "--where", "id >= 1000", "--rate", "40", "--no-wait")["job"]
    wait_until("it runs at the owner", lambda: [j for j in owner.json("job", "get", job)["items"] if j["rows_done"] > 40], 30)
    owner.kill()
    alive = next(node for node in m.nodes if node is not owner)
    report = ended(alive, job)
    load.end()  # the new owner compares all of it as well, and may have repaired the document first
    expect("the report", (report["verdict"], report["documents"]), ("equal", 300))
    expect("all are written", report["repaired"] + report["rewritten"], 300)
    expect("the document", w.engine.get(index, 1250)["a"], 0)
    done = alive.json("index", "refresh", table, "--key", "1")
    expect("one key from any node", (done["verdict"], done["rewritten"]), ("equal", 1))
    w.equal(alive, seconds=40)
    m.end()
