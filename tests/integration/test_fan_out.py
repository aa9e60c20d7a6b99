"""A changed row that leads to very many documents, worked off beside the stream."""
from servers import Failed, wait_until

ORDERS = 12000

SCHEMA = """
CREATE TABLE product (id INT PRIMARY KEY, name VARCHAR(40));
CREATE TABLE orders (id INT PRIMARY KEY, note VARCHAR(40));
CREATE TABLE item (id INT PRIMARY KEY, order_id INT, product_id INT, KEY (order_id), KEY (product_id));
CREATE TABLE digit (d INT PRIMARY KEY);
INSERT INTO digit VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)
"""
ITEMS = {"from": "id", "table": "item", "to": "order_id", "as": "items", "many": True, "columns": ["id"],
         "relations": [{"from": "product_id", "table": "product", "to": "id", "as": "product", "columns": ["id", "name"]}]}


def load(w, orders=ORDERS):
    """One product in all orders, another one in the first hundred."""
    w.load(SCHEMA)
    n = " + ".join(f"d{i}.d * {10 ** i}" for i in range(5))
    digits = ", ".join(f"digit d{i}" for i in range(5))
    w.sql("INSERT INTO product VALUES (1, 'cup'), (2, 'tea')",
          f"INSERT INTO orders SELECT {n}, 'as it was' FROM {digits} WHERE {n} < {orders}",
          "INSERT INTO item SELECT id, id, 1 FROM orders",
          "INSERT INTO item SELECT id + 1000000, id, 2 FROM orders WHERE id < 100")


def follow(w, **config):
    return w.follow(w.definitions({"table": "orders", "relations": [ITEMS]}), **config)


def runs(daemon):
    return daemon.metric("millrace_fan_out_runs_total")


def shown(w, key):
    return w.engine.get(w.index("orders"), key)["items"][0]["product"]["name"]


def rename(w, name):
    w.sql(f"UPDATE product SET name = '{name}' WHERE id = 1")


def changed(w, name):
    """Keys of the documents that show the name."""
    return sorted(int(key) for key, doc, _ in w.engine.documents(w.index("orders"))
                  if doc["items"][0]["product"]["name"] == name)


def test_a_row_in_very_many_documents_changes_all_of_them(w):
    load(w)
    daemon = follow(w)
    w.sql("UPDATE product SET name = 'pot' WHERE id = 2")
    w.equal(daemon)
    if runs(daemon) != 0:
        raise Failed("a row in a hundred documents is worked off as one in very many")
    rename(w, "mug")
    wait_until("the row is worked off", lambda: runs(daemon) == 1)
    w.equal(daemon)
    if daemon.metric("millrace_changes_done_total", outcome="deferred") != 1:
        raise Failed("the change was not done when its job was stored")
    if daemon.metric("millrace_fan_out_documents_total") != ORDERS:
        raise Failed("not every document was read again once")
