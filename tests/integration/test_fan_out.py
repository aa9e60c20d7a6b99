"""A changed row that leads to very many documents, worked off beside the stream."""
import time

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


def orders():
    return {"table": "orders", "relations": [ITEMS]}


def number(digits):
    """An SQL expression over as many copies of the table of digits, and the copies."""
    names = [f"d{i}" for i in range(digits)]
    return " + ".join(f"{n}.d * {10 ** i}" for i, n in enumerate(names)), ", ".join(f"digit {n}" for n in names)


def load(w, orders=ORDERS):
    """One product in all orders, and one in the first hundred."""
    w.load(SCHEMA)
    n, digits = number(5)
    w.sql("INSERT INTO product VALUES (1, 'cup'), (2, 'tea')",
          f"INSERT INTO orders SELECT {n}, 'as it was' FROM {digits} WHERE {n} < {orders}",
          "INSERT INTO item SELECT id, id, 1 FROM orders",
          "INSERT INTO item SELECT id + 1000000, id, 2 FROM orders WHERE id < 100")


def shows(w, key, name):
    return w.engine.get(w.index("orders"), key)["items"][0]["product"]["name"] == name


def test_scratch(w):
    load(w)
    daemon = w.follow(w.definitions(orders()))
    con = w.db.connect(w.schema)
    cur = con.cursor()
    for rnd in range(3):
        name = f"new{rnd}"
        t0 = time.monotonic()
        cur.execute(f"UPDATE product SET name = '{name}' WHERE id = 1")
        con.commit()
        lat = []
        done = None
        k = 0
        while time.monotonic() - t0 < 12 and (done is None or time.monotonic() - t0 < done + 2):
            key = 5000 + k * 7 % 5000
            k += 1
            t = time.monotonic()
            cur.execute(f"UPDATE orders SET note = 'n{rnd}{k}' WHERE id = {key}")
            con.commit()
            while w.engine.get(w.index("orders"), key)["note"] != f"n{rnd}{k}":
                pass
            lat.append((time.monotonic() - t) * 1000)
            if done is None and daemon.metric("millrace_fan_out_runs_total") > rnd:
                done = time.monotonic() - t0
                n = len(lat)
        lat1, lat2 = sorted(lat[:n]), sorted(lat[n:])
        print(f"# done after {done:.2f} s; during: n={n} p50={lat1[n//2]:.0f} p99={lat1[int(n*.99)]:.0f} max={lat1[-1]:.0f}"
              f" after: n={len(lat2)} p50={lat2[len(lat2)//2]:.0f} p99={lat2[int(len(lat2)*.99)]:.0f}", flush=True)
    w.equal(daemon)
