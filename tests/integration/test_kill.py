"""kill -9 of the daemon, again and again, while writes and index builds go on."""
import threading
import time

import pymysql

from servers import Failed, let_pass
from workload import Workload


# The server takes back what it was in the middle of, and would take it another time: lock wait, deadlock, a table that
# was altered meanwhile.
AGAIN = 1205, 1213, 1412, 1020


class Writer:
    """Writes without pause in a thread of its own, until it is asked to rest."""

    def __init__(self, w, work=None, pause=0.005):
        self.pause = pause
        self.work, self.connection = work or Workload(w.rng), w.db.connect(w.schema)
        self.go, self.idle, self.done = threading.Event(), threading.Event(), False
        self.error, self.transactions = None, 0
        self.go.set()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        try:
            while not self.done:
                if not self.go.is_set():
                    self.idle.set()
                    self.go.wait(0.05)
                    continue
                self.write()
                let_pass("its rhythm", self.pause)
        except Exception as e:
            self.error = e
        finally:
            self.idle.set()

    def write(self):
        try:
            self.work.run(self.connection, 2)
            self.transactions += 2
        except pymysql.err.Error as e:
            if e.args[0] not in AGAIN:
                raise
            self.connection.rollback()

    def rest(self):
        self.idle.clear()
        self.go.clear()
        while not self.idle.wait(0.05) and self.thread.is_alive():
            pass
        if self.error:
            raise self.error

    def resume(self):
        self.go.set()

    def end(self):
        self.done = True
        self.go.set()
        self.thread.join()


def start_build(daemon, table):
    """Asks for an index build; that one runs already is fine."""
    done = daemon.command("index", "create", table, "--no-wait", ok=None)
    if done.returncode not in (0, 75) and "already being built" not in done.stderr:
        raise Failed(f"index create: exit {done.returncode}\n{done.stderr}")


def test_kill_9_at_any_moment_loses_nothing_and_leaves_nothing(w):
    w.load_shop()
    daemon = w.follow(w.shop_definitions())
    writer = Writer(w)
    kills, builds, judged, restarts = 0, 0, 0, []
    try:
        while kills < w.options.kills:
            # Half of the kills come soon after the start, when it catches up.
            let_pass("killed at any moment", w.rng.choice([0, 0.02, 0.1, w.rng.random() * 0.6]))
            if w.rng.random() < 0.15:
                start_build(daemon, f"{w.schema}.{w.rng.choice(['orders', 'product', 'customer'])}")
                builds += 1
                let_pass("killed at any moment", w.rng.random() * 0.3)
            daemon.kill()
            kills += 1
            since = time.monotonic()
            daemon.start()
            restarts.append(time.monotonic() - since)
            if kills % 20 == 0:
                writer.rest()
                w.equal(daemon, seconds=60)
                judged += 1
                writer.resume()
        writer.rest()
        w.equal(daemon, seconds=60)
    finally:
        writer.end()
    restarts.sort()
    print(f"# kills {kills}, 0 lost, 0 resurrected; {writer.transactions} transactions and {builds} builds meanwhile, "
          f"judged {judged + 1} times, restart {restarts[len(restarts) // 2] * 1000:.0f} ms median, "
          f"{restarts[-1] * 1000:.0f} ms at most", flush=True)
