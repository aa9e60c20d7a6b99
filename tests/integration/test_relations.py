"""Relations in all their forms, under work that changes every table they lead through."""
from servers import Failed, wait_until
from workload import WORDS, text

SCHEMA = """
CREATE TABLE category (id INT PRIMARY KEY, parent INT, name VARCHAR(40), KEY (parent)) CHARSET utf8mb4;
CREATE TABLE product (id INT PRIMARY KEY, name VARCHAR(40), category INT, KEY (category)) CHARSET utf8mb4;
CREATE TABLE tag (id INT PRIMARY KEY, name VARCHAR(40), weight INT, deleted INT NOT NULL DEFAULT 0) CHARSET utf8mb4;
CREATE TABLE product_tag (nr INT PRIMARY KEY, product_id INT, tag_id INT, deleted INT NOT NULL DEFAULT 0,
                          KEY (product_id), KEY (tag_id));
CREATE TABLE offer (shop VARCHAR(10), product_id INT, price DECIMAL(8, 2), PRIMARY KEY (shop, product_id), KEY (product_id))
"""


def linked(table, link_from, link_to, **more):
    return {"from": "id", "through": {"table": "product_tag", "from": link_from, "to": link_to}, "table": table,
            "to": "id", "many": True} | more


def tags(name, **more):
    return linked("tag", "product_id", "tag_id", **{"as": name}, **more)


def offers(name, **more):
    return {"from": "id", "table": "offer", "to": "product_id", "as": name} | more


def tables():
    return [
        {"table": "product", "relations": [
            tags("tags", nested=True, columns=["id", "name"]),
            tags("tag_names", values="name", distinct=True, where="deleted = 0", order_by="weight DESC"),
            tags("heaviest", order_by="weight DESC", limit=2, columns=["weight"]),
            offers("best", order_by="price", columns=["shop", "price"]),
            offers("prices", many=True, values="price", distinct=True),
            offers("offers", many=True, flattened=True),
            {"from": "category", "table": "category", "to": "id", "as": "category_name", "values": "name"},
        ]},
        {"table": "category", "columns": ["id", "name"], "relations": [
            {"from": "parent", "table": "category", "to": "id", "as": "above", "max_depth": 3, "columns": ["name"]},
            {"from": "id", "table": "category", "to": "parent", "as": "below", "many": True, "max_depth": 2, "columns": ["id"],
             "relations": [{"from": "id", "table": "product", "to": "category", "as": "products", "many": True, "values": "id"}]}]},
        {"table": "tag", "columns": ["name"], "relations": [
            linked("product", "tag_id", "product_id", **{"as": "products"}, distinct=True, columns=["name"])]},
    ]


class Catalogue:
    """Random changes of the catalogue, keys, links and parents included."""

    def __init__(self, rng):
        self.rng, self.nr = rng, 1000

    def key(self):
        return self.rng.randrange(1, 25)

    def maybe(self):
        return self.rng.choice(["NULL", str(self.key()), str(self.key())])

    def words(self):
        return text(" ".join(self.rng.choices(WORDS, k=2)))

    def link(self):
        """A number may have been taken by one that was moved."""
        self.nr += 1
        return f"REPLACE INTO product_tag VALUES ({self.nr}, {self.maybe()}, {self.maybe()}, {self.rng.randrange(2)})"

    def some_linked(self):
        """Products that have a tag, however much was deleted before."""
        for key in range(1, 6):
            yield f"REPLACE INTO product VALUES ({key}, {self.words()}, {self.maybe()})"
            yield f"REPLACE INTO tag VALUES ({key}, {self.words()}, {self.rng.randrange(10)}, 0)"
            self.nr += 1
            yield f"REPLACE INTO product_tag VALUES ({self.nr}, {key}, {key}, 0)"

    def statement(self):
        rng, key, nr = self.rng, self.key(), self.rng.randrange(1001, self.nr + 2)
        kind = rng.choice(["a", "b", "c"])
        return rng.choice([
            self.link, self.link, self.link,
            lambda: f"UPDATE product_tag SET tag_id = {self.maybe()} WHERE nr = {nr}",
            lambda: f"UPDATE product_tag SET product_id = {self.maybe()} WHERE nr = {nr}",
            lambda: f"UPDATE IGNORE product_tag SET nr = nr + 1 WHERE nr = {nr}",
            lambda: f"DELETE FROM product_tag WHERE nr = {nr}",
            lambda: f"DELETE FROM product_tag WHERE tag_id = {key}",
            lambda: f"UPDATE tag SET name = {self.words()}, deleted = 1 - deleted WHERE id = {key}",
            lambda: f"UPDATE tag SET weight = {rng.randrange(10)} WHERE id BETWEEN {key} AND {key + 3}",
            lambda: f"UPDATE IGNORE tag SET id = {self.key()} WHERE id = {key}",
            lambda: f"REPLACE INTO tag VALUES ({key}, {self.words()}, {rng.randrange(10)}, 0)",
            lambda: f"DELETE FROM tag WHERE id = {key}",
            lambda: f"UPDATE product SET category = {self.maybe()} WHERE id = {key}",
            lambda: f"UPDATE IGNORE product SET id = {self.key()} WHERE id = {key}",
            lambda: f"REPLACE INTO product VALUES ({key}, {self.words()}, {self.maybe()})",
            lambda: f"DELETE FROM product WHERE id = {key}",
            lambda: f"UPDATE category SET parent = {self.maybe()} WHERE id = {key}",
            lambda: f"REPLACE INTO category VALUES ({key}, {self.maybe()}, {self.words()})",
            lambda: f"DELETE FROM category WHERE id = {key}",
            lambda: f"REPLACE INTO offer VALUES ('{kind}', {key}, {rng.randrange(500) / 100})",
            lambda: f"UPDATE IGNORE offer SET product_id = {self.key()} WHERE shop = '{kind}' AND product_id = {key}",
            lambda: f"DELETE FROM offer WHERE product_id = {key}"])()

    def run(self, connection, transactions):
        with connection.cursor() as cursor:
            for _ in range(transactions):
                cursor.execute("BEGIN")
                for _ in range(self.rng.choice([1, 1, 2, 5])):
                    cursor.execute(self.statement())
                cursor.execute("COMMIT" if self.rng.random() < 0.95 else "ROLLBACK")


def work_builds_and_kills(w, daemon, work, connection, rounds):
    for _ in range(rounds):
        work.run(connection, 60)
        daemon.command("index", "create", f"{w.schema}.product", "--no-wait", ok=None)
        work.run(connection, 40)
        daemon.kill()
        work.run(connection, 20)
        daemon.start()
    work.run(connection, 60)


def test_every_form_of_relation_is_right_under_random_work_builds_and_kills(w):
    w.load(SCHEMA)
    work, connection = Catalogue(w.rng), w.db.connect(w.schema)
    work.run(connection, 200)
    daemon = w.follow(w.definitions(*tables()))
    work_builds_and_kills(w, daemon, work, connection, 3)
    w.sql(*work.some_linked())
    w.equal(daemon, seconds=60)
    filled = sum(bool(d["tags"]) for _, d, _ in w.engine.documents(w.index("product")))
    if filled < 5:
        raise Failed(f"the work left {filled} products with tags: too few to tell anything")


def test_a_link_that_is_made_moved_and_taken_away_changes_the_documents_on_both_its_sides(w):
    w.load(SCHEMA)
    w.sql("INSERT INTO product VALUES (1, 'tea', NULL), (2, 'cup', NULL)",
          "INSERT INTO tag VALUES (1, 'new', 1, 0), (2, 'hot', 2, 0)")
    daemon = w.follow(w.definitions(*tables()))
    for statement, products, tags in (
            ("INSERT INTO product_tag VALUES (1, 1, 1, 0)", [["new"], []], [["tea"], []]),
            ("UPDATE product_tag SET tag_id = 2 WHERE nr = 1", [["hot"], []], [[], ["tea"]]),
            ("UPDATE product_tag SET product_id = 2 WHERE nr = 1", [[], ["hot"]], [[], ["cup"]]),
            ("UPDATE tag SET name = 'warm' WHERE id = 2", [[], ["warm"]], [[], ["cup"]]),
            ("UPDATE product SET name = 'mug' WHERE id = 2", [[], ["warm"]], [[], ["mug"]]),
            ("DELETE FROM product_tag WHERE nr = 1", [[], []], [[], []])):
        w.sql(statement)
        w.equal(daemon)
        found = [w.engine.get(w.index("product"), key)["tag_names"] for key in (1, 2)]
        if found != products:
            raise Failed(f"after {statement} the products have the tags {found}")
        found = [[p["name"] for p in w.engine.get(w.index("tag"), key)["products"]] for key in (1, 2)]
        if found != tags:
            raise Failed(f"after {statement} the tags have the products {found}")


def test_a_row_change_in_very_many_places_does_not_wait_for_itself(w):
    """One statement asks for more look-ups than may wait; these need what the statement did."""
    w.sql("CREATE TABLE root (id INT PRIMARY KEY, mid INT, KEY (mid))",
          "CREATE TABLE mid (id INT PRIMARY KEY, leaf INT, KEY (leaf))", "CREATE TABLE leaf (id INT PRIMARY KEY, v INT)",
          *(f"INSERT INTO {table} VALUES ({n}, {n})" for table in ("root", "mid", "leaf") for n in range(100)))
    below = [{"from": "leaf", "table": "leaf", "to": "id", "as": f"leaf{n}", "columns": ["v"]} for n in range(80)]
    daemon = w.follow(w.definitions({"table": "root", "relations": [
        {"from": "mid", "table": "mid", "to": "id", "as": "middle", "relations": below}]}))
    w.sql("UPDATE leaf SET v = v + 1")
    w.equal(daemon, seconds=60)


def test_rows_that_lead_to_one_another_many_times_over_are_followed_once(w):
    """Sixty rows of one group, five levels deep: 777 million ways lead from a row to the documents."""
    w.sql("CREATE TABLE member (id INT PRIMARY KEY, team INT, v INT, KEY (team))",
          *(f"INSERT INTO member VALUES ({n}, 1, 0)" for n in range(60)))
    daemon = w.follow(w.definitions({"table": "member", "relations": [
        {"from": "team", "table": "member", "to": "team", "as": "first", "order_by": "v DESC", "max_depth": 5}]}))
    w.sql("UPDATE member SET v = 1 WHERE id = 30")
    w.equal(daemon, seconds=60)


def test_a_column_that_only_a_condition_names_counts_when_it_changes(w):
    w.sql("CREATE TABLE parent (id INT PRIMARY KEY)", "CREATE TABLE child (id INT PRIMARY KEY, up INT, hidden INT, KEY (up))",
          "INSERT INTO parent VALUES (1)", "INSERT INTO child VALUES (1, 1, 0), (2, 1, 1)")
    daemon = w.follow(w.definitions({"table": "parent", "relations": [
        {"from": "id", "table": "child", "to": "up", "as": "children", "many": True, "where": "hidden = 0", "columns": ["id"]}]}))
    for statement in ("UPDATE child SET hidden = 1 WHERE id = 1", "UPDATE child SET hidden = 0"):
        w.sql(statement)
        w.equal(daemon)


def test_a_table_that_may_not_be_read_keeps_no_other_from_its_changes(w):
    """Which documents a row is in is asked for by one thread for all tables."""
    user = "millrace@'127.0.0.1'"
    for name in "ab":
        w.sql(f"CREATE TABLE {name} (id INT PRIMARY KEY, part INT, KEY (part))",
              f"CREATE TABLE {name}_part (id INT PRIMARY KEY, name VARCHAR(20))",
              f"INSERT INTO {name} VALUES (1, 7), (2, 7)", f"INSERT INTO {name}_part VALUES (7, 'old')",
              f"GRANT SELECT ON {w.schema}.{name} TO {user}", f"GRANT SELECT ON {w.schema}.{name}_part TO {user}")
    w.sql(f"REVOKE SELECT ON {w.schema}.* FROM {user}")
    daemon = w.follow(w.definitions(*({"table": name, "relations": [
        {"from": "part", "table": f"{name}_part", "to": "id", "as": "shown", "columns": ["name"]}]} for name in "ab")))
    wait_built(daemon, 2)
    w.sql(f"REVOKE SELECT ON {w.schema}.a FROM {user}", "UPDATE a_part SET name = 'new'")
    wait_until("it cannot be asked for", lambda: "SELECT command denied" in daemon.log_tail(10**6))
    w.sql("UPDATE b_part SET name = 'new'")
    wait_until("the other table's documents", lambda: all(
        d["shown"] == {"name": "new"} for _, d, _ in w.engine.documents(w.index("b"))))
    w.sql(f"GRANT SELECT ON {w.schema}.a TO {user}")
    w.equal(daemon)


def wait_built(daemon, n):
    """Builds have ended, and what they changed is in effect: until then tables are looked at, and one that
    may not be read seems to be gone."""
    wait_until("all is built", lambda: daemon.log_tail(10**6).count("index build done") == n)


def grant_alone(w, user, *tables):
    """The user may read these tables and no others."""
    for name in tables:
        w.sql(f"GRANT SELECT ON {w.schema}.{name} TO {user}")
    w.sql(f"REVOKE SELECT ON {w.schema}.* FROM {user}")


def test_documents_wait_for_a_right_that_was_taken_away_and_are_never_dead_letters(w):
    user = "millrace@'127.0.0.1'"
    for name in "ab":
        w.sql(f"CREATE TABLE {name} (id INT PRIMARY KEY, part INT, KEY (part))",
              f"CREATE TABLE {name}_part (id INT PRIMARY KEY, name VARCHAR(20))",
              f"INSERT INTO {name} VALUES (1, 7), (2, 7)", f"INSERT INTO {name}_part VALUES (7, 'old'), (8, 'other')")
    grant_alone(w, user, "a", "a_part", "b", "b_part")
    daemon = w.follow(w.definitions(*({"table": name, "relations": [
        {"from": "part", "table": f"{name}_part", "to": "id", "as": "shown", "columns": ["name"]}]} for name in "ab")))
    wait_built(daemon, 2)
    w.sql(f"REVOKE SELECT ON {w.schema}.a_part FROM {user}", "UPDATE a SET part = 8", "INSERT INTO a VALUES (3, 8)",
          "UPDATE b SET part = 8")
    said = wait_until("status says what the documents wait for", lambda: (
        "denied" in w.table(daemon, "a")["reason"] and w.table(daemon, "a")))
    if f"GRANT SELECT ON `{w.schema}`.`a_part` TO 'millrace'@'127.0.0.1'" not in said["reason"] or said["state"] != "available" or w.table(daemon, "b")["reason"]:
        raise Failed(f"it says {said}, and of the other {w.table(daemon, 'b')}")
    w.equal(daemon, [f"{w.schema}.b"])
    w.sql(f"GRANT SELECT ON {w.schema}.a_part TO {user}")
    w.equal(daemon)
    if daemon.json("dead-letter", "list")["items"]:
        raise Failed(f"left behind: {daemon.json('dead-letter', 'list')}")
    wait_until("status says it no more", lambda: not w.table(daemon, "a")["reason"])  # rights are looked at from time to time
