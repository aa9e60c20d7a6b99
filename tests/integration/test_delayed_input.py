"""What may be wrong with a delayed table's statement, and how much of everything there may be."""
import contextlib
import time

from servers import Failed, wait_until
from test_delayed import SCHEMA, definitions, delivered, glue, name_in, snapshots, waits
from test_fills import numbers
from test_memory import Watch

ROOM_MIB = 100  # more than that is not for a page


def size(w, small, large):
    """The large number only where --minutes gives the time for it."""
    return large if w.options.minutes else small


def with_sql(w, sql, **top):
    made = definitions(w, "label")
    made["tables"][1] |= glue(w, sql=sql)
    made["tables"][1]["top_relations"][0] |= top
    return made


def refused(daemon, made, why):
    done = daemon.apply(made, ok=None)
    if done.returncode != 1 or why not in done.stdout + done.stderr:
        raise Failed(f"not {why!r}: {done.returncode} {done.stdout} {done.stderr}")


def test_apply_refuses_level_sql_that_is_not_one_select_of_its_two_columns(w):
    w.load(SCHEMA)
    daemon = w.millrace()
    goods, label = f"{w.schema}.goods", f"{w.schema}.label"
    for sql, why in (
            (f"DELETE FROM {goods}", "SELECT"),
            (f"SELECT label_id AS label, id AS goods FROM {goods} FOR UPDATE", "`FOR`"),
            (f"SELECT label_id AS label, id AS goods FROM {goods} INTO OUTFILE '/tmp/x'", "`INTO`"),
            (f"SELECT label_id AS label, id AS goods FROM {goods} LOCK IN SHARE MODE", "`LOCK`"),
            (f"SELECT label_id AS label, id AS goods FROM {goods}; SELECT 1", "ends a statement"),
            (f"SELECT label_id AS label, id AS goods FROM {goods} WHERE SLEEP(1) = 0", "SLEEP"),
            (f"SELECT GET_LOCK('a', 1) AS label, id AS goods FROM {goods}", "GET_LOCK"),
            (f"SELECT @a AS label, id AS goods FROM {goods}", "`@`"),
            (f"SELECT id AS label FROM {label}", "refuses `level_sql`"),
            (f"SELECT l.id AS label, nothing AS goods FROM {label} l", "refuses `level_sql`"),
            (f"SELECT id AS label, id AS goods FROM {w.schema}.nothing", "refuses `level_sql`")):
        refused(daemon, with_sql(w, sql), why)
    if w.sql("SELECT COUNT(*) FROM goods")[0][0] != 4:
        raise Failed("a statement that was refused has deleted rows")


def test_apply_refuses_a_top_relation_that_leads_to_no_index_back_or_to_another_server(w):
    w.load(SCHEMA)
    daemon = w.millrace()
    sql = f"SELECT label_id AS label, id AS goods FROM {w.schema}.goods"
    refused(daemon, with_sql(w, sql, table=f"{w.schema}.nothing"), "so it has no index")
    refused(daemon, with_sql(w, sql, table=f"{w.schema}.label"), "the delayed table itself")
    refused(daemon, with_sql(w, sql, table=f"{w.schema}.part"), "show no rows of")
    refused(daemon, with_sql(w, sql, column="note"), "is no key column")
    circle = with_sql(w, sql)
    goods, label, _ = circle["tables"]
    label["relations"] = [{"from": "id", "table": "goods", "to": "label_id", "as": "goods", "many": True, "columns": ["note"]}]
    goods |= {"delayed": True, "top_relations": [label["top_relations"][0] | {"table": f"{w.schema}.label", "business_id": "goods", "target_key": "label"}]}
    refused(daemon, circle, "in a circle")
    apart = with_sql(w, sql)
    other = apart["topics"][0] | {"name": "other"}
    apart["topics"].append(other)
    apart["databases"].append({"name": "mysql", "topic": "other"})
    apart["tables"].append({"table": "mysql.db", "index": w.index("db"), "key": ["Host", "Db", "User"]})
    apart["tables"][1]["top_relations"][0]["table"] = "mysql.db"
    refused(daemon, apart, "is on another server")


def endless(w):
    """Millions of millions of rows, of which the server shows none before it has seen all."""
    far = ", ".join(f"{numbers(3)[:-11]} AS n{i}" for i in range(5))
    return f"SELECT l.id AS label, 10 AS goods FROM {w.schema}.label l, {far} WHERE n0.n + n1.n + n2.n + n3.n + n4.n = -1"


def statements(w):
    """The ids of connections that are at the endless statement."""
    return [row[0] for row in w.sql("SELECT id, info FROM information_schema.processlist WHERE command <> 'Sleep'") if row[1] and "n4.n = -1" in row[1]
            and "processlist" not in row[1]]


def end_statements(w):
    """As the limit of time would do after a minute."""
    for thread in statements(w):
        with contextlib.suppress(Exception):  # it has ended by itself
            w.sql(f"KILL QUERY {thread}")


def told(daemon):
    items = daemon.json("delayed", "runs")["items"]
    return items[0]["waits_for"] if items else ""


def test_a_run_whose_statement_never_ends_says_so_stops_at_once_and_goes_on_after_the_fix(w):
    w.load(SCHEMA)
    daemon = w.follow(with_sql(w, endless(w)))
    w.sql("UPDATE label SET name = 'rouge' WHERE id = 1")
    waits(daemon, 1)
    daemon.command("delayed", "run", "--all")
    wait_until("the statement runs", lambda: statements(w))
    wait_until("the run says what it waits for", lambda: f"level_sql of {w.schema}.goods" in told(daemon).replace("`", ""))
    w.sql("UPDATE goods SET note = 'beside it' WHERE id = 13")
    w.equal(daemon, tables=[f"{w.schema}.part"])
    wait_until("the stream goes on", lambda: w.engine.get(w.index("goods"), 13)["note"] == "beside it")
    began = time.monotonic()
    daemon.stop()
    if time.monotonic() - began > 10:
        raise Failed("the daemon waited for the statement")
    daemon.start()
    wait_until("the run says why it failed", lambda: end_statements(w) or "interrupted" in told(daemon).lower())
    daemon.apply(with_sql(w, None))
    wait_until("the run ends", lambda: end_statements(w) or not daemon.json("delayed", "runs")["items"])
    w.equal(daemon)


class Room(Watch):
    """What the daemon needs more than before while something goes on."""

    def __init__(self, daemon, what):
        super().__init__(daemon)
        self.before, self.what = daemon.rss_kib(), what

    def __exit__(self, *_):
        super().__exit__(*_)
        more = (self.peak - self.before) // 1024
        print(f"# {more} MiB more for {self.what}", flush=True)
        if more > ROOM_MIB:
            raise Failed(f"{more} MiB more were held for {self.what}")


def test_level_sql_that_returns_very_many_ids_needs_little_memory(w):
    n = size(w, 300_000, 10_000_000)
    w.load(SCHEMA)
    w.sql("CREATE TABLE glue (label_id INT, goods_id INT, KEY (label_id, goods_id))",
          f"INSERT INTO glue SELECT 1, n FROM {numbers(len(str(n - 1)))} WHERE n < {n}",
          f"INSERT INTO goods SELECT n, 1, 'many' FROM {numbers(4)} WHERE n >= 1000 AND n < 3000")
    daemon = w.follow(with_sql(w, f"SELECT label_id AS label, goods_id AS goods FROM {w.schema}.glue"))
    w.sql("UPDATE label SET name = 'rouge' WHERE id = 1")
    waits(daemon, 1)
    with Room(daemon, f"{n} ids"):
        daemon.command("delayed", "run", "--all", "--wait", timeout=300 + n // 1000)
    w.equal(daemon)


def test_very_many_snapshots_are_listed_and_run_a_page_at_a_time(w):
    n = size(w, 20_000, 1_000_000)
    w.load(SCHEMA)
    w.sql(f"INSERT INTO label SELECT n, 'n', '' FROM {numbers(len(str(n + 99)))} WHERE n >= 100 AND n < {n + 100}",
          "UPDATE goods SET label_id = 90 + id * 2")
    daemon = w.millrace()
    daemon.apply(definitions(w, "label"))
    daemon.build(f"{w.schema}.goods")  # to build that of so many labels takes longer than what is tested
    with Room(daemon, f"{n} snapshots"):
        put_and_run(w, daemon, n)
    if snapshots(daemon, "--status", "init", "--limit", "1") or name_in(w, 10) != "new 110":
        raise Failed("not all were run")
    w.equal(daemon, tables=[f"{w.schema}.goods"])


def put_and_run(w, daemon, n):
    w.sql("UPDATE label SET name = CONCAT('new ', id)")
    wait_until("all of them wait", lambda: sum(c["snapshots"] for c in daemon.json("delayed", "runs")["waiting"]) == n + 3, 60 + n // 1000, 1, progress=lambda: daemon.metric("millrace_changes_done_total"))
    seen, after = 0, 0
    while after is not None:
        page = daemon.json("delayed", "list", "--limit", "10000", "--after", str(after))
        seen, after = seen + len(page["items"]), page.get("more_after")
    if seen != n + 3:
        raise Failed(f"{seen} are listed")
    delivered(w, daemon)
    daemon.command("delayed", "run", "--all", "--wait", timeout=120 + n // 500)
