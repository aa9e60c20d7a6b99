"""Tables become documents, and changes of every kind follow."""
import collections

import servers
from servers import Failed, wait_until
from workload import Workload


def test_every_kind_of_change_reaches_the_documents(w):
    w.load_shop()
    daemon = w.follow(w.shop_definitions())
    w.equal(daemon)
    for change in (
            ["INSERT INTO orders VALUES (900, 3, 'new', 'first', 1.10, '2024-02-29 12:00:00', NULL, NULL)"],
            ["INSERT INTO order_item VALUES (90001, 900, 2, 1, 1.10, 1), (90002, 900, 3, 2, 0.05, 0)"],
            ["UPDATE orders SET status = 'paid', note = 'it''s \\\\ \"x\"\\n' WHERE id = 900"],
            ["UPDATE order_item SET qty = 7 WHERE id = 90001"],
            ["UPDATE order_item SET order_id = 5 WHERE id = 90001"],
            ["UPDATE order_item SET product_id = 9 WHERE id = 90002"],
            ["DELETE FROM order_item WHERE id = 90002"],
            ["UPDATE customer SET city = 'Atlantis' WHERE id = 3"],
            ["UPDATE product SET name = 'new name' WHERE id = 9"],
            ["UPDATE orders SET customer_id = 4 WHERE id = 900"],
            ["UPDATE orders SET id = 901 WHERE id = 900"],
            ["UPDATE orders SET total = total + 1 WHERE id BETWEEN 1 AND 100"],
            ["DELETE FROM orders WHERE id = 901"],
            ["SET foreign_key_checks = 0", "DELETE FROM customer WHERE id = 5", "DELETE FROM product WHERE id = 1"],
            ["SET foreign_key_checks = 0", "DELETE FROM orders WHERE id BETWEEN 20 AND 30"]):
        w.sql(*change)
        w.equal(daemon)


def test_a_transaction_is_followed_as_a_whole_or_not_at_all(w):
    w.load_shop()
    daemon = w.follow(w.shop_definitions())
    w.sql("BEGIN", "UPDATE orders SET status = 'new'", "DELETE FROM order_item", "ROLLBACK")
    w.sql("BEGIN", "UPDATE orders SET status = 'returned'", "SAVEPOINT a", "DELETE FROM order_item",
          "ROLLBACK TO SAVEPOINT a", "UPDATE order_item SET qty = 5", "COMMIT")
    w.equal(daemon)


def test_a_big_transaction_is_followed(w):
    w.sql("CREATE TABLE number (id INT PRIMARY KEY, a INT, b VARCHAR(40))")
    daemon = w.follow(w.definitions({"table": "number"}))
    w.sql("BEGIN", "INSERT INTO number WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)"
          " SELECT x.i * 1000 + y.i, x.i, CONCAT('row ', y.i) FROM n x, n y WHERE x.i <= 60",
          "UPDATE number SET a = a + 1 WHERE id % 2 = 0", "DELETE FROM number WHERE id % 3 = 0", "COMMIT")
    w.equal(daemon, seconds=60)


def test_keys_that_move_round_in_a_circle_come_to_rest(w):
    w.sql("CREATE TABLE ring (id INT PRIMARY KEY, a INT)", "INSERT INTO ring VALUES (0, 0), (1, 1), (2, 2)")
    daemon = w.follow(w.definitions({"table": "ring"}))
    for _ in range(30):
        w.sql("BEGIN", "UPDATE ring SET id = -1 WHERE id = 0", "UPDATE ring SET id = 0 WHERE id = 1",
              "UPDATE ring SET id = 1 WHERE id = 2", "UPDATE ring SET id = 2 WHERE id = -1", "COMMIT")
    w.sql("UPDATE ring SET id = id - 1 ORDER BY id", "UPDATE ring SET id = id + 1 ORDER BY id DESC")
    w.equal(daemon)


def test_a_key_that_moves_to_another_row_within_one_statement_is_read_again(w):
    w.sql("CREATE TABLE kind (id INT PRIMARY KEY, name VARCHAR(10))", "INSERT INTO kind VALUES (1, 'one'), (2, 'two')",
          "CREATE TABLE ring (id INT PRIMARY KEY, a INT, kind INT, KEY (kind))",
          "INSERT INTO ring VALUES " + ", ".join(f"({i}, {i * 10}, {i % 2 + 1})" for i in range(40)))
    daemon = w.follow(w.definitions({"table": "ring", "relations": [
        {"from": "kind", "table": "kind", "to": "id", "as": "kind_of", "columns": ["name"]}]}))
    for statement in ("UPDATE ring SET id = id + 1 ORDER BY id DESC", "UPDATE ring SET id = id - 1 ORDER BY id") * 3:
        w.sql(statement)
        w.equal(daemon)


def test_two_rows_that_swap_their_keys_or_unique_values_are_each_right(w):
    w.sql("CREATE TABLE pair (id INT PRIMARY KEY, code VARCHAR(9) NOT NULL UNIQUE, a INT)",
          "INSERT INTO pair VALUES (1, 'one', 10), (2, 'two', 20)")
    daemon = w.follow(w.definitions({"table": "pair"}))

    def swap(column, nobody, one, other):
        w.sql("BEGIN", f"UPDATE pair SET {column} = {nobody} WHERE {column} = {one}",
              f"UPDATE pair SET {column} = {one} WHERE {column} = {other}",
              f"UPDATE pair SET {column} = {other} WHERE {column} = {nobody}", "COMMIT")
        w.equal(daemon)
    for _ in range(5):
        swap("code", "'nobody'", "'one'", "'two'")
        swap("id", "3", "1", "2")
    if w.engine.get(w.index("pair"), 1)["code"] != w.sql("SELECT code FROM pair WHERE id = 1")[0][0]:
        raise Failed("a document has the other row's code")


def test_a_composite_key_makes_ids_without_collisions(w):
    w.sql("CREATE TABLE pair (a VARCHAR(20), b VARCHAR(20), c INT, PRIMARY KEY (a, b))",
          "INSERT INTO pair VALUES ('x,y', 'z', 1), ('x', 'y,z', 2), ('x%2Cy', 'z', 3), ('', '', 4), ('ü', ' ', 5)")
    daemon = w.follow(w.definitions({"table": "pair"}))
    w.equal(daemon)
    w.sql("UPDATE pair SET b = CONCAT(b, ',') WHERE c < 3", "DELETE FROM pair WHERE c = 3",
          "INSERT INTO pair VALUES ('%', ',', 6)")
    w.equal(daemon)


class Pace:
    """Lets a writer be so many steps ahead of what is delivered, so that it does not outrun it for ever."""

    def __init__(self, w, daemon, ahead):
        self.w, self.daemon, self.ahead = w, daemon, ahead
        self.ends = collections.deque()  # of the log after each step

    def step(self):
        self.ends.append(self.w.db.log_end())
        if len(self.ends) > self.ahead:
            end = self.ends.popleft()
            wait_until(f"the daemon comes to {end}", lambda: self.delivered() >= end)

    def delivered(self):
        self.daemon.check_alive()
        topic = self.daemon.status()["topics"][0]
        return topic["file"], topic["position"]


def test_a_new_version_takes_over_while_writes_go_on(w):
    w.load_shop(orders=2000)
    daemon = w.follow(w.shop_definitions())
    work, connection = Workload(w.rng, orders=2000), w.db.connect(w.schema)
    alias = w.index("orders")
    for number in (2, 3):
        work.run(connection, 50)
        started = daemon.command("index", "create", f"{w.schema}.orders", "--no-wait")
        pace = Pace(w, daemon, ahead=10)
        while int(next(iter(w.engine.ask("GET", f"/_alias/{alias}"))).rsplit("_v", 1)[1]) < number:
            work.run(connection, 5)
            pace.step()
        if "error" in started.stderr:
            raise Failed(started.stderr)
        work.run(connection, 50)
        w.equal(daemon)
    if len(w.engine.ask("GET", f"/_alias/{alias}")) != 1:
        raise Failed("the alias leads to more than one index")
    daemon.command("index", "delete", f"{w.schema}.orders", "--yes")
    left = [name for name in w.engine.ask("GET", f"/{alias}_v*")]
    if left != [f"{alias}_v3"]:
        raise Failed(f"after index delete there are {left}")
    work.run(connection, 20)
    w.equal(daemon)


def test_an_export_applied_again_changes_nothing(w):
    w.load_shop()
    daemon = w.follow(w.shop_definitions())
    first = daemon.command("export").stdout
    daemon.write("export.yaml", first)
    said = daemon.command("apply", "export.yaml")
    if daemon.command("export").stdout != first:
        raise Failed("the export of an applied export differs")
    if "no change" not in (said.stdout + said.stderr).lower() and "nothing" not in (said.stdout + said.stderr).lower():
        raise Failed(f"apply of an export says: {said.stdout}{said.stderr}")


def test_a_table_added_later_is_followed_without_a_restart(w):
    w.load_shop()
    daemon = w.follow(w.shop_definitions("product"))
    pid = daemon.process.pid
    daemon.apply(w.shop_definitions())
    daemon.build(f"{w.schema}.orders")
    daemon.build(f"{w.schema}.customer")
    Workload(w.rng).run(w.db.connect(w.schema), 100)
    w.equal(daemon)
    if not servers.running(pid):
        raise Failed("the daemon was restarted")


def test_a_column_added_to_the_table_is_followed(w):
    w.sql("CREATE TABLE thing (id INT PRIMARY KEY, a INT)", "INSERT INTO thing VALUES (1, 1)")
    daemon = w.follow(w.definitions({"table": "thing", "columns": ["id", "a"]}))
    # Twice at once only with names in the log; without, what lies between two changes may be unreadable (test_alter).
    for pause in (True, False):
        w.db.sql(f"SET GLOBAL binlog_row_metadata = {'DEFAULT' if pause else 'FULL'}")
        w.sql("INSERT INTO thing (id, a) VALUES (2, 2)", "ALTER TABLE thing ADD COLUMN b INT FIRST, ADD COLUMN c TEXT",
              "INSERT INTO thing VALUES (7, 3, 3, 'c')", "UPDATE thing SET a = 10 WHERE id = 1")
        if pause:
            w.equal(daemon)
        w.sql("ALTER TABLE thing DROP COLUMN b", "UPDATE thing SET a = 20 WHERE id = 2", "DELETE FROM thing WHERE id = 3",
              "INSERT INTO thing VALUES (4, 4, 'd')")
        w.equal(daemon)
        w.sql("DELETE FROM thing WHERE id IN (2, 4)", "UPDATE thing SET a = 1", "ALTER TABLE thing DROP COLUMN c")
        w.equal(daemon)
    w.db.sql("SET GLOBAL binlog_row_metadata = DEFAULT")


def test_a_topic_that_starts_at_gtids_keeps_its_position_at_once(w):
    """The server tells the file's name only with the dump."""
    if not w.has_gtids():
        return
    # MariaDB reads a file from its start until it comes to the GTIDs, and others may have filled this one.
    w.sql("FLUSH BINARY LOGS", "CREATE TABLE thing (id INT PRIMARY KEY, a INT)", "INSERT INTO thing VALUES (1, 1)")
    start = w.sql("SELECT @@GLOBAL.gtid_binlog_pos" if w.db.is_mariadb else "SELECT @@GLOBAL.gtid_executed")[0][0]
    w.sql("INSERT INTO thing VALUES (2, 2)")
    daemon = w.follow(w.definitions({"table": "thing"}, start=start.replace("\n", "")))
    w.equal(daemon)
    end = w.sql("SELECT @@GLOBAL.gtid_binlog_pos" if w.db.is_mariadb else "SELECT @@GLOBAL.gtid_executed")[0][0]
    topic = daemon.json("status")["topics"][0]
    if not topic["file"].startswith("binlog.0") or topic["gtid"] != end.replace("\n", "") or topic["reconnects"]:
        raise Failed(f"the log is at {end}, the topic at {topic}")
