"""Millrace compares whole indexes by itself, and repairs what differs within its limits."""
import threading

from servers import Failed, let_pass, wait_until
from test_verify import Damage

EVERY = {"verify_every": "4s", "verify_rate": 0}


def rename(d):
    d.update(name="wrong")


def follow(w, n=200, index=EVERY):
    w.sql("CREATE TABLE item (id INT PRIMARY KEY, name VARCHAR(20))", "CREATE TABLE other (id INT PRIMARY KEY)",
          "INSERT INTO other VALUES (1)", f"INSERT INTO item SELECT seq, CONCAT('n', seq) FROM seq_1_to_{n}")
    return w.follow(w.definitions({"table": "item"}, {"table": "other"}), index=index), Damage(w, "item")


def reports(daemon, table):
    return [r for r in daemon.json("report", "list")["items"] if r["table"] == table]


def test_what_differs_is_found_and_repaired_without_a_word(w):
    daemon, damage = follow(w)
    damage.change(7, rename)
    damage.lose(9)
    damage.put("900", {"id": 900, "name": "of nobody"}, int(damage.stored(1)["_version"]))
    wait_until("what nobody asked about is repaired", lambda: damage.stored(7)["_source"]["name"] == "n7", 60)
    wait_until("its comparison is known", lambda: w.table(daemon, "item")["compared"], 30)
    w.equal(daemon)
    wait_until("the next comparison finds all equal",
               lambda: w.table(daemon, "item")["compared"]["documents"] == 200 and w.table(daemon, "item")["compared"]["equal"] == 200, 60)
    found = daemon.json("report", "get", reports(daemon, f"{w.schema}.item")[-1]["job"])
    if found["repaired"] != 3 or found["verdict"] != "equal":
        raise Failed(f"{found}")
    wait_until("the other index has its turn", lambda: w.table(daemon, "other")["compared"], 60)


def test_too_many_differences_are_told_and_left_alone(w):
    daemon, damage = follow(w)
    for key in range(1, 31):
        damage.change(key, rename)
    mark = wait_until("the index is marked", lambda: w.table(daemon, "item")["verify"], 60)
    if "30 of 200 documents" not in mark or damage.stored(3)["_source"]["name"] != "wrong":
        raise Failed(f"{mark}")
    daemon.json("verify", f"{w.schema}.item", "--repair", "--yes", ok=(0, 75))
    w.equal(daemon)
    wait_until("the mark ends", lambda: not w.table(daemon, "item")["verify"], 60)


class Busy(threading.Thread):
    """Changes another table of the same log, until it is ended."""

    def __init__(self, w):
        super().__init__(daemon=True)
        self.connection, self.ended = w.db.connect(w.schema), threading.Event()
        self.start()

    def run(self):
        with self.connection.cursor() as cursor:
            while not self.ended.is_set():
                cursor.execute("UPDATE other SET id = 3 - id")  # 1 and 2 by turns
                self.connection.commit()
                let_pass("its rhythm", 0.001)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.join()


def test_too_many_differences_are_left_alone_under_a_load_too(w):
    daemon, damage = follow(w, index=EVERY | {"verify_every": "never", "trees": False})
    for key in range(1, 31):
        damage.change(key, rename)
    with Busy(w):
        answer = daemon.json("verify", f"{w.schema}.item", "--repair", ok=(1,))
        if (answer["differing"], answer["repaired"]) != (30, 0) or "--repair --yes" not in answer["why"]:
            raise Failed(f"{answer}")
        if damage.stored(3)["_source"]["name"] != "wrong":
            raise Failed("a repair that nobody agreed to was done")
        answer = daemon.json("verify", f"{w.schema}.item", "--repair", "--yes")
        if (answer["verdict"], answer["repaired"]) != ("equal", 30):
            raise Failed(f"{answer}")
        for key in range(41, 46):
            damage.change(key, rename)
        answer = daemon.json("verify", f"{w.schema}.item", "--repair")
        if (answer["verdict"], answer["repaired"]) != ("equal", 5):
            raise Failed(f"{answer}")


def test_a_comparison_waits_for_its_time_and_for_its_index(w):
    daemon, damage = follow(w)
    daemon.command("index", "pause", f"{w.schema}.item")
    wait_until("no comparison that began before the pause goes on",
               lambda: not [j for j in daemon.json("job", "list")["items"] if j["table"] == f"{w.schema}.item"])
    damage.change(7, rename)
    n = len(reports(daemon, f"{w.schema}.other"))
    wait_until("others are compared twice meanwhile", lambda: len(reports(daemon, f"{w.schema}.other")) >= n + 2, 60)
    if damage.stored(7)["_source"]["name"] != "wrong":
        raise Failed("a paused index was repaired")
    daemon.command("index", "resume", f"{w.schema}.item")
    wait_until("it is repaired once it goes on", lambda: damage.stored(7)["_source"]["name"] == "n7", 60)
    due = w.table(daemon, "item")["verify_due"]
    if not due or due[:2] != "20":
        raise Failed(f"the status does not say when: {due}")
    daemon.stop()
    daemon.configure(index={"verify_every": "never"})
    daemon.start()
    wait_until("the status names no time at which nothing happens, once the trees are read",
               lambda: w.table(daemon, "item")["verify_due"] is None)


def test_a_definition_says_how_often_its_index_is_compared(w):
    daemon, damage = follow(w, index=EVERY | {"verify_every": "never", "trees": False})
    daemon.apply(w.definitions({"table": "item", "compare": {"every": "2s"}}, {"table": "other"}))
    damage.change(7, rename)
    wait_until("what differs is repaired", lambda: damage.stored(7)["_source"]["name"] == "n7", 60)
    wait_until("it is compared again and again", lambda: len(reports(daemon, f"{w.schema}.item")) > 2, 60)
    if reports(daemon, f"{w.schema}.other") or w.table(daemon, "other")["verify_due"]:
        raise Failed("an index was compared that no definition wants compared")
    daemon.apply(w.definitions({"table": "item", "compare": {"every": "365d"}}, {"table": "other"}))
    daemon.stop()
    daemon.configure(index=EVERY | {"verify_every": "2s", "trees": False})
    daemon.start()
    before = reports(daemon, f"{w.schema}.item")
    wait_until("the other index is compared as the setting says", lambda: len(reports(daemon, f"{w.schema}.other")) > 1, 60)
    if reports(daemon, f"{w.schema}.item") != before:
        raise Failed("an index was compared earlier than its definition says")
