"""Memory stays bounded, whatever the size of a transaction or a table."""
import time

from beside import Beside
from servers import Failed

ROWS = 1_000_000
# What is resident besides the configured queues, and what the queues may hold by default.
LIMIT_KIB = 64 * 1024
QUEUES_KIB = 64 * 1024


class Watch(Beside):
    """The highest resident size that the daemon has while something goes on."""

    pause = 0.05

    def __init__(self, daemon):
        super().__init__()
        self.daemon, self.peak = daemon, 0

    def step(self):
        self.peak = max(self.peak, self.daemon.rss_kib())


def numbers(count):
    return ("WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 999)"
            " SELECT x.i * 1000 + y.i + 1, x.i, CONCAT('some text of row ', y.i), y.i * 1.01"
            f" FROM n x, n y WHERE x.i < {count // 1000}")


def test_a_transaction_of_a_million_rows_stays_within_the_bound(w):
    w.sql("CREATE TABLE much (id INT PRIMARY KEY, a INT, b VARCHAR(60), c DECIMAL(10, 2))")
    daemon = w.follow(w.definitions({"table": "much"}))
    with Watch(daemon) as watch:
        w.sql(f"INSERT INTO much {numbers(ROWS)}")
        seen, moved = 0, time.monotonic()
        while (count := w.engine.count(w.index("much"))) < ROWS:
            daemon.check_alive()
            if count > seen:
                seen, moved = count, time.monotonic()
            if time.monotonic() - moved > 60:
                raise Failed(f"{count} of {ROWS} documents, and no more for 60 s")
            time.sleep(0.5)
        daemon.build(f"{w.schema}.much", timeout=600)
    print(f"# peak resident memory {watch.peak // 1024} MiB with a transaction and a build of {ROWS} rows", flush=True)
    if watch.peak > LIMIT_KIB + QUEUES_KIB:
        raise Failed(f"peak resident memory {watch.peak} KiB is above {LIMIT_KIB + QUEUES_KIB} KiB")
    if w.engine.count(w.index("much")) != ROWS:
        raise Failed("the number of documents is not the number of rows")
