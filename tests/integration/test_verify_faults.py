"""`verify` when something dies, breaks, waits or changes in the middle: it goes on from its cursor, says what it waits for,
and counts apart what cannot be judged."""
from detour import Detour
from servers import Failed, free_port, wait_until
from test_dead_letters import broken, followed, letters
from test_failpoints import armed, until_dead
from test_verify import Damage, make
from test_verify_all import expect, fill, verify


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
    for options in ([], ["--key", "2", "--key", "3"]):
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
