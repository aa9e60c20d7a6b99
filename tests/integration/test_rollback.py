"""Searches return to an older version that was kept current, and to none that is not."""
from concurrent.futures import ThreadPoolExecutor

from servers import Failed, wait_until
from test_purge import outstanding
from test_worse import is_gone, leads_to, state

OLD, NEW = ["id", "a", "note"], ["id", "a"]  # the columns of version 1 and of version 2


def followed(w, rows=50, **index):
    """A table in version 2, whose documents lack a field that version 1 has."""
    w.sql("CREATE TABLE part (id INT PRIMARY KEY, a INT, note VARCHAR(40))",
          f"INSERT INTO part WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {rows}) SELECT i, i, 'first' FROM n")
    daemon = w.follow(definition(w, OLD), index=index) if index else w.follow(definition(w, OLD))
    daemon.apply(definition(w, NEW))
    return daemon


def definition(w, columns):
    return w.definitions({"table": "part", "columns": list(columns)})


def create(w, daemon, *options, **how):
    return daemon.command("index", "create", f"{w.schema}.part", *options, **how)


def roll_back(w, daemon, *options, **how):
    return daemon.command("index", "rollback", f"{w.schema}.part", *options, **how)


def change(w, round_=1):
    w.sql(f"UPDATE part SET a = a + 100, note = 'round {round_}' WHERE id % 3 = 0", f"DELETE FROM part WHERE id = {round_}",
          f"INSERT INTO part (id, a, note) VALUES ({1000 + round_}, 7, 'new')")


def equal(w, daemon, columns):
    """The searched documents are those of this definition, as the judge computes them from it."""
    daemon.apply(definition(w, columns))
    w.equal(daemon)


def is_searched(w, daemon, number, kept=()):
    table = w.table(daemon, "part")
    if not leads_to(w, number) or table["version"] != number or [k["version"] for k in table["kept"]] != list(kept):
        raise Failed(f"searches use {w.engine.ask('GET', '/_alias/' + w.index('part'))}, the status says {table}")
    return table


def refused(w, daemon, words, *options):
    said = roll_back(w, daemon, *options, ok=(1, 75)).stderr
    if words not in said:
        raise Failed(f"rollback {options} says {said!r}, not {words!r}")


def test_a_rollback_shows_the_old_definition_with_the_changes_since_and_back(w):
    daemon = followed(w)
    create(w, daemon, "--keep", "1")
    is_searched(w, daemon, 2, [1])
    if "also writes version 1" not in daemon.command("status").stdout or state(w, daemon, 1) != "kept":
        raise Failed("status does not say what is kept")
    change(w)
    equal(w, daemon, NEW)
    answer = daemon.json("index", "rollback", f"{w.schema}.part")
    if (answer["version"], answer["from"]) != (1, 2):
        raise Failed(f"it answers {answer}")
    is_searched(w, daemon, 1, [2])
    equal(w, daemon, OLD)
    change(w, 2)
    equal(w, daemon, OLD)
    refused(w, daemon, "no older version")
    roll_back(w, daemon, "--to", "2")
    is_searched(w, daemon, 2, [1])
    equal(w, daemon, NEW)
    daemon.stop()
    daemon.start()
    change(w, 3)
    equal(w, daemon, NEW)
    roll_back(w, daemon, "--to", "1")
    equal(w, daemon, OLD)
    create(w, daemon)  # --keep was for one switch
    is_searched(w, daemon, 3)
    refused(w, daemon, "is not current", "--to", "1")


def test_a_rollback_that_is_killed_is_finished_by_the_next_daemon(w):
    daemon = followed(w, keep_versions=1)
    create(w, daemon)
    to, other = 1, 2
    for round_, point in enumerate(("return_ordered", "alias_returned", "version_returned"), 1):
        daemon.stop()
        daemon.start(environment={"MILLRACE_FAILPOINT": f"{point}:1:kill"})
        roll_back(w, daemon, "--to", str(to), ok=None)
        wait_until(f"the daemon has died at {point}", lambda: daemon.process.poll() is not None)
        change(w, round_)
        daemon.start()
        wait_until("searches have returned", lambda: leads_to(w, to) and w.table(daemon, "part")["version"] == to)
        is_searched(w, daemon, to, [other])
        equal(w, daemon, OLD if to == 1 else NEW)
        to, other = other, to


def test_a_version_that_is_not_current_is_refused_with_the_reason(w):
    daemon = followed(w)
    create(w, daemon)
    refused(w, daemon, "no older version of index")
    refused(w, daemon, "is not current, nothing is written to it", "--to", "1")
    refused(w, daemon, "has no version 9", "--to", "9")
    refused(w, daemon, "is the one that searches use", "--to", "2")
    create(w, daemon, "--keep", "1")
    w.sql("TRUNCATE part")
    wait_until("version 2 is history", lambda: state(w, daemon, 2) == "history")
    refused(w, daemon, "truncate table of", "--to", "2")
    wait_until("the table is built again by itself", lambda: w.table(daemon, "part")["version"] > 3, 60)
    w.sql("INSERT INTO part VALUES (5, 5, 'five')")
    w.equal(daemon)


def test_a_rollback_is_refused_while_a_build_runs_and_two_at_once_are_one(w):
    daemon = followed(w, 300)
    create(w, daemon, "--keep", "1")
    create(w, daemon, "--rate", "10", "--no-wait", "--keep", "2")
    refused(w, daemon, "is being built, and would replace")
    daemon.command("index", "reset", f"{w.schema}.part", "--yes")
    with ThreadPoolExecutor(2) as pool:
        ends = list(pool.map(lambda _: roll_back(w, daemon, ok=None), range(2)))
    if sorted(end.returncode for end in ends) != [0, 1] or "no older version" not in "".join(end.stderr for end in ends):
        raise Failed(f"two at once end as {ends}")
    is_searched(w, daemon, 1, [2])
    change(w)
    equal(w, daemon, OLD)


def test_as_many_versions_are_kept_as_wanted_and_others_are_deleted_after_their_time(w):
    daemon = followed(w, keep_versions=2, keep_for="6s", retire_after="1s")
    for _ in range(3):
        create(w, daemon)
    is_searched(w, daemon, 4, [2, 3])
    wait_until("the first version is deleted", lambda: is_gone(w, 1))
    if is_gone(w, 2) or is_gone(w, 3):
        raise Failed("a kept version is gone")
    change(w)
    wait_until("the others are deleted, too", lambda: is_gone(w, 2) and is_gone(w, 3), 60)
    is_searched(w, daemon, 4)
    refused(w, daemon, "has no version 3", "--to", "3")
    equal(w, daemon, NEW)


def test_a_kept_version_that_takes_nothing_leaves_the_searched_one_alone_and_is_refused(w):
    daemon = followed(w)
    create(w, daemon, "--keep", "1")
    w.engine.ask("PUT", f"/{w.index('part')}_v1/_settings", {"index.blocks.write": True})
    change(w)
    equal(w, daemon, NEW)
    wait_until("version 1 is held", lambda: w.table(daemon, "part")["kept"][0]["state"] == "held")
    refused(w, daemon, "is not current, because it accepts nothing", "--to", "1")
    w.engine.ask("PUT", f"/{w.index('part')}_v1/_settings", {"index.blocks.write": False})
    daemon.command("index", "resume", f"{w.schema}.part")
    wait_until("version 1 is current again", lambda: w.table(daemon, "part")["kept"][0]["state"] == "kept" and outstanding(daemon) == 0, 60)
    roll_back(w, daemon)
    equal(w, daemon, OLD)


def test_a_build_does_not_wait_for_a_kept_version_that_takes_nothing(w):
    daemon = followed(w)
    create(w, daemon, "--keep", "1")
    w.engine.ask("PUT", f"/{w.index('part')}_v1/_settings", {"index.blocks.write": True})
    change(w)
    wait_until("version 1 is held", lambda: w.table(daemon, "part")["kept"][0]["state"] == "held")
    create(w, daemon, "--keep", "2")
    is_searched(w, daemon, 3, [2])
    refused(w, daemon, "is not current", "--to", "1")
    w.equal(daemon)
    roll_back(w, daemon)
    w.equal(daemon)


def test_an_alias_that_is_moved_to_a_kept_version_by_hand_is_told_with_the_command(w):
    daemon = followed(w, keep_versions=1)
    create(w, daemon)
    w.engine.ask("POST", "/_aliases", {"actions": [{"remove": {"index": f"{w.index('part')}_v2", "alias": w.index("part")}},
                                                   {"add": {"index": f"{w.index('part')}_v1", "alias": w.index("part")}}]})
    fix = f"millrace index rollback {w.schema}.part --to 1"
    wait_until("the status names the rollback", lambda: w.table(daemon, "part")["fix"] == fix, 90)
    roll_back(w, daemon, "--to", "1")
    is_searched(w, daemon, 1, [2])
    equal(w, daemon, OLD)


def test_a_changed_column_ends_a_kept_version_and_an_added_one_does_not(w):
    daemon = followed(w, keep_versions=3)
    create(w, daemon)
    w.sql("ALTER TABLE part ADD COLUMN b INT")
    change(w)
    equal(w, daemon, NEW)
    is_searched(w, daemon, 2, [1])
    w.sql("ALTER TABLE part MODIFY COLUMN a VARCHAR(20)")
    wait_until("the table is built again", lambda: w.table(daemon, "part")["version"] == 3, 60)
    is_searched(w, daemon, 3)
    refused(w, daemon, "is not current: column `a`", "--to", "1")
    refused(w, daemon, "was stopped, or to be built again", "--to", "2")
    w.equal(daemon)
