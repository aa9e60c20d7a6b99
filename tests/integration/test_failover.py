"""Another server takes over the one that is followed: docs/binlog.md lists the scenarios."""

import yaml

from detour import Detour
from replication import Replication
from servers import Database, Failed, let_pass, wait_until
from test_faults import no_dump_threads, on_a_private_server, reset_log, start_behind_a_purge, topic_state
from workload import Workload

RESET = "topic reset"


class Stage:
    """The shop on two servers, a daemon that comes by a detour, and work to do."""

    def __init__(self, w, *options, tables=(), columns=None, **config):
        self.w = w
        self.pair = Replication(w, *options)
        w.load_shop()
        self.detour = Detour(w.db.port)
        self.definitions = w.shop_definitions(*tables, address=f"127.0.0.1:{self.detour.port}")
        if columns:
            self.definitions["tables"][0]["columns"] = columns
        self.daemon = w.follow(self.definitions, **config)
        self.work = Workload(w.rng)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.detour.__exit__()

    def run(self, transactions, tag=None):
        """On the server that takes writes now; tag: of the GTIDs."""
        connection = self.w.db.connect(self.w.schema)
        if tag:
            connection.cursor().execute(f"SET gtid_next = 'AUTOMATIC:{tag}'")
        self.work.run(connection, transactions)

    def equal(self, seconds=60):
        self.w.equal(self.daemon, seconds=seconds)

    def lead(self, to, **more):
        self.detour.lead_to(to.port, **more)

    def lead_new_ones_astray(self, flushes):
        """The dump goes on at the first server; whoever connects anew comes to the second, which lags, in a log that is
        further on by so many files."""
        self.pair.catch_up(self.pair.second, self.pair.first)
        self.pair.hold(self.pair.second)
        for _ in range(flushes):
            self.pair.second.sql("FLUSH BINARY LOGS")
        self.lead(self.pair.second, cut=False)
        self.pair.first.kill_connections("user = 'millrace' AND command NOT LIKE 'Binlog Dump%'")

    def state(self):
        return topic_state(self.daemon)

    def wait_for_state(self, name, words):
        """Until the topic is in this state with these words in its reason; the topic as status shows it."""
        def look():
            state = self.state()
            return state["state"] == name and all(word in state["reason"] for word in words) and state
        return wait_until(lambda: f"the topic is {name} for {words}, but {self.state()}", look, 60)


def lineage(w, index):
    """The highest epoch that the mapping of an alias tells."""
    mappings = w.engine.ask("GET", f"/{index}/_mapping").values()
    return max(int(m["mappings"]["_meta"]["_millrace"]["epoch"]) for m in mappings)


def test_a_server_that_takes_over_is_followed_by_gtids_and_so_is_the_first_one_again(w):
    with Stage(w) as s:
        pair, first, second = s.pair, s.pair.first, s.pair.second
        s.run(100)
        s.equal()
        epoch = int(s.state()["epoch"])
        s.run(50)
        pair.switch(second, first)
        s.run(50)
        s.lead(second)
        s.run(50)
        s.equal()
        if int(s.state()["epoch"]) != epoch + 1 or lineage(w, w.index("orders")) != epoch + 1:
            raise Failed(f"the epoch was {epoch}, and is {s.state()['epoch']}, {lineage(w, w.index('orders'))}")
        pair.follow(first, second)
        s.run(50)
        pair.switch(first, second)
        s.lead(first)
        s.run(50)
        s.equal()
        if int(s.state()["epoch"]) != epoch + 2:
            raise Failed(f"the epoch was {epoch} before two servers took over, and is {s.state()['epoch']}")


def test_a_daemon_that_was_away_follows_the_server_that_took_over(w):
    with Stage(w) as s:
        s.run(100)
        s.daemon.stop()
        s.run(50)
        s.pair.switch(s.pair.second, s.pair.first)
        s.pair.first.stop()
        s.lead(s.pair.second)
        s.run(100)
        s.daemon.start()
        s.equal()


def test_a_paused_topic_and_a_paused_index_stay_paused_over_a_failover(w):
    with Stage(w) as s:
        pair, orders = s.pair, f"{w.schema}.orders"

        def versions():
            return {key: version for key, _, version in w.engine.documents(w.index("orders"))}

        s.run(50)
        s.equal()
        s.daemon.command("topic", "pause", w.schema, "--reason", "the servers are exchanged")
        s.run(50)
        pair.switch(pair.second, pair.first)
        s.lead(pair.second)
        s.run(50)
        if s.state()["state"] != "created" or "the servers are exchanged" not in s.state()["reason"]:
            raise Failed(f"the paused topic is {s.state()}")
        s.daemon.command("topic", "resume", w.schema)
        s.equal()
        s.daemon.command("index", "pause", orders)
        paused = versions()
        s.run(50)
        pair.follow(pair.first, pair.second)
        pair.switch(pair.first, pair.second)
        s.lead(pair.first)
        s.run(50)
        wait_until("the topic follows the first server again", lambda: s.state()["state"] == "running", 60)
        if w.table(s.daemon, "orders")["state"] != "held":
            raise Failed(f"the paused index is {w.table(s.daemon, 'orders')}")
        w.equal(s.daemon, [f"{w.schema}.customer", f"{w.schema}.product"], seconds=60)
        if versions() != paused:
            raise Failed(f"the paused index was written to: {versions().items() ^ paused.items()}")
        s.daemon.command("index", "resume", orders)
        s.equal()


def test_another_address_in_the_definition_leads_to_the_server_that_took_over(w):
    with Stage(w) as s:
        s.run(50)
        s.pair.switch(s.pair.second, s.pair.first)
        s.run(50)
        s.definitions["topics"][0]["address"] = f"127.0.0.1:{s.pair.second.port}"
        s.daemon.apply(s.definitions)
        s.run(50)
        s.equal()


def test_a_server_that_lags_is_waited_for(w):
    with Stage(w) as s:
        second = s.pair.second
        s.equal()
        s.pair.catch_up(second, s.pair.first)
        s.pair.hold(second)
        s.run(50)
        s.equal()
        s.lead(second)
        state = s.wait_for_state("connecting", ["waiting until it has the transactions"])
        if "catch up" not in state["fix"] or RESET not in state["fix"]:
            raise Failed(f"the fix is {state['fix']!r}")
        s.pair.go_on(second)
        s.pair.switch(second, s.pair.first)
        s.run(50)
        s.equal()


def test_a_server_that_lacks_transactions_is_refused_and_a_reset_is_the_way_out(w):
    with Stage(w) as s:
        second = s.pair.second
        s.run(50)
        s.pair.catch_up(second, s.pair.first)
        s.pair.promote(second)
        w.sql("INSERT INTO customer VALUES (777, 'lost', 'lost@example.net', 'x', 'XX', '2020-02-29', 1)")
        s.equal()
        documents = w.engine.count(w.index("customer"))
        w.db = second
        s.lead(second)
        w.sql("UPDATE customer SET city = 'of the other history'")
        # Only MariaDB in its strict mode shows that what is missing will never come.
        state = s.wait_for_state("fail" if w.db.is_mariadb else "connecting", ["the address leads to another server"])
        if RESET not in state["fix"]:
            raise Failed(f"the fix is {state['fix']!r}")
        if w.engine.count(w.index("customer")) != documents or w.engine.get(w.index("customer"), 777) is None:
            raise Failed("the server that was refused has changed documents")
        s.daemon.command("topic", "reset", w.schema, "--yes")
        for table in "orders", "product", "customer":
            s.daemon.build(f"{w.schema}.{table}")
        s.run(50)
        s.equal()


def test_a_server_whose_log_begins_too_late_is_a_gap_with_a_way_out(w):
    with Stage(w) as s:
        second = s.pair.second
        s.run(20)
        s.equal()
        s.daemon.stop()
        s.run(50)
        s.pair.switch(second, s.pair.first)
        second.sql("FLUSH BINARY LOGS")
        s.run(20)
        second.sql("FLUSH BINARY LOGS")
        last = second.sql("SHOW BINARY LOGS")[-1][0]
        wait_until("the log is purged", lambda: second.sql(f"PURGE BINARY LOGS TO '{last}'") is not None
                   and len(second.sql("SHOW BINARY LOGS")) == 1)
        s.lead(second)
        s.daemon.start()
        state = wait_until("the topic stops", lambda: s.state()["state"] == "fail" and s.state())
        if "log" not in state["reason"] or RESET not in state["fix"]:
            raise Failed(f"reason and fix are {state['reason']!r} and {state['fix']!r}")


def test_without_gtids_another_server_stops_the_topic(w):
    """It may be a replica that has everything: nothing shows it."""
    servers = [w.also(Database(w.options.server, name)) for name in ("first", "second")]
    for number, server in enumerate(servers, 1):
        server.start(f"--server-id={number}", "--gtid-mode=OFF", "--enforce-gtid-consistency=OFF")
    for w.db in reversed(servers):
        w.make_schema()
        w.load_shop()
    with Detour(servers[0].port) as detour:
        definitions = w.shop_definitions("product", address=f"127.0.0.1:{detour.port}")
        daemon = w.follow(definitions)
        definitions["databases"][0]["address"] = f"127.0.0.1:{servers[1].port}"
        said = daemon.apply(definitions, ok=(1,)).stderr
        if "needs GTIDs" not in said or "gtid_mode=ON" not in said:
            raise Failed(f"a replica for reads was not refused: {said!r}")
        del definitions["databases"][0]["address"]
        daemon.write("definitions.yaml", yaml.safe_dump(definitions))
        w.sql("UPDATE product SET name = 'of the first'")
        w.equal(daemon)
        detour.lead_to(servers[1].port)
        servers[1].sql(f"UPDATE {w.schema}.product SET name = 'of the second'")
        state = wait_until("the topic stops", lambda: topic_state(daemon)["state"] == "fail" and topic_state(daemon))
        if "positions cannot be compared" not in state["reason"] or RESET not in state["fix"]:
            raise Failed(f"reason and fix are {state['reason']!r} and {state['fix']!r}")
        w.equal(daemon)


test_without_gtids_another_server_stops_the_topic.servers = ("mysql8", "mysql9")
test_without_gtids_another_server_stops_the_topic.why = "always has GTIDs"


def test_kills_and_builds_while_servers_take_over_lose_nothing(w):
    with Stage(w) as s:
        first, second = s.pair.first, s.pair.second
        for _ in range(4):
            s.run(30)
            s.daemon.command("index", "create", f"{w.schema}.orders", ok=None)
            s.run(20)
            if w.rng.random() < 0.5:
                s.daemon.kill()
            s.pair.switch(second, first)
            s.lead(second)
            s.run(10)
            s.daemon.start()
            let_pass("killed at any moment", w.rng.random() * 1.5)
            s.daemon.kill()
            s.run(10)
            s.daemon.start()
            s.pair.follow(first, second)
            first, second = second, first
        s.run(50)
        wait_until("the build is over", lambda: w.table(s.daemon, "orders")["build"] is None, 90)
        s.equal()


def test_transactions_with_tags_are_read_once_across_servers_that_take_over(w):
    with Stage(w) as s:
        first, second = s.pair.first, s.pair.second

        def insert(begin):
            """In transactions with one tag, another, and none, in turns; how many."""
            w.sql(*(statement for i, tag in enumerate((":red", ":blue", "") * 10, begin)
                    for statement in (f"SET gtid_next = 'AUTOMATIC{tag}'",
                                      f"INSERT INTO customer VALUES ({i}, 'tagged', 'c{i}@example.net', 'x', 'XX', '2020-02-29', 1)")))
            return 30

        def has_read(rows):
            """Inserts are counted anew for each server."""
            read = s.daemon.metric("millrace_binlog_events_total", type="insert")
            if read != rows:
                raise Failed(f"{rows} rows were inserted, and {read} inserts read")

        s.equal()
        rows = insert(1000)
        s.equal()
        has_read(rows)
        s.pair.switch(second, first)
        rows = insert(2000)
        s.lead(second)
        rows += insert(3000)
        s.equal()
        has_read(rows)
        if ":blue:" not in s.pair.executed(second) or ":red:" not in s.pair.executed(second):
            raise Failed(f"there are no tags in {s.pair.executed(second)}")
        s.pair.follow(first, second)
        s.run(50, tag="red")
        s.daemon.kill()
        s.run(30, tag="blue")
        s.pair.switch(first, second)
        s.run(30)
        s.lead(first)
        s.daemon.start()
        s.run(30, tag="red")
        s.equal()


test_transactions_with_tags_are_read_once_across_servers_that_take_over.servers = ("mysql9",)
test_transactions_with_tags_are_read_once_across_servers_that_take_over.why = "its GTIDs have no tags"


def test_a_prepared_transaction_is_committed_on_the_server_that_took_over(w):
    """Its rows are ones that the random work neither changes nor scans, as they stay locked meanwhile."""
    with Stage(w) as s:
        w.sql("INSERT INTO customer SELECT 901, name, 'c901@example.net', city, country, since, 0 FROM customer WHERE id = 1",
              "INSERT INTO customer SELECT 902, name, 'c902@example.net', city, country, since, 0 FROM customer WHERE id = 1",
              "INSERT INTO orders (id, customer_id, title, total, created_at) VALUES (900, 901, 'between', 1, '2024-01-01'),"
              " (901, 901, 'first', 1, '2024-01-01'), (902, 902, 'second', 1, '2024-01-01')")
        s.equal()
        for key in (901, 902):
            w.sql(f"XA START 'x{key}'", f"UPDATE customer SET city = 'prepared' WHERE id = {key}",
                  f"UPDATE orders SET title = 'prepared' WHERE id = {key}", f"XA END 'x{key}'", f"XA PREPARE 'x{key}'")
        s.run(20)
        s.pair.switch(s.pair.second, s.pair.first)
        s.lead(s.pair.second)
        w.sql("UPDATE product SET name = 'after the switch' WHERE id = 1")
        s.equal()
        w.sql("XA COMMIT 'x901'", "XA ROLLBACK 'x902'")
        s.equal()
        titles = [w.engine.get(w.index("orders"), key)["title"] for key in (901, 902)]
        if titles != ["prepared", "second"]:
            raise Failed(f"of two prepared transactions one was committed, and the titles are {titles}")


def test_shapes_of_tables_are_known_on_the_server_that_took_over(w):
    """Without column names in the log, and with DDL after the place that is gone on from."""
    with Stage(w, "--binlog-row-metadata=MINIMAL", tables=("customer",), columns=["id", "city"]) as s:
        w.sql("UPDATE customer SET city = 'by the first shape' WHERE id = 1")
        s.equal()
        s.daemon.stop()
        w.sql("UPDATE customer SET city = 'still by the first shape' WHERE id = 2",
              "ALTER TABLE customer ADD COLUMN nick VARCHAR(20) FIRST",
              "UPDATE customer SET city = 'by the second shape', nick = 'x' WHERE id = 3")
        s.pair.switch(s.pair.second, s.pair.first)
        s.lead(s.pair.second)
        s.daemon.start()
        w.sql("UPDATE customer SET city = 'on the second server' WHERE id = 4")
        s.equal()
        state = w.table(s.daemon, "customer")
        if state["state"] != "available":
            raise Failed(f"the table is {state}")


def test_an_address_that_leads_elsewhere_before_the_dump_ends_shows_nothing_false(w):
    """New connections come to the replica while the old one still gives the log of the first server."""
    with Stage(w) as s:
        s.run(20)
        s.lead(s.pair.second, cut=False)
        s.run(50)
        s.pair.switch(s.pair.second, s.pair.first)
        s.detour.cut()
        s.run(50)
        s.equal()


def test_reads_that_an_address_leads_to_a_stale_server_are_not_believed(w):
    """The dump goes on at the first server; whoever connects anew comes to one that lags, in a log that is further on."""
    with Stage(w) as s:
        s.run(20)
        s.equal()
        s.lead_new_ones_astray(3)
        w.sql("UPDATE customer SET city = 'only at the first' WHERE id < 20")
        wait_until("the other server is noticed", lambda: "leads to another server" in s.daemon.log_tail(100000))
        s.lead(s.pair.first, cut=False)
        s.equal()


def connections(server):
    return server.sql("SELECT COUNT(*) FROM information_schema.processlist WHERE user = 'millrace'")[0][0]


def with_replica(w, s):
    """The definitions with re-reads from the second server."""
    s.definitions["databases"][0] |= {"address": f"127.0.0.1:{s.pair.second.port}", "user": "millrace",
                                      "password_file": "source.password"}
    s.daemon.apply(s.definitions)


def test_reads_go_to_a_replica_that_keeps_up(w):
    with Stage(w) as s:
        with_replica(w, s)
        # One that lags for two seconds is left alone for ten.
        wait_until("something is read from the replica", lambda: s.run(5) or connections(s.pair.second), pause=0.5)
        s.run(50)
        s.equal()
        s.daemon.build(f"{w.schema}.orders")
        s.pair.second.stop()
        s.run(50)
        s.equal()


def test_a_replica_ten_seconds_behind_gives_no_stale_document(w):
    with Stage(w) as s:
        s.pair.catch_up(s.pair.second, s.pair.first)
        s.pair.promote(s.pair.second)
        s.pair.follow(s.pair.second, s.pair.first, delay=10)
        with_replica(w, s)
        for _ in range(3):
            s.run(20)
            s.equal()
        s.daemon.build(f"{w.schema}.orders")
        s.run(20)
        s.equal()


def test_a_gap_is_built_over_by_itself_where_the_topic_says_so(w):
    daemon, work, connection = on_a_private_server(w, "gap")
    daemon.apply(w.shop_definitions(on_gap="rebuild"))
    if "on_gap: rebuild" not in daemon.command("export").stdout:
        raise Failed("the export does not say on_gap")
    epoch = int(topic_state(daemon)["epoch"])

    def versions():
        return {int(w.table(daemon, name)["version"]) for name in ("orders", "product", "customer")
                if w.table(daemon, name)["state"] == "available"}

    def is_built_over(number):
        wait_until(lambda: f"the tables are in version {number}, but {daemon.json('status')['tables']}",
                   lambda: versions() == {number}, 90, 0.2)
        work.run(connection, 50)
        w.equal(daemon)
        if versions() != {number} or int(topic_state(daemon)["epoch"]) != epoch + number - 1:
            raise Failed(f"one gap was built over more than once: {daemon.json('status')}")

    w.equal(daemon)
    start_behind_a_purge(w, daemon, work, connection)
    is_built_over(2)
    daemon.stop()
    no_dump_threads(w)
    reset_log(w)
    work.run(connection, 50)
    daemon.start()
    is_built_over(3)
