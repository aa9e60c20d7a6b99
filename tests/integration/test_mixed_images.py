"""Sessions that change what the log has of their rows, in the middle of a stream: every document is right."""
import json

from test_images import all_run, images
from workload import Workload, text


class Session:
    """A connection that says for each of its transactions anew how rows are to be logged."""

    def __init__(self, w, number):
        self.w, self.rng, self.number, self.n_xa = w, w.rng, number, 0
        self.words = Workload(w.rng).words
        self.connection = w.db.connect(w.schema)
        self.images = ["FULL"] + images(w)

    def document(self):
        rng = self.rng
        return json.dumps({"n": rng.randrange(100), "s": self.words(), "a": [rng.randrange(9) for _ in range(rng.randrange(5))],
                           "o": {"x": rng.choice([None, 1.5, True, "é"]), "long": "y" * rng.choice([0, 10, 300])}})

    def change(self):
        """Of one JSON column, by a function whose change MySQL can log alone."""
        rng, column = self.rng, self.rng.choice("jk")
        path = rng.choice(["$.n", "$.s", "$.a[0]", "$.a[last]", "$.o.x", "$.o.long", "$.\"new one\""])
        value = rng.choice(["7", "'z'", "NULL", "REPEAT('w', 200)", "CAST('[1, 2]' AS JSON)" if not self.w.db.is_mariadb else "'q'"])
        return f"{column} = " + rng.choice([f"JSON_SET({column}, '{path}', {value})", f"JSON_REPLACE({column}, '{path}', {value})",
                                            f"JSON_REMOVE({column}, '{path}')", f"JSON_SET({column}, '{path}', 1, '$.n', 2)"])

    def statement(self):
        rng, key = self.rng, self.rng.randrange(30)
        quoted = "'" + self.document().replace("\\", "\\\\").replace("'", "''") + "'"
        return rng.choice([
            f"UPDATE doc SET {self.change()} WHERE id = {key}", f"UPDATE doc SET {self.change()} WHERE id = {key}",
            f"UPDATE doc SET {self.change()}, a = {key} WHERE id BETWEEN {key} AND {key + 3}",
            f"UPDATE doc SET a = a + 1 WHERE id = {key}", f"UPDATE doc SET t = {text(self.words())} WHERE id = {key}",
            f"UPDATE IGNORE doc SET id = {rng.randrange(30)} WHERE id = {key}", f"DELETE FROM doc WHERE id = {key}",
            f"REPLACE INTO doc (id, j, k, t) VALUES ({key}, {quoted}, NULL, 'r')",
            f"INSERT IGNORE INTO doc (id, a, j, k) VALUES ({key}, 1, {quoted}, {quoted})",
            f"INSERT IGNORE INTO doc (id) VALUES ({key})", f"UPDATE doc SET j = NULL WHERE id = {key}"])

    def run(self):
        rng = self.rng
        with self.connection.cursor() as cursor:
            cursor.execute(f"SET binlog_row_image = {rng.choice(self.images)}")
            if not self.w.db.is_mariadb:
                cursor.execute(f"SET binlog_row_value_options = '{rng.choice(['', 'PARTIAL_JSON', 'PARTIAL_JSON'])}'")
            if rng.random() < 0.3:
                self.n_xa += 1
                return self.run_xa(cursor, f"'s{self.number}-{self.n_xa}'")
            cursor.execute("BEGIN")
            for _ in range(rng.choice([1, 1, 2, 6])):
                cursor.execute(self.statement())
            return cursor.execute("ROLLBACK" if rng.random() < 0.1 else "COMMIT")

    def run_xa(self, cursor, xid):
        cursor.execute(f"XA START {xid}")
        for _ in range(self.rng.choice([1, 3])):
            cursor.execute(self.statement())
        cursor.execute(f"XA END {xid}")
        if self.rng.random() < 0.4:
            return cursor.execute(f"XA COMMIT {xid} ONE PHASE")
        cursor.execute(f"XA PREPARE {xid}")
        return cursor.execute(f"XA {self.rng.choice(['COMMIT', 'COMMIT', 'ROLLBACK'])} {xid}")


def mixed(w):
    w.sql("CREATE TABLE doc (id INT PRIMARY KEY, a INT DEFAULT 3, j JSON, k JSON, t TEXT)",
          *(f"INSERT INTO doc (id, j, k) VALUES ({i}, '{{\"n\": {i}, \"a\": [1, 2], \"o\": {{}}}}', '{{}}')" for i in range(15)))
    daemon = w.follow(w.definitions({"table": "doc"}))
    sessions = [Session(w, number) for number in range(3)]
    for _ in range(4):
        for _ in range(120):
            w.rng.choice(sessions).run()
        w.equal(daemon)
    all_run(w, daemon)


def test_sessions_with_other_images_and_partial_json_are_followed(w):
    mixed(w)


def test_sessions_with_other_images_and_partial_json_are_followed_where_the_log_is_compressed(w):
    w.db.restart("--log-bin-compress=ON" if w.db.is_mariadb else "--binlog-transaction-compression=ON")
    w.make_schema()
    mixed(w)


def test_a_change_of_json_whose_old_value_is_not_logged_is_read_again(w):
    """With MINIMAL the old image has the key alone, and the new one has only what changed inside the value."""
    w.db.restart("--binlog-row-image=MINIMAL", "--binlog-row-value-options=PARTIAL_JSON")
    w.make_schema()
    w.sql("CREATE TABLE doc (id INT PRIMARY KEY, a INT, j JSON)", "CREATE TABLE head (id INT PRIMARY KEY, a INT)",
          "INSERT INTO head VALUES (1, 1), (2, 2)",
          "INSERT INTO doc VALUES (1, 1, '{\"n\": 1, \"s\": \"long enough to be worth it\"}'), (2, 2, '{\"n\": 2, \"s\": \"also\"}')")
    daemon = w.follow(w.definitions({"table": "doc"}, {"table": "head", "relations": [
        {"from": "id", "table": "doc", "to": "id", "as": "of"}]}))
    w.sql("UPDATE doc SET j = JSON_SET(j, '$.n', 11) WHERE id = 1", "UPDATE doc SET j = JSON_REPLACE(j, '$.s', 'x'), a = 12 WHERE id = 2")
    w.equal(daemon)
    w.sql("BEGIN", "UPDATE doc SET j = JSON_SET(j, '$.n', 21) WHERE id = 1", "UPDATE doc SET j = JSON_REMOVE(j, '$.s') WHERE id = 1",
          "UPDATE doc SET j = JSON_SET(j, '$.n', 22)", "COMMIT")
    w.equal(daemon)
    all_run(w, daemon)


test_a_change_of_json_whose_old_value_is_not_logged_is_read_again.servers = ("mysql8", "mysql9")
test_a_change_of_json_whose_old_value_is_not_logged_is_read_again.why = "MariaDB logs JSON as whole texts"


def test_generated_columns_that_rows_are_joined_by_stop_nothing_where_they_stay(w):
    """The log has what was assigned, and of a generated column nothing but its old value."""
    w.db.restart("--binlog-row-image=FULL_NODUP")
    w.make_schema()
    w.sql("CREATE TABLE head (id INT PRIMARY KEY, a INT, code VARCHAR(20) AS (CONCAT('c', a)) STORED, note INT)",
          "CREATE TABLE item (id INT PRIMARY KEY, n INT, head VARCHAR(20) AS (CONCAT('c', n)) VIRTUAL, qty INT, twice INT AS (qty * 2) VIRTUAL,"
          " four INT AS (twice * 2) VIRTUAL)",
          "INSERT INTO head (id, a) VALUES (1, 1), (2, 2)", "INSERT INTO item (id, n, qty) VALUES (1, 1, 1), (2, 1, 2), (3, 2, 3)")
    daemon = w.follow(w.definitions({"table": "item"}, {"table": "head", "relations": [
        {"from": "code", "table": "item", "to": "head", "as": "items", "many": True, "columns": ["id", "qty", "four"]}]}))
    for _ in range(3):
        w.sql("UPDATE item SET qty = qty + 1 WHERE id = 1", "UPDATE head SET note = 5", "UPDATE item SET qty = 9, n = n",
              "INSERT INTO head (id, a) VALUES (9, 9)", "DELETE FROM head WHERE id = 9")
        w.equal(daemon)
    all_run(w, daemon)


test_generated_columns_that_rows_are_joined_by_stop_nothing_where_they_stay.servers = ("mariadb11",)
test_generated_columns_that_rows_are_joined_by_stop_nothing_where_they_stay.why = "has no such images"
