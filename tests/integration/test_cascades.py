"""Foreign keys change rows by themselves, and older servers do not log it: every document is right all the same."""

from servers import Failed, let_pass, wait_until
from test_failpoints import armed, until_dead
from test_kill import Writer, start_build


def marks(w, daemon):
    """Why tables are to be verified, by table."""
    return {t["table"].split(".")[1]: t["verify"] for t in daemon.json("status")["tables"] if t["verify"]}


def not_marked(w, daemon):
    if marks(w, daemon):
        raise Failed(f"to be verified: {marks(w, daemon)}")


def right(w, daemon, seconds=30):
    """Every document is, and nothing is in flight for ever."""
    w.equal(daemon, seconds=seconds)
    not_marked(w, daemon)


def caught_up(daemon):
    return all(t["state"] == "running" and t["lag_bytes"] == 0 for t in daemon.status()["topics"])


def changes_add_up(w, daemon):
    def add_up():
        c = daemon.status()["changes"]
        return c["in_flight"] == 0 and c["read"] == sum(c[k] for k in (
            "delivered", "superseded", "filtered", "deferred", "purged", "dead"))
    wait_until("changes read are changes done", add_up)


def has_documents(w, name, count):
    w.engine.ask("POST", f"/{w.index(name)}/_refresh")
    found = w.engine.ask("GET", f"/{w.index(name)}/_count")["count"]
    if found != count:
        raise Failed(f"{found} documents of {name}, not {count}")


def logs_cascades(w):
    """MySQL from 9.6 on writes what foreign keys change: there is nothing to look up."""
    return w.sql("SELECT VERSION()")[0][0].startswith("9.")


def make_family(w):
    """A table of each kind of key below `parent`, which is in no definition."""
    w.sql("CREATE TABLE parent (id INT PRIMARY KEY, code INT NOT NULL UNIQUE, name VARCHAR(20))",
          "CREATE TABLE gone (id INT PRIMARY KEY, parent_id INT, name VARCHAR(20),"
          " FOREIGN KEY (parent_id) REFERENCES parent (id) ON DELETE CASCADE ON UPDATE CASCADE)",
          "CREATE TABLE nulled (id INT PRIMARY KEY, parent_code INT,"
          " FOREIGN KEY (parent_code) REFERENCES parent (code) ON DELETE SET NULL ON UPDATE SET NULL)",
          *(f"INSERT INTO parent VALUES ({i}, {i + 100}, 'p{i}')" for i in range(1, 9)),
          *(f"INSERT INTO gone VALUES ({i}, {i % 8 + 1}, 'g{i}')" for i in range(1, 33)),
          *(f"INSERT INTO nulled VALUES ({i}, {i % 8 + 101})" for i in range(1, 33)))


def test_children_of_a_table_that_nobody_defines_follow_deletes_and_key_changes(w):
    make_family(w)
    daemon = w.follow(w.definitions({"table": "gone"}, {"table": "nulled"}))
    for change in (["DELETE FROM parent WHERE id = 1"], ["UPDATE parent SET id = 20 WHERE id = 2"],
                   ["UPDATE parent SET code = 300 WHERE id = 3"], ["DELETE FROM parent WHERE id IN (4, 20)"],
                   ["BEGIN", "INSERT INTO gone VALUES (50, 5, 'n')", "DELETE FROM parent WHERE id = 5", "COMMIT"],
                   ["UPDATE parent SET name = 'other'"],
                   ["DELETE FROM parent WHERE id = 6", "INSERT INTO parent VALUES (6, 106, 'again')",
                    "INSERT INTO gone VALUES (5, 6, 'again')"],
                   ["UPDATE parent SET id = 30, code = 330 WHERE id = 7", "DELETE FROM parent WHERE id = 30"]):
        w.sql(*change)
        right(w, daemon)
    changes_add_up(w, daemon)


def test_a_parent_that_is_deleted_without_checks_leaves_its_children(w):
    make_family(w)
    daemon = w.follow(w.definitions({"table": "gone"}, {"table": "nulled"}))
    w.sql("SET foreign_key_checks = 0", "DELETE FROM parent WHERE id = 1", "UPDATE parent SET id = 40 WHERE id = 2")
    right(w, daemon)
    has_documents(w, "gone", 32)
    w.sql("DELETE FROM parent WHERE id = 3")
    right(w, daemon)


def make_levels(w):
    w.sql("CREATE TABLE land (id INT PRIMARY KEY, name VARCHAR(20))",
          "CREATE TABLE city (id INT PRIMARY KEY, land_id INT, name VARCHAR(20),"
          " FOREIGN KEY (land_id) REFERENCES land (id) ON DELETE CASCADE)",
          "CREATE TABLE street (id INT PRIMARY KEY, city_id INT, name VARCHAR(20),"
          " FOREIGN KEY (city_id) REFERENCES city (id) ON DELETE CASCADE)",
          "CREATE TABLE house (id INT PRIMARY KEY, street_id INT, city_id INT,"
          " FOREIGN KEY (street_id) REFERENCES street (id) ON DELETE CASCADE,"
          " FOREIGN KEY (city_id) REFERENCES city (id) ON DELETE SET NULL)")
    w.sql(*(f"INSERT INTO land VALUES ({i}, 'l{i}')" for i in range(1, 5)),
          *(f"INSERT INTO city VALUES ({i}, {i % 4 + 1}, 'c{i}')" for i in range(1, 13)),
          *(f"INSERT INTO street VALUES ({i}, {i % 12 + 1}, 's{i}')" for i in range(1, 61)),
          *(f"INSERT INTO house VALUES ({i}, {i % 60 + 1}, {i % 7 + 1})" for i in range(1, 241)))


def levels(w):
    """City documents are read again by key, the others come from their rows."""
    return w.definitions({"table": "city", "relations": [
        {"from": "land_id", "table": "land", "to": "id", "as": "land"}]}, {"table": "street"}, {"table": "house"})


def test_keys_are_followed_over_several_levels(w):
    make_levels(w)
    daemon = w.follow(levels(w))
    w.sql("DELETE FROM land WHERE id = 2")
    right(w, daemon)
    w.sql("BEGIN", "UPDATE city SET name = 'moved', land_id = 1 WHERE land_id = 3", "DELETE FROM land WHERE id = 1", "COMMIT")
    right(w, daemon)
    w.sql("DELETE FROM city WHERE id = 3")
    right(w, daemon)
    changes_add_up(w, daemon)


def test_a_tree_that_refers_to_itself_goes_with_its_root(w):
    w.sql("CREATE TABLE node (id INT PRIMARY KEY, parent INT, FOREIGN KEY (parent) REFERENCES node (id) ON DELETE CASCADE)",
          "INSERT INTO node VALUES (1, NULL), (2, NULL)",
          *(f"INSERT INTO node VALUES ({i}, {i // 2})" for i in range(3, 200)))
    daemon = w.follow(w.definitions({"table": "node"}))
    w.sql("DELETE FROM node WHERE id = 5")
    right(w, daemon)
    w.sql("DELETE FROM node WHERE id = 2")
    right(w, daemon)
    w.sql("DELETE FROM node WHERE id = 1")
    right(w, daemon)
    has_documents(w, "node", 0)


def test_keys_of_several_columns_and_of_texts_are_followed(w):
    w.sql("CREATE TABLE tenant (id INT PRIMARY KEY)",
          "CREATE TABLE kind (tenant INT, code VARCHAR(20), PRIMARY KEY (tenant, code),"
          " FOREIGN KEY (tenant) REFERENCES tenant (id) ON DELETE CASCADE ON UPDATE CASCADE)",
          "CREATE TABLE thing (tenant INT, id INT PRIMARY KEY, code VARCHAR(20),"
          " FOREIGN KEY (tenant, code) REFERENCES kind (tenant, code) ON DELETE CASCADE ON UPDATE CASCADE)",
          "CREATE TABLE label (id INT PRIMARY KEY, code VARCHAR(20) CHARACTER SET utf8mb4, tenant INT,"
          " FOREIGN KEY (tenant, code) REFERENCES kind (tenant, code) ON DELETE SET NULL ON UPDATE CASCADE)",
          *(f"INSERT INTO tenant VALUES ({i})" for i in range(1, 6)),
          *(f"INSERT INTO kind VALUES ({i}, 'Kind{k}')" for i in range(1, 6) for k in range(3)),
          *(f"INSERT INTO thing VALUES ({n % 5 + 1}, {n}, 'kIND{n % 3}')" for n in range(60)),
          *(f"INSERT INTO label VALUES ({n}, 'kind{n % 3}', {n % 5 + 1})" for n in range(60)))
    daemon = w.follow(w.definitions({"table": "thing"}, {"table": "label"}))
    for change in ("DELETE FROM kind WHERE tenant = 1 AND code = 'kind1'", "UPDATE kind SET code = 'new' WHERE code = 'kind2'",
                   "UPDATE tenant SET id = 9 WHERE id = 2", "DELETE FROM tenant WHERE id = 9",
                   "UPDATE kind SET tenant = 5, code = 'taken' WHERE tenant = 3 AND code = 'kind0'", "DELETE FROM tenant"):
        w.sql(change)
        right(w, daemon)
    has_documents(w, "thing", 0)


def make_orders(w):
    w.sql("CREATE TABLE customer (id INT PRIMARY KEY, name VARCHAR(20))",
          "CREATE TABLE product (id INT PRIMARY KEY, name VARCHAR(20))",
          "CREATE TABLE orders (id INT PRIMARY KEY, customer_id INT, note VARCHAR(20),"
          " FOREIGN KEY (customer_id) REFERENCES customer (id) ON DELETE SET NULL ON UPDATE CASCADE)",
          "CREATE TABLE item (id INT PRIMARY KEY, order_id INT, product_id INT, qty INT,"
          " FOREIGN KEY (order_id) REFERENCES orders (id) ON DELETE CASCADE ON UPDATE CASCADE,"
          " FOREIGN KEY (product_id) REFERENCES product (id) ON DELETE CASCADE ON UPDATE CASCADE)",
          *(f"INSERT INTO customer VALUES ({i}, 'c{i}')" for i in range(1, 7)),
          *(f"INSERT INTO product VALUES ({i}, 'p{i}')" for i in range(1, 7)),
          *(f"INSERT INTO orders VALUES ({i}, {i % 6 + 1}, 'o{i}')" for i in range(1, 31)),
          *(f"INSERT INTO item VALUES ({i}, {i % 30 + 1}, {i % 6 + 1}, {i})" for i in range(1, 121)))


def orders(w, nested, shown):
    """The customer's key is only in the customer, the product's in the items or only in their products."""
    return w.definitions({"table": "orders", "columns": ["id", "note"], "relations": [
        {"from": "customer_id", "table": "customer", "to": "id", "as": "customer"},
        {"from": "id", "table": "item", "to": "order_id", "as": "items", "many": True, "nested": nested,
         "columns": ["id", "qty"] + ["product_id"] * shown, "relations": [
             {"from": "product_id", "table": "product", "to": "id", "as": "product", "columns": ["id", "name"]}]}]})


def test_rows_inside_other_documents_are_followed(w):
    for nested, shown in ((False, True), (True, True), (True, False)):
        w.make_schema()
        make_orders(w)
        daemon = w.follow(orders(w, nested, shown))
        for change in ("DELETE FROM product WHERE id = 1", "UPDATE product SET id = 20 WHERE id = 2",
                       "DELETE FROM customer WHERE id = 3", "UPDATE customer SET id = 40 WHERE id = 4",
                       "UPDATE orders SET id = 500 WHERE id = 5", "DELETE FROM orders WHERE id IN (6, 500)",
                       "DELETE FROM product WHERE id IN (20, 3)", "DELETE FROM customer"):
            w.sql(change)
            right(w, daemon)
        changes_add_up(w, daemon)
        daemon.stop()
        w.engine.ask("DELETE", f"/{w.schema}-*", ok=(200, 404))


def test_rows_of_link_tables_are_followed_on_both_sides(w):
    w.sql("CREATE TABLE post (id INT PRIMARY KEY, title VARCHAR(20))", "CREATE TABLE tag (id INT PRIMARY KEY, name VARCHAR(20))",
          "CREATE TABLE post_tag (post_id INT, tag_id INT, PRIMARY KEY (post_id, tag_id), KEY (tag_id),"
          " FOREIGN KEY (post_id) REFERENCES post (id) ON DELETE CASCADE ON UPDATE CASCADE,"
          " FOREIGN KEY (tag_id) REFERENCES tag (id) ON DELETE CASCADE ON UPDATE CASCADE)",
          *(f"INSERT INTO {table} VALUES ({i}, 'x{i}')" for i in range(1, 9) for table in ("post", "tag")),
          *(f"INSERT INTO post_tag VALUES ({i}, {(i + k) % 8 + 1})" for i in range(1, 9) for k in range(3)))
    daemon = w.follow(w.definitions(
        {"table": "post", "relations": [{"from": "id", "through": {"table": "post_tag", "from": "post_id", "to": "tag_id"}, "table": "tag",
                                         "to": "id", "as": "tags", "many": True, "nested": True}]},
        {"table": "tag", "relations": [{"from": "id", "through": {"table": "post_tag", "from": "tag_id", "to": "post_id"}, "table": "post",
                                        "to": "id", "as": "posts", "many": True, "columns": ["id"]}]}))
    for change in ("DELETE FROM tag WHERE id = 1", "UPDATE tag SET id = 20 WHERE id = 2", "DELETE FROM post WHERE id IN (3, 4)",
                   "UPDATE post SET id = 50 WHERE id = 5", "DELETE FROM tag WHERE id IN (20, 6)", "DELETE FROM post"):
        w.sql(change)
        right(w, daemon)
    not_marked(w, daemon)


def test_thousands_of_children_of_one_parent_are_followed(w):
    w.sql("CREATE TABLE parent (id INT PRIMARY KEY)",
          "CREATE TABLE child (id INT PRIMARY KEY, parent_id INT, FOREIGN KEY (parent_id) REFERENCES parent (id) ON DELETE CASCADE)",
          "INSERT INTO parent VALUES (1), (2), (3)")
    w.load("".join(f"INSERT INTO child VALUES {', '.join(f'({i}, {i % 3 + 1})' for i in range(n, n + 1000))};\n"
                   for n in range(0, 24000, 1000)))
    daemon = w.follow(w.definitions({"table": "child"}))
    w.sql("DELETE FROM parent WHERE id = 1", "DELETE FROM parent WHERE id = 2")
    right(w, daemon, seconds=60)
    has_documents(w, "child", 8000)


def test_many_parents_that_are_deleted_one_by_one_are_followed_together(w):
    w.sql("CREATE TABLE parent (id INT PRIMARY KEY)",
          "CREATE TABLE child (id INT PRIMARY KEY, parent_id INT, FOREIGN KEY (parent_id) REFERENCES parent (id) ON DELETE CASCADE)",
          f"INSERT INTO parent VALUES {', '.join(f'({i})' for i in range(3000))}",
          f"INSERT INTO child VALUES {', '.join(f'({i}, {i // 2})' for i in range(6000))}")
    daemon = w.follow(w.definitions({"table": "child"}))
    with w.db.connect(w.schema).cursor() as cursor:
        for i in range(2000):
            cursor.execute(f"DELETE FROM parent WHERE id = {i}")
            cursor.execute("COMMIT")
    right(w, daemon, seconds=60)
    has_documents(w, "child", 2000)
    changes_add_up(w, daemon)


def test_children_that_no_field_shows_make_the_table_one_to_verify(w):
    make_family(w)
    make_levels(w)
    daemon = w.follow(w.definitions({"table": "gone", "columns": ["id", "name"]},
                                    {"table": "nulled", "columns": ["id", {"name": "parent_code", "type": "text"}]},
                                    {"table": "house"}))
    not_marked(w, daemon)
    w.sql("DELETE FROM parent WHERE id = 1", "DELETE FROM land WHERE id = 1")
    if logs_cascades(w):
        right(w, daemon)
        return
    found = wait_until("all three are to be verified", lambda: marks(w, daemon) if len(marks(w, daemon)) == 3 else None)
    fixes = [item["fix"] for item in daemon.json("doctor", ok=None)["items"]
             if item["id"] == "table.verify"]
    if len(fixes) != 3 or any("millrace verify" not in fix or "--repair" not in fix for fix in fixes):
        raise Failed(f"doctor does not say how a mark goes away without a build: {fixes}")
    for table, word in (("gone", "`parent_id`"), ("nulled", "`parent_code`"), ("house", "city")):
        if word not in found[table]:
            raise Failed(f"no {word} in: {found[table]}")
    daemon.kill()
    daemon.start()
    if marks(w, daemon) != found:
        raise Failed("a restart forgets what is to be verified")
    wait_until("what was read before the kill is read again", lambda: caught_up(daemon))
    for table in ("gone", "nulled"):
        daemon.build(f"{w.schema}.{table}")
    daemon.command("verify", f"{w.schema}.house", ok=(1,))
    if list(marks(w, daemon)) != ["house"]:
        raise Failed(f"to be verified: {marks(w, daemon)}, and house differs")
    daemon.command("verify", f"{w.schema}.house", "--sample", "1000", "--repair", "--yes")
    daemon.command("verify", f"{w.schema}.house", "--where", "1 = 1")
    if list(marks(w, daemon)) != ["house"]:
        raise Failed(f"to be verified: {marks(w, daemon)}, and only a part of house is known to be equal")
    daemon.command("verify", f"{w.schema}.house")
    right(w, daemon)


def make_tenants(w, things=3):
    """The key of each is the tenant's and its own; parts are two levels below.  A shelf refers to things, and no key says so."""
    w.sql("CREATE TABLE tenant (id INT PRIMARY KEY)",
          "CREATE TABLE thing (tenant INT, id INT, name VARCHAR(20), PRIMARY KEY (tenant, id),"
          " FOREIGN KEY (tenant) REFERENCES tenant (id) ON DELETE CASCADE ON UPDATE CASCADE)",
          "CREATE TABLE part (n INT, tenant INT, thing INT, PRIMARY KEY (tenant, thing, n),"
          " FOREIGN KEY (tenant, thing) REFERENCES thing (tenant, id) ON DELETE CASCADE ON UPDATE CASCADE)",
          "CREATE TABLE shelf (id INT PRIMARY KEY, tenant INT)",
          f"INSERT INTO tenant VALUES {', '.join(f'({t})' for t in range(1, 7))}",
          f"INSERT INTO thing VALUES {', '.join(f'({t}, {i}, {t * 10 + i})' for t in range(1, 7) for i in range(things if t < 4 else 3))}",
          f"INSERT INTO part VALUES {', '.join(f'({n}, {t}, {i})' for t in range(1, 7) for i in range(3) for n in range(2))}",
          f"INSERT INTO shelf VALUES {', '.join(f'({i}, {i})' for i in range(1, 60))}")


def tenants(w):
    things = {"from": "tenant", "table": "thing", "to": "tenant", "as": "things", "many": True}
    return w.definitions({"table": "thing"}, {"table": "part", "relations": [
        {"from": ["tenant", "thing"], "table": "thing", "to": ["tenant", "id"], "as": "of"}]},
        {"table": "shelf", "relations": [dict(things, relations=[
            {"from": ["tenant", "id"], "table": "part", "to": ["tenant", "thing"], "as": "parts", "many": True}])]})


def test_rows_whose_own_key_a_foreign_key_changes_are_found_by_the_new_one(w):
    make_tenants(w)
    daemon = w.follow(tenants(w))
    for change in (["UPDATE tenant SET id = 20 WHERE id = 2"],
                   ["BEGIN", "UPDATE tenant SET id = 21 WHERE id = 20", "UPDATE thing SET name = 'x' WHERE tenant = 21",
                    "UPDATE tenant SET id = 22 WHERE id = 21", "COMMIT"],
                   ["BEGIN", *(f"UPDATE tenant SET id = {new} WHERE id = {old}" for old, new in ((3, 30), (4, 3), (30, 4))), "COMMIT"],
                   ["DELETE FROM tenant WHERE id = 5", "UPDATE tenant SET id = 5 WHERE id = 6"],
                   ["UPDATE thing SET tenant = 4, id = 50 WHERE tenant = 5 AND id = 1"], ["UPDATE thing SET id = id + 100"],
                   ["UPDATE tenant SET id = 40 WHERE id = 4", "DELETE FROM tenant WHERE id = 40"],
                   ["UPDATE tenant SET id = id + 30"], ["DELETE FROM tenant"]):
        w.sql(*change)
        right(w, daemon)
    has_documents(w, "part", 0)
    changes_add_up(w, daemon)


def test_very_many_rows_whose_own_key_changes_are_found_whenever_the_daemon_is_killed(w):
    make_tenants(w, things=1200)
    definitions = tenants(w)
    del definitions["tables"][2]  # the shelf's documents are few
    daemon = w.follow(definitions)
    for i, point in enumerate(("transaction_built", "fan_out_stored", "fan_out_moved")):
        daemon.kill()
        daemon.start(wait=False, environment=armed(point))
        w.sql(f"UPDATE tenant SET id = {100 + i} WHERE id = {i + 1}")
        until_dead(daemon, point)
        daemon.start()
        right(w, daemon)


def test_what_cannot_be_followed_is_named_before_it_happens(w):
    make_family(w)
    make_levels(w)
    definitions = w.definitions({"table": "gone"}, {"table": "nulled", "columns": ["id", {"name": "parent_code", "type": "text"}]}, {"table": "house"})
    daemon = w.millrace()
    done = daemon.apply(definitions)
    said = done.stdout + done.stderr
    found = {item["message"]: item for item in daemon.json("doctor", ok=None)["items"] if item["id"] == "mysql.table_cascade"}
    if logs_cascades(w):
        if "by itself" in said or found:
            raise Failed(f"apply says {said}, doctor {found}")
        return
    for table, word in (("nulled", "`parent_code`"), ("house", "city")):
        if not any(word in line and f".{table}" in line for line in said.splitlines()):
            raise Failed(f"apply does not name {table}: {said}")
        if not any(i["status"] == "warn" and f".{table}" in m and word in i["why"] and i["fix"] for m, i in found.items()):
            raise Failed(f"doctor does not name {table}: {found}")
    if any("warning" in line and ".gone" in line for line in said.splitlines()) or not any(i["status"] == "ok" and ".gone" in m for m, i in found.items()):
        raise Failed(f"apply says {said}, doctor {found}")


def test_foreign_keys_that_no_document_can_tell_are_one_warning_and_those_that_change_none_are_none(w):
    w.sql("CREATE TABLE country (id INT PRIMARY KEY, name VARCHAR(20))",
          "CREATE TABLE city (id INT PRIMARY KEY, country_id INT, name VARCHAR(20), FOREIGN KEY (country_id) REFERENCES country (id) ON UPDATE CASCADE)",
          "CREATE TABLE customer (id INT PRIMARY KEY, city_id INT, friend INT, name VARCHAR(20),"
          " CONSTRAINT lives FOREIGN KEY (city_id) REFERENCES city (id) ON UPDATE CASCADE,"
          " CONSTRAINT likes FOREIGN KEY (friend) REFERENCES customer (id) ON DELETE SET NULL)",
          "INSERT INTO country VALUES (1, 'a')", "INSERT INTO city VALUES (1, 1, 'b')", "INSERT INTO customer VALUES (1, 1, NULL, 'c'), (2, 1, 1, 'd')")
    daemon = w.millrace()
    done = daemon.apply(w.definitions({"table": "customer", "columns": ["id", "name"], "relations": [
        {"from": "city_id", "table": "city", "to": "id", "columns": ["name"], "relations": [
            {"from": "country_id", "table": "country", "to": "id", "columns": ["name"]}]}]}))
    warnings = [line for line in (done.stdout + done.stderr).splitlines() if "warning: " in line and "foreign key" in line]
    if logs_cascades(w):
        if warnings:
            raise Failed(f"apply says {warnings}")
        return
    if len(warnings) != 1 or not all(words in warnings[0] for words in (
            "is updated", f"`city_id` of {w.schema}.customer (lives)", f"`country_id` of {w.schema}.city (city_ibfk_1)")):
        raise Failed(f"apply says {warnings}")
    daemon.build(f"{w.schema}.customer")
    w.sql("DELETE FROM customer WHERE id = 1")
    w.equal(daemon)
    not_marked(w, daemon)


def test_texts_that_are_equal_in_more_ways_than_case_are_named_before_it_happens(w):
    w.sql("CREATE TABLE kind (code VARCHAR(20) COLLATE utf8mb4_general_ci PRIMARY KEY, exact VARCHAR(20) COLLATE utf8mb4_bin UNIQUE)",
          "CREATE TABLE loose (id INT PRIMARY KEY, code VARCHAR(20) COLLATE utf8mb4_general_ci,"
          " FOREIGN KEY (code) REFERENCES kind (code) ON DELETE CASCADE)",
          "CREATE TABLE strict (id INT PRIMARY KEY, code VARCHAR(20) COLLATE utf8mb4_bin,"
          " FOREIGN KEY (code) REFERENCES kind (exact) ON DELETE CASCADE)")
    daemon = w.millrace()
    done = daemon.apply(w.definitions({"table": "loose"}, {"table": "strict"}))
    said = [line for line in (done.stdout + done.stderr).splitlines() if "accents" in line]
    found = [item for item in daemon.json("doctor", ok=None)["items"] if item["id"] == "mysql.table_cascade"]
    if logs_cascades(w):
        if said or found:
            raise Failed(f"apply says {said}, doctor {found}")
        return
    if len(said) != 1 or f"{w.schema}.loose" not in said[0]:
        raise Failed(f"apply says {said}")
    state = {item["message"].split(" changes rows of ")[1].split(" ")[0].split(".")[1]: item["status"] for item in found}
    if state != {"loose": "warn", "strict": "ok"}:
        raise Failed(f"doctor says {found}")


def test_a_parent_whose_row_image_lacks_the_key_makes_the_children_ones_to_verify(w):
    w.db.restart("--binlog-row-image=MINIMAL")
    w.make_schema()
    make_family(w)
    daemon = w.follow(w.definitions({"table": "gone"}, {"table": "nulled"}))
    w.sql("UPDATE parent SET id = 50 WHERE id = 2", "UPDATE parent SET name = 'x'")
    right(w, daemon)
    w.sql("DELETE FROM parent WHERE id = 1")  # the image has the primary key only
    if logs_cascades(w):
        right(w, daemon)
        return
    found = wait_until("one is to be verified", lambda: marks(w, daemon))
    if list(found) != ["nulled"] or "binlog_row_image" not in found["nulled"]:
        raise Failed(f"to be verified: {found}")
    w.equal(daemon, [f"{w.schema}.gone"])


class Family:
    """Random work on levels of keys of every kind, with new and old rows."""

    def __init__(self, w):
        self.w, self.rng, self.next = w, w.rng, 1000
        w.sql("CREATE TABLE a (id INT PRIMARY KEY, n INT)",
              "CREATE TABLE b (id INT PRIMARY KEY, a INT, up INT, n INT,"
              " FOREIGN KEY (a) REFERENCES a (id) ON DELETE CASCADE ON UPDATE CASCADE,"
              " FOREIGN KEY (up) REFERENCES b (id) ON DELETE CASCADE)",
              "CREATE TABLE c (id INT PRIMARY KEY, b INT, a INT, n INT,"
              " FOREIGN KEY (b) REFERENCES b (id) ON DELETE CASCADE ON UPDATE CASCADE,"
              " FOREIGN KEY (a) REFERENCES a (id) ON DELETE SET NULL ON UPDATE SET NULL)",
              "CREATE TABLE d (id INT PRIMARY KEY, c INT, n INT,"
              " FOREIGN KEY (c) REFERENCES c (id) ON DELETE CASCADE ON UPDATE CASCADE)",
              "CREATE TABLE e (id INT, a INT, n INT, PRIMARY KEY (a, id),"
              " FOREIGN KEY (a) REFERENCES a (id) ON DELETE CASCADE ON UPDATE CASCADE)",
              "CREATE TABLE f (id INT, e INT, a INT, n INT, PRIMARY KEY (id, a, e),"
              " FOREIGN KEY (a, e) REFERENCES e (a, id) ON DELETE CASCADE ON UPDATE CASCADE)")
        self.statements = [self.add_a, self.add_b, self.add_b, self.add_c, self.add_c, self.add_d, self.add_d, self.add_e,
                           self.add_f, self.add_f, self.change, self.change, self.move, self.delete, self.delete, self.rekey]

    def definitions(self):
        """b, c and f are read again by key, d and e come from their rows; c is in b as well.  The keys of e and f are their parents', too."""
        return self.w.definitions(
            {"table": "b", "relations": [
                {"from": "a", "table": "a", "to": "id", "as": "of"},
                {"from": "id", "table": "c", "to": "b", "as": "cs", "many": True, "columns": ["id", "a", "n"]}]},
            {"table": "c", "relations": [{"from": "b", "table": "b", "to": "id", "as": "of"}]},
            {"table": "d"}, {"table": "e"},
            {"table": "f", "relations": [{"from": ["a", "e"], "table": "e", "to": ["a", "id"], "as": "of"}]})

    def key(self, table):
        return f"(SELECT id FROM (SELECT id FROM {table} ORDER BY RAND({self.rng.randrange(10**9)}) LIMIT 1) x)"

    def fresh(self):
        """Keys of the middle tables do not come again: docs/progress.md says why."""
        self.next += 1
        return self.next

    def new(self):
        return self.rng.choice([self.fresh(), self.rng.randrange(1, 60)])

    def n(self):
        return self.rng.randrange(1000)

    def add_a(self):
        return f"INSERT IGNORE INTO a VALUES ({self.new()}, {self.n()})"

    def add_b(self):
        up = self.rng.choice(["NULL", self.key("b")])
        return f"INSERT IGNORE INTO b VALUES ({self.fresh()}, {self.key('a')}, {up}, {self.n()})"

    def add_c(self):
        return f"INSERT IGNORE INTO c VALUES ({self.fresh()}, {self.key('b')}, {self.key('a')}, {self.n()})"

    def add_d(self):
        return f"INSERT IGNORE INTO d VALUES ({self.new()}, {self.key('c')}, {self.n()})"

    def add_e(self):
        return f"INSERT IGNORE INTO e VALUES ({self.fresh()}, {self.key('a')}, {self.n()})"

    def add_f(self):
        return f"INSERT IGNORE INTO f SELECT {self.new()}, id, a, {self.n()} FROM (SELECT id, a FROM e ORDER BY RAND({self.rng.randrange(10**9)}) LIMIT 1) x"

    def change(self):
        table = self.rng.choice("aabbccdef")
        return f"UPDATE {table} SET n = {self.n()} WHERE id >= {self.key(table)} LIMIT 3"

    def move(self):
        child, parent = self.rng.choice(["ba", "cb", "ca", "dc", "ea"])
        return f"UPDATE {child} SET {parent} = {self.key(parent)} WHERE id >= {self.key(child)} LIMIT 2"

    def delete(self):
        table = self.rng.choice("aaabce")
        return f"DELETE FROM {table} WHERE id = {self.key(table)}"

    def rekey(self):
        table = self.rng.choice("aaace")
        return f"UPDATE IGNORE {table} SET id = {self.fresh()} WHERE id = {self.key(table)}"

    def run(self, connection, transactions):
        with connection.cursor() as cursor:
            for _ in range(transactions):
                cursor.execute("BEGIN")
                for _ in range(self.rng.choice([1, 1, 2, 5])):
                    cursor.execute(self.rng.choice(self.statements)())
                cursor.execute("COMMIT" if self.rng.random() < 0.95 else "ROLLBACK")


def test_random_work_with_cascades_is_right(w):
    work = Family(w)
    connection = w.db.connect(w.schema)
    work.run(connection, 100)
    daemon = w.follow(work.definitions())
    for _ in range(8):
        work.run(connection, 150)
        right(w, daemon)
    changes_add_up(w, daemon)


def test_fills_that_were_read_before_a_cascade_do_not_survive_it(w):
    make_family(w)
    w.load("".join(f"INSERT INTO gone VALUES {', '.join(f'({i}, {i % 8 + 1}, 0)' for i in range(n, n + 1000))};\n"
                   for n in range(1000, 21000, 1000)))
    daemon = w.follow(w.definitions({"table": "gone"}))
    for parent in range(1, 9):
        start_build(daemon, f"{w.schema}.gone")
        let_pass("the cascade comes at any moment of the build", w.rng.random() * 0.6)
        w.sql(f"DELETE FROM parent WHERE id = {parent}", f"INSERT INTO parent VALUES ({parent}, {parent + 500}, 'again')",
              f"INSERT INTO gone VALUES ({parent + 100}, {parent}, 'again')")
        wait_until("the build ends", lambda: next(
            t["state"] for t in daemon.status()["tables"]) == "available", seconds=60)
        right(w, daemon)


def test_an_index_that_is_held_delays_no_other_for_long(w):
    make_family(w)
    make_levels(w)
    definitions = levels(w)
    definitions["tables"] += w.definitions({"table": "gone"})["tables"]
    daemon = w.follow(definitions)
    w.engine.ask("POST", f"/{w.index('house')}_v1/_close")
    w.sql("UPDATE house SET street_id = 2 WHERE id = 7")
    wait_until("the index is held", lambda: w.table(daemon, "house")["state"] == "held", 60)
    w.sql("DELETE FROM land WHERE id = 2")
    w.sql("DELETE FROM parent WHERE id = 1")
    w.equal(daemon, [f"{w.schema}.gone"], seconds=20)
    if w.table(daemon, "house")["state"] != "held":
        raise Failed("it is not held any more, so this shows nothing")
    if not logs_cascades(w):  # documents of city and street would lead to those of house
        wait_until("its table is stopped", lambda: w.table(daemon, "house")["state"] == "stopped", 90)
    w.equal(daemon, [f"{w.schema}.city", f"{w.schema}.street"])
    daemon.build(f"{w.schema}.house")
    right(w, daemon)
    changes_add_up(w, daemon)


def test_a_middle_table_that_is_built_for_the_first_time_makes_those_below_ones_to_verify(w):
    make_levels(w)
    daemon = w.millrace()
    daemon.apply(levels(w))
    for table in ("street", "house"):
        daemon.build(f"{w.schema}.{table}")
    daemon.command("index", "create", f"{w.schema}.city", "--no-wait", "--rate", "1")
    wait_until("it is being built", lambda: w.table(daemon, "city").get("build"))
    w.sql("DELETE FROM land WHERE id = 2")
    if not logs_cascades(w):
        wait_until("one is to be verified", lambda: "built" in marks(w, daemon).get("street", ""))
    daemon.command("index", "set", f"{w.schema}.city", "--rate", "0")
    wait_until("the build ends", lambda: w.table(daemon, "city")["state"] == "available", 60)
    for table in ("street", "house"):
        daemon.build(f"{w.schema}.{table}")
    right(w, daemon)
    w.sql("DELETE FROM land WHERE id = 1")
    right(w, daemon)


def test_a_middle_table_whose_index_leaves_rows_out_makes_those_below_ones_to_verify(w):
    make_levels(w)
    definitions = levels(w)
    definitions["tables"][0]["filter"] = "id <> 5"
    daemon = w.follow(definitions)
    w.sql("DELETE FROM land WHERE id = 2")
    if not logs_cascades(w):
        wait_until("one is to be verified", lambda: "filter" in marks(w, daemon).get("street", ""))
        for table in ("street", "house"):
            daemon.build(f"{w.schema}.{table}")
    right(w, daemon)


def test_cascades_survive_kill_9_and_builds(w):
    work = Family(w)
    connection = w.db.connect(w.schema)
    work.run(connection, 150)
    daemon = w.follow(work.definitions())
    for _ in range(3):
        for _ in range(3):
            # Much is in the log that is gone from the tables already: so reads are ahead of it.
            daemon.kill()
            work.run(connection, 50)
            daemon.start(wait=False)
            writer = Writer(w, work)
            try:
                let_pass("killed at any moment", w.rng.random() * 0.5)
                daemon.kill()
                daemon.start()
                if w.rng.random() < 0.4:
                    start_build(daemon, f"{w.schema}.{w.rng.choice('bcdef')}")
                let_pass("killed at any moment", w.rng.random() * 0.8)
            finally:
                writer.end()
            if writer.error:
                raise writer.error
        right(w, daemon, seconds=60)
    changes_add_up(w, daemon)


for test in (test_a_tree_that_refers_to_itself_goes_with_its_root, test_keys_of_several_columns_and_of_texts_are_followed,
             test_rows_whose_own_key_a_foreign_key_changes_are_found_by_the_new_one,
             test_very_many_rows_whose_own_key_changes_are_found_whenever_the_daemon_is_killed,
             test_random_work_with_cascades_is_right, test_cascades_survive_kill_9_and_builds):
    test.servers = ("mariadb", "mariadb11", "mysql8")
    test.why = "refuses such cascades itself, and logs those that it takes"
