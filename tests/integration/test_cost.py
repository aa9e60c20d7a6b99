"""What documents cost the database: statements, and whether these use indexes."""
import random
import re
import threading
import time

from servers import Failed, let_pass, wait_until

CUSTOMERS, PRODUCTS, ORDERS = 1500, 1000, 5000


def counted(daemon, name):
    return float(sum(value for (metric, _), value in daemon.metrics().items() if metric == name))


def reads(daemon):
    """SQL statements of all kinds that were sent to read documents, and these."""
    return counted(daemon, "millrace_statements_total"), counted(daemon, "millrace_documents_read_total")


def settle(daemon):
    wait_until("all changes are done", lambda: daemon.metric("millrace_changes_in_flight") == 0, 200)


def test_a_burst_of_changes_of_one_documents_parts_is_few_reads(w):
    w.load_shop()
    daemon = w.follow(w.shop_definitions("orders"))
    settle(daemon)
    before, connection = reads(daemon)[1], w.db.connect(w.schema)
    with connection.cursor() as cursor:
        for i in range(600):
            cursor.execute(("UPDATE order_item SET qty = qty + 1 WHERE order_id = 7",
                            f"UPDATE orders SET note = 'note {i}' WHERE id = 7",
                            "UPDATE customer SET city = CONCAT(LEFT(city, 9), '+')"
                            " WHERE id = (SELECT customer_id FROM orders WHERE id = 7)")[i % 3])
            connection.commit()
    w.equal(daemon)
    settle(daemon)
    # The customer's other orders are read as well, but none of them once for each change.
    orders = w.sql("SELECT COUNT(*) FROM orders WHERE customer_id = (SELECT customer_id FROM orders WHERE id = 7)")[0][0]
    read = reads(daemon)[1] - before
    if read > 200 * orders:
        raise Failed(f"600 changes that concern {orders} documents were {read} reads")


def change_orders(w, seed, until):
    """A writer of a steady flow: items of some orders at a time, now and then a customer or a product."""
    rng, connection = random.Random(seed), w.db.connect(w.schema)
    with connection.cursor() as cursor:
        while time.monotonic() < until:
            first = rng.randrange(1, ORDERS - 150)
            cursor.execute(f"UPDATE order_item SET qty = 1 + qty % 9 WHERE order_id BETWEEN {first} AND {first + 149}")
            if rng.random() < 0.05:
                cursor.execute(f"UPDATE customer SET city = 'city {rng.random()}' WHERE id = {rng.randrange(1, CUSTOMERS)}")
            if rng.random() < 0.01:
                cursor.execute(f"UPDATE product SET name = 'name {rng.random()}' WHERE id = {rng.randrange(1, PRODUCTS)}")
            connection.commit()
            let_pass("a steady flow", 0.02)


def test_a_steady_flow_of_the_shop_costs_less_than_a_statement_for_twenty_documents(w):
    w.load_shop(CUSTOMERS, PRODUCTS, ORDERS)
    daemon = w.follow(w.shop_definitions())
    settle(daemon)
    before, until = reads(daemon), time.monotonic() + 4
    writers = [threading.Thread(target=change_orders, args=(w, w.rng.random(), until)) for _ in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    settle(daemon)
    statements, documents = (now - then for then, now in zip(before, reads(daemon)))
    if documents < 1000 or statements / documents > 0.05:
        raise Failed(f"{statements} statements for {documents} documents")
    w.equal(daemon)


def change_single_rows(w, rng, rate, until):
    """One row a transaction, so many a second where the machine can; a tenth also a customer, one in fifty a product."""
    connection, n, since = w.db.connect(w.schema), 0, time.monotonic()
    with connection.cursor() as cursor:
        while time.monotonic() < until:
            if rng.random() < 0.5:
                cursor.execute(f"UPDATE order_item SET qty = 1 + qty % 9 WHERE id = {rng.randrange(1, ORDERS)}")
            else:
                cursor.execute(f"UPDATE orders SET note = 'note {n}' WHERE id = {rng.randrange(1, ORDERS)}")
            if rng.random() < 0.1:
                cursor.execute(f"UPDATE customer SET city = 'city {n}' WHERE id = {rng.randrange(1, CUSTOMERS)}")
            if rng.random() < 0.02:
                cursor.execute(f"UPDATE product SET name = 'name {n}' WHERE id = {rng.randrange(1, PRODUCTS)}")
            connection.commit()
            n += 1
            let_pass("so many a second", max(0, since + n / rate - time.monotonic()))
    return n


class Log:
    """What the server is asked by Millrace's user."""

    def __init__(self, w):
        self.w = w
        self.before = {name: w.sql(f"SELECT @@GLOBAL.{name}")[0][0] for name in ("log_output", "general_log")}

    def __enter__(self):
        self.w.sql("SET GLOBAL general_log = OFF", "TRUNCATE TABLE mysql.general_log", "SET GLOBAL log_output = 'TABLE'",
                   "SET GLOBAL general_log = ON")
        return self

    def __exit__(self, *_):
        self.w.sql("SET GLOBAL general_log = OFF", f"SET GLOBAL log_output = '{self.before['log_output']}'",
                   f"SET GLOBAL general_log = {self.before['general_log']}")

    def statements(self):
        """Those that read this test's tables, one of each form: the shortest, as a list of half the table uses no index."""
        forms = {}
        for sql, in self.w.sql("SELECT argument FROM mysql.general_log WHERE command_type = 'Query'"
                               " AND user_host LIKE 'millrace%'"):
            sql = sql.decode() if isinstance(sql, bytes) else sql
            if f"`{self.w.schema}`." in sql and sql.startswith(("SELECT", "WITH")):
                form = re.sub(r"\(\?(,\?)*\)(,\(\?(,\?)*\))*", "(?)", re.sub(r"\d+", "?", sql))
                if form not in forms or len(sql) < len(forms[form]):
                    forms[form] = sql
        return list(forms.values())


def plan_without_index(w, sql):
    """The tables that EXPLAIN reads as a whole where few keys are asked for: a list of a fifth of a table uses no index."""
    sql = re.sub(r" IN \((\d+(?:,\d+){0,9})(?:,\d+)*\)", r" IN (\1)", sql)
    connection = w.db.connect(w.schema)
    with connection.cursor() as cursor:
        cursor.execute("EXPLAIN FORMAT=TRADITIONAL " + sql)  # MySQL 9 would draw a tree
        names = [column[0] for column in cursor.description]
        rows = [dict(zip(names, row)) for row in cursor.fetchall()]
    return [row["table"] for row in rows
            if row["type"] == "ALL" and not re.match(r"<|_millrace_k$", str(row["table"]))]


def test_no_statement_of_the_shop_reads_without_an_index(w):
    w.load_shop(CUSTOMERS, PRODUCTS, ORDERS)
    w.sql("UPDATE order_item SET product_id = 1 WHERE order_id <= 1500 AND id % 2 = 0",
          "ANALYZE TABLE orders, order_item, customer, product")
    daemon = w.follow(w.shop_definitions())
    settle(daemon)
    with Log(w) as log:
        w.sql("UPDATE product SET name = 'in very many' WHERE id = 1", "UPDATE product SET name = 'in some' WHERE id = 2",
              "UPDATE customer SET city = 'elsewhere' WHERE id BETWEEN 1 AND 20",
              "UPDATE order_item SET qty = qty + 1 WHERE order_id BETWEEN 100 AND 300",
              "UPDATE orders SET note = 'new' WHERE id = 5", "DELETE FROM order_item WHERE order_id = 6")
        settle(daemon)
        wait_until("nothing is left", lambda: daemon.metric("millrace_fan_out_runs_total") == 1
                   and daemon.metric("millrace_fan_out_jobs") == 0)
        daemon.build(f"{w.schema}.orders")
        statements = log.statements()
    w.equal(daemon)
    if len(statements) < 8 or not any("SELECT DISTINCT NULL" in sql for sql in statements):
        raise Failed(f"only {len(statements)} statements were seen:\n" + "\n".join(statements))
    for sql in statements:
        whole = plan_without_index(w, sql)
        if whole and not sql.startswith("SELECT COUNT(*)"):  # every row is counted
            raise Failed(f"{', '.join(whole)} is read as a whole by\n{sql[:2000]}")
