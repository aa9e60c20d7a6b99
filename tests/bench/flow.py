#!/usr/bin/env python3
"""What a steady flow of single rows costs the database, and how late its changes are in search.

    flow.py [--server F] [--seconds N] [--rates N...]

Orders of the shop change, one row a transaction, at each rate (a second); a tenth of the transactions also changes a
customer, one in fifty a product.  Prints the statements of all kinds for each document that was read, and how long an
order took from its COMMIT until the engine gave the new document.  MILLRACE names the daemon's program.
"""
import argparse
import random
import threading
import time

from bench_world import bench_world, percentile  # first: it knows where the others are
import test_cost

WATCHED = test_cost.ORDERS  # an order that nothing else changes


def look(w, until, took):
    """A change now and then, each waited for."""
    connection, n = w.db.connect(w.schema), 0
    while time.monotonic() < until:
        n += 1
        since = time.monotonic()
        with connection.cursor() as cursor:
            cursor.execute(f"UPDATE orders SET note = 'look {n}' WHERE id = {WATCHED}")
        connection.commit()
        while w.engine.get(w.index("orders"), WATCHED)["note"] != f"look {n}":
            time.sleep(0.001)
        took.append((time.monotonic() - since) * 1000)
        time.sleep(0.1)


def one_rate(w, daemon, rate, seconds):
    took, before = [], test_cost.reads(daemon)
    until = time.monotonic() + seconds
    watch = threading.Thread(target=look, args=(w, until, took))
    watch.start()
    done = test_cost.change_single_rows(w, random.Random(rate), rate, until)
    watch.join()
    test_cost.settle(daemon)
    statements, documents = (now - then for then, now in zip(before, test_cost.reads(daemon)))
    by = {p: daemon.metric("millrace_statements_total", purpose=p) for p in ("load", "resolve")}
    print(f"{done / seconds:.0f} changes/s: {documents / seconds:.0f} documents/s, {statements / documents:.3f} statements each;"
          f" p50 {percentile(took, 50):.0f} ms, p99 {percentile(took, 99):.0f} ms {by}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--server", default="mariadb")
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--rates", type=int, nargs="+", default=[1, 20, 100, 200, 300, 500, 1000])
    options = parser.parse_args()
    with bench_world("flow", options.server) as w:
        w.load_shop(test_cost.CUSTOMERS, test_cost.PRODUCTS, test_cost.ORDERS)
        daemon = w.follow(w.shop_definitions())
        test_cost.settle(daemon)
        for rate in options.rates:
            one_rate(w, daemon, rate, options.seconds)


if __name__ == "__main__":
    main()
