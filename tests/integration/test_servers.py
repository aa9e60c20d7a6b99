"""Documents of one server's tables that show tables of another one, of another kind."""
from abroad import Abroad
from gate import Gate, Hold
from servers import Failed, wait_until

ORDERS = ("CREATE TABLE orders (id INT PRIMARY KEY, customer_id INT, code VARCHAR(20) COLLATE utf8mb4_general_ci,"
          " KEY (customer_id), KEY (code))",
          "CREATE TABLE country (id INT PRIMARY KEY, name VARCHAR(40))",
          "INSERT INTO orders VALUES (1, 1, 'a'), (2, 2, 'B'), (3, 1, 'x'), (4, NULL, NULL)",
          "INSERT INTO country VALUES (1, 'here'), (2, 'there')")
CUSTOMERS = ("CREATE TABLE customer (id INT PRIMARY KEY, name VARCHAR(40), country_id INT, KEY (country_id))",
             "CREATE TABLE tag (id INT PRIMARY KEY, code VARCHAR(20) COLLATE utf8mb4_general_ci, word VARCHAR(20),"
             " KEY (code))",
             "CREATE TABLE label (id INT PRIMARY KEY, word VARCHAR(20))",
             "CREATE TABLE customer_label (customer_id INT, label_id INT, PRIMARY KEY (customer_id, label_id),"
             " KEY (label_id))",
             "INSERT INTO customer VALUES (1, 'Ada', 1), (2, 'Bob', 2), (3, 'Cem', NULL)",
             "INSERT INTO tag VALUES (1, 'A', 'first'), (2, 'b', 'second'), (3, 'a', 'third')",
             "INSERT INTO label VALUES (1, 'good'), (2, 'new')",
             "INSERT INTO customer_label VALUES (1, 1), (1, 2), (2, 2)")


def orders(refresh):
    """Over the border and back: orders - customer, tags (abroad) - country (at home)."""
    return {"table": "orders", "relations": [
        {"from": "customer_id", "table": "abroad.customer", "to": "id", "as": "customer", "refresh": refresh,
         "relations": [
             {"from": "country_id", "table": "country", "to": "id", "as": "country", "refresh": refresh},
             {"from": "id", "through": {"table": "abroad.customer_label", "from": "customer_id", "to": "label_id"},
              "table": "abroad.label", "to": "id", "as": "labels", "many": True, "values": "word",
              "refresh": refresh}]},
        {"from": "code", "table": "abroad.tag", "to": "code", "as": "tags", "many": True, "where": "word <> 'third'",
         "refresh": refresh}]}


def two_servers(w):
    w.sql(*ORDERS)
    abroad = Abroad(w)
    abroad.sql(*CUSTOMERS)
    return abroad


def test_documents_show_rows_of_another_server(w):
    abroad = two_servers(w)
    definitions = abroad.definitions(orders("none"))
    daemon = w.follow(definitions)
    abroad.equal(daemon)
    document = w.engine.get(w.index("orders"), 1)
    if document["customer"]["country"]["name"] != "here" or document["tags"][0]["word"] != "first":
        raise Failed(f"not as expected: {document}")
    # What is read again shows the other server as it is now.
    abroad.sql("UPDATE customer SET name = 'Eve' WHERE id = 1", "DELETE FROM tag WHERE id = 2")
    w.sql("UPDATE orders SET code = 'b'", "INSERT INTO orders VALUES (5, 3, 'A')")
    abroad.equal(daemon)


def test_changes_on_both_servers_lead_to_the_documents(w):
    abroad = two_servers(w)
    daemon = w.follow(abroad.definitions(orders("parent")))
    abroad.equal(daemon)
    for change in ("UPDATE customer SET name = 'Eve' WHERE id = 1", "UPDATE customer SET country_id = 1",
                   "UPDATE tag SET code = 'x' WHERE id = 1", "UPDATE label SET word = 'old' WHERE id = 1",
                   "DELETE FROM customer_label WHERE customer_id = 1 AND label_id = 2",
                   "INSERT INTO customer_label VALUES (2, 1)", "DELETE FROM customer WHERE id = 2",
                   "INSERT INTO customer VALUES (2, 'Ben', 2)", "UPDATE customer SET id = 7 WHERE id = 1",
                   "INSERT INTO tag VALUES (9, 'b', 'ninth')", "DELETE FROM tag WHERE id = 2"):
        abroad.sql(change)  # the log of the documents' own server stands still
        abroad.equal(daemon)
    # Over the border and back: a row at home, to which only rows abroad lead.
    w.sql("UPDATE country SET name = 'nowhere' WHERE id = 2")
    abroad.equal(daemon)
    w.sql("UPDATE orders SET customer_id = 7", "DELETE FROM orders WHERE id = 2")
    abroad.equal(daemon)


def test_a_thousand_changes_while_the_documents_log_stands_still_are_all_in_search_at_once(w):
    abroad = two_servers(w)
    daemon = w.follow(abroad.definitions(orders("parent")))
    abroad.equal(daemon)
    connection = abroad.server.connect(w.schema)
    with connection.cursor() as cursor:
        for i in range(1000):
            cursor.execute(f"UPDATE customer SET name = 'n{i}' WHERE id = {1 + i % 2}")
    connection.close()
    # A slow machine, and not a poll now and then: what is last is there soon.
    wait_until("the last name is shown", lambda: (
        w.engine.get(w.index("orders"), 2)["customer"]["name"] == "n999"), 10,
        progress=lambda: daemon.metric("millrace_changes_done_total"))
    abroad.equal(daemon)


class Both:
    """Random changes of all tables on both servers, keys and links included."""

    def __init__(self, w, abroad):
        self.w, self.abroad, self.rng = w, abroad, w.rng

    def key(self):
        return self.rng.randrange(1, 9)

    def maybe(self):
        return self.rng.choice(["NULL", str(self.key()), str(self.key())])

    def code(self):
        return self.rng.choice(["NULL", "'a'", "'A'", "'b'", "'x'", "''"])

    def at_home(self):
        return self.rng.choice([
            f"REPLACE INTO orders VALUES ({self.key()}, {self.maybe()}, {self.code()})",
            f"UPDATE orders SET customer_id = {self.maybe()} WHERE id = {self.key()}",
            f"UPDATE orders SET code = {self.code()} WHERE id = {self.key()}",
            f"DELETE FROM orders WHERE id = {self.key()}",
            f"UPDATE IGNORE orders SET id = {self.key()} WHERE id = {self.key()}",
            f"REPLACE INTO country VALUES ({self.key()}, 'c{self.rng.randrange(10 ** 6)}')",
            f"DELETE FROM country WHERE id = {self.key()}"])

    def away(self):
        return self.rng.choice([
            f"REPLACE INTO customer VALUES ({self.key()}, 'n{self.rng.randrange(10 ** 6)}', {self.maybe()})",
            f"UPDATE customer SET name = 'm{self.rng.randrange(10 ** 6)}' WHERE id <= {self.key()}",
            f"UPDATE customer SET country_id = {self.maybe()} WHERE id = {self.key()}",
            f"UPDATE IGNORE customer SET id = {self.key()} WHERE id = {self.key()}",
            f"DELETE FROM customer WHERE id = {self.key()}",
            f"REPLACE INTO tag VALUES ({self.key()}, {self.code()}, 'w{self.rng.randrange(5)}')",
            f"UPDATE tag SET code = {self.code()} WHERE id = {self.key()}",
            f"DELETE FROM tag WHERE id = {self.key()}",
            f"REPLACE INTO label VALUES ({self.key()}, 'l{self.rng.randrange(10 ** 6)}')",
            f"DELETE FROM label WHERE id = {self.key()}",
            f"INSERT IGNORE INTO customer_label VALUES ({self.key()}, {self.key()})",
            f"DELETE FROM customer_label WHERE customer_id = {self.key()}"])

    def run(self, transactions):
        home, away = self.w.db.connect(self.w.schema), self.abroad.server.connect(self.w.schema)
        for connection in (home, away):
            with connection.cursor() as cursor:
                cursor.execute("SET autocommit = 0")
        for _ in range(transactions):
            connection, change = self.rng.choice([(home, self.at_home), (away, self.away)])
            with connection.cursor() as cursor:
                for _ in range(self.rng.choice([1, 1, 2, 5])):
                    cursor.execute(change())
            self.rng.choice([connection.commit, connection.commit, connection.commit, connection.rollback])()
        for connection in (home, away):
            connection.commit()
            connection.close()


def test_documents_of_two_servers_are_right_under_random_work_builds_and_kills(w):
    abroad = two_servers(w)
    daemon = w.follow(abroad.definitions(orders("parent")), delivery={"request_timeout": "10s"})
    work = Both(w, abroad)
    for turn in range(10):
        work.run(60)
        if turn % 3 == 1:
            daemon.command("index", "create", f"{w.schema}.orders", ok=(0, 1, 75))
            work.run(20)
        if turn % 2 == 0:
            daemon.kill()
            work.run(20)
            daemon.start()
        if turn % 4 == 3:
            abroad.equal(daemon)
    abroad.equal(daemon, seconds=60)


def test_a_late_write_of_a_killed_daemon_does_not_undo_a_change_of_another_server_for_good(w):
    abroad = two_servers(w)
    with Gate(w.engine) as gate:
        daemon = w.follow(abroad.definitions(orders("parent")), search={"url": [gate.url]},
                          delivery={"request_timeout": "3s"})
        abroad.equal(daemon)
        gate.watch = hold = Hold()
        hold.open.clear()
        abroad.sql("UPDATE customer SET name = 'old' WHERE id = 2")
        wait_until("its write is under way", lambda: hold.held > 0)
        daemon.kill()
        abroad.sql("UPDATE customer SET name = 'new' WHERE id = 2")
        daemon.configure(search={"url": [w.engine.url]})
        daemon.start()
        abroad.equal(daemon)  # the log of the documents' own server stands still all the time
        hold.open.set()
        wait_until("the late write has arrived", lambda: hold.late > 0)
        wait_until("the document is right again", lambda: w.engine.get(w.index("orders"), 2)["customer"]["name"] == "new")
        abroad.equal(daemon)


def test_a_related_server_that_is_away_holds_up_only_what_shows_its_tables(w):
    abroad = two_servers(w)
    w.sql("CREATE TABLE plain (id INT PRIMARY KEY, a INT)", "INSERT INTO plain VALUES (1, 1)")
    daemon = w.follow(abroad.definitions(orders("parent"), {"table": "plain"}))
    abroad.equal(daemon)
    abroad.server.kill()
    w.sql("UPDATE orders SET code = 'x' WHERE id = 1", "UPDATE country SET name = 'where' WHERE id = 1")
    for a in range(2, 6):
        w.sql(f"UPDATE plain SET a = {a}")
        wait_until("the other index goes on", lambda: w.engine.get(w.index("plain"), 1)["a"] == a, 20)
    said = daemon.command("doctor", ok=(0, 1)).stdout
    if "topic abroad" not in said:
        raise Failed(f"doctor does not name the server that is away: {said}")
    wait_until("status says what the documents wait for", lambda: (
        "wait for topic abroad" in w.table(daemon, "orders")["reason"]), 20)
    abroad.server.start(*abroad.server.options)
    abroad.sql("UPDATE customer SET name = 'back' WHERE id = 1")
    abroad.equal(daemon, seconds=60)


def test_a_documents_server_that_is_away_loses_no_change_of_the_related_one(w):
    abroad = two_servers(w)
    abroad.sql("CREATE TABLE plain (id INT PRIMARY KEY, a INT)", "INSERT INTO plain VALUES (1, 1)")
    daemon = w.follow(abroad.definitions(orders("parent"), {"table": "abroad.plain"}))
    abroad.equal(daemon)
    w.db.kill()
    abroad.sql("UPDATE customer SET name = 'meanwhile'", "UPDATE plain SET a = 2")
    wait_until("the related server's own index goes on", lambda: w.engine.get(w.index("plain"), 1)["a"] == 2, 20)
    daemon.kill()
    daemon.start()
    w.db.start(*w.db.options)
    abroad.equal(daemon, seconds=60)


def test_a_changed_table_of_another_server_is_followed(w):
    abroad = two_servers(w)
    daemon = w.follow(abroad.definitions(orders("parent")))
    abroad.equal(daemon)
    abroad.sql("ALTER TABLE customer ADD COLUMN mail VARCHAR(40)", "UPDATE customer SET mail = 'a@b' WHERE id = 1")
    wait_until("the new column is shown", lambda: (
        w.engine.get(w.index("orders"), 1)["customer"].get("mail") == "a@b"), 30)
    abroad.sql("TRUNCATE TABLE tag", "INSERT INTO tag VALUES (5, 'x', 'anew')")
    abroad.equal(daemon, seconds=60)


def test_changes_that_wait_for_a_server_that_stays_away_do_not_stop_other_tables(w):
    """They fill the queue; then their table stops, and is built again when the server is back."""
    abroad = two_servers(w)
    w.sql("CREATE TABLE plain (id INT PRIMARY KEY, a INT)", "INSERT INTO plain VALUES (1, 1)",
          "INSERT INTO orders VALUES " + ", ".join(f"({n}, 1, 'a')" for n in range(1000, 7000)))
    daemon = w.follow(abroad.definitions(orders("parent"), {"table": "plain"}), delivery={"bytes": "1MiB"})
    abroad.equal(daemon)
    abroad.server.kill()
    w.sql("UPDATE orders SET code = 'b'", "UPDATE plain SET a = 2")
    wait_until("the other table goes on", lambda: w.engine.get(w.index("plain"), 1)["a"] == 2, 120)
    if w.table(daemon, "orders")["state"] not in ("stopped", "building"):
        raise Failed(f"not stopped: {w.table(daemon, 'orders')}")
    abroad.server.start(*abroad.server.options)
    abroad.equal(daemon, seconds=90)


def test_children_in_an_index_of_parents_show_rows_of_another_server(w):
    w.sql("CREATE TABLE question (id INT PRIMARY KEY, title VARCHAR(20))",
          "CREATE TABLE answer (id INT PRIMARY KEY, question_id INT, by_id INT, KEY (by_id))",
          "INSERT INTO question VALUES (1, 'a'), (2, 'b')", "INSERT INTO answer VALUES (10, 1, 1), (11, 2, 1), (12, NULL, 2)")
    abroad = Abroad(w)
    abroad.sql("CREATE TABLE person (id INT PRIMARY KEY, name VARCHAR(20))", "INSERT INTO person VALUES (1, 'Ada'), (2, 'Bob')")
    daemon = w.follow(abroad.definitions(
        {"table": "question", "index": "forum", "join": {"name": "question"}},
        {"table": "answer", "index": "forum", "join": {"name": "answer", "parent": "question", "parent_column": "question_id"},
         "relations": [{"from": "by_id", "table": "abroad.person", "to": "id", "as": "by"}]}))
    abroad.equal(daemon)
    abroad.sql("UPDATE person SET name = 'Eve' WHERE id = 1")
    abroad.equal(daemon)
    w.sql("UPDATE answer SET question_id = 1 WHERE id = 11", "UPDATE answer SET question_id = 2 WHERE id = 12")
    abroad.sql("UPDATE person SET name = 'Zoe'")
    abroad.equal(daemon)
    abroad.sql("DELETE FROM person WHERE id = 1")
    w.sql("UPDATE answer SET question_id = 2")
    abroad.equal(daemon)


def test_a_reset_of_a_related_server_stops_the_documents_that_show_it(w):
    abroad = two_servers(w)
    w.sql("CREATE TABLE plain (id INT PRIMARY KEY)", "INSERT INTO plain VALUES (1)")
    daemon = w.follow(abroad.definitions(orders("parent"), {"table": "plain"}))
    daemon.kill()
    abroad.sql("UPDATE customer SET name = 'missed'")
    daemon.start()
    daemon.command("topic", "reset", "abroad", "--yes")
    wait_until("the table that shows it is stopped", lambda: w.table(daemon, "orders")["state"] == "stopped", 20)
    if w.table(daemon, "plain")["state"] != "available":
        raise Failed(f"a table that does not is stopped as well: {w.table(daemon, 'plain')}")
    daemon.command("index", "create", f"{w.schema}.orders", "--wait")
    abroad.equal(daemon)


def test_tables_of_a_pattern_show_rows_of_another_server(w):
    abroad = Abroad(w)
    abroad.sql("CREATE TABLE person (id INT PRIMARY KEY, name VARCHAR(20))", "INSERT INTO person VALUES (1, 'Ada'), (2, 'Bob')")
    for n in (1, 2):
        w.sql(f"CREATE TABLE part_{n} (id INT PRIMARY KEY, by_id INT, KEY (by_id))", f"INSERT INTO part_{n} VALUES (1, 1), (2, 2)")
    daemon = w.follow(abroad.definitions({"pattern": "part_[0-9]+", "index": "parts", "relations": [
        {"from": "by_id", "table": "abroad.person", "to": "id", "as": "by"}]}))
    abroad.equal(daemon)
    abroad.sql("UPDATE person SET name = 'Eve' WHERE id = 1")  # the log of the documents' own server stands still
    abroad.equal(daemon)
    w.sql("CREATE TABLE part_3 LIKE part_1", "INSERT INTO part_3 VALUES (7, 1)", "UPDATE part_2 SET by_id = 2 WHERE id = 1")
    abroad.equal(daemon, seconds=60)
    abroad.sql("UPDATE person SET name = 'Zoe'")
    abroad.equal(daemon)


def test_documents_whose_topic_was_away_from_the_definitions_do_not_pass_for_right(w):
    abroad = two_servers(w)
    both = abroad.definitions(orders("parent"), {"table": "abroad.customer"})
    daemon = w.follow(both)
    home = both["databases"][0]["topic"]
    daemon.apply({"topics": [t for t in both["topics"] if t["name"] != home],
                  "databases": [d for d in both["databases"] if d["topic"] != home],
                  "tables": [t for t in both["tables"] if t["table"] == "abroad.customer"]}, "--prune", "--yes")
    abroad.sql("UPDATE customer SET name = 'Eve' WHERE id = 1")
    daemon.apply(both)
    if w.table(daemon, "orders")["state"] != "unavailable":
        raise Failed(f"it says {w.table(daemon, 'orders')}")
    daemon.build(f"{w.schema}.orders")
    abroad.equal(daemon)
