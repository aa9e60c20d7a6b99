"""A foreign client damages documents while others change: `verify` names exactly these, as the judge does, and repairs them."""
import os
import threading

import judge
import oracle
from servers import Failed, let_pass, wait_until
from test_verify import SHARDS, Damage

BEYOND = 1 << 62  # a version that Millrace cannot give out


def more_tests(options):
    """`--damage N` damages so many documents of each kind; some seconds' worth of them otherwise."""
    return {"test_each_kind_of_damage_under_load_is_named_and_repaired": make_test(options.damage)}


class Load(threading.Thread):
    """Changes rows of the upper half of the keys, their pieces and their owners, until it is ended."""

    def __init__(self, w, low, high):
        super().__init__(daemon=True)
        self.connection, self.rng, self.low, self.high = w.db.connect(w.schema), w.rng, low, high
        self.ended, self.error, self.changes = threading.Event(), None, 0

    def statement(self):
        i, value = self.rng.randint(self.low, self.high), self.rng.randint(1, 10**6)
        return self.rng.choice((
            f"UPDATE thing SET price = {value}.25 WHERE id = {i}", f"UPDATE piece SET qty = {value} WHERE thing = {i}",
            f"UPDATE owner SET name = 'n{value}' WHERE id = {i}", f"DELETE FROM thing WHERE id = {i}",
            f"REPLACE INTO thing VALUES ({i}, {i}, {value}.5, 'again')", f"DELETE FROM piece WHERE thing = {i} LIMIT 1"))

    def run(self):
        try:
            with self.connection.cursor() as cursor:
                while not self.ended.is_set():
                    cursor.execute(self.statement())
                    self.connection.commit()
                    self.changes += 1
                    let_pass("its rhythm", 0.01)
        except Exception as e:  # the test says it
            self.error = e

    def end(self):
        self.ended.set()
        self.join()
        if self.error:
            raise self.error


def make(w, rows):
    w.sql("CREATE TABLE owner (id INT PRIMARY KEY, name VARCHAR(20))",
          "CREATE TABLE thing (id INT PRIMARY KEY, owner INT, price DECIMAL(20, 6), note VARCHAR(20), KEY (owner))",
          "CREATE TABLE piece (id INT PRIMARY KEY, thing INT, qty INT, KEY (thing))",
          f"INSERT INTO owner SELECT seq, CONCAT('o', seq) FROM seq_1_to_{rows}",
          f"INSERT INTO thing SELECT seq, seq, seq * 1.234567, CONCAT('n', seq) FROM seq_1_to_{rows}",
          f"INSERT INTO piece SELECT seq, (seq + 1) DIV 2, seq FROM seq_1_to_{2 * rows}")
    return w.follow(w.definitions({"table": "thing", "settings": dict(SHARDS), "relations": [
        {"from": "owner", "table": "owner", "to": "id", "as": "of", "columns": ["name"], "refresh": "area"},
        {"from": "id", "table": "piece", "to": "thing", "as": "pieces", "many": True, "nested": True, "columns": ["id", "qty"]}]}))


def last_digit(text):
    text = str(text)
    return text[:-1] + ("1" if text[-1] != "1" else "2")


class Planted:
    """Documents damaged in each way: what a report must say of them."""

    def __init__(self, w, n):
        self.w, self.n, self.damage, self.wished = w, n, Damage(w, "thing"), {}
        w.sql(f"DELETE FROM thing WHERE id > {n} AND id <= {2 * n}", f"UPDATE thing SET note = 'newest' WHERE id = {5 * n + 1}")

    def all(self):
        for k, kind in enumerate((self.lost, self.resurrected, self.stale, self.elsewhere, self.lineage)):
            for i in range(k * self.n + 1, (k + 1) * self.n + 1):
                self.wished[str(i)] = kind(i)
        for i in range(self.n):
            self.damage.put(f"x-{i}", {"id": 1}, self.newest())
            self.wished[f"x-{i}"] = "unexplained"

    def newest(self):
        """A version that Millrace can have given out, above those of the deletes."""
        return int(self.damage.stored(5 * self.n + 1)["_version"])

    def lost(self, i):
        self.damage.lose(i)
        return "missing"

    def resurrected(self, i):
        """As after a restart of a shard that has forgotten the delete."""
        self.damage.put(i, {"id": i, "note": "back"}, self.newest())
        return "extra"

    def stale(self, i):
        """In a nested part, in an area, or in one digit of a number."""
        ways = (lambda d: d["pieces"][-1].update(qty=-1), lambda d: d["of"].update(name="stale"),
                lambda d: d.update(price=type(d["price"])(last_digit(d["price"]))))
        self.damage.change(i, ways[i % 3])
        return "different"

    def elsewhere(self, i):
        have = self.damage.stored(i)
        routing = next(str(k) for k in range(100) if not self.damage.stored(i, str(k))["found"])
        self.damage.put(i, have["_source"], int(have["_version"]), routing)
        return "wrong_routing"

    def lineage(self, i):
        self.damage.put(i, self.damage.stored(i)["_source"], BEYOND)
        return "wrong_lineage"


def seen_by_judge(w, daemon):
    """The _ids that the judge finds wrong, by their values; it does not look at routings and versions."""
    path = os.path.join(daemon.folder, "definitions.yaml")
    wrong = set()
    for _, index, _, expected in judge.expectations(w.db, path, None, (), {}):
        actual = {key: oracle.without_ours(source) for key, source, _ in w.engine.documents(index)}
        wrong |= {key for key in expected.keys() | actual.keys() if expected.get(key) != actual.get(key)}
    return wrong


def some(of):
    return dict(sorted(of.items())[:20])


def compare(answer, wished):
    """The report counts and names what was planted, each with its kind: a report lists 1,000 of each kind."""
    counts = {kind: sum(1 for is_kind in wished.values() if is_kind == kind) for kind in answer["counts"]}
    named = {d["id"]: d["kind"] for d in answer["differences"]}
    wrong = {key: kind for key, kind in named.items() if wished.get(key) != kind}
    unnamed = {key: kind for key, kind in wished.items() if key not in named}
    if wrong or unnamed or answer["counts"] != counts or answer["cut"]:
        raise Failed(f"counted {answer['counts']}, planted {counts}; wrongly named {some(wrong)}, not named {some(unnamed)}, "
                     f"cut: {answer['cut']}")
    return counts


def make_test(n):
    def test(w):
        rows = 12 * n
        daemon, load = make(w, rows), None
        verify = lambda *options: daemon.json("verify", f"{w.schema}.thing", *options, ok=(1,), timeout=120 + n)  # noqa: E731
        planted = Planted(w, n)
        w.equal(daemon)
        planted.all()
        by_value = {key for key, kind in planted.wished.items() if kind not in ("wrong_routing", "wrong_lineage")}
        found = seen_by_judge(w, daemon)
        if found ^ by_value:
            raise Failed(f"the judge and what was planted differ: {sorted(found ^ by_value)[:20]}")
        load = Load(w, rows // 2 + 1, rows)
        load.start()
        try:
            wait_until("the load runs", lambda: load.changes > 20 or load.error)
            compare(verify(), planted.wished)
            repaired = verify("--repair", "--yes")
            counts = compare(repaired, planted.wished)
            if repaired["repaired"] != len(planted.wished) - n:
                raise Failed(f"{repaired['repaired']} of {len(planted.wished) - n} are repaired: {repaired['why']}")
            if repaired["repaired_counts"] != {**counts, "wrong_lineage": 0}:
                raise Failed(f"planted {counts}, repaired by kind {repaired['repaired_counts']}")
            compare(verify(), {key: kind for key, kind in planted.wished.items() if kind == "wrong_lineage"})
        finally:
            load.end()
        w.equal(daemon, seconds=60)
    return test
