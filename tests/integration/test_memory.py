"""Memory stays bounded, whatever the size of a transaction or a table."""
import re

from beside import Beside
from servers import Database, Failed, wait_until
from test_verify import Damage

ROWS = 300_000  # of a quarter of a kilobyte; a million where --rows asks for large tables
# What is resident besides the configured queues, and what the queues may hold.
LIMIT_KIB = 64 * 1024
QUEUES_KIB = 16 * 1024


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
            " SELECT x.i * 1000 + y.i + 1, x.i, CONCAT(REPEAT('some text ', 20), 'of row ', y.i), y.i * 1.01"
            f" FROM n x, n y WHERE x.i < {count // 1000}")


def test_a_transaction_of_very_many_rows_stays_within_the_bound(w):
    rows = 1_000_000 if w.options.rows else ROWS
    w.sql("CREATE TABLE much (id INT PRIMARY KEY, a INT, b VARCHAR(250), c DECIMAL(10, 2))")
    daemon = w.follow(w.definitions({"table": "much", "settings": {"number_of_replicas": 0, "refresh_interval": "60s"}}), delivery={"bytes": "16MiB"})
    with Watch(daemon) as watch:
        w.sql(f"INSERT INTO much {numbers(rows)}")

        def count():
            daemon.check_alive()
            return w.engine.count(w.index("much"))

        # Each look makes them visible, which is much work for the engine.
        wait_until(lambda: f"more than {count()} of {rows} documents", lambda: count() >= rows, 120, 5, progress=count)
        daemon.build(f"{w.schema}.much", timeout=600)
    print(f"# peak resident memory {watch.peak // 1024} MiB with a transaction and a build of {rows} rows", flush=True)
    if watch.peak > LIMIT_KIB + QUEUES_KIB:
        raise Failed(f"peak resident memory {watch.peak} KiB is above {LIMIT_KIB + QUEUES_KIB} KiB")
    if w.engine.count(w.index("much")) != rows:
        raise Failed("the number of documents is not the number of rows")


def peak_mib(daemon):
    """The highest resident size since it began."""
    with open(f"/proc/{daemon.process.pid}/status", encoding="utf-8") as f:
        return int(re.search(r"VmHWM:\s+(\d+)", f.read()).group(1)) // 1024


def on_a_server_of_large_rows(w, *tables):
    w.db = w.also(Database(w.options.server, "large-rows"))
    packed = [] if w.db.is_mariadb else ["--binlog-transaction-compression=ON", "--innodb-redo-log-capacity=1G"]
    w.db.start("--max-allowed-packet=1G", *packed)
    w.make_schema()
    w.sql(*(f"CREATE TABLE {name} (id INT PRIMARY KEY, t LONGTEXT)" for name in tables))


def large_row(table, number, mib):
    return f"INSERT INTO {table} VALUES ({number}, REPEAT('x', {mib} << 20))"


def test_a_row_event_above_the_limit_concerns_no_table_but_its_own(w):
    on_a_server_of_large_rows(w, "followed", "good", "unwanted")
    daemon = w.follow(w.definitions({"table": "good"}, {"table": "followed", "schema_changes": "stop"}),
                      source={"event_max": "16MiB"})
    w.equal(daemon)
    before = peak_mib(daemon)
    for i in range(3):
        w.sql(large_row("unwanted", i, 80), f"INSERT INTO good VALUES ({i}, 'behind it')")
    w.equal(daemon)
    more = peak_mib(daemon) - before
    print(f"# {more} MiB more for rows of 80 MiB that nobody follows", flush=True)
    if more > 80 + 40:
        raise Failed(f"{more} MiB more were held for a row of 80 MiB")
    w.sql(large_row("followed", 1, 80), "INSERT INTO good VALUES (10, 'behind it')")
    w.equal(daemon, tables=[f"{w.schema}.good"])
    stopped = wait_until("its table stops", lambda: (lambda t: t["state"] == "stopped" and t)(w.table(daemon, "followed")))
    if "source.event_max" not in stopped["reason"] or "followed" not in stopped["reason"]:
        raise Failed(f"the reason is {stopped['reason']!r}")
    w.sql("DELETE FROM followed", "INSERT INTO good VALUES (11, 'behind it')")
    w.equal(daemon, tables=[f"{w.schema}.good"])
    daemon.build(f"{w.schema}.followed")
    w.equal(daemon)


def test_a_large_row_is_held_once_whatever_the_limit_is(w):
    on_a_server_of_large_rows(w, "followed", "good")
    made = w.definitions({"table": "good"}, {"table": "followed", "columns": ["id"]})
    daemon = w.follow(made, source={"event_max": "1GiB"})
    w.equal(daemon)
    before = peak_mib(daemon)
    for i in range(4):
        w.sql(large_row("followed", i, 100))
    w.sql("INSERT INTO good VALUES (1, 'behind them')")
    w.equal(daemon)
    more = peak_mib(daemon) - before
    print(f"# {more} MiB more for rows of 100 MiB", flush=True)
    if more > 100 + 50:
        raise Failed(f"{more} MiB more were held for a row of 100 MiB")


def test_a_verification_reads_few_documents_of_a_join_at_once(w):
    """Only the whole document of a child says where it lies."""
    w.load("CREATE TABLE question (id INT PRIMARY KEY, title VARCHAR(20));\n"
           "CREATE TABLE answer (id INT PRIMARY KEY, question_id INT, text LONGTEXT);\n"
           "INSERT INTO question VALUES (1, 'why');\n"
           "INSERT INTO answer SELECT seq, 1, REPEAT('word ', 30000) FROM seq_1_to_600;\n")
    daemon = w.follow(w.definitions(
        {"table": "question", "index": "faq", "join": {"name": "question"}},
        {"table": "answer", "index": "faq", "join": {"name": "answer", "parent": "question", "parent_column": "question_id"}}))
    with open(daemon.log, encoding="utf-8") as log:
        if not any('"a build has compared documents' in line and '"verdict":"equal"' in line for line in log):
            raise Failed("the build does not say that its sample is equal")
    daemon.stop()
    daemon.start()
    w.sql("INSERT INTO question VALUES (2, 'how')")
    wait_until("the stream goes on", lambda: w.engine.get(w.index("faq"), "question:2"))
    before = peak_mib(daemon)
    for options in ((), ("--sample", "1000")):
        found = daemon.json("verify", f"{w.schema}.answer", *options)
        more = peak_mib(daemon) - before
        print(f"# {more} MiB more to verify 88 MiB of documents {' '.join(options)}", flush=True)
        if (found["verdict"], found["documents"]) != ("equal", 602):
            raise Failed(f"{found}")
        if more > 64:
            raise Failed(f"{more} MiB more were held to verify 88 MiB of documents {options}")


def test_a_verification_holds_few_large_documents_at_once(w):
    """Of documents of a megabyte that differ, whoever asks: each is looked at three times, on both sides."""
    rows = 60
    w.sql("CREATE TABLE big (id INT PRIMARY KEY, n INT, text LONGTEXT)",
          f"INSERT INTO big SELECT seq, seq, REPEAT('word ', 200000) FROM seq_1_to_{rows}")
    daemon, damage = w.follow(w.definitions({"table": "big"})), Damage(w, "big")
    for key in range(1, rows + 1):
        damage.change(key, lambda d: d.update(n=-1))
    daemon.stop()
    daemon.start()
    w.sql("INSERT INTO big VALUES (0, 0, '')")
    wait_until("the stream goes on", lambda: w.engine.get(w.index("big"), "0"))
    before = peak_mib(daemon)
    keys = [word for key in range(1, rows + 1) for word in ("--key", str(key))]
    for options in (keys, [], ["--repair", "--yes"]):
        found = daemon.json("verify", f"{w.schema}.big", *options, ok=(0, 1))
        more = peak_mib(daemon) - before
        print(f"# {more} MiB more to verify {rows} documents of 1 MiB {' '.join(options[-2:])}", flush=True)
        if found["counts"]["different"] != rows or found["repaired"] != rows * ("--repair" in options):
            raise Failed(f"{found['counts']}, {found['repaired']} repaired: {found['why']}")
        if more > 90:
            raise Failed(f"{more} MiB more were held to verify {rows} documents of 1 MiB {options}")
    w.equal(daemon)
