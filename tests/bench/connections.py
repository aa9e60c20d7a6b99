#!/usr/bin/env python3
"""What 1,000 slow connections and 64 pages with streams cost: the API's answers, and the changes.

    connections.py [--rounds N] [--reads N]

One daemon follows a table.  By turns with nobody else, and beside 1,000 connections with half a head each and 64
readers of the stream of the status, it measures the time from a COMMIT until the document can be read, and the time of
a request for the status, by the port and by the socket.  Prints the medians of all rounds and their ratio.  The
readers are asked for what they have got in each turn: none may be behind.
"""
import argparse
import multiprocessing
import selectors
import statistics
import time

from bench_world import bench_world, percentile  # first: it knows where the others are
import test_events
from servers import http as ask
from test_access import token


def times(action, n):
    """How long each of n calls took, in milliseconds."""
    took = []
    for _ in range(n):
        since = time.monotonic()
        action()
        took.append((time.monotonic() - since) * 1000)
    return took


class Crowd:
    """The slow connections, and the pages, which a process of their own reads: so the measuring one is not kept busy."""

    def __init__(self, daemon, bearer):
        self.got = multiprocessing.Array("i", test_events.PAGES)
        self.pages = [self.page(daemon, bearer) for _ in range(test_events.PAGES)]
        self.reader = multiprocessing.get_context("fork").Process(target=self.read, daemon=True)
        self.reader.start()
        self.slow = test_events.slow_ones(daemon, test_events.SLOW)

    @staticmethod
    def page(daemon, bearer):
        """The daemon learns that those of the turn before are gone when it looks for them."""
        while (stream := test_events.Stream(daemon, bearer=bearer)).answer.status == 503:
            stream.close()
            time.sleep(0.1)
        return stream

    def read(self):
        ready = selectors.DefaultSelector()
        for i, page in enumerate(self.pages):
            ready.register(page.answer.fp.raw._sock, selectors.EVENT_READ, i)
        while True:
            for key, _ in ready.select():
                self.got[key.data] += key.fileobj.recv(1 << 20).count(b"event: status")

    def leave(self):
        self.reader.terminate()
        self.reader.join()
        for connection in self.slow:
            connection.close()
        for page in self.pages:
            page.close()
            page.answer.close()
        if min(self.got) == 0 or min(self.got) < max(self.got) - 2:
            raise SystemExit(f"a page is behind: {min(self.got)} of {max(self.got)} messages")


def one_turn(w, daemon, sql, bearer, reads):
    head = {"Authorization": f"Bearer {bearer}"}
    value = iter(range(time.monotonic_ns(), 1 << 63))

    def change():
        wanted = next(value)
        sql(f"UPDATE thing SET a = {wanted} WHERE id = 1")
        while w.engine.get(w.index("thing"), 1)["a"] != wanted:
            time.sleep(0.001)

    return {"commit to readable": times(change, reads),
            "status by the port": times(lambda: ask("GET", daemon.url + "/api/v1/status", headers=head, timeout=30), reads),
            "a command by the socket": times(lambda: daemon.json("status"), reads // 5)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--reads", type=int, default=300)
    options = parser.parse_args()
    with bench_world("connections") as w:
        daemon = test_events.follows_things(w)
        bearer, sql = token(daemon, "pages", "viewer"), w.db.session(w.schema)
        one_turn(w, daemon, sql, bearer, options.reads)  # warms up
        found = {crowded: {} for crowded in (False, True)}
        for i in range(2 * options.rounds):
            crowded = i % 4 in (1, 2)
            crowd = Crowd(daemon, bearer) if crowded else None
            for what, took in one_turn(w, daemon, sql, bearer, options.reads).items():
                found[crowded].setdefault(what, []).extend(took)
            if crowd:
                crowd.leave()
        for what, alone in found[False].items():
            beside = found[True][what]
            print(f"{what:25} alone p50 {percentile(alone, 50):6.1f} p99 {percentile(alone, 99):6.1f} ms, beside p50 {percentile(beside, 50):6.1f}"
                  f" p99 {percentile(beside, 99):6.1f} ms: {statistics.median(beside) / statistics.median(alone):.2f} times")


if __name__ == "__main__":
    main()
