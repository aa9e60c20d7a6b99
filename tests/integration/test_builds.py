"""Index builds side by side, under a limit, across a change of the definition, and killed in each of their phases."""
import time

from servers import Failed, open_store, wait_until
from workload import Workload

NUMBERS = ("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {0}) SELECT i, i % 7 FROM n")


def numbers(w, *names, rows=3000):
    limit = "max_recursive_iterations" if w.db.is_mariadb else "cte_max_recursion_depth"
    w.sql(f"SET {limit} = 1000000", *(s for name in names for s in (
        f"CREATE TABLE {name} (id INT PRIMARY KEY, a INT)", f"INSERT INTO {name} {NUMBERS.format(rows)}")))
    return w.definitions(*({"table": name, "columns": ["id", "a"]} for name in names))


def stored_parameters(daemon):
    with open_store(daemon) as store:
        return "".join(text for text, in store.execute("SELECT parameters FROM job"))


def test_a_limit_of_rows_is_held_and_can_be_changed_while_it_runs_and_over_a_restart(w):
    definitions = numbers(w, "thing", rows=6000)
    daemon = w.millrace()
    daemon.apply(definitions)
    since = time.monotonic()
    daemon.command("index", "create", f"{w.schema}.thing", "--rate", "1000", "--no-wait")
    index = f"{w.index('thing')}_v1"

    def far_enough():
        seen = w.engine.count(index)
        if seen > (time.monotonic() - since) * 1000:
            raise Failed(f"{seen} rows after {time.monotonic() - since:.2f} s at 1000 a second")
        return seen >= 2000

    wait_until("2000 rows", far_enough, 30, 0.2)
    daemon.command("index", "set", f"{w.schema}.thing", "--rate", "10")
    wait_until("the limit is stored, with the cursor", lambda: '"rate":10,' in stored_parameters(daemon))
    daemon.kill()
    daemon.start()
    wait_until("the build goes on", lambda: "job" in (w.table(daemon, "thing")["build"] or ()))
    if w.table(daemon, "thing")["build"]["rate_limit"] != 10:
        raise Failed(f"after a restart the limit is {w.table(daemon, 'thing')['build']}")
    daemon.command("index", "set", f"{w.schema}.thing", "--rate", "0")
    wait_until("the build ends", lambda: w.table(daemon, "thing")["state"] == "available", 30)
    w.equal(daemon)


def test_two_builds_at_once_and_a_definition_changed_meanwhile_end_equal(w):
    w.load_shop(orders=1000)
    daemon = w.follow(w.shop_definitions())
    work, connection = Workload(w.rng, orders=1000), w.db.connect(w.schema)
    for name in ("orders", "product", "customer"):
        daemon.command("index", "create", f"{w.schema}.{name}", "--rate", "200", "--no-wait")
    again = daemon.command("index", "create", f"{w.schema}.orders", ok=None)
    if again.returncode not in (1, 75) or "already being built" not in again.stderr:
        raise Failed(f"a second build of one index: exit {again.returncode}: {again.stderr}")
    changed = w.shop_definitions(description="changed while indexes are built")
    orders = next(t for t in changed["tables"] if t["table"].endswith(".orders"))
    orders["columns"] = [c for c in orders["columns"] if (c if isinstance(c, str) else c["name"]) != "note"]
    daemon.apply(changed)
    work.run(connection, 30)
    for name in ("orders", "product", "customer"):
        daemon.command("index", "set", f"{w.schema}.{name}", "--rate", "0", ok=None)
        wait_until("the build ends", lambda name=name: w.table(daemon, name)["version"] == 2, 60)
    if not w.table(daemon, "orders")["pending"]:
        raise Failed("the changed definition is not shown as pending")
    work.run(connection, 30)
    w.equal(daemon, [f"{w.schema}.product", f"{w.schema}.customer"])
    daemon.build(f"{w.schema}.orders")
    if w.table(daemon, "orders")["pending"]:
        raise Failed("the definition is still shown as pending")
    work.run(connection, 30)
    w.equal(daemon)


def test_kill_9_in_each_phase_of_a_build_loses_nothing(w):
    w.load_shop(orders=1000)
    daemon = w.follow(w.shop_definitions())
    work, connection = Workload(w.rng, orders=1000), w.db.connect(w.schema)
    for version, when in enumerate(("created", "filling", "finishing", "published"), 2):
        daemon.command("index", "create", f"{w.schema}.orders", "--rate", "0" if version > 3 else "800", "--no-wait")
        work.run(connection, 20)
        reach(w, daemon, when, version)
        daemon.kill()
        work.run(connection, 20)
        daemon.start()
        daemon.command("index", "set", f"{w.schema}.orders", "--rate", "0", ok=None)
        wait_until(f"version {version}, killed when {when}, is there",
                   lambda version=version: w.table(daemon, "orders")["version"] == version, 60)
        work.run(connection, 20)
        w.equal(daemon)
        if len(w.engine.ask("GET", f"/_alias/{w.index('orders')}")) != 1:
            raise Failed("the alias leads to more than one index")


def test_a_version_whose_maker_was_killed_before_it_had_a_job_holds_nothing_up(w):
    daemon = w.follow(numbers(w, "thing", rows=10))
    daemon.kill()
    with open_store(daemon) as store:
        store.execute("INSERT INTO index_version (index_name, number, state, topic, epoch, start_version, definition, created_ms,"
                      " finished_ms, error) SELECT index_name, 2, 'changing', topic, epoch, 0, definition, created_ms,"
                      " 0, '' FROM index_version")
        store.execute("UPDATE index_counter SET number = 2")
    daemon.start()
    w.sql("UPDATE thing SET a = a + 1")
    w.equal(daemon)
    wait_until("the position passes", lambda: daemon.metric("millrace_changes_in_flight") == 0)
    daemon.build(f"{w.schema}.thing")
    if w.table(daemon, "thing")["version"] != 3:
        raise Failed(f"it is {w.table(daemon, 'thing')}")
    w.equal(daemon)


def reach(w, daemon, when, version):
    """Waits until the build has come so far."""
    index = f"{w.index('orders')}_v{version}"
    if when == "filling":
        wait_until("some rows", lambda: w.engine.count(index) > 0, 30, 0.02)
    elif when == "finishing":
        wait_until("all rows", lambda: w.engine.count(index) >= 900, 30, 0.005)
    elif when == "published":
        wait_until("the alias moves", lambda: index in w.engine.ask("GET", f"/_alias/{w.index('orders')}"), 60, 0.002)
