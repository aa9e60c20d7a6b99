"""The anti-entropy trees when something dies or breaks: kills at failpoints, files that are damaged (F58), a full disk,
a log that is reset (F36), purged changes (F62).  Nothing is lost, nothing false is told, and exchanges go on."""
import glob
import os
import shutil

import exchanging
import test_fan_out
from detour import Detour
from servers import Failed, open_store, stays, wait_until
from test_failover import Stage
from test_failpoints import armed, until_dead
from test_faults import no_dump_threads, reset_log
from test_full import SmallDisk
from test_held import two_tables
from test_purge import SMALL, close, count, flood, go_on, outstanding
from test_trees import complete, exchanged, follow, found, place, trees

# In the order in which a daemon comes to them, and at which time.
OF_TREES = [("trees_half_noted", 1), ("trees_begun", 1), ("trees_half_noted", 2), ("trees_filled", 1), ("trees_half_noted", 1)]
OF_REPAIRS = ["repair_submitted", "verify_repaired"]
OF_EXCHANGES = ["exchange_begun", "exchange_drained", "exchange_taken", "exchange_compared", "exchange_ended"]


def files(daemon, name="*"):
    return sorted(glob.glob(f"{daemon.folder}/data/trees/*.{name}"))


def remove_trees(daemon):
    for path in files(daemon):
        os.remove(path)


def lose_a_change(w, daemon, damage, key, change="UPDATE item SET name = 'right' WHERE id = {}"):
    """A change of the row loses against a foreign document of about its version; only the trees know."""
    lost = daemon.metric("millrace_changes_done_total", outcome="superseded")
    _, version = place(w, damage, 200 + key)
    damage.put(key, {"id": key, "name": "wrong"}, version + 1000)  # bytes of the log
    w.sql("BEGIN", change.format(key),
          f"INSERT INTO other SELECT {key} * 1000 + seq FROM seq_1_to_900", "COMMIT")
    wait_until("the change is refused", lambda: daemon.metric("millrace_changes_done_total", outcome="superseded") > lost, 30)
    if damage.stored(key)["_source"]["name"] != "wrong":
        raise Failed("the change was not refused")


def die(daemon, point, nth=1):
    daemon.start(wait=False, environment=armed(point, nth))
    until_dead(daemon, point)


def test_a_kill_while_trees_are_made_leaves_no_half_of_them_in_use(w):
    daemon, damage = follow(w)
    complete(w, daemon)
    for i, (point, nth) in enumerate(OF_TREES):
        daemon.kill()
        if i < 4:
            remove_trees(daemon)
        w.sql(f"UPDATE item SET name = 'a{i}' WHERE id % 5 = {i}", f"DELETE FROM item WHERE id = {250 + i}")
        die(daemon, point, nth)
        w.sql(f"UPDATE item SET name = 'b{i}' WHERE id % 7 = {i}", f"INSERT INTO item VALUES ({900 + i}, 'new')")
        daemon.start()
        w.equal(daemon, seconds=60)
        complete(w, daemon)
    exchanging.tell_nothing(daemon)
    lose_a_change(w, daemon, damage, 7)
    wait_until("exchanges find what is lost", lambda: damage.stored(7)["_source"]["name"] == "right", 60)


def test_a_kill_in_any_step_of_an_exchange_loses_nothing_of_what_it_would_have_found(w):
    daemon, damage = follow(w, index=exchanging.ON | {"exchange_every": "1h"})
    complete(w, daemon)
    lose_a_change(w, daemon, damage, 7)
    daemon.kill()
    daemon.configure(index=exchanging.ON)
    for i, point in enumerate(OF_EXCHANGES):
        if damage.stored(7)["_source"]["name"] != "wrong":
            raise Failed(f"an exchange repaired before it was killed at {point}")
        w.sql(f"UPDATE item SET name = 'a{i}' WHERE id BETWEEN 20 AND 40", f"DELETE FROM item WHERE id = {50 + i}",
              f"INSERT INTO item VALUES ({900 + i}, 'new')")
        die(daemon, point)
    if damage.stored(7)["_source"]["name"] != "right":
        die(daemon, OF_EXCHANGES[-1])  # what was not delivered at its first look is left to the next one
    if damage.stored(7)["_source"]["name"] != "right":
        raise Failed("two exchanges ended without the repair")
    daemon.start()
    w.equal(daemon, seconds=60)
    exchanging.exchanged(daemon)
    told = [(d["id"], d["repaired"]) for r in exchanging.reports(daemon) for d in r["differences"]]
    if told != [("7", True)]:
        raise Failed(f"what it repaired before it was killed is told as {told}")
    lose_a_change(w, daemon, damage, 8)
    wait_until("exchanges find what is lost", lambda: damage.stored(8)["_source"]["name"] == "right", 60)
    report = wait_until("a report tells of it", lambda: [r for r in found(daemon, f"{w.schema}.item") if any(d["id"] == "8" for d in r["differences"])], 30)[-1]
    if report["repaired"] != 1 or report["verdict"] != "equal" or report["counts"]["different"] != 1:
        raise Failed(f"{report}")


def test_a_kill_in_the_repair_of_an_exchange_leaves_the_rest_of_it_to_the_next_one(w):
    daemon, damage = follow(w, index=exchanging.ON | {"exchange_every": "1h"})
    built = complete(w, daemon)["built"]
    for i, point in enumerate(OF_REPAIRS):
        wrong, gone = 7 + 2 * i, 8 + 2 * i
        lose_a_change(w, daemon, damage, wrong)
        lose_a_change(w, daemon, damage, gone, "DELETE FROM item WHERE id = {}")
        daemon.stop()  # in order: nothing of it is read again
        daemon.configure(index=exchanging.ON)
        die(daemon, point)
        daemon.start()
        w.equal(daemon, seconds=60)
        exchanging.exchanged(daemon)
        daemon.stop()
        daemon.configure(index=exchanging.ON | {"exchange_every": "1h"})
        daemon.start()
    if trees(w, daemon)["built"] != built:
        raise Failed("the trees did not go on")


def exchange_every(w, daemon, every, **topic):
    none = {"table": "other", "compare": {"trees": "none"}}
    daemon.apply(w.definitions({"table": "item", "compare": {"exchange_every": every}}, none, **topic))


def test_an_exchange_goes_on_when_the_engine_or_the_database_was_away_in_the_middle_of_it(w):
    with Detour(w.engine.port) as engine, Detour(w.db.port) as database:
        topic = {"address": f"127.0.0.1:{database.port}"}
        daemon, damage = follow(w, topic=topic, search={"url": [f"http://127.0.0.1:{engine.port}"]})
        exchange_every(w, daemon, "1h", **topic)
        complete(w, daemon)
        for key, detour in (7, engine), (8, database):
            daemon.stop()
            since = os.path.getsize(daemon.log)
            daemon.start(environment={"MILLRACE_FAILPOINT": "exchange_compared:1:wait=5000"})
            lose_a_change(w, daemon, damage, key)
            exchange_every(w, daemon, "1s", **topic)
            wait_until("it knows what differs", lambda: '"a failpoint is reached"' in log_since(daemon, since), 30)
            port = detour.target
            detour.lead_to(1)
            wait_until("it says what it waits for", lambda: any(j["waits_for"] for j in exchanges(daemon)), 30)
            if damage.stored(key)["_source"]["name"] != "wrong":
                raise Failed("it was over before")
            detour.lead_to(port)
            wait_until("it is repaired", lambda: damage.stored(key)["_source"]["name"] == "right", 60)
            exchange_every(w, daemon, "1h", **topic)
            w.equal(daemon, seconds=60)
        exchange_every(w, daemon, "1s", **topic)
        engine.lead_to(1)
        w.sql("UPDATE item SET name = 'meanwhile' WHERE id < 9")
        wait_until("an exchange is put off, or none begins as the index is held",
                   lambda: trees(w, daemon)["put_off"] or w.table(daemon, "item")["state"] == "held", 60)
        engine.lead_to(w.engine.port)
        w.equal(daemon, seconds=60)
        exchanged(w, daemon)
        if sorted(r["repaired"] for r in found(daemon, f"{w.schema}.item")) != [0, 1, 1]:
            raise Failed(f"{found(daemon, f'{w.schema}.item')}")


def log_since(daemon, start):
    with open(daemon.log, encoding="utf-8") as f:
        f.seek(start)
        return f.read()


def exchanges(daemon):
    return [j for j in daemon.json("job", "list")["items"] if j["kind"] == "exchange"]


def stored_position(daemon):
    with open_store(daemon) as db:
        return db.execute("SELECT log_file, log_offset FROM checkpoint").fetchone()


def test_a_kill_loses_no_entry_of_a_change_that_the_stored_position_has_passed(w):
    daemon, damage = follow(w, index=exchanging.ON | {"exchange_every": "1h"})
    complete(w, daemon)
    complete(w, daemon, "other")
    daemon.stop()
    daemon.start(environment={"MILLRACE_FAILPOINT": "trees_taken:1:wait=600000"})  # the trees take nothing any more
    before = stored_position(daemon)
    lose_a_change(w, daemon, damage, 7)
    stays("no position is stored that the trees have not reached", lambda: stored_position(daemon) == before, 3)
    daemon.kill()
    daemon.configure(index=exchanging.ON)
    daemon.start()
    wait_until("exchanges find what is lost", lambda: damage.stored(7)["_source"]["name"] == "right", 60)
    w.equal(daemon)


def test_no_cursor_of_a_fan_out_is_stored_that_the_trees_have_not_reached(w):
    test_fan_out.load(w)
    daemon = test_fan_out.follow(w, index=exchanging.ON | {"exchange_every": "1h"})
    complete(w, daemon, "orders")
    daemon.stop()
    daemon.start(environment={"MILLRACE_FAILPOINT": "trees_taken:1:wait=600000"})  # the trees take nothing any more
    test_fan_out.rename(w, "mug")
    wait_until("some of its documents are written", lambda: daemon.metric("millrace_fan_out_documents_total"), 60)
    before = cursors_of_fan_outs(daemon)
    stays("no cursor is stored that the trees have not reached", lambda: cursors_of_fan_outs(daemon) == before, 3)
    daemon.kill()
    daemon.start()
    w.equal(daemon, seconds=60)
    wait_until("the job is over", lambda: not cursors_of_fan_outs(daemon), 30)


def cursors_of_fan_outs(daemon):
    with open_store(daemon) as db:
        return db.execute("SELECT cursor_bytes, documents FROM fan_out").fetchall()


# -- F58


def shorten(path):
    os.truncate(path, os.path.getsize(path) // 2)


def empty(path):
    os.truncate(path, 0)


def flip(path, pages):
    """In each of these pages; the first has sums, which count if the file was closed, the others entries."""
    with open(path, "r+b") as f:
        for at in (page * 4096 + 40 for page in pages):
            f.seek(at)
            byte = f.read(1)
            f.seek(at)
            f.write(bytes([byte[0] ^ 4]))


def own(daemon, w, name):
    """The files of `item`, which has more documents."""
    sizes = {path: int(trees(w, daemon, "item")["documents"]) for path in files(daemon, name)}
    return max(sizes, key=os.path.getsize)


def test_f58_trees_that_are_damaged_short_foreign_old_or_missing_are_built_anew(w):
    daemon, damage = follow(w, n=3000)
    complete(w, daemon, "other")
    built = complete(w, daemon)["built"]
    source, index = own(daemon, w, "source"), own(daemon, w, "index")
    foreign = next(path for path in files(daemon, "source") if path != source)
    old = [(path, f"{daemon.folder}/old.{n}") for n, path in enumerate((source, index))]
    daemon.stop()
    for path, copy in old:
        shutil.copy(path, copy)
    daemon.start()
    w.sql("UPDATE item SET name = 'since' WHERE id = 5")
    w.equal(daemon)

    def put_old():
        for path, copy in old:
            shutil.copy(copy, path)

    for what in (lambda: flip(index, (1, 2)), lambda: shorten(source), lambda: empty(index), lambda: os.remove(source), put_old,
                 lambda: shutil.copy(foreign, source), lambda: shutil.copy(source, index)):
        daemon.stop() if w.rng.random() < 0.5 else daemon.kill()
        what()
        w.sql("UPDATE item SET name = CONCAT(name, '+') WHERE id < 9")
        daemon.start()
        wait_until("the trees are built anew", lambda before=built: complete(w, daemon)["built"] > before, 60)
        built = complete(w, daemon)["built"]
        w.equal(daemon)
    exchanging.tell_nothing(daemon)
    for path in (source, index):  # while it runs: what changes is read
        flip(path, range(1, os.path.getsize(path) // 4096))
        w.sql("UPDATE item SET name = CONCAT(name, '-') WHERE id < 9")
        wait_until("the trees are built anew", lambda before=built: complete(w, daemon)["built"] > before, 60)
        built = complete(w, daemon)["built"]
    w.equal(daemon)
    exchanging.tell_nothing(daemon)


# -- no room


def says(daemon, words):
    wait_until(f"the log says: {words}", lambda: words in daemon.log_tail(10**6), 60)


def test_f56_trees_that_have_no_room_are_done_without_and_made_when_there_is_some(w):
    daemon, _ = follow(w, index={"trees": False})
    daemon.stop()
    with SmallDisk(4, f"{daemon.folder}/data/trees") as room:
        if not room.mounted:
            print("# no right to mount a file system: not tested", flush=True)
            return
        room.fill()
        daemon.configure(index=exchanging.ON)
        daemon.start()
        says(daemon, "anti-entropy trees cannot be made")
        off = wait_until("the status says why there are none", lambda: trees(w, daemon)["missing_reason"], 30)
        if "no room on the disk" not in off or "make room in the data folder" not in off or trees(w, daemon)["state"] != "missing":
            raise Failed(off)
        if found(daemon, f"{w.schema}.item"):
            raise Failed("an index was compared for nothing but trees that it cannot have")
        w.sql("UPDATE item SET name = 'without' WHERE id < 50")
        w.equal(daemon)
        if files(daemon, "source") + files(daemon, "index"):
            raise Failed(f"a half of trees is left: {files(daemon)}")
        daemon.stop()
        room.free()
        daemon.start()
        complete(w, daemon)
        complete(w, daemon, "other")
        room.fill()  # they must grow, and an exchange keeps what changes
        w.sql("INSERT INTO item SELECT 1000 + seq, 'grown' FROM seq_1_to_6000", "UPDATE item SET name = 'changed' WHERE id < 50")
        w.equal(daemon, seconds=60)
        says(daemon, "anti-entropy trees cannot be")
        daemon.kill()
        room.free()
        daemon.start()
        w.sql("UPDATE item SET name = 'free again' WHERE id < 20")
        w.equal(daemon)
        exchanging.exchanged(daemon)
        if exchanging.alarms(daemon):
            raise Failed(f"{exchanging.alarms(daemon)}")
        daemon.stop()


# -- F32, F36, F62


def built(w, daemon):
    return [complete(w, daemon, table)["built"] for table in ("product", "customer")]


def test_f32_what_a_failover_lost_is_found_although_both_trees_have_it(w):
    with Stage(w, tables=("product", "customer"), index=exchanging.ON) as s:
        daemon, first, second = s.daemon, s.pair.first, s.pair.second
        before = built(w, daemon)
        s.pair.switch(second, first)
        s.lead(second)
        s.run(20)
        w.sql("UPDATE customer SET city = 'of the second' WHERE id = 1")  # so that equal means: it follows this server
        s.equal()
        if built(w, daemon) != before:
            raise Failed("a failover that lost nothing has ended the trees")
        s.pair.follow(first, second)
        s.pair.catch_up(first, second)
        s.pair.promote(first)
        daemon.stop()
        daemon.start(environment={"MILLRACE_FAILPOINT": "position_due:1:wait=600000"})  # nobody knows what it reads
        w.sql("INSERT INTO customer VALUES (777, 'lost', 'lost@example.net', 'x', 'XX', '2020-02-29', 1)",
              "UPDATE product SET stock = 12345 WHERE id = 30")

        def are(there):
            stock = w.engine.get(w.index("product"), 30)["stock"]
            return (w.engine.get(w.index("customer"), 777) is not None, stock == 12345) == (there, there)
        wait_until("the documents have what will be lost", lambda: are(True), 30)
        daemon.kill()
        w.db = first
        s.lead(first)
        w.sql("UPDATE customer SET city = 'of the other history' WHERE id = 1")
        daemon.start()
        wait_until("the documents have it no more", lambda: are(False), 60)
        s.equal()
        for table in "product", "customer":
            if not [r for r in found(daemon, f"{w.schema}.{table}") if r["repaired"] == 1]:
                raise Failed(f"no report tells of it: {found(daemon, f'{w.schema}.{table}')}")
        if built(w, daemon) <= before:
            raise Failed("the trees are the old ones")


def test_f36_a_log_that_is_reset_ends_the_trees_and_starts_a_comparison_of_the_whole_index(w):
    w.sql("CREATE TABLE item (id INT PRIMARY KEY, name VARCHAR(20))", "INSERT INTO item SELECT seq, 'n' FROM seq_1_to_300")
    daemon = w.follow(w.definitions({"table": "item"}, on_gap="rebuild"), index=exchanging.ON)
    before = complete(w, daemon)["built"]
    daemon.stop()
    no_dump_threads(w)
    reset_log(w)
    w.sql("UPDATE item SET name = 'after' WHERE id < 9", "DELETE FROM item WHERE id = 20")
    daemon.start()

    def is_compared():
        t = w.table(daemon, "item")
        its = t["trees"]
        return its and its["state"] == "complete" and its["built"] > before and t["compared"] and t["compared"]["documents"] == 299
    wait_until(lambda: f"the trees are new: {w.table(daemon, 'item')}", is_compared, 90)
    w.equal(daemon)
    exchanging.tell_nothing(daemon)


def test_f62_of_what_was_purged_and_came_by_itself_an_exchange_finds_nothing(w):
    daemon = two_tables(w, delivery=SMALL, index=exchanging.ON)
    complete(w, daemon, "busy")
    close(w, daemon)
    flood(w, 5)
    wait_until("something is purged", lambda: outstanding(daemon) > 0, 60)
    go_on(w, daemon)
    w.equal(daemon, seconds=60)
    if not count(daemon, "purged") or count(daemon, "purged") != count(daemon, "repaired"):
        raise Failed(f"{count(daemon, 'purged')} changes were purged, {count(daemon, 'repaired')} written again")
    exchanging.tell_nothing(daemon)
