"""`check`: the rows that have changed since the last good check are compared with their documents."""
import threading

from detour import Detour
from servers import Failed, wait_until, while_loaded
from test_verify import Damage, kinds

LONG_AGO = "2026-01-01 00:00:00"


def make(w, n=1000, topic=None, **config):
    w.sql("CREATE TABLE item (id INT PRIMARY KEY, name VARCHAR(20), "
          "changed DATETIME(3) NULL DEFAULT CURRENT_TIMESTAMP(3) ON UPDATE CURRENT_TIMESTAMP(3), KEY (changed))",
          "CREATE TABLE plain (id INT PRIMARY KEY)", "INSERT INTO plain VALUES (1)",
          f"INSERT INTO item SELECT seq, CONCAT('n', seq), '{LONG_AGO}' FROM seq_1_to_{n}",
          "UPDATE item SET name = 'unseen', changed = NULL WHERE id = 7",
          f"UPDATE item SET changed = '2026-06-01' WHERE id = {n}")
    daemon = w.follow(w.definitions({"table": "item", "daily_check_column": "changed"}, {"table": "plain"}, **topic or {}), **config)
    return daemon, Damage(w, "item")


def check(w, daemon, *options, ok=(0,)):
    return daemon.json("check", f"{w.schema}.item", *options, ok=ok)


def expect(answer, verdict, documents, wished=(), repaired=0):
    found = answer["verdict"], answer["documents"], kinds(answer), answer["repaired"]
    if found != (verdict, documents, sorted(wished), repaired):
        raise Failed(f"not {verdict} of {documents} {wished}: {answer}")


def rename(d):
    d.update(name="wrong")


def test_a_check_begins_where_the_last_good_one_has_ended(w):
    daemon, damage = make(w)
    expect(check(w, daemon), "equal", 999)
    w.sql("UPDATE item SET name = 'new' WHERE id BETWEEN 11 AND 13")
    w.equal(daemon)
    for key in (7, 12, 500):
        damage.change(key, rename)
    wished = [("12", "different", "name different")]
    for options in ((), ("--since", "2026-01-02")):
        answer = check(w, daemon, *options, ok=(1,))
        expect(answer, "different", 4, wished)
    since = answer["checked"][0]["since"]
    if since != "2026-01-02" or answer["checked"][0]["column"] != "changed":
        raise Failed(f"{answer['checked']}")
    expect(check(w, daemon, "--repair"), "equal", 4, wished, repaired=1)
    told = daemon.json("status")["tables"][0]["repairs"]
    counted = {kind: daemon.metric("millrace_table_repairs_total", by="check", kind=kind) for kind in ("different", "missing")}
    if (told["check"]["different"], sum(told["check"].values()), sum(told["exchange"].values())) != (1, 1, 0) or counted != {"different": 1, "missing": 0}:
        raise Failed(f"a check repaired a document that was different, and the status says {told}, the metrics {counted}")
    answer = check(w, daemon)
    expect(answer, "equal", 3)
    if not answer["checked"][0]["since"] > "2026-06-02":
        raise Failed(f"the next check begins at {answer['checked']}")
    expect(check(w, daemon, "--since", LONG_AGO, ok=(1,)), "different", 999, [("500", "different", "name different")])
    found = daemon.json("verify", f"{w.schema}.item", ok=(1,))
    if [d["id"] for d in found["differences"]] not in (["500", "7"], ["7", "500"]):
        raise Failed(f"a check repaired what it cannot see: {found}")
    if daemon.json("status")["tables"][0]["compared"]["verdict"] != "different":
        raise Failed("a check counts as a comparison of the whole index")


def test_too_many_differences_are_left_to_a_person(w):
    daemon, damage = make(w)
    expect(check(w, daemon), "equal", 999)
    w.sql("UPDATE item SET name = 'new' WHERE id <= 60 AND id <> 7")
    w.equal(daemon)
    for key in range(1, 61):
        damage.change(key, rename)
    answer = check(w, daemon, "--repair", ok=(1,))
    if (answer["differing"], answer["repaired"]) != (59, 0) or "--repair --yes" not in answer["why"]:
        raise Failed(f"{answer}")
    mark = wait_until("the index is marked", lambda: daemon.json("status")["tables"][0]["verify"])
    if "59 of 60" not in mark or damage.stored(3)["_source"]["name"] != "wrong":
        raise Failed(f"{mark}")
    daemon.json("verify", f"{w.schema}.item", "--repair", "--yes")
    if daemon.json("status")["tables"][0]["verify"]:
        raise Failed("a mark stays after all was repaired")
    w.equal(daemon)


def test_a_check_that_is_killed_or_in_the_way_is_done_again(w):
    daemon, damage = make(w)
    damage.change(9, rename)
    wished = [("9", "different", "name different")]
    daemon.stop()
    daemon.start(environment={"MILLRACE_FAILPOINT": "verify_reported:1:kill"})
    wait_until("it follows", lambda: daemon.command("verify", f"{w.schema}.item", "--key", "6", ok=(0, 75)).returncode == 0)
    job = check(w, daemon, "--no-wait")["job"]
    wait_until("the daemon is killed as it has kept the report", lambda: daemon.process.poll() is not None, 30)
    daemon.start()
    wait_until("the job is over", lambda: not daemon.json("job", "list")["items"], 60)
    expect(daemon.json("report", "get", job), "different", 999, wished)
    slow = daemon.json("verify", f"{w.schema}.item", "--rate", "1", "--no-wait")["job"]
    busy = daemon.command("check", f"{w.schema}.item", ok=(75,))
    if f"report get {slow}" not in busy.stderr:
        raise Failed(busy.stderr)


def job_of(daemon, job):
    return next((j for j in daemon.json("job", "list")["items"] if j["id"] == job), {})


def test_a_check_that_is_killed_goes_on_where_it_was(w):
    daemon, damage = make(w)
    for key in (3, 990):
        damage.change(key, rename)

    def done():
        return job_of(daemon, job).get("rows_done", 0)
    job = check(w, daemon, "--since", LONG_AGO, "--rate", "200", "--no-wait")["job"]
    before = wait_until("some rows are compared", lambda: 200 <= done() <= 500 and done(), 30)
    wait_until("that is stored, as each second", lambda: done() >= before + 300, 30)
    daemon.kill()
    daemon.start(wait=False)
    after = wait_until("the job goes on", done, 30)
    if after < before:
        raise Failed(f"{before} rows were compared, and after a kill {after}")
    wait_until("the job is over", lambda: not daemon.json("job", "list")["items"], 60)
    expect(daemon.json("report", "get", job), "different", 999, [("3", "different", "name different"), ("990", "different", "name different")])


def test_a_check_that_is_killed_in_its_repair_repairs_the_rest(w):
    daemon, damage = make(w)
    for point in ("repair_submitted", "verify_repaired"):
        for key in (9, 10):
            damage.change(key, rename)
        daemon.stop()
        daemon.start(environment={"MILLRACE_FAILPOINT": point + ":1:kill"})
        wait_until("it follows", lambda: daemon.command("verify", f"{w.schema}.item", "--key", "6", ok=(0, 75)).returncode == 0)
        job = check(w, daemon, "--since", LONG_AGO, "--repair", "--no-wait")["job"]
        wait_until(f"the daemon is killed at {point}", lambda: daemon.process.poll() is not None, 30)
        daemon.start()
        wait_until("the job is over", lambda: not daemon.json("job", "list")["items"], 60)
        report = daemon.json("report", "get", job)
        if (report["verdict"], report["documents"]) != ("equal", 999):
            raise Failed(f"{report}")
        w.equal(daemon)


def test_a_table_that_does_not_say_what_has_changed_is_named(w):
    daemon, _ = make(w, 10)
    refused = daemon.command("check", f"{w.schema}.plain", ok=(1, 2))
    if "no daily_check_column" not in refused.stderr or "millrace verify" not in refused.stderr:
        raise Failed(refused.stderr)
    done = daemon.command("check", "--all")
    if f"{w.schema}.plain has no daily_check_column" not in done.stderr or "9 of 9 documents" not in done.stdout:
        raise Failed(f"{done.stdout}{done.stderr}")
    if "deleted rows" not in done.stdout or "is NULL" not in done.stdout or "related rows" not in done.stdout:
        raise Failed(f"what a check cannot see is not named: {done.stdout}")
    for time in ("yesterday", "2026-01-01 1", "2026-01-01'; SELECT 1", "2026-02-30"):
        refused = daemon.command("check", f"{w.schema}.item", "--since", time, ok=(1, 2))
        if "is not a time" not in refused.stderr:
            raise Failed(refused.stderr)
    daemon.command("check", ok=(2,))
    daemon.command("check", "nobody.item", ok=(1, 2))


def test_a_check_goes_on_when_the_engine_or_the_database_was_away_in_the_middle_of_it(w):
    with Detour(w.engine.port) as engine, Detour(w.db.port) as database:
        daemon, damage = make(w, topic={"address": f"127.0.0.1:{database.port}"}, search={"url": [f"http://127.0.0.1:{engine.port}"]})
        for key in (3, 990):
            damage.change(key, rename)
        for detour in engine, database:
            job = check(w, daemon, "--since", LONG_AGO, "--rate", "300", "--no-wait")["job"]
            wait_until("some rows are compared", lambda j=job: 0 < job_of(daemon, j)["rows_done"] < 999, 30)
            port = detour.target
            detour.lead_to(1)
            wait_until("it says what it waits for", lambda j=job: job_of(daemon, j)["waits_for"], 30)
            detour.lead_to(port)
            wait_until("it is over", lambda: not daemon.json("job", "list")["items"], 60)
            expect(daemon.json("report", "get", job), "different", 999,
                   [("3", "different", "name different"), ("990", "different", "name different")])
        w.sql("UPDATE item SET name = 'after' WHERE id IN (3, 990)")
        w.equal(daemon, seconds=60)


def test_a_row_that_is_committed_after_the_check_that_was_later_is_seen_by_the_next_one(w):
    daemon, damage = make(w, 100)
    expect(check(w, daemon), "equal", 99)
    with w.db.connect(w.schema) as late, late.cursor() as cursor:
        cursor.execute("BEGIN")
        cursor.execute("INSERT INTO item VALUES (2000, 'late', NOW(3) - INTERVAL 20 SECOND)")
        w.sql("UPDATE item SET name = 'new' WHERE id = 11")
        w.equal(daemon)
        expect(check(w, daemon), "equal", 2)
        cursor.execute("COMMIT")
    w.equal(daemon)
    damage.change(2000, rename)
    expect(check(w, daemon, ok=(1,)), "different", 2, [("2000", "different", "name different")])


def test_a_check_of_a_member_of_a_join_finds_and_repairs_its_children(w):
    changed = "changed DATETIME(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3) ON UPDATE CURRENT_TIMESTAMP(3), KEY (changed)"
    w.sql("CREATE TABLE question (id INT PRIMARY KEY, title VARCHAR(20))", f"CREATE TABLE answer (id INT PRIMARY KEY, question_id INT, text VARCHAR(20), {changed})",
          "INSERT INTO question SELECT seq, 'q' FROM seq_1_to_10",
          f"INSERT INTO answer SELECT seq, seq % 10 + 1, 'a', IF(seq = 200, '2026-06-01', '{LONG_AGO}') FROM seq_1_to_200")
    daemon = w.follow(w.definitions(
        {"table": "question", "index": "faq", "join": {"name": "question"}},
        {"table": "answer", "index": "faq", "daily_check_column": "changed",
         "join": {"name": "answer", "parent": "question", "parent_column": "question_id"}}))

    def look(*options, ok=(0,)):
        return daemon.json("check", f"{w.schema}.answer", *options, ok=ok)
    expect(look(), "equal", 200)
    w.sql("UPDATE answer SET text = 'new' WHERE id <= 20", "UPDATE answer SET question_id = 1 WHERE id = 20")
    w.equal(daemon)
    damage = Damage(w, "faq")
    have = damage.stored("answer:20", "question:1")
    damage.put("answer:20", {**have["_source"], "text": "no"}, int(have["_version"]) + 1, "question:1")
    wished = [("answer:20", "different", "text different")]
    expect(look(ok=(1,)), "different", 21, wished)
    expect(look("--repair"), "equal", 21, wished, repaired=1)
    w.equal(daemon)


def test_a_check_under_a_load_gives_no_false_alarm(w):
    daemon, _ = make(w)
    end = threading.Event()

    def load():
        while not end.is_set():
            key = w.rng.randrange(1200)
            w.sql(f"REPLACE INTO item (id, name) VALUES ({key}, 'r')" if w.rng.random() < 0.9 else f"DELETE FROM item WHERE id = {key}")
    writer = threading.Thread(target=load)
    writer.start()
    try:
        answers = [check(w, daemon, "--since", LONG_AGO, ok=(0, 75)) for _ in while_loaded(3)]
    finally:
        end.set()
        writer.join()
    if any(answer["differences"] for answer in answers) or sum(answer["equal"] for answer in answers) < 1000:
        raise Failed(f"{answers}")
    w.equal(daemon)
    answer = check(w, daemon)
    expect(answer, "equal", answer["documents"])
