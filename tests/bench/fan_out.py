#!/usr/bin/env python3
"""How long a product in 10,000 orders takes to be right in all of them, and what that does to other changes.

    fan_out.py [--rounds N] [--orders N]

Each round renames the product, and meanwhile changes single orders, one after the other, each from its COMMIT until
the engine gives the new document; then as many with nothing else going on.  Prints the medians of the rounds.
MILLRACE names the daemon's program.
"""
import argparse
import statistics
import time

from bench_world import bench_world, percentile  # first: it knows where the others are
import test_fan_out


class Changes:
    """Single orders that change, and how long each took in ms."""

    def __init__(self, w, orders):
        self.w, self.orders, self.n = w, orders, 0
        self.connection = w.db.connect(w.schema)

    def one(self):
        self.n += 1
        key, note = self.n * 7919 % self.orders, f"note {self.n}"
        since = time.monotonic()
        with self.connection.cursor() as cursor:
            cursor.execute(f"UPDATE orders SET note = '{note}' WHERE id = {key}")
        self.connection.commit()
        while self.w.engine.get(self.w.index("orders"), key)["note"] != note:
            time.sleep(0.001)
        return (time.monotonic() - since) * 1000

    def until(self, is_over):
        took = []
        while not is_over():
            took.append(self.one())
        return took


def one_round(w, daemon, changes, number):
    before = test_fan_out.runs(daemon)
    since = time.monotonic()
    test_fan_out.rename(w, f"name {number}")
    during = changes.until(lambda: test_fan_out.runs(daemon) > before)
    seconds = time.monotonic() - since
    idle = [changes.one() for _ in range(100)]
    print(f"all documents after {seconds:.2f} s; single changes meanwhile: {len(during)}, p50 {percentile(during, 50):.0f} ms,"
          f" p99 {percentile(during, 99):.0f} ms; alone: p50 {percentile(idle, 50):.0f} ms, p99 {percentile(idle, 99):.0f} ms",
          flush=True)
    return seconds, percentile(during, 50), percentile(during, 99), percentile(idle, 50), percentile(idle, 99)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--orders", type=int, default=10000)
    options = parser.parse_args()
    with bench_world("fan_out") as w:
        test_fan_out.load(w, options.orders)
        daemon = test_fan_out.follow(w)
        changes = Changes(w, options.orders)
        rounds = [one_round(w, daemon, changes, i) for i in range(options.rounds)]
        names = "seconds", "p50 meanwhile", "p99 meanwhile", "p50 alone", "p99 alone"
        print(", ".join(f"{name} {statistics.median(values):.2f}" for name, values in zip(names, zip(*rounds))))


if __name__ == "__main__":
    main()
