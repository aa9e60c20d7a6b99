"""Joins whose root has a composite key, with grandchildren and great-grandchildren: `root_column` is a list."""
from servers import Failed
from test_join import found
from workload import text

# A root with a composite key, and three levels below it; a part of the root's key is one of a parent's, too.
DEPOT = ("CREATE TABLE site (tenant VARCHAR(20), code VARCHAR(20), title VARCHAR(40), PRIMARY KEY (tenant, code)) CHARSET utf8mb4 COLLATE utf8mb4_bin",
         "CREATE TABLE area (tenant VARCHAR(20), id INT, site VARCHAR(20), title VARCHAR(40), PRIMARY KEY (tenant, id), KEY (tenant, site)) CHARSET utf8mb4 COLLATE utf8mb4_bin",
         "CREATE TABLE shelf (id INT PRIMARY KEY, tenant VARCHAR(20), area INT, site VARCHAR(20), KEY (tenant, area)) CHARSET utf8mb4 COLLATE utf8mb4_bin",
         "CREATE TABLE box (id INT PRIMARY KEY, shelf INT, tenant VARCHAR(20), site VARCHAR(20), KEY (shelf)) CHARSET utf8mb4 COLLATE utf8mb4_bin")


def depot(w, shards=3):
    def table(name, above=None, column=None, **more):
        join = {"name": name} | ({"parent": above, "parent_column": column} if above else {})
        return {"table": name, "index": "depot", "settings": {"number_of_shards": shards, "number_of_replicas": 0}, "join": join} | more
    return w.definitions(table("site"), table("area", "site", ["tenant", "site"]), table("shelf", "area", ["tenant", "area"], root_column=["tenant", "site"]),
                         table("box", "shelf", "shelf", root_column=["tenant", "site"]))


# Whatever one puts between their parts, some of these would be one.
SITES = [("a", "b|c"), ("a|b", "c"), ("a", "b,c"), ("a,b", "c"), ("a%2Cb", "c"), ("a", "b%2Cc"), ("a", ",b,c"), ("a,", "b,c")]


def test_what_is_below_a_root_with_a_composite_key_lies_where_it_does(w):
    w.sql(*DEPOT)
    daemon, rows = w.follow(depot(w)), []
    for n, (tenant, code) in enumerate(SITES, 1):
        rows += [f"INSERT INTO site VALUES ({text(tenant)}, {text(code)}, 'x')", f"INSERT INTO area VALUES ({text(tenant)}, {n}, {text(code)}, 'x')",
                 f"INSERT INTO shelf VALUES ({n}, {text(tenant)}, {n}, NULL)", f"INSERT INTO box VALUES ({n}, {n}, {text(tenant)}, NULL)",
                 f"INSERT INTO box VALUES ({n + 100}, {n + 100}, {text(tenant)}, {text(code)})"]  # its shelf is not there
    w.rng.shuffle(rows)
    for part in range(3):  # children come before their parents, and these before theirs
        w.sql(*rows[part::3])
        w.equal(daemon)
    lies = {key: routing for key, routing in found(w, "depot").items() if not key.startswith("site:")}
    for n, (tenant, code) in enumerate(SITES, 1):
        mine = {lies[key] for key in lies if key.split(":")[1] in (str(n), str(n + 100)) or key == f"area:{part_of_id(tenant)},{n}"}
        if mine != {f"site:{part_of_id(tenant)},{part_of_id(code)}"}:
            raise Failed(f"what is below {tenant}, {code} lies at {mine}")
    if len(set(lies.values())) != len(SITES):
        raise Failed(f"the {len(SITES)} sites lie at {set(lies.values())}")
    for statements in (
            ["UPDATE area SET site = 'b,c' WHERE tenant = 'a' AND id = 1"],  # a child
            ["UPDATE shelf SET tenant = 'a|b', area = 2 WHERE id = 3"],  # a grandchild, to another tenant
            ["UPDATE box SET shelf = 5 WHERE id = 3", "UPDATE box SET shelf = NULL WHERE id = 4"],
            ["UPDATE site SET code = 'z' WHERE tenant = 'a|b'", "UPDATE area SET site = 'z' WHERE tenant = 'a|b'"],  # the root's key
            ["UPDATE site SET tenant = 'a,b', code = 'd' WHERE tenant = 'a%2Cb'", "UPDATE area SET tenant = 'a,b', site = 'd' WHERE tenant = 'a%2Cb'",
             "UPDATE shelf SET tenant = 'a,b' WHERE id = 5"],
            ["UPDATE area SET site = NULL WHERE tenant = 'a,b'", "UPDATE shelf SET site = 'c' WHERE tenant = 'a,b'"],  # half its key: the shelf says it
            ["UPDATE shelf SET tenant = NULL WHERE id = 4"], ["UPDATE box SET site = NULL WHERE id > 100", "UPDATE box SET tenant = NULL WHERE id = 2"],
            ["UPDATE shelf SET tenant = 'a', area = 1 WHERE id = 4", "UPDATE area SET site = 'b|c'", "UPDATE area SET id = 70 WHERE id = 1"],
            ["DELETE FROM area WHERE tenant = 'a'", "UPDATE box SET site = 'b,c', tenant = 'a' WHERE id = 1"],
            ["DELETE FROM shelf WHERE id IN (1, 3)"], ["DELETE FROM site"], ["DELETE FROM area"], ["DELETE FROM box WHERE id < 5"]):
        w.sql("BEGIN", *statements, "COMMIT")
        w.equal(daemon)
    daemon.command("index", "create", f"{w.schema}.box", "--wait")
    w.equal(daemon)


def part_of_id(part):
    return part.replace("%", "%25").replace(",", "%2C")


def test_random_work_below_roots_with_composite_keys_is_right_over_builds_and_kills(w):
    w.sql(*DEPOT)
    daemon, connection, rng = w.follow(depot(w, shards=w.rng.choice([1, 3]))), w.db.connect(w.schema), w.rng
    with connection.cursor() as cursor:
        for round_ in range(3):
            for _ in range(200):
                if rng.random() < .3:
                    cursor.execute(rng.choice(["BEGIN", "COMMIT"]))
                tenant, code = map(text, rng.choice(SITES))
                some, half = rng.choice([tenant, tenant, "NULL"]), rng.choice([code, code, "NULL"])
                a, n, m = rng.randrange(6), rng.randrange(12), rng.randrange(12)
                cursor.execute(rng.choice([
                    f"REPLACE INTO site VALUES ({tenant}, {code}, 'x')", f"DELETE FROM site WHERE code = {code}",
                    f"REPLACE INTO area VALUES ({tenant}, {a}, {half}, 'x')", f"UPDATE area SET site = {half} WHERE tenant = {tenant}",
                    f"UPDATE IGNORE area SET tenant = {tenant} WHERE id = {a}", f"DELETE FROM area WHERE id = {a}",
                    f"REPLACE INTO shelf VALUES ({n}, {some}, {a}, {half})", f"UPDATE shelf SET site = {half} WHERE area = {a}",
                    f"UPDATE shelf SET tenant = {some} WHERE id BETWEEN {n} AND {n + 3}", f"DELETE FROM shelf WHERE id = {n}",
                    f"UPDATE IGNORE shelf SET id = {m}, area = {a} WHERE id = {n}",
                    f"REPLACE INTO box VALUES ({n}, {m}, {some}, {half})", f"UPDATE box SET shelf = {m} WHERE id = {n}",
                    f"UPDATE box SET tenant = {some}, site = {half} WHERE shelf = {m}", f"DELETE FROM box WHERE id = {n}"]))
            cursor.execute("COMMIT")
            if round_ == 0:
                daemon.command("index", "create", f"{w.schema}.{rng.choice(['site', 'shelf', 'box'])}", "--no-wait", ok=None)
            if round_ == 1:
                daemon.kill()
                daemon.start()
            w.equal(daemon, seconds=60)


def test_a_root_column_that_does_not_hold_the_roots_key_is_refused(w):
    w.sql(*DEPOT)
    daemon = w.follow(w.definitions())
    for wrong, message in (("site", "has 1 column, and"), (["tenant"], "has 1 column, and"), (["tenant", "site", "area"], "has 3 columns, and"),
                           (["tenant", "sight"], "has no column"), (["tenant", "id"], "make different ids")):
        definitions = depot(w)
        definitions["tables"][2]["root_column"] = wrong
        done = daemon.apply(definitions, ok=None)
        if done.returncode != 1 or message not in done.stdout + done.stderr:
            raise Failed(f"root_column {wrong} is not refused with `{message}`: {done}")
