"""`verify` of single rows: damage by a foreign client is found, named by its path, and repaired; a load is no damage."""
import decimal
import json
import threading
import time
import urllib.parse

from servers import Failed, let_pass, wait_until, while_loaded
from test_areas import follow_price, follow_simple, simple, stored, touch
from test_cascades import caught_up, changes_add_up
from test_kill import Writer
from test_servers import orders, two_servers

SHARDS = {"number_of_shards": 3, "number_of_replicas": 0}


def make(w):
    w.sql("CREATE TABLE orders (id INT PRIMARY KEY, total DECIMAL(20, 4), note VARCHAR(20), customer INT, KEY (customer))",
          "CREATE TABLE item (id INT PRIMARY KEY, order_id INT, qty INT, price DECIMAL(8, 2), KEY (order_id))",
          "CREATE TABLE customer (id INT PRIMARY KEY, name VARCHAR(20))",
          "INSERT INTO customer VALUES (5, 'Ann')",
          "INSERT INTO orders VALUES (1, 1234567890123456.7890, 'a', 5), (2, 2, 'b', 5), (3, 3, 'c', NULL), (4, 4, 'd', 5),"
          " (5, 5, 'e', 5), (6, 6, 'f', 5)",
          "INSERT INTO item VALUES (10, 1, 2, 1.50), (11, 1, 3, 2.10), (12, 4, 1, 9)")
    return w.definitions({
        "table": "orders", "settings": dict(SHARDS), "mapping": {"properties": {"foreign": {"type": "long"}}}, "relations": [
            {"from": "id", "table": "item", "to": "order_id", "as": "items", "many": True, "columns": ["id", "qty", "price"]},
            {"from": "customer", "table": "customer", "to": "id", "as": "buyer", "columns": ["name"], "refresh": "none"}]})


def exact(value):
    """JSON with every digit of a number."""
    if isinstance(value, dict):
        return "{" + ",".join(json.dumps(name) + ":" + exact(part) for name, part in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(exact, value)) + "]"
    return str(value) if isinstance(value, decimal.Decimal) else json.dumps(value)


class Damage:
    """A client that is not ours, and writes what it likes at versions above ours."""

    def __init__(self, w, name="orders"):
        self.w, self.engine, self.index = w, w.engine, w.index(name)

    def stored(self, key, routing=None):
        at = f"?routing={routing}" if routing else ""
        return self.engine.ask("GET", f"/{self.index}/_doc/{key}{at}", ok=(200, 404))

    def put(self, key, source, version, routing=None):
        at = f"&routing={urllib.parse.quote(routing)}" if routing else ""
        self.engine.ask("PUT", f"/{self.index}/_doc/{key}?version={version}&version_type=external{at}", exact(source))

    def change(self, key, change, above=1):
        have = self.stored(key)
        change(have["_source"])
        self.put(key, have["_source"], int(have["_version"]) + above)

    def lose(self, key):
        version = int(self.stored(key)["_version"]) + 1
        self.engine.ask("DELETE", f"/{self.index}/_doc/{key}?version={version}&version_type=external")


def shard_of(w, routing, name="faq"):
    answer = w.engine.ask("GET", f"/{w.index(name)}/_search_shards?routing={urllib.parse.quote(routing)}")
    return int(answer["shards"][0][0]["shard"])


def verify(w, daemon, *keys, ok=(0,), options=(), table="orders"):
    asked = [word for key in keys for word in ("--key", str(key))]
    return daemon.json("verify", f"{w.schema}.{table}", *asked, *options, ok=ok)


def kinds(answer):
    return sorted((d["id"], d["kind"], *(f"{p['path']} {p['kind']}" for p in d["paths"])) for d in answer["differences"])


def expect(answer, verdict, wished):
    if answer["verdict"] != verdict or kinds(answer) != sorted(wished):
        raise Failed(f"not {verdict} {wished}: {answer}")


def test_rows_that_are_as_they_should_be_are_equal_at_once(w):
    daemon = w.follow(make(w))
    began = time.monotonic()
    answer = verify(w, daemon, 1, 2, 3, 99)
    took = time.monotonic() - began
    expect(answer, "equal", [])
    if (answer["documents"], answer["equal"], answer["looks"]) != (4, 4, 1) or took > 5:
        raise Failed(f"in {took} s: {answer}")


def damage_each_kind(damage):
    """Damage of each kind in an index of orders; returns what a verify must name, and the routing of the second copy."""
    damage.change(1, lambda d: d.update(total=d["total"][:-1] + "1"))
    damage.lose(2)
    damage.change(3, lambda d: d.update(foreign=[1]))
    damage.change(4, lambda d: d["items"][0].update(qty=7))
    version = int(damage.stored(5)["_version"])
    routing = next(str(i) for i in range(100) if not damage.stored(5, str(i))["found"])
    damage.put(5, {"id": 5}, version, routing)
    damage.put(77, {"id": 77}, version)
    return [("1", "different", "total different"), ("2", "missing"), ("3", "different", "foreign extra"),
            ("4", "different", "items[0].qty different"), ("5", "wrong_routing"), ("77", "extra")], routing


def test_each_kind_of_damage_by_a_foreign_client_is_found_and_repaired(w):
    daemon, damage = w.follow(make(w)), Damage(w)
    expected, routing = damage_each_kind(damage)
    found = verify(w, daemon, 1, 2, 3, 4, 5, 6, 77, ok=(1,))
    expect(found, "different", expected)
    if found["counts"] != {"missing": 1, "extra": 1, "different": 3, "wrong_routing": 1, "unexplained": 0, "wrong_lineage": 0, "orphan": 0} or found["equal"] != 1:
        raise Failed(f"{found}")
    if any("wanted" in p or "found" in p for d in found["differences"] for p in d["paths"]):
        raise Failed("values are shown, and nobody asked for them")
    shown = verify(w, daemon, 4, ok=(1,), options=["--values"])["differences"][0]["paths"][0]
    if (shown["wanted"], shown["found"]) != (1, 7):
        raise Failed(f"{shown}")
    repaired = verify(w, daemon, 1, 2, 3, 4, 5, 6, 77, options=["--repair"])
    expect(repaired, "equal", expected)
    if not all(d["repaired"] for d in repaired["differences"]) or repaired["repaired"] != 6:
        raise Failed(f"{repaired}")
    expect(verify(w, daemon, 1, 2, 3, 4, 5, 6, 77), "equal", [])
    if damage.stored(5, routing)["found"]:
        raise Failed("the second copy is still there")
    w.equal(daemon)
    w.sql("UPDATE orders SET note = 'z'", "UPDATE item SET qty = 8", "DELETE FROM orders WHERE id = 2")
    w.equal(daemon)


def test_what_is_of_another_lineage_is_told_and_never_overwritten(w):
    daemon, damage = w.follow(make(w)), Damage(w)
    damage.change(1, lambda d: d.update(note="x"), above=1 << 53)
    before = damage.stored(1)
    answer = verify(w, daemon, 1, 2, ok=(1,), options=["--repair"])
    expect(answer, "different", [("1", "wrong_lineage")])
    if answer["repaired"] or damage.stored(1) != before:
        raise Failed(f"it was overwritten: {damage.stored(1)}, {answer}")
    way_out = f"fix: millrace index create {w.schema}.orders"
    if way_out not in answer["why"] or way_out not in daemon.command("verify", f"{w.schema}.orders", ok=(1,)).stdout:
        raise Failed(f"a verification does not say the way out: {answer['why']}")
    if daemon.json("report", "list")["items"][0]["verdict"] != "different" or w.table(daemon, "orders")["verify"]:
        raise Failed("a foreign version is told as something else, or as too much for a repair")
    if verify(w, daemon, 2)["why"]:
        raise Failed("a build is proposed where no document needs it")


def test_what_differs_by_contract_is_counted_apart(w):
    daemon, damage = w.follow(make(w)), Damage(w)
    w.sql("UPDATE customer SET name = 'Eve'")
    answer = verify(w, daemon, 1, 3)
    if answer["apart"] != [{"id": "1", "reason": "not_followed"}] or answer["verdict"] != "equal":
        raise Failed(f"{answer}")
    daemon.command("index", "pause", f"{w.schema}.orders")
    damage.lose(4)
    answer = verify(w, daemon, 4, ok=(75,))
    if answer["apart"] != [{"id": "4", "reason": "held"}] or answer["verdict"] != "unknown":
        raise Failed(f"{answer}")
    daemon.command("index", "resume", f"{w.schema}.orders")


def test_a_row_under_a_write_load_gives_no_false_alarm(w):
    daemon, work, _ = w.work_on_shop()
    writer = Writer(w, work, pause=0.001)
    try:
        keys = [row[0] for row in w.sql("SELECT id FROM orders ORDER BY id LIMIT 60")]
        judged, again = 0, 0
        for _ in while_loaded(20):
            answer = verify(w, daemon, *keys, ok=(0, 75))
            if answer["differences"]:
                raise Failed(f"a false alarm: {answer}")
            judged += int(answer["equal"])
            again += answer["looks"] > 1
        if judged < 60 or not again:
            raise Failed(f"{judged} documents were judged, and {again} times looked at again: the load shows nothing")
    finally:
        writer.rest()
        writer.end()
    w.equal(daemon)
    expect(verify(w, daemon, *keys), "equal", [])


def test_documents_of_two_servers_give_no_false_alarm_under_a_load_of_both(w):
    abroad = two_servers(w)
    daemon = w.follow(abroad.definitions(orders("parent")))
    abroad.equal(daemon)
    stop, written = threading.Event(), []

    def write():
        connection = abroad.server.connect(w.schema)
        with connection.cursor() as cursor:
            while not stop.is_set():
                written.append(cursor.execute(f"UPDATE customer SET name = '{time.monotonic()}'"))
                connection.commit()
                let_pass("its rhythm", 0.002)

    thread = threading.Thread(target=write, daemon=True)
    thread.start()
    try:
        again = 0
        for _ in while_loaded(15):
            w.sql("UPDATE orders SET code = 'b' WHERE id = 3", "UPDATE orders SET code = 'a' WHERE id = 3")
            answer = verify(w, daemon, 1, 2, 3, 4, ok=(0, 75))
            if answer["differences"]:
                raise Failed(f"a false alarm: {answer}")
            again += answer["looks"] > 1
        if not again:
            raise Failed(f"{len(written)} transactions, and nothing was looked at again: the load shows nothing; {answer}")
    finally:
        stop.set()
        thread.join()
    abroad.equal(daemon)
    expect(verify(w, daemon, 1, 2, 3, 4), "equal", [])
    # What is left of the load, in the log or as a job, would write what is damaged now.
    wait_until("the log of both servers is done with", lambda: caught_up(daemon))
    changes_add_up(w, daemon)
    wait_until("no job is left", lambda: not daemon.json("job", "list")["items"])
    damage = Damage(w)
    damage.change(1, lambda d: d["customer"]["country"].update(name="elsewhere"))
    expect(verify(w, daemon, 1, options=["--repair"]), "equal", [("1", "different", "customer.country.name different")])
    abroad.equal(daemon)


def test_documents_whose_areas_a_script_wrote_are_equal_by_value(w):
    daemon, damage = follow_simple(w), Damage(w, "product")
    for price in ("7.50", "1e1", "1.10"):
        follow_price(w, daemon, decimal.Decimal(price))
        expect(verify(w, daemon, 1, 2, table="product"), "equal", [])
    damage.change(1, lambda d: d["offers"][1].update(price=99))
    expect(verify(w, daemon, 1, table="product", options=["--repair"]), "equal", [("1", "different", "offers[1].price different")])
    w.equal(daemon)


def test_doubles_of_a_document_written_in_part_may_have_other_digits_and_no_other_value(w):
    row = "4.751728E21, 0.1, 9007199254740993"
    definitions = simple(w, "name VARCHAR(40), weight DOUBLE, size FLOAT, amount BIGINT")
    w.sql(f"INSERT INTO product VALUES (1, 1, 'tea', {row}), (2, 2, 'cup', {row})")
    daemon, damage = w.follow(definitions), Damage(w, "product")

    def store(key, name, text):
        damage.change(key, lambda d: d.update({name: decimal.Decimal(text)}))

    touch(w, daemon)
    follow_price(w, daemon, 7)
    if ["areas" in stored(w, "product", key)[1] for key in (1, 2)] != [True, False]:
        raise Failed("not just the first document was written in part")
    expect(verify(w, daemon, table="product"), "equal", [])
    store(1, "weight", "4.751728000000001E21")  # as Java prints it
    expect(verify(w, daemon, table="product"), "equal", [])
    expect(verify(w, daemon, 1, table="product"), "equal", [])
    if daemon.json("trace", f"{w.schema}.product", "1")["verdict"] != "equal":
        raise Failed("trace calls the document different")
    for name, right, wrong in (("weight", "4.751728E21", "4.751728000000002E21"), ("size", "0.1", "0.10000000149011612"),
                               ("amount", "9007199254740993", "9007199254740992"), ("amount", "9007199254740993", "9007199254740992.0")):
        store(1, name, wrong)
        expect(verify(w, daemon, 1, table="product", ok=(1,)), "different", [("1", "different", f"{name} different")])
        store(1, name, right)
    expect(verify(w, daemon, table="product"), "equal", [])
    store(2, "weight", "4.751728000000001E21")  # written whole: not Millrace's text
    expect(verify(w, daemon, table="product", options=["--repair", "--yes"]), "equal", [("2", "different", "weight different")])
    w.equal(daemon)


def test_wrong_usage_and_sides_that_are_away_have_their_exit_codes(w):
    definitions = make(w)
    daemon = w.follow(definitions)
    table = f"{w.schema}.orders"
    for words in (["verify", f"{w.schema}.none", "--key", "1"], ["verify", table, "--key", "a,b"],
                  ["verify"], ["verify", table, "--all"],
                  ["verify", table, "--key"], ["verify", table, "--key", "1", "--rate", "5"], ["verify", table, "--rate", "x"]):
        done = daemon.command(*words, ok=(2,))
        if done.stdout:
            raise Failed(f"{words} printed {done.stdout}")
    w.engine.ask("POST", f"/{w.index('orders')}_v1/_close")
    daemon.command("verify", table, "--key", "1", ok=(75,))
    w.engine.ask("POST", f"/{w.index('orders')}_v1/_open")
    plain = daemon.command("verify", table, "--key", "1").stdout
    if "1 of 1 documents" not in plain:
        raise Failed(plain)
    Damage(w).lose(1)
    plain = daemon.command("verify", table, "--key", "1", "--values", ok=(1,)).stdout
    if "1: missing" not in plain:
        raise Failed(plain)
    daemon.command("verify", table, "--key", "1", "--repair")
    daemon.stop()
    daemon.command("verify", table, "--key", "1", ok=(75, 1))


def test_members_of_a_join_are_verified_by_their_own_key_or_by_the_whole_id(w):
    w.sql("CREATE TABLE question (id INT PRIMARY KEY, title VARCHAR(20))",
          "CREATE TABLE answer (id INT PRIMARY KEY, question_id INT, text VARCHAR(20))",
          "CREATE TABLE remark (id INT PRIMARY KEY, answer_id INT, root INT, text VARCHAR(20), KEY (answer_id))",
          "INSERT INTO question VALUES (1, 'why'), (2, 'how')", "INSERT INTO answer VALUES (1, 1, 'so'), (2, 2, 'thus')",
          "INSERT INTO remark VALUES (1, 1, NULL, 'oh'), (2, 2, NULL, 'ah'), (3, NULL, NULL, 'eh')")
    daemon = w.follow(w.definitions(
        {"table": "question", "index": "faq", "settings": dict(SHARDS), "join": {"name": "question"}},
        {"table": "answer", "index": "faq", "settings": dict(SHARDS),
         "join": {"name": "answer", "parent": "question", "parent_column": "question_id"}},
        {"table": "remark", "index": "faq", "settings": dict(SHARDS), "root_column": "root",
         "join": {"name": "remark", "parent": "answer", "parent_column": "answer_id"}}))
    w.sql("UPDATE answer SET question_id = 2 WHERE id = 1", "UPDATE answer SET question_id = 1 WHERE id = 1")
    w.equal(daemon)
    expect(verify(w, daemon, 1, 2, 3, "answer:1", table="remark"), "equal", [])
    expect(verify(w, daemon, 1, 2, table="answer"), "equal", [])
    damage = Damage(w, "faq")
    have = damage.stored("answer:1", "question:1")
    have["_source"]["text"] = "no"
    damage.put("answer:1", have["_source"], int(have["_version"]) + 1, "question:1")
    expect(verify(w, daemon, 1, "question:1", table="answer", ok=(1,)), "different", [("answer:1", "different", "text different")])
    expect(verify(w, daemon, "answer:1", table="question", options=["--repair"]), "equal",
           [("answer:1", "different", "text different")])
    have = damage.stored("remark:2", "question:2")
    damage.put("remark:2", have["_source"], int(have["_version"]) + 1, "question:1")
    if shard_of(w, "question:1") == shard_of(w, "question:2"):
        raise Failed("both questions are in one shard: take others")
    expect(verify(w, daemon, 2, table="remark", options=["--repair"]), "equal", [("remark:2", "wrong_routing")])
    w.equal(daemon)
