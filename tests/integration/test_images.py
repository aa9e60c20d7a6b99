"""Rows that the log has in part (binlog_row_image): every document is right, or its table stops and says why."""
from servers import Failed, wait_until
from workload import Workload, text

IMAGES = ["MINIMAL", "NOBLOB", "FULL_NODUP"]


def images(w):
    """Those that this server knows: FULL_NODUP came with MariaDB 11.4."""
    known = w.sql("SELECT VERSION()")[0][0]
    return IMAGES if "MariaDB" in known and int(known.split(".")[0]) >= 11 else IMAGES[:2]


def all_run(w, daemon):
    for t in daemon.json("status")["tables"]:
        if t["state"] != "available":
            raise Failed(f"{t['table']} is {t['state']}: {t.get('reason')}")


class Flat:
    """Random changes of one table whose columns are logged, left out, computed or filled in by the server."""

    def __init__(self, w):
        self.w, self.rng, self.words = w, w.rng, Workload(w.rng).words
        w.sql("""CREATE TABLE thing (
                     id INT PRIMARY KEY, name VARCHAR(80) NOT NULL DEFAULT 'none', big TEXT, small BLOB, n INT,
                     twice INT AS (n * 2) VIRTUAL, thrice INT AS (n * 3) STORED, other INT DEFAULT 4,
                     changed TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3) ON UPDATE CURRENT_TIMESTAMP(3))""",
              "CREATE TABLE pair (a INT, b VARCHAR(20), big TEXT, n INT DEFAULT 7, PRIMARY KEY (a, b))",
              "CREATE TRIGGER thing_name BEFORE UPDATE ON thing FOR EACH ROW"
              " SET NEW.name = IF(NEW.other = 13, 'thirteen', NEW.name)",
              *(f"INSERT INTO thing (id, n) VALUES ({i}, {i})" for i in range(20)))

    def definitions(self):
        return self.w.definitions({"table": "thing"}, {"table": "pair"})

    def statement(self):
        rng, key = self.rng, self.rng.randrange(40)
        value = rng.choice(["NULL", str(rng.randrange(20))])
        return rng.choice([
            f"INSERT IGNORE INTO thing (id) VALUES ({key})",
            f"INSERT IGNORE INTO thing (id, big, n) VALUES ({key}, {text(self.words())}, {value})",
            f"REPLACE INTO thing (id, name) VALUES ({key}, {text(self.words())})",
            f"INSERT INTO thing (id, n) VALUES ({key}, 1) ON DUPLICATE KEY UPDATE other = 13",
            f"UPDATE thing SET n = {value} WHERE id = {key}",
            f"UPDATE thing SET big = {text(self.words())} WHERE id = {key}",
            f"UPDATE thing SET small = NULL, other = {value} WHERE id BETWEEN {key} AND {key + 5}",
            f"UPDATE IGNORE thing SET id = {rng.randrange(40)} WHERE id = {key}",
            f"DELETE FROM thing WHERE id = {key}",
            f"INSERT IGNORE INTO pair (a, b) VALUES ({key % 5}, 'k{key % 3}')",
            f"UPDATE pair SET big = {text(self.words())} WHERE a = {key % 5}",
            f"UPDATE IGNORE pair SET b = 'k{rng.randrange(4)}' WHERE a = {key % 5}",
            f"UPDATE pair SET n = n + 1 WHERE b = 'k{key % 3}'",
            f"DELETE FROM pair WHERE a = {key % 5} AND b = 'k{key % 3}'"])

    def run(self, connection, transactions):
        with connection.cursor() as cursor:
            cursor.execute("SET time_zone = '+00:00'")
            for _ in range(transactions):
                cursor.execute("BEGIN")
                for _ in range(self.rng.choice([1, 1, 2, 5])):
                    cursor.execute(self.statement())
                cursor.execute("COMMIT")


def test_flat_tables_are_right_with_every_row_image(w):
    for image in images(w):
        w.db.restart(f"--binlog-row-image={image}")
        w.make_schema()
        work = Flat(w)
        daemon = w.follow(work.definitions())
        connection = w.db.connect(w.schema)
        for _ in range(4):
            work.run(connection, 100)
            w.equal(daemon)
        all_run(w, daemon)
        daemon.stop()
        w.engine.ask("DELETE", f"/{w.schema}-*", ok=(200, 404))


def test_random_work_on_relations_is_right_where_only_blobs_are_left_out(w):
    for image in images(w)[1:]:
        w.db.restart(f"--binlog-row-image={image}")
        w.make_schema()
        w.load_shop()
        daemon = w.follow(w.shop_definitions())
        work, connection = Workload(w.rng), w.db.connect(w.schema)
        for _ in range(2):
            work.run(connection, 200)
            w.equal(daemon)
        all_run(w, daemon)
        daemon.stop()
        w.engine.ask("DELETE", f"/{w.schema}-*", ok=(200, 404))


def with_items(w, key):
    w.sql("CREATE TABLE head (id INT PRIMARY KEY, name VARCHAR(20), owner INT)",
          "CREATE TABLE person (id INT PRIMARY KEY, name VARCHAR(20), age INT)",
          f"CREATE TABLE item (id INT, head INT, qty INT, note INT, PRIMARY KEY ({key}), KEY (head))",
          "INSERT INTO person VALUES (1, 'a', 1), (2, 'b', 2), (3, 'c', 3)",
          "INSERT INTO head VALUES (1, 'x', 1), (2, 'y', 2), (3, 'z', 2)",
          "INSERT INTO item VALUES (1, 1, 1, 1), (2, 1, 2, 2), (3, 2, 3, 3)")
    return w.definitions(
        {"table": "head", "relations": [
            {"from": "owner", "table": "person", "to": "id", "as": "owned_by"},
            {"from": "id", "table": "item", "to": "head", "as": "items", "many": True, "columns": ["id", "qty"]}]},
        {"table": "person"})


def test_relations_by_key_columns_are_right_with_minimal_images(w):
    w.db.restart("--binlog-row-image=MINIMAL")
    daemon = w.follow(with_items(w, "head, id"))
    connection = w.db.connect(w.schema)
    rng = w.rng
    for _ in range(3):
        with connection.cursor() as cursor:
            cursor.execute("SET autocommit = 1")
            for _ in range(150):
                n, m = rng.randrange(1, 9), rng.randrange(1, 6)
                cursor.execute(rng.choice([
                    f"INSERT IGNORE INTO head (id, owner) VALUES ({n}, {m})", f"UPDATE head SET owner = {m} WHERE id = {n}",
                    f"UPDATE head SET name = 'n{m}' WHERE id = {n}", f"DELETE FROM head WHERE id = {n}",
                    f"UPDATE IGNORE head SET id = {m} WHERE id = {n}", f"UPDATE person SET age = age + 1 WHERE id = {m}",
                    f"DELETE FROM person WHERE id = {m}", f"INSERT IGNORE INTO person (id) VALUES ({m})",
                    f"UPDATE IGNORE person SET id = {n} WHERE id = {m}", f"INSERT IGNORE INTO item (id, head) VALUES ({n}, {m})",
                    f"UPDATE item SET qty = {n} WHERE head = {m}", f"UPDATE IGNORE item SET head = {m} WHERE id = {n}",
                    f"DELETE FROM item WHERE id = {n}"]))
        w.equal(daemon)
    all_run(w, daemon)


def test_related_rows_that_stay_where_they_are_are_looked_up_with_minimal_images(w):
    w.db.restart("--binlog-row-image=MINIMAL")
    definitions = with_items(w, "id")
    w.sql("ALTER TABLE item MODIFY head INT DEFAULT 2", "CREATE TABLE part (id INT PRIMARY KEY, item INT, size INT, KEY (item))",
          "INSERT INTO part VALUES (1, 1, 1), (2, 1, 2), (3, 3, 3)")
    definitions["tables"][0]["relations"][1]["relations"] = [
        {"from": "id", "table": f"{w.schema}.part", "to": "item", "as": "parts", "many": True, "columns": ["size"]}]
    daemon = w.follow(definitions)
    connection = w.db.connect(w.schema)
    rng, keys = w.rng, 10
    for _ in range(3):
        with connection.cursor() as cursor:
            for _ in range(100):
                cursor.execute("BEGIN")
                for _ in range(rng.choice([1, 1, 4])):
                    keys += 1
                    n = rng.choice([rng.randrange(1, 4), rng.randrange(max(11, keys - 20), keys + 1)])
                    cursor.execute(rng.choice([
                        f"INSERT INTO item (id, qty) VALUES ({keys}, 1)",
                        f"INSERT INTO item (id, head) VALUES ({keys}, {rng.randrange(1, 4)})",
                        f"UPDATE item SET qty = qty + 1 WHERE id = {n}", f"UPDATE item SET note = 5 WHERE id = {n}",
                        f"UPDATE item SET id = {keys} WHERE id = {n}", f"UPDATE part SET size = size + 1 WHERE id = {n}",
                        f"INSERT INTO part VALUES ({keys}, {n}, 1)", f"UPDATE part SET id = {keys} WHERE id = {n}",
                        f"UPDATE head SET name = 'x{n}' WHERE id = {n}"]))
                cursor.execute("ROLLBACK" if rng.random() < 0.05 else "COMMIT")
        w.equal(daemon)
    all_run(w, daemon)


def test_a_related_row_that_is_deleted_without_its_old_parent_stops_the_table_only(w):
    daemon = w.follow(with_items(w, "id"))
    for change in ("DELETE FROM item WHERE id = 2", "UPDATE item SET head = 2 WHERE id = 1"):
        w.sql("SET binlog_row_image = MINIMAL", "UPDATE item SET note = 9", change, "UPDATE person SET age = 50")
        state = wait_until("the table stops", lambda: next(
            (t for t in daemon.status()["tables"] if t["table"] == f"{w.schema}.head" and t["state"] == "stopped"), None))
        for words in ("binlog_row_image", "`head`", "FULL"):
            if words not in state["reason"]:
                raise Failed(f"no {words} in the reason: {state}")
        w.equal(daemon, [f"{w.schema}.person"])
        daemon.build(f"{w.schema}.head")
        w.sql("UPDATE item SET qty = qty + 1", "UPDATE person SET age = 60")
        w.equal(daemon)
