"""A build that lacks documents which the one before has is not published: it waits, and goes on."""
import signal

from detour import Detour
from replication import Replication
from servers import Failed, wait_until

ROWS = 3000


def followed(w, rows=ROWS, address=None):
    """A table whose codes are numbers, so far."""
    limit = "max_recursive_iterations" if w.db.is_mariadb else "cte_max_recursion_depth"
    w.sql(f"SET {limit} = 1000000", "CREATE TABLE part (id INT PRIMARY KEY, code VARCHAR(20), a INT)",
          "INSERT INTO part WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < "
          f"{rows}) SELECT i, i, 0 FROM n")
    return w.follow(definitions(w, "keyword", address))


def part(code):
    return {"table": "part", "columns": ["id", {"name": "code", "type": code}, "a"]}


def definitions(w, code, address=None):
    return w.definitions(part(code), **({"address": address} if address else {}))


def spoil(w, daemon, up_to, address=None):
    """Rows that the next version's mapping refuses, and this one's takes."""
    w.sql(f"UPDATE part SET code = CONCAT('no number ', id) WHERE id <= {up_to}")
    daemon.apply(definitions(w, "integer", address))


def create(w, daemon, code, **options):
    done = daemon.command("index", "create", f"{w.schema}.part", ok=None, **options)
    if done.returncode != code:
        raise Failed(f"index create ended with {done.returncode}: {done.stdout}{done.stderr}\n{daemon.log_tail()}")
    return done


def waiting(w, daemon, up_to=100, address=None):
    spoil(w, daemon, up_to, address)
    return create(w, daemon, 1)


def leads_to(w, number):
    return list(w.engine.ask("GET", f"/_alias/{w.index('part')}")) == [f"{w.index('part')}_v{number}"]


def state(w, daemon, number):
    return next(v["state"] for v in daemon.json("version", "list")["items"] if v["version"] == number)


def check_waits(w, daemon, number=2, before=1):
    table = w.table(daemon, "part")
    if not leads_to(w, before) or table["version"] != before or table["state"] != "waiting" or state(w, daemon, number) != "waiting":
        raise Failed(f"it does not wait: {table}")
    return table


def check_searched(w, daemon, number):
    wait_until(f"version {number} is searched", lambda: w.table(daemon, "part")["version"] == number and not daemon.json("job", "list")["items"])
    if not leads_to(w, number) or daemon.json("job", "list")["items"] or w.table(daemon, "part")["wait"] is not None:
        raise Failed(f"it is {w.table(daemon, 'part')}")


def is_gone(w, number):
    return "error" in w.engine.ask("GET", f"/{w.index('part')}_v{number}", ok=(200, 404))


def letters(daemon):
    return daemon.metric("millrace_dead_letters")


def test_a_build_that_lacks_documents_is_not_published_and_says_why(w):
    daemon = followed(w)
    said = waiting(w, daemon).stderr
    table = check_waits(w, daemon)
    for text in ("lacks 100 documents of 3,000 rows", "[code] of type [integer]", "cutover", "--accept-dead-letters 100",
                 "index reset", "3 may be lost"):
        for place, found in (("index create", said), ("status", str(table)), ("version list", str(daemon.json("version", "list"))),
                             ("doctor", str(daemon.json("doctor", ok=None))), ("job list", str(daemon.json("job", "list"))),
                             ("status as text", daemon.command("status").stdout)):
            if text not in found and (place != "version list" or "fix" in found):
                raise Failed(f"{place} does not say {text!r}: {found}")
    if table["wait"]["reason"] != "dead_letters" or table["wait"]["dead_letters"] != 100 or table["wait"]["version"] != 2:
        raise Failed(f"the reason as a value is {table['wait']}")
    if daemon.metric("millrace_index_version_state", index=w.index("part"), version="2", state="waiting") != 1:
        raise Failed("the metric does not tell it")
    again = create(w, daemon, 1)
    if "is built and waits" not in again.stderr or "cutover" not in again.stderr:
        raise Failed(f"a second build: {again.stderr}")


def test_a_version_that_waits_is_written_and_is_published_by_command(w):
    daemon = followed(w)
    waiting(w, daemon)
    w.sql("UPDATE part SET a = 7 WHERE id > 100", "DELETE FROM part WHERE id = 3000", "INSERT INTO part VALUES (4000, '4', 4)")
    wait_until("both versions are written", lambda: all(
        (w.engine.ask("GET", f"/{w.index('part')}_v{v}/_doc/4000", ok=(200, 404)).get("found")) for v in (1, 2)))
    for few in ([], ["--accept-dead-letters", "99"]):
        refused = daemon.command("index", "cutover", f"{w.schema}.part", *few, ok=None)
        if refused.returncode != 1 or "100 dead letters" not in refused.stderr:
            raise Failed(f"with {few}: {refused.returncode} {refused.stderr}")
    check_waits(w, daemon)
    answer = daemon.json("index", "cutover", f"{w.schema}.part", "--accept-dead-letters", "100", "--no-wait")
    if answer["schema"] != "millrace/index-cutover/1" or answer["version"] != 2 or not answer["job"]:
        raise Failed(f"it answers {answer}")
    check_searched(w, daemon, 2)
    w.sql("UPDATE part SET code = id, a = a + 1")
    w.equal(daemon)
    none = daemon.command("index", "cutover", f"{w.schema}.part", ok=None)
    if none.returncode != 1 or "no version" not in none.stderr:
        raise Failed(f"nothing waits any more: {none.stderr}")


def test_it_goes_on_by_itself_when_enough_documents_are_there(w):
    daemon = followed(w)
    waiting(w, daemon)
    w.sql("UPDATE part SET code = id WHERE id BETWEEN 5 AND 100")
    wait_until("four letters are left", lambda: letters(daemon) == 4)
    wait_until("they are told", lambda: "lacks 4 documents" in w.table(daemon, "part")["reason"])
    check_waits(w, daemon)
    daemon.kill()
    w.sql("UPDATE part SET code = id WHERE id = 4")
    daemon.start()
    check_searched(w, daemon, 2)
    w.sql("UPDATE part SET code = id")
    w.equal(daemon)


def test_a_replay_of_its_dead_letters_lets_it_go_on(w):
    daemon = followed(w)
    waiting(w, daemon)
    daemon.kill()
    w.sql("SET SESSION sql_log_bin = 0", "UPDATE part SET code = id")
    daemon.start()
    check_waits(w, daemon)
    daemon.command("dead-letter", "replay", "--index", f"{w.index('part')}_v2")
    check_searched(w, daemon, 2)


def test_index_reset_drops_what_waits_and_another_build_is_made(w):
    daemon = followed(w)
    waiting(w, daemon)
    daemon.command("index", "reset", f"{w.schema}.part", "-y")
    if w.table(daemon, "part")["state"] != "available" or not leads_to(w, 1) or letters(daemon):
        raise Failed(f"after the reset: {w.table(daemon, 'part')}")
    wait_until("its index is gone", lambda: is_gone(w, 2))
    daemon.apply(w.definitions(part("keyword")))
    daemon.build(f"{w.schema}.part")
    w.equal(daemon)


def test_what_the_version_before_lacks_as_well_holds_no_build_up(w):
    daemon = followed(w)
    waiting(w, daemon)
    daemon.command("index", "cutover", f"{w.schema}.part", "--accept-dead-letters", "100")
    create(w, daemon, 0)
    w.sql("UPDATE part SET code = 'none' WHERE id BETWEEN 101 AND 103")
    wait_until("the letters of both", lambda: letters(daemon) == 103)
    create(w, daemon, 0)
    check_searched(w, daemon, 4)


def test_a_small_table_never_goes_to_none(w):
    daemon = followed(w, rows=2)
    waiting(w, daemon, 2)
    check_waits(w, daemon)
    w.sql("UPDATE part SET code = '7' WHERE id = 1")
    check_searched(w, daemon, 2)
    w.sql("DELETE FROM part WHERE id = 2", "UPDATE part SET code = '8'")
    daemon.apply(w.definitions(part("keyword")))
    daemon.build(f"{w.schema}.part")
    waiting(w, daemon, 1)
    check_waits(w, daemon, 4, 3)


def test_a_first_build_takes_the_place_of_none(w):
    w.sql("CREATE TABLE part (id INT PRIMARY KEY, code VARCHAR(20), a INT)",
          "INSERT INTO part VALUES (1, '1', 1), (2, 'two', 2), (3, 'three', 3)")
    daemon = w.millrace()
    daemon.apply(w.definitions(part("integer")))
    done = create(w, daemon, 0)
    if "the version lacks documents" not in done.stderr or w.table(daemon, "part")["state"] != "available":
        raise Failed(f"{done.stderr} {w.table(daemon, 'part')}")


def test_an_alter_builds_anew_what_waits(w):
    daemon = followed(w)
    waiting(w, daemon)
    w.sql("ALTER TABLE part ADD COLUMN z INT")
    w.sql("UPDATE part SET a = 9 WHERE id = 3000")
    wait_until("it is followed", lambda: w.engine.ask("GET", f"/{w.index('part')}_v2/_doc/3000")["_source"]["a"] == 9)
    check_waits(w, daemon)
    w.sql("ALTER TABLE part MODIFY a VARCHAR(10)", "UPDATE part SET code = id")
    wait_until("another version is built", lambda: (w.table(daemon, "part")["version"] or 0) > 2)
    if w.table(daemon, "part")["wait"]:
        raise Failed("it still waits")
    w.equal(daemon)


def test_a_build_that_began_by_itself_waits_once(w):
    daemon = followed(w)
    spoil(w, daemon, 100)
    w.sql("ALTER TABLE part MODIFY a VARCHAR(10)")
    wait_until("it waits", lambda: w.table(daemon, "part")["state"] == "waiting")
    w.sql("UPDATE part SET a = 5 WHERE id = 3000")
    wait_until("the stream goes on", lambda: w.engine.ask("GET", f"/{w.index('part')}_v2/_doc/3000")["_source"]["a"] in (5, "5"))
    table = check_waits(w, daemon)
    if "cutover" not in table["fix"]:
        raise Failed(f"it says {table['fix']}")
    daemon.command("index", "cutover", f"{w.schema}.part", "--accept-dead-letters", "100")
    check_searched(w, daemon, 2)


def test_a_topic_that_begins_anew_drops_what_waits(w):
    daemon = followed(w)
    waiting(w, daemon)
    daemon.command("topic", "reset", w.schema, "-y")
    wait_until("it is dropped", lambda: is_gone(w, 2))
    if w.table(daemon, "part")["state"] != "stopped":
        raise Failed(f"it is {w.table(daemon, 'part')}")


def test_a_failover_changes_nothing_of_what_waits(w):
    pair = Replication(w)
    with Detour(pair.first.port) as detour:
        address = f"127.0.0.1:{detour.port}"
        daemon = followed(w, address=address)
        waiting(w, daemon, address=address)
        pair.switch(pair.second, pair.first)
        detour.lead_to(pair.second.port)
        w.sql("UPDATE part SET a = 5 WHERE id = 3000")
        wait_until("it is followed", lambda: w.engine.ask("GET", f"/{w.index('part')}_v2/_doc/3000")["_source"]["a"] == 5, 60)
        check_waits(w, daemon)
        w.sql("UPDATE part SET code = id, a = 6")
        check_searched(w, daemon, 2)
        w.equal(daemon)


def test_what_waits_goes_with_its_definition(w):
    daemon = followed(w)
    waiting(w, daemon)
    refused = daemon.command("table", "delete", f"{w.schema}.part", "-y", ok=None)
    if refused.returncode != 1 or "waits" not in refused.stderr:
        raise Failed(f"table delete: {refused.stderr}")
    check_waits(w, daemon)
    nothing = w.definitions(part("keyword"))
    nothing["tables"] = []
    daemon.apply(nothing, "--prune", "-y")
    wait_until("it is dropped", lambda: is_gone(w, 2))
    if not leads_to(w, 1) or [v["state"] for v in daemon.json("version", "list")["items"]] != ["retired"]:
        raise Failed(f"what is left: {daemon.json('version', 'list')}")


def kill_at(w, daemon, point, act):
    """The daemon dies at the point, and another goes on."""
    daemon.kill()
    daemon.start(environment={"MILLRACE_FAILPOINT": f"{point}:1:kill"})
    act()
    wait_until(f"the daemon dies at {point}", lambda: daemon.process.poll() is not None, 60, 0.02)
    if daemon.process.returncode != -signal.SIGKILL:
        raise Failed(f"it ended with {daemon.process.returncode}: {daemon.log_tail()}")
    daemon.start()


def test_kill_9_while_a_version_comes_to_wait_and_is_published_loses_nothing(w):
    daemon = followed(w, rows=500)
    spoil(w, daemon, 50)
    begin = lambda: daemon.command("index", "create", f"{w.schema}.part", "--no-wait", ok=None)
    kill_at(w, daemon, "build_judged", begin)
    wait_until("it waits", lambda: w.table(daemon, "part")["state"] == "waiting")
    check_waits(w, daemon)
    daemon.command("index", "reset", f"{w.schema}.part", "-y")
    kill_at(w, daemon, "version_parked", begin)
    check_waits(w, daemon, 3)
    accept = lambda: daemon.command("index", "cutover", f"{w.schema}.part", "--accept-dead-letters", "50", "--no-wait", ok=None)
    kill_at(w, daemon, "version_resumed", accept)
    check_searched(w, daemon, 3)
    for number, point in ((4, "alias_moved"), (5, "version_promoted")):
        daemon.apply(w.definitions(part("keyword")))
        w.sql("UPDATE part SET code = id")
        daemon.build(f"{w.schema}.part")
        number = w.table(daemon, "part")["version"] + 1
        waiting(w, daemon, 50)
        kill_at(w, daemon, point, accept)
        check_searched(w, daemon, number)
    w.sql("UPDATE part SET code = id, a = a + 1")
    w.equal(daemon)


def test_a_version_that_was_killed_while_it_was_published_may_have_to_wait_again(w):
    daemon = followed(w, rows=500)
    waiting(w, daemon, 50)
    kill = lambda: daemon.command("index", "cutover", f"{w.schema}.part", "--accept-dead-letters", "50", "--no-wait", ok=None)
    daemon.kill()
    daemon.start(environment={"MILLRACE_FAILPOINT": "alias_moved:1:kill"})
    kill()
    wait_until("the daemon dies", lambda: daemon.process.poll() is not None, 60, 0.02)
    w.sql("UPDATE part SET code = 'none' WHERE id > 485")
    daemon.start(environment={"MILLRACE_FAILPOINT": "build_counted:1:wait=3000"})
    wait_until("all letters are there", lambda: letters(daemon) == 65)
    wait_until("it waits again", lambda: w.table(daemon, "part")["state"] == "waiting")
    check_waits(w, daemon)
    w.sql("UPDATE part SET code = id")
    check_searched(w, daemon, 2)
    w.equal(daemon)


def test_tables_of_one_index_wait_together(w):
    w.sql("CREATE TABLE question (id INT PRIMARY KEY, n VARCHAR(20))",
          "CREATE TABLE answer (id INT PRIMARY KEY, question_id INT, n VARCHAR(20), KEY (question_id))",
          *(f"INSERT INTO question VALUES ({i}, '{i}')" for i in range(20)),
          *(f"INSERT INTO answer VALUES ({i}, {i % 20}, '{i}')" for i in range(40)))

    def forum(type_):
        n = {"name": "n", "type": type_}
        return w.definitions(
            {"table": "question", "index": "forum", "join": {"name": "question"}, "columns": ["id", dict(n)]},
            {"table": "answer", "index": "forum", "columns": ["id", "question_id", dict(n)],
             "join": {"name": "answer", "parent": "question", "parent_column": "question_id"}})
    daemon = w.follow(forum("keyword"))
    w.sql("UPDATE answer SET n = 'no' WHERE id < 5")
    daemon.apply(forum("integer"))
    done = daemon.command("index", "create", f"{w.schema}.question", ok=None)
    if done.returncode != 1 or f"5 of {w.schema}.answer" not in done.stderr:
        raise Failed(f"{done.returncode} {done.stderr}")
    w.sql("UPDATE answer SET n = '7' WHERE id < 4")
    wait_until("version 2 is searched", lambda: w.table(daemon, "question")["version"] == 2)
    w.sql("UPDATE answer SET n = '7' WHERE id = 4")
    w.equal(daemon)
