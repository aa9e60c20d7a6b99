"""What an index that takes nothing cannot be given is purged by key, and comes by itself when the index goes on."""
import time

from servers import Failed, wait_until
from test_held import table, two_tables, wait_held

SMALL = {"bytes": "1MiB", "high_water_mark": 100}


def count(daemon, name):
    return daemon.json("status")["delivery"]["statistics"][name]["total"]


def outstanding(daemon):
    return sum(p["changes"] for p in daemon.json("status")["delivery"]["purged"])


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
