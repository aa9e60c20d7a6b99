"""A build's rows are divided into buckets, which all nodes fill; how each of them may end."""

import signal
from concurrent.futures import ThreadPoolExecutor

import yaml

from members import Load, Members
from servers import Failed, let_pass, stays, wait_until

ROWS = 30000


def numbers(digits):
    """A table of n from 0 on, of so many digits."""
    ten = " UNION ALL ".join(f"SELECT {i} AS i" for i in range(10))
    tables = ", ".join(f"({ten}) AS d{k}" for k in range(digits))
    return "(SELECT " + " + ".join(f"d{k}.i * {10 ** k}" for k in range(digits)) + f" AS n FROM {tables}) AS numbers"


class Fills(Members):
    """The first topic's table has many rows, and its documents show rows of another one."""

    def __init__(self, w, rows=ROWS, **more):
        super().__init__(w, **more)
        self.big = f"{self.schemas[0]}.thing"
        self.rows = rows

    def definitions(self):
        made = super().definitions()
        made["tables"][0]["relations"] = [
            {"from": "a", "table": f"{self.schemas[0]}.kind", "to": "id", "as": "kind", "columns": ["name"]}]
        return made

    def start(self):
        schema = self.schemas[0]
        self.w.db.sql(f"CREATE TABLE {schema}.kind (id INT PRIMARY KEY, name VARCHAR(20))",
                      f"INSERT INTO {schema}.kind SELECT n, CONCAT('kind ', n) FROM {numbers(2)} WHERE n < 50")
        super().start()
        self.fill(self.rows)
        return self

    def fill(self, rows):
        self.w.db.sql(f"INSERT INTO {self.schemas[0]}.thing SELECT n + 10, n % 50 FROM {numbers(5)} WHERE n < {rows}")

    def create(self, *options, node=0):
        self.nodes[node].command("index", "create", self.big, "--no-wait", *options)

    def build(self):
        """The job of the build and its buckets, as any node tells."""
        items = (self.alive().json("job", "get", self.big, ok=None) or {}).get("items", [])
        return ([item for item in items if item["kind"] == "index"] or [None])[0], [item for item in items if item["kind"] == "bucket"]

    def buckets(self, state=None):
        return [b for b in self.build()[1] if state is None or b["state"] == state]

    def id_of(self, node):
        return self.listed(node.config["node_name"])["id"]

    def park(self):
        """The last bucket, which no node has yet, stays so; returns it."""
        bucket = max(self.buckets(), key=lambda b: b["bucket"])
        self.stored(f"UPDATE job SET state = 'parked' WHERE id = {bucket['id']} AND state = 'init'")
        wait_until("it is parked", lambda: self.buckets("parked"), 10, 0.05)
        return bucket["id"]

    def release(self, bucket, parameters=None):
        change = "" if parameters is None else f", parameters = '{parameters}'"
        self.stored(f"UPDATE job SET state = 'init'{change} WHERE id = {bucket}")

    def wait_last(self):
        """All buckets but the parked one are done, and searches do not see the version."""
        self.set_rate(0)
        wait_until(lambda: f"all but one are done: {self.build()}", lambda: len(self.buckets("done")) == len(self.buckets()) - 1, 60, 0.1)
        if self.version() != 1 or self.build()[0] is None:
            raise Failed("it did not wait for the last bucket")

    def set_rate(self, rate):
        """Returns when all nodes can know it."""
        self.alive().command("index", "set", self.big, "--rate", str(rate))
        wait_until("the rate is stored", lambda: self.stored(
            f"SELECT id FROM job WHERE kind = 'index' AND parameters LIKE '{{\"rate\":{rate},%'") or self.build()[0] is None)

    def at_work(self, bucket=None, without=()):
        """A bucket that has rows and more to come, of a node that is none of these; waits for it."""
        def find():
            return next((b for b in self.buckets("running") if bucket in (None, b["id"]) and b["rows_done"] > 0 and
                         b["node"] not in without), None)
        return wait_until(lambda: f"a bucket is at work: {self.build()}", find, 60, 0.05)

    def node_of(self, bucket):
        return next(node for node in self.nodes if self.id_of(node) == bucket["node"])

    def goes_on(self, bucket):
        """Another node goes on with it from its cursor."""
        after = self.at_work(bucket["id"], without=(bucket["node"],))
        if after["rows_done"] < bucket["rows_done"]:
            raise Failed(f"{bucket} began anew: {after}")

    def ends_well(self):
        self.set_rate(0)
        self.is_well()

    def is_well(self):
        self.wait_over()
        self.equal()
        if self.version() != 2:
            raise Failed(f"version {self.version()}")
        self.end()

    def ends_badly(self):
        """The new index is deleted, the old version stays, no job is left, and the log says why."""
        self.wait_over()
        build = self.log()
        if self.version() != 1 or build["end"] != "failed" or "no end that can be read" not in build["error"]:
            raise Failed(f"version {self.version()}, {build}")
        wait_until("the new index is deleted", lambda: not self.w.engine.ask("GET", f"/{self.w.schema}-{self.schemas[0]}_v2", ok=(404, 200)).get(
            f"{self.w.schema}-{self.schemas[0]}_v2"))
        if self.stored("SELECT * FROM job WHERE kind IN ('index', 'bucket')"):
            raise Failed("a job is left")
        self.equal()
        self.end()

    def wait_over(self, seconds=120):
        wait_until(lambda: f"the build ends: {self.build()}", lambda: self.build()[0] is None, seconds, 0.2)

    def version(self):
        alias = self.w.engine.ask("GET", f"/_alias/{self.w.schema}-{self.schemas[0]}")
        name, = alias
        return int(name.rsplit("_v", 1)[1])

    def log(self):
        """What the log keeps of the last build."""
        items = self.alive().json("log", "list", self.big)["items"]
        return next(item["build"] for item in items if "build" in item)


def test_all_nodes_fill_a_build_under_load_and_its_alias_moves_once(w):
    m = Fills(w).start()
    load = Load(m)
    m.create("--buckets", "20", "--rate", "8000")  # more than the nodes fill at once
    wait_until("each node fills a bucket", lambda: len({b["node"] for b in m.buckets("running")}) == 3, 30, 0.05)
    wait_until(lambda: f"each node lists what it fills: {m.listed('node-1')}",
               lambda: all(m.listed(f"node-{i}")["jobs"] and m.listed(f"node-{i}")["jobs"][0]["buckets"] == 20 for i in range(3)), 30, 0.05)
    session = m.nodes[0].json("status")["cluster"]["session"]
    if any((node := m.listed(f"node-{i}"))["session"] != session or node["cloud_status"] != "NORMAL" for i in range(3)):
        raise Failed(f"the last rebalance is {session}, and a node says {m.listed('node-0')}")
    wait_until("some are done and others not", lambda: m.buckets("done") and (m.buckets("running") or m.buckets("init")), 120, 0.05)
    build, buckets = m.build()
    if len(buckets) != 20 or build["buckets"] != 20 or build["rows_done"] > build["rows_total"]:
        raise Failed(f"{build} {buckets}")
    text = m.alive().command("job", "get", m.big).stdout
    if [line.split()[1] for line in text.splitlines() if line.split()[1:2] == ["bucket"]] != ["bucket"] * 20:
        raise Failed(f"a person does not see the buckets: {text}")
    m.wait_over()
    load.end()
    m.equal()
    if m.version() != 2:
        raise Failed(f"version {m.version()}")
    if len(m.log()["nodes"]) != 3:
        raise Failed(f"{m.log()}")
    m.end()


# -- the eight endings of a bucket: last or not; succeeded, failed, interrupted by a rebalance, its node lost


def begun(w, rate=500):
    """A build of two nodes, with more buckets than they fill at once."""
    m = Fills(w, rows=6000, nodes=2, topics=2).start()
    m.create("--buckets", "12", "--rate", str(rate))
    wait_until("both nodes fill buckets", lambda: len({b["node"] for b in m.buckets("running")}) == 2, 30, 0.05)
    return m


def at_the_last(w):
    m = begun(w)
    bucket = m.park()
    m.wait_last()
    return m, bucket


def test_a_bucket_that_succeeds_and_is_not_the_last_is_done_and_the_others_go_on(w):
    m = begun(w, 3000)
    wait_until("one is done", lambda: m.buckets("done"), 30, 0.05)
    if m.version() != 1 or not m.buckets("running"):
        raise Failed(f"{m.build()}")
    m.ends_well()


def test_the_last_bucket_that_succeeds_lets_its_version_be_published(w):
    m, bucket = at_the_last(w)
    m.release(bucket)
    m.is_well()


def test_a_bucket_that_fails_ends_its_build_and_the_old_version_stays(w):
    m = begun(w)
    m.release(m.park(), '{"until":"zz"}')
    m.set_rate(2000)
    m.ends_badly()


def test_who_waits_for_a_build_reads_why_a_bucket_of_it_failed(w):
    m = Fills(w, rows=6000, nodes=2, topics=2).start()
    with ThreadPoolExecutor(1) as beside:
        waiting = beside.submit(m.nodes[0].command, "index", "create", m.big, "--wait", "--buckets", "12", "--rate", "500", ok=(1,))
        wait_until("both nodes fill buckets", lambda: len({b["node"] for b in m.buckets("running")}) == 2, 30, 0.05)
        m.release(m.park(), '{"until":"zz"}')
        m.set_rate(2000)
        said = waiting.result(60).stderr  # people count from 1
    if "bucket 12 of the build of" not in said or "has no end that can be read; fix: millrace index reset, then millrace index create" not in said:
        raise Failed(f"it says {said}")
    m.ends_badly()


def test_the_last_bucket_that_fails_ends_its_build_and_the_old_version_stays(w):
    m, bucket = at_the_last(w)
    m.release(bucket, '{"until":"zz"}')
    m.ends_badly()


def evacuate(m, bucket):
    node = m.node_of(bucket)
    m.nodes[0].command("node", "evacuate", node.config["node_name"], "--yes")
    m.goes_on(bucket)
    m.nodes[0].command("node", "admit", node.config["node_name"], "--yes")


def test_a_bucket_that_a_rebalance_interrupts_goes_on_from_its_cursor_elsewhere(w):
    m = begun(w)
    evacuate(m, m.at_work())
    m.ends_well()


def test_the_last_bucket_that_a_rebalance_interrupts_goes_on_from_its_cursor_elsewhere(w):
    m, bucket = at_the_last(w)
    m.set_rate(50)
    m.release(bucket)
    evacuate(m, m.at_work(bucket))
    m.ends_well()


def test_a_bucket_whose_node_is_lost_goes_on_from_its_cursor_elsewhere(w):
    m = begun(w)
    bucket = m.at_work()
    m.node_of(bucket).kill()
    m.goes_on(bucket)
    m.ends_well()


def test_the_last_bucket_whose_node_is_lost_goes_on_from_its_cursor_elsewhere(w):
    m, bucket = at_the_last(w)
    m.set_rate(50)
    m.release(bucket)
    bucket = m.at_work(bucket)
    node = m.node_of(bucket)
    m.hang(node)
    m.goes_on(bucket)
    node.process.send_signal(signal.SIGCONT)
    m.ends_well()


# -- more


def check_shown(m, node):
    """What a node tells of a build and its buckets is possible; returns both."""
    items = (node.json("job", "get", m.big, ok=None) or {}).get("items", [])
    for item in items:
        if item["rows_total"] is not None and item["rows_done"] > item["rows_total"]:
            raise Failed(f"above 100 %: {item}")
        if item["remaining_seconds"] is not None and item["remaining_seconds"] < 1:
            raise Failed(f"nothing left, and not done: {item}")
    return [item for item in items if item["kind"] == "index"], [item for item in items if item["kind"] == "bucket"]


def test_every_node_tells_the_rate_and_the_time_left_of_a_build_and_of_its_buckets(w):
    m = begun(w, 600)

    def knows(node):
        build, buckets = check_shown(m, node)
        at_work = [b for b in buckets if b["state"] == "running"]
        return build and build[0]["remaining_seconds"] is not None and 300 <= build[0]["rate"] <= 900 and \
            build[0]["remaining_seconds"] <= 1 + 6100 / 300 and at_work and \
            all(b["rate"] is not None and 30 <= b["rate"] <= 150 and b["remaining_seconds"] is not None for b in at_work) and \
            all(300 <= b["rows_total"] <= 700 for b in buckets if b["state"] != "done")

    for node in m.nodes:
        wait_until(lambda n=node: f"{n.config['node_name']} tells: {check_shown(m, n)}", lambda n=node: knows(n), 20, 0.2)
    owner = m.owner(m.schemas[0])
    index = f"{m.w.schema}-{m.schemas[0]}"
    rate = owner.metric("millrace_reindex_rows_per_second", index=index)
    done = owner.metric("millrace_reindex_bucket_rows_done", index=index)
    running = owner.metric("millrace_reindex_buckets", index=index, state="running")
    if not 300 <= rate <= 900 or not 0 < done < 6000 or not 1 <= running <= 8 or owner.metric("millrace_jobs", kind="bucket") != 12:
        raise Failed(f"rate {rate}, {done} rows, {running} buckets")
    m.set_rate(3000)
    wait_until("it ends", lambda: not any(check_shown(m, node)[0] for node in m.nodes), 60, 0.1)
    m.is_well()


def test_a_build_goes_on_by_itself_when_all_nodes_have_lost_power(w):
    m = begun(w)
    done = sum(b["rows_done"] for b in m.buckets())
    for node in m.nodes:
        node.kill()
    for node in m.nodes:
        node.start()
    m.at_work()
    if sum(b["rows_done"] for b in m.buckets()) < done:
        raise Failed("it began anew")
    m.ends_well()


def test_rows_of_which_another_node_can_make_no_document_are_dead_letters(w):
    m = Fills(w, rows=10, nodes=2, topics=2)
    m.big = f"{m.schemas[0]}.wide"
    m.w.db.sql(f"CREATE TABLE {m.big} (id VARCHAR(700) PRIMARY KEY, a INT)")
    m.tables.append((m.schemas[0], "wide"))
    m.nodes[0].write("definitions.yaml", yaml.safe_dump(m.definitions(), sort_keys=False))
    m.start()
    m.nodes[0].build(m.big)
    m.w.db.sql(f"INSERT INTO {m.big} SELECT CONCAT(LPAD(n, 4, '0'), IF(n % 200 = 7, REPEAT('k', 600), '')), n FROM {numbers(4)} WHERE n < 4000")
    index = f"{m.w.schema}-{m.schemas[0]}-wide"
    letters = lambda: sum(letter["index"].endswith(f"{index}_v2") for letter in m.alive().json("dead-letter", "list")["items"])  # noqa: E731
    m.create("--buckets", "8", "--rate", "300")
    wait_until("both nodes fill buckets", lambda: len({b["node"] for b in m.buckets("running")}) == 2, 30, 0.05)
    m.set_rate(0)
    m.wait_over()
    wait_until(lambda: f"20 dead letters, not {letters()}", lambda: letters() == 20)
    if list(m.w.engine.ask("GET", f"/_alias/{index}")) != [f"{index}_v2"]:
        raise Failed("it was not published, though it is no worse than the one before")
    m.end()


def test_documents_that_the_engine_refuses_from_another_node_are_dead_letters_until_they_are_corrected(w):
    m = Fills(w, rows=10, nodes=2, topics=2)
    m.big = f"{m.schemas[0]}.part"
    m.w.db.sql(f"CREATE TABLE {m.big} (id INT PRIMARY KEY, code VARCHAR(20))")
    m.tables.append((m.schemas[0], "part"))
    made = m.definitions()
    made["tables"][-1]["columns"] = ["id", {"name": "code", "type": "integer"}]
    m.nodes[0].write("definitions.yaml", yaml.safe_dump(made, sort_keys=False))
    m.start()
    m.nodes[0].build(m.big)
    m.w.db.sql(f"INSERT INTO {m.big} SELECT n, IF(n % 200 = 7, 'abc', n) FROM {numbers(4)} WHERE n < 4000")
    index = f"{m.w.schema}-{m.schemas[0]}-part"
    m.create("--buckets", "12", "--rate", "300")
    wait_until("both nodes fill buckets", lambda: len({b["node"] for b in m.buckets("running")}) == 2, 30, 0.05)
    bucket = m.park()
    m.set_rate(0)
    wait_until(lambda: f"all but one are done: {m.build()}", lambda: len(m.buckets("done")) == 11, 60, 0.1)

    def letters():
        return {letter["id"]: letter["doc_id"] for letter in m.alive().json("dead-letter", "list")["items"]
                if letter["index"].endswith(f"{index}_v2")}
    before = letters()
    corrected = sorted(before.values())[::2]
    m.w.db.sql(f"UPDATE {m.big} SET code = id WHERE id IN ({', '.join(corrected)})")
    wait_until("the corrected documents are written", lambda: all(
        m.w.engine.ask("GET", f"/{index}_v2/_doc/{i}", ok=(200, 404)).get("found") for i in corrected), 30, 0.1)
    m.release(bucket)
    m.wait_over()
    if list(m.w.engine.ask("GET", f"/_alias/{index}")) != [f"{index}_v2"]:
        raise Failed(f"the alias: {m.log()}")
    wait_until(lambda: f"20 dead letters but {corrected}: {letters()}",
               lambda: len(letters()) == 20 - len(corrected) and not set(letters().values()) & set(corrected), 30, 0.2)
    m.end()


def test_a_build_of_several_nodes_waits_for_what_is_refused_and_the_version_before_has(w):
    m = Fills(w, rows=10, nodes=2, topics=2)
    m.big = f"{m.schemas[0]}.part"
    m.w.db.sql(f"CREATE TABLE {m.big} (id INT PRIMARY KEY, code VARCHAR(20))",
               f"INSERT INTO {m.big} SELECT n, IF(n % 200 = 7, 'abc', n) FROM {numbers(4)} WHERE n < 4000")
    m.tables.append((m.schemas[0], "part"))
    made = m.definitions()
    made["tables"][-1]["columns"] = ["id", "code"]
    m.nodes[0].write("definitions.yaml", yaml.safe_dump(made, sort_keys=False))
    m.start()
    m.nodes[0].build(m.big)
    made["tables"][-1]["columns"][1] = {"name": "code", "type": "integer"}
    m.nodes[0].write("definitions.yaml", yaml.safe_dump(made, sort_keys=False))
    m.nodes[0].command("apply", "definitions.yaml", "--yes")
    index = f"{m.w.schema}-{m.schemas[0]}-part"

    def alias():
        return list(m.w.engine.ask("GET", f"/_alias/{index}"))

    def state():
        return next(v["state"] for v in m.alive().json("version", "list")["items"] if v["index"] == index and v["version"] == 2)
    m.create("--buckets", "8", "--rate", "300")
    wait_until("both nodes fill buckets", lambda: len({b["node"] for b in m.buckets("running")}) == 2, 30, 0.05)
    m.set_rate(0)
    wait_until(lambda: f"it waits: {state()}", lambda: state() == "waiting", 60, 0.2)
    if alias() != [f"{index}_v1"] or {b["state"] for b in m.buckets()} - {"done"}:
        raise Failed(f"{alias()}, {m.buckets()}")
    m.w.db.sql(f"UPDATE {m.big} SET code = id WHERE code = 'abc'")
    wait_until("it is published", lambda: alias() == [f"{index}_v2"], 60, 0.2)
    m.end()


class Timed(Fills):
    """The rows have times: some NULL, some before 1970."""

    def definitions(self):
        made = super().definitions()
        made["tables"][0]["bucket_column"] = "at"
        return made

    def start(self):
        self.w.db.sql(f"ALTER TABLE {self.big} ADD at DATETIME(3), ADD KEY (at)")
        return super().start()

    def fill(self, rows):
        self.w.db.sql(f"INSERT INTO {self.big} SELECT n + 10, n % 50, CASE n % 5 WHEN 0 THEN NULL WHEN 1 THEN '1960-01-01' + INTERVAL n HOUR "
                      f"ELSE '2024-01-01' + INTERVAL n * 7919 SECOND END FROM {numbers(5)} WHERE n < {rows}", f"ANALYZE TABLE {self.big}")


def test_buckets_by_mod_say_what_they_read_and_go_on_elsewhere_from_their_cursor(w):
    m = Timed(w, rows=6000, nodes=2, topics=2).start()
    asked = m.nodes[0].json("index", "create", m.big, "--buckets", "6", "--buckets-by", "mod", "--dry-run")
    if not 3000 < asked["rows"] < 12000 or asked["rows_examined"] != 6 * asked["rows"] or m.build()[0] is not None:
        raise Failed(f"{asked}, {m.build()}")
    usual = m.nodes[0].json("index", "create", m.big, "--dry-run")
    if (usual["buckets"], usual["buckets_by"]) != (1, "column"):  # as there are few rows
        raise Failed(f"{usual}")
    said = m.nodes[1].command("index", "create", m.big, "--buckets", "6", "--buckets-by", "mod", "--rate", "300", "--no-wait").stderr
    if "in 6 buckets by mod: the server will read about" not in said:
        raise Failed(said)
    wait_until("both nodes fill buckets", lambda: len({b["node"] for b in m.buckets("running")}) == 2, 30, 0.05)
    if {b["by"] for b in m.buckets()} != {f"at mod 6 = {i}" for i in range(6)}:
        raise Failed(f"{m.buckets()}")
    bucket = m.at_work()
    m.node_of(bucket).kill()
    m.goes_on(bucket)
    m.ends_well()


class Hidden(Timed):
    """No document shows the times."""

    def definitions(self):
        made = super().definitions()
        made["tables"][0]["columns"] = ["id", "a"]
        return made


def test_rows_that_move_between_buckets_are_there_though_their_documents_show_nothing_of_it(w):
    m = Hidden(w, rows=6000, nodes=2, topics=2).start()
    for n, by in enumerate(("column", "mod"), 2):
        m.create("--buckets", "12", "--rate", "600", *(["--buckets-by", by] if by == "mod" else []))
        wait_until("some are done and others not", lambda: m.buckets("done") and (m.buckets("running") or m.buckets("init")), 60, 0.02)
        m.w.db.sql(f"UPDATE {m.big} SET at = NULL WHERE id % 3 = 0", f"UPDATE {m.big} SET at = COALESCE(at, '2024-01-01') + INTERVAL 1 SECOND WHERE id % 3 = 1")
        m.set_rate(0)
        m.wait_over()
        m.equal()
        if m.version() != n:
            raise Failed(f"version {m.version()}: {m.log()}")
    m.end()


def test_buckets_by_mod_of_a_table_without_a_time_to_divide_by_are_refused(w):
    m = Fills(w, rows=10, nodes=1, topics=1).start()
    said = m.nodes[0].command("index", "create", m.big, "--buckets-by", "mod", ok=(1,)).stderr
    if "buckets by mod need a `bucket_column` of type DATE" not in said or m.version() != 1 or m.build()[0] is not None:
        raise Failed(said)
    m.end()


def test_no_more_nodes_fill_a_build_than_it_is_allowed_and_that_can_be_changed(w):
    m = Fills(w, rows=6000, nodes=3, topics=3).start()
    owner = m.id_of(m.owner(m.schemas[0]))
    m.create("--buckets", "24", "--rate", "300", "--nodes", "2", node=1)
    at_work = lambda: {b["node"] for b in m.buckets("running")}  # noqa: E731

    def are(n):
        """At most n nodes have buckets, the owner among them, whenever somebody looks for a while."""
        seen = []
        wait_until(lambda: f"{n} nodes fill it: {seen}", lambda: seen.append(at_work()) or len(seen[-1]) == n and owner in seen[-1], 30, 0.1)
        for _ in range(15):
            let_pass("somebody else could take a bucket", 0.1)
            seen.append(at_work())
            if len(seen[-1]) > n:
                raise Failed(f"{n} nodes may fill it: {seen}")
    are(2)
    m.alive().command("index", "set", m.big, "--nodes", "1")
    are(1)
    m.alive().command("index", "set", m.big, "--nodes", "0")
    are(3)
    if m.build()[0]["nodes_limit"] != 0:
        raise Failed(f"{m.build()[0]}")
    m.ends_well()


def test_a_node_that_cannot_read_the_table_gives_its_buckets_back(w):
    m = Fills(w, rows=6000, nodes=2, topics=2, cut=True).start()
    m.create("--buckets", "8", "--rate", "200")
    owner = m.owner(m.schemas[0])
    other = next(i for i, node in enumerate(m.nodes) if node is not owner)
    bucket = m.at_work(without=(m.id_of(owner),))
    m.ways[other]["source"].freeze()
    m.goes_on(bucket)
    m.ways[other]["source"].thaw()
    m.ends_well()


def test_a_topic_that_is_paused_is_read_by_no_node(w):
    m = begun(w, 300)
    m.alive().command("topic", "pause", m.schemas[0])
    wait_until(lambda: f"every bucket is given back: {m.build()}", lambda: not m.buckets("running"), 20, 0.1)
    done = sum(b["rows_done"] for b in m.buckets())
    stays(lambda: f"nothing is read, {done} rows were: {m.build()}", lambda: sum(b["rows_done"] for b in m.buckets()) == done, 3, 0.2)
    m.alive().command("topic", "resume", m.schemas[0])
    m.ends_well()


def test_a_version_that_is_given_up_stays_deleted_though_another_node_still_writes_to_it(w):
    m = Fills(w, rows=6000, nodes=2, topics=2, cut=True).start()
    owner = m.owner(m.schemas[0])
    other = next(node for node in m.nodes if node is not owner)
    engine, index = m.ways[m.nodes.index(other)]["engine"], f"{w.schema}-{m.schemas[0]}_v"

    def hang():
        m.hang(other)
        return lambda: other.process.send_signal(signal.SIGCONT)

    def cut():
        engine.freeze(there=True, back=False)
        return engine.thaw
    for version, begin in enumerate((hang, cut), 2):
        owner.command("index", "create", m.big, "--no-wait", "--buckets", "12", "--rate", "500")
        m.at_work(without=(m.id_of(owner),))
        end = begin()
        let_pass("rows are read that cannot be written", 0.5)
        owner.command("index", "reset", m.big, "--yes")
        wait_until("its index is deleted", lambda version=version: not w.engine.ask("GET", f"/{index}{version}", ok=(200, 404)).get(f"{index}{version}"))
        end()
        wait_until(lambda: f"nothing is left in the queues: {other.json('status', ok=(0, 1))['delivery']}",
                   lambda: not other.metric("millrace_changes_in_flight"), 30, 0.1)
        wait_until(lambda: f"nothing is held: {other.json('status', ok=(0, 1))}", lambda: "held" not in states(other), 20, 0.1)
        if f"{index}{version}" in w.engine.ask("GET", f"/{index}*/_alias"):
            raise Failed(f"{index}{version} is there again")
    m.create("--buckets", "8")
    m.wait_over()
    if m.version() != 4 or m.stored("SELECT id FROM job WHERE kind IN ('index', 'bucket')"):
        raise Failed(f"version {m.version()}, {m.build()}")
    m.equal()
    m.end()


def states(node):
    return [table["state"] for table in node.status(ok=(0, 1))["tables"]]
