"""What an index that takes nothing cannot be given is purged by key, and comes by itself when the index goes on."""
import time

from servers import Failed, open_store, wait_until
from test_held import ROWS, table, two_tables, wait_held
from test_relations import grant_alone

SMALL = {"bytes": "1MiB", "high_water_mark": 100}


def count(daemon, name):
    return daemon.status()["delivery"]["statistics"][name]["total"]


def outstanding(daemon):
    return sum(p["changes"] for p in daemon.status()["delivery"]["purged"])


def close(w, daemon):
    w.engine.ask("POST", f"/{w.index('busy')}_v1/_close")
    w.sql("UPDATE busy SET a = 3 WHERE id = 1")
    wait_held(w, daemon, "busy", "closed")


def flood(w, rounds):
    for i in range(rounds):
        w.sql(f"UPDATE busy SET a = {10 + i}, t = REPEAT('{i}', 6000)")
    w.sql("DELETE FROM busy WHERE id % 7 = 0", "INSERT INTO busy VALUES (1001, 1, 'new')")


def go_on(w, daemon):
    w.engine.ask("POST", f"/{w.index('busy')}_v1/_open")
    w.equal(daemon, seconds=90)
    wait_until("nothing purged is left", lambda: outstanding(daemon) == 0, 60)
    w.equal(daemon)
    if daemon.json("dead-letter", "list")["items"]:
        raise Failed("there are dead letters")


def test_a_closed_index_that_is_flooded_stops_nobody_and_is_equal_when_it_is_open_again(w):
    daemon = two_tables(w, delivery=SMALL)
    close(w, daemon)
    flood(w, 4)
    began = time.monotonic()
    w.sql("UPDATE idle SET a = 7")
    w.equal(daemon, [f"{w.schema}.idle"])
    # As long as one that is held and fills the queue had until its table was stopped.
    wait_until("it has been held for long", lambda: time.monotonic() - began > 40, 60, 1)
    if table(w, daemon, "busy")["state"] != "held" or outstanding(daemon) == 0:
        raise Failed(f"it is {table(w, daemon, 'busy')}, {outstanding(daemon)} changes are purged")
    go_on(w, daemon)
    if count(daemon, "purged") != count(daemon, "repaired"):
        raise Failed(f"{count(daemon, 'purged')} changes were purged, {count(daemon, 'repaired')} written again")


def test_a_kill_between_purge_and_repair_loses_nothing(w):
    daemon = two_tables(w, delivery=dict(SMALL, purge="purge_index"))
    close(w, daemon)
    flood(w, 2)
    wait_until("something is purged", lambda: outstanding(daemon) > 0)
    for i in range(3):
        daemon.kill()
        w.sql(f"UPDATE busy SET a = {100 + i} WHERE id % 5 = {i}", f"UPDATE idle SET a = {100 + i}")
        daemon.start()
        w.equal(daemon, [f"{w.schema}.idle"])
    w.engine.ask("POST", f"/{w.index('busy')}_v1/_open")
    daemon.kill()
    daemon.start()
    go_on(w, daemon)


def put_aside(w, daemon, version):
    """A change of an index version is purged, and whether it was applied is not known for a long time yet; the daemon is dead."""
    with open_store(daemon) as store:
        store.execute("INSERT INTO purged (topic, table_name, index_name, doc_id, routing, key_bytes, version, unanswered, times, at_ms)"
                      " VALUES (?, ?, ?, '1', '', '', 1, 1, 1, ?)",
                      (w.schema, f"{w.schema}.busy", f"{w.index('busy')}_v{version}", int(time.time() * 1000) + 3600_000))


def take_away(daemon):
    """As if it had been written and the store had not answered to that."""
    with open_store(daemon) as store:
        store.execute("DELETE FROM purged")


def test_what_the_store_says_is_purged_counts(w):
    daemon = two_tables(w)
    daemon.kill()
    put_aside(w, daemon, 1)
    daemon.start()
    if outstanding(daemon) != 1:
        raise Failed(f"{outstanding(daemon)} changes are shown as purged")
    take_away(daemon)
    wait_until("nothing purged is shown", lambda: outstanding(daemon) == 0, 60)


def test_a_build_waits_for_what_is_purged_of_its_version(w):
    daemon = two_tables(w)
    daemon.command("index", "create", f"{w.schema}.busy", "--no-wait", "--rate", "100")
    wait_until("rows are read", lambda: w.engine.get(f"{w.index('busy')}_v2", 1))
    daemon.kill()
    put_aside(w, daemon, 2)
    daemon.start()
    daemon.command("index", "set", f"{w.schema}.busy", "--rate", "0", ok=None)
    wait_until("all rows are read", lambda: w.engine.count(f"{w.index('busy')}_v2") == ROWS, 60)
    daemon.build(f"{w.schema}.idle")  # begins later, and ends
    if list(w.engine.ask("GET", f"/_alias/{w.index('busy')}")) != [f"{w.index('busy')}_v1"]:
        raise Failed("the alias was moved to a version of which a change is purged")
    take_away(daemon)
    wait_until("the build ends", lambda: w.table(daemon, "busy")["version"] == 2, 60)
    w.equal(daemon)


def key_of(text):
    return f"{chr(len(text))}\0\0\0{text}"


def put_purged_into(w, daemon, index, table, documents):
    """Changes of these (id, key) are purged, long ago."""
    with open_store(daemon) as store:
        store.executemany("INSERT INTO purged (topic, table_name, index_name, doc_id, routing, key_bytes, version, unanswered, times, at_ms)"
                          " VALUES (?, ?, ?, ?, '', ?, 1, 0, 1, 1)",
                          [(w.schema, f"{w.schema}.{table}", index, id, key) for id, key in documents])


def put_purged(w, daemon, table, ids, key):
    put_purged_into(w, daemon, f"{w.index('busy')}_v1", table, [(str(i), key) for i in ids])


def test_what_is_purged_of_tables_that_are_gone_keeps_no_other_waiting(w):
    """More of them than are looked at together lie before one of a table that is there."""
    daemon = two_tables(w)
    w.sql("UPDATE busy SET a = 5 WHERE id = 2")
    w.equal(daemon)
    daemon.kill()
    w.engine.ask("DELETE", f"/{w.index('busy')}_v1/_doc/1")
    put_purged(w, daemon, "nowhere", range(100000, 101200), "")
    put_purged(w, daemon, "busy", [1], key_of("1"))
    daemon.start()
    w.equal(daemon)
    wait_until("what was purged of the table is taken out", lambda: outstanding(daemon) == 1200)
    take_away(daemon)


def test_what_is_purged_and_cannot_be_read_keeps_no_other_waiting(w):
    """More of it than is read together lies before a change of another table of the same index."""
    user, index = "millrace@'127.0.0.1'", f"{w.index('parts')}_v1"
    for name in ("part_1", "part_2"):
        w.sql(f"CREATE TABLE {name} (id INT PRIMARY KEY, name VARCHAR(20))",
              f"INSERT INTO {name} VALUES (1, '{name}'), (2, 'two')")
    grant_alone(w, user, "part_1", "part_2")
    made = w.definitions({"pattern": "part_[0-9]+", "index": "parts", "source_field": "origin"})
    made["tables"][0]["pattern"] = rf"{w.schema}\.part_[0-9]+"
    daemon = w.follow(made)
    w.equal(daemon)
    lost = next(id for id, document, _ in w.engine.documents(w.index("parts")) if document["name"] == "part_2")
    w.sql("INSERT INTO part_1 VALUES (3, 'three')")
    w.equal(daemon)
    daemon.kill()
    put_purged_into(w, daemon, index, "nowhere", [("none", "")])  # so there is something
    daemon.start()
    w.sql("INSERT INTO part_1 VALUES (4, 'four')")
    w.equal(daemon)  # it is followed: one that cannot be read then seems to be no table of the pattern
    w.engine.ask("DELETE", f"/{index}/_doc/{lost}")
    w.sql(f"REVOKE SELECT ON {w.schema}.part_1 FROM {user}")
    keys = [str(i) for i in range(1000, 1700)]
    put_purged_into(w, daemon, index, "part_1", [(f"part_1-{i}", key_of(i)) for i in keys])
    put_purged_into(w, daemon, index, "part_2", [(lost, key_of("1"))])
    wait_until("the other table's document is written again", lambda: w.engine.get(index, lost), 60)
    wait_until("its change is taken out", lambda: outstanding(daemon) == len(keys) + 1, 60)
    w.sql(f"GRANT SELECT ON {w.schema}.part_1 TO {user}")
    wait_until("all others are", lambda: outstanding(daemon) == 1, 60)
    take_away(daemon)
    w.equal(daemon)
