#!/usr/bin/env python3
"""How a build of very many rows would go over many nodes: a simulation of discrete events with measured costs.

    fills_model.py [--rows N] [--nodes N...] [--losses N] [--seeds N] [--engine-us US] [--database-cores N] ...

Nodes take buckets as rebalance/version/buckets.c does: each second, and when a bucket has ended, a node takes what
nobody has, up to its share of the open ones, and at most so many at once; of a node that is lost, when its session is.
A fill reads a chunk (round trips, and the database's processors, which all share), makes its documents (its node's
processors), gives them to its node's delivery if that has room, and reads on; the engine's processors, which all share,
write them.  Costs come from tests/bench/fills.py and run.py.  Prints for each number of nodes how long the build takes,
how busy everything is, and where the time of the fills goes; the largest part is what limits it.
"""
import argparse
import heapq
import itertools
import random
import statistics

LOOK_S, SAVE_S = 1.0, 0.5   # rebalance/fill/fills.c, fill.c
OPEN_MAX = 64               # chunks of a fill that are not acknowledged
WAITS = "network", "database", "node", "engine"


class Processors:
    """Each piece of work goes to the one that is free first; work comes in the order of time."""

    def __init__(self, n):
        self.n, self.free, self.busy = n, [0.0] * n, 0.0

    def end_of(self, now, seconds):
        self.busy += seconds
        end = max(now, self.free[0]) + seconds
        heapq.heapreplace(self.free, end)
        return end


class Bucket:
    def __init__(self, rows):
        self.rows, self.saved, self.node, self.done = rows, 0, None, False


class Fill:
    def __init__(self, node, bucket, now):
        self.node, self.bucket = node, bucket
        self.read = self.acknowledged = bucket.saved
        self.open, self.saved_at, self.waits_for_room, self.is_over = 0, now, None, False


class Node:
    def __init__(self, number, options):
        self.number, self.processors = number, Processors(options.node_cores)
        self.fills, self.room, self.waiting = [], options.delivery_mib * 2**20, []
        self.lost_at = self.seen_lost_at = None
        self.n_live = 0  # at its last look

    def is_alive(self):
        return self.lost_at is None


class Build:
    def __init__(self, options, n_nodes, seed):
        self.options, self.random = options, random.Random(seed)
        self.now, self.events, self.order = 0.0, [], itertools.count()
        self.database, self.engine = Processors(options.database_cores), Processors(options.engine_cores)
        self.nodes = [Node(i, options) for i in range(n_nodes)]
        self.buckets = self.divide(n_nodes)
        self.n_open, self.spent = len(self.buckets), dict.fromkeys(WAITS, 0.0)
        self.read_again, self.first_idle = 0, None

    def divide(self, n_nodes):
        """Some are larger than others, by as much as was measured."""
        n = min(1000, n_nodes * self.options.per_node)
        sizes = [self.random.uniform(2 - self.options.uneven, self.options.uneven) for _ in range(n)]
        return [Bucket(max(1, int(self.options.rows * size / sum(sizes)))) for size in sizes]

    def at(self, when, what, *args):
        heapq.heappush(self.events, (when, next(self.order), what, args))

    def run(self):
        """Seconds until all buckets are done."""
        for node in self.nodes:
            self.at(self.random.random() * LOOK_S, self.look_each_second, node)
        for node in self.random.sample(self.nodes, self.options.losses if len(self.nodes) > self.options.losses else 0):
            self.at(self.random.random() * self.expected(), self.lose, node)
        while self.n_open:
            self.now, _, what, args = heapq.heappop(self.events)
            what(*args)
        return self.now

    def expected(self):
        """So long the build takes at least, in which nodes are lost."""
        o = self.options
        return o.rows * max(o.engine_us / o.engine_cores, o.database_us / o.database_cores, o.node_us / len(self.nodes) / o.node_cores) / 1e6

    # -- who has which bucket

    def look_each_second(self, node):
        if node.is_alive():
            self.look(node)
            self.at(self.now + LOOK_S, self.look_each_second, node)

    def live(self):
        """As the nodes know: a session outlives its node."""
        return [node for node in self.nodes if node.seen_lost_at is None or self.now < node.seen_lost_at]

    def look(self, node):
        live = self.live()
        most = min(self.options.at_once, -(-self.n_open // len(live)))
        for fill in node.fills[most:] if node.n_live and len(live) > node.n_live else []:
            self.give_back(fill)
        node.n_live = len(live)
        for bucket in self.buckets:
            if len(node.fills) >= most:
                break
            if not bucket.done and (bucket.node is None or bucket.node not in live):
                bucket.node = node
                node.fills.append(Fill(node, bucket, self.now))
                self.read_chunk(node.fills[-1])
        if not node.fills and self.first_idle is None and self.n_open:
            self.first_idle = self.now

    def give_back(self, fill):
        fill.bucket.saved, fill.bucket.node, fill.is_over = fill.acknowledged, None, True
        fill.node.fills.remove(fill)

    def lose(self, node):
        node.lost_at, node.seen_lost_at = self.now, self.now + self.options.session_s
        for fill in node.fills:
            fill.is_over = True
            self.read_again += fill.read - fill.bucket.saved
        node.fills = []
        if self.options.back_s:
            self.at(self.now + self.options.back_s, self.come_back, node)

    def come_back(self, node):
        for bucket in self.buckets:  # what it had is free, if nobody has it by now
            if bucket.node is node and not bucket.done:
                bucket.node = None
        node.lost_at = node.seen_lost_at = None
        node.room, node.waiting = self.options.delivery_mib * 2**20, []
        self.look_each_second(node)

    # -- a chunk's way

    def read_chunk(self, fill):
        rows = min(self.options.chunk, fill.bucket.rows - fill.read)
        travel = self.options.statements * self.options.round_trip_ms / 1000
        self.spent["network"] += travel
        self.at(self.now + travel, self.ask_database, fill, rows)

    def ask_database(self, fill, rows):
        end = self.database.end_of(self.now, rows * self.options.database_us / 1e6)
        self.spent["database"] += end - self.now
        self.at(end, self.make_documents, fill, rows)

    def make_documents(self, fill, rows):
        end = fill.node.processors.end_of(self.now, rows * self.options.node_us / 1e6)
        self.spent["node"] += end - self.now
        self.at(end, self.submit, fill, rows)

    def submit(self, fill, rows):
        if fill.is_over:
            return
        fill.waits_for_room = self.now, rows
        fill.node.waiting.append(fill)
        self.let_in(fill.node)

    def let_in(self, node):
        """In the order in which they came, as far as there is room."""
        while node.waiting:
            fill = node.waiting[0]
            since, rows = fill.waits_for_room
            if not fill.is_over and (node.room < rows * self.options.document_bytes or fill.open >= OPEN_MAX):
                return
            node.waiting.pop(0)
            if fill.is_over:
                continue
            self.spent["engine"] += self.now - since
            node.room -= rows * self.options.document_bytes
            fill.open += 1
            fill.read += rows
            self.at(self.now + self.options.round_trip_ms / 2000, self.write, fill, rows)
            if fill.read < fill.bucket.rows:
                self.read_chunk(fill)

    def write(self, fill, rows):
        """Its shards write parts of a request at the same time."""
        parts = self.options.shards
        end = max(self.engine.end_of(self.now, rows * self.options.engine_us / 1e6 / parts) for _ in range(parts))
        self.at(end + self.options.round_trip_ms / 2000, self.acknowledge, fill, rows)

    def acknowledge(self, fill, rows):
        if not fill.node.is_alive() or fill.is_over and fill.bucket.node is None and fill.bucket.done:
            return
        fill.node.room += rows * self.options.document_bytes
        if not fill.is_over:
            fill.open -= 1
            fill.acknowledged += rows
            if self.now - fill.saved_at >= SAVE_S:
                fill.saved_at, fill.bucket.saved = self.now, fill.acknowledged
            if fill.acknowledged >= fill.bucket.rows:
                self.end(fill)
        self.let_in(fill.node)

    def end(self, fill):
        fill.bucket.done, fill.is_over = True, True
        fill.node.fills.remove(fill)
        self.n_open -= 1
        if self.n_open:
            self.look(fill.node)


def show(options, n_nodes, base):
    builds = [Build(options, n_nodes, seed) for seed in range(options.seeds)]
    took = [build.run() for build in builds]
    seconds, build = statistics.median(took), builds[0]
    total = sum(build.spent.values())
    parts = ", ".join(f"{name} {100 * part / total:.0f} %" for name, part in build.spent.items())
    idle = took[0] - build.first_idle if build.first_idle is not None else 0
    counting = options.rows * options.count_us / 1e6
    print(f"| {n_nodes} | {len(build.buckets)} | {seconds / 60:.1f} | {options.rows / seconds:,.0f} | {(base or seconds) / seconds:.1f}"
          f" | {100 * build.database.busy / took[0] / build.database.n:.0f} % | {100 * build.engine.busy / took[0] / build.engine.n:.0f} %"
          f" | {100 * sum(node.processors.busy for node in build.nodes) / took[0] / n_nodes / options.node_cores:.0f} % | {parts}"
          f" | {idle / 60:.1f} | {build.read_again:,} | {2 * counting / 60:.1f} |", flush=True)
    return base or seconds


OPTIONS = [("rows", int, 1000000000, "of the table"), ("losses", int, 0, "nodes that are lost, at any time of the build"),
           ("back_s", float, 0, "a lost node is back after so long; 0: never"), ("session_s", float, 10, "until others know that it is lost"),
           ("per_node", int, 8, "buckets for each node"), ("at_once", int, 4, "fills of a node"), ("uneven", float, 1.13, "largest bucket, of their mean"),
           ("chunk", int, 5000, "rows of a read"), ("statements", int, 5, "round trips of a read"), ("round_trip_ms", float, 1.0, "to the database and to the engine"),
           ("node_us", float, 2.4, "of a node's processor for a row"), ("database_us", float, 1.3, "of the database's"), ("engine_us", float, 35, "of the engine's"),
           ("count_us", float, 0.1, "to count a row, on one processor, before and after"), ("node_cores", int, 4, "of each node"),
           ("database_cores", int, 16, ""), ("engine_cores", int, 48, "of all its nodes"), ("shards", int, 6, "of the index"),
           ("document_bytes", int, 200, "of a document"), ("delivery_mib", float, 64, "delivery.bytes"), ("seeds", int, 1, "the median of so many runs")]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nodes", type=int, nargs="+", default=[1, 2, 4, 8, 12, 16, 20])
    for name, kind, default, about in OPTIONS:
        parser.add_argument("--" + name.replace("_", "-"), type=kind, default=default, help=f"{about} (default: {default})".strip())
    options = parser.parse_args()
    print("| nodes | buckets | minutes | rows/s | times the first | database | engine | nodes | where fills' time goes | minutes with an idle node | rows read again"
          " | minutes of counting |\n" + "|---" * 12 + "|")
    base = None
    for n in options.nodes:
        base = show(options, n, base)


if __name__ == "__main__":
    main()
