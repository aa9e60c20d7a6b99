"""The database or the engine goes away, in every way it can; what was written meanwhile arrives."""
import signal
import time

from servers import Database, Failed, let_pass, stays, wait_until
from test_kill import Writer

# Resident memory may grow so much while the engine is slow: by what delivery holds, and what it is handed.
GROWS_KIB = 48 * 1024


def cut_connections(w):
    w.db.kill_connections("user = 'millrace'")


def test_sigterm_drains_within_its_deadline(w):
    daemon, work, connection = w.work_on_shop()
    work.run(connection, 300)
    since = time.monotonic()
    if daemon.stop(30) != 0:
        raise Failed(f"exit status {daemon.process.returncode}")
    if time.monotonic() - since > 20:
        raise Failed(f"the drain took {time.monotonic() - since:.1f} s")


def test_sigterm_ends_the_daemon_while_the_engine_hangs(w):
    daemon, work, connection = w.work_on_shop(delivery={"drain_timeout": "3s"})
    w.engine.signal(signal.SIGSTOP)
    try:
        work.run(connection, 50)
        wait_until("writes wait for the engine", lambda: daemon.metric("millrace_changes_in_flight") > 0)
        daemon.stop(30)
    finally:
        w.engine.signal(signal.SIGCONT)
    work.run(connection, 50)
    daemon.start()
    w.equal(daemon)


def test_a_daemon_killed_ahead_of_its_checkpoint_goes_on(w):
    """The engine then has versions from beyond the stored position: they are ours."""
    daemon, work, connection = w.work_on_shop()
    for _ in range(5):
        work.run(connection, 60)
        daemon.kill()
        daemon.start()
    w.equal(daemon)
    if '"index held"' in daemon.log_tail(10**7):
        raise Failed("an index was held; the daemon's log ends:\n" + daemon.log_tail())


def is_up(daemon):
    return daemon.process.poll() is None


def test_an_engine_that_hangs_is_waited_for(w):
    daemon, work, connection = w.work_on_shop()
    for seconds in (0.5, 3):
        w.engine.signal(signal.SIGSTOP)
        try:
            work.run(connection, 100)
            stays("the daemon waits", lambda: is_up(daemon), seconds)
        finally:
            w.engine.signal(signal.SIGCONT)
        w.equal(daemon, seconds=90)


def more_tests(options):
    return {"test_f61_an_engine_that_is_slow_for_long_is_waited_for_in_bounded_memory":
            lambda w: write_to_a_slow_engine(w, options.slow)}


def write_to_a_slow_engine(w, seconds):
    """It works for a tenth of the time: what is written waits, within the bounds, and the source is not lost for it."""
    daemon, work, connection = w.work_on_shop(delivery={"bytes": "1MiB", "high_water_mark": 50})
    work.run(connection, 100)
    w.equal(daemon)
    before, peak, waiting = daemon.rss_kib(), 0, 0
    reconnects = daemon.metric("millrace_source_reconnects_total")
    writer, until = Writer(w, work, pause=0.1), time.monotonic() + seconds
    try:
        while time.monotonic() < until:
            w.engine.signal(signal.SIGSTOP)
            let_pass("the engine does nothing meanwhile", 0.9)
            waiting = max(waiting, daemon.metric("millrace_changes_in_flight"))
            w.engine.signal(signal.SIGCONT)
            let_pass("the engine works meanwhile", 0.1)
            peak = max(peak, daemon.rss_kib())
        writer.rest()
    finally:
        w.engine.signal(signal.SIGCONT)
        writer.end()
    if not waiting:
        raise Failed("nothing ever waited for the engine")
    if peak - before > GROWS_KIB:
        raise Failed(f"resident memory grew from {before} to {peak} KiB")
    if daemon.metric("millrace_source_reconnects_total") != reconnects:
        raise Failed("the source was connected again while its reader waited for the engine")
    w.equal(daemon, seconds=90 + seconds)


def test_an_engine_killed_in_the_middle_of_writes_is_waited_for(w):
    daemon, work, connection = w.work_on_shop()
    work.run(connection, 50)
    w.engine.kill()
    work.run(connection, 200)
    w.engine.start()
    work.run(connection, 50)
    w.equal(daemon, seconds=90)


def test_an_engine_that_is_down_at_the_start_is_waited_for(w):
    daemon, work, connection = w.work_on_shop()
    daemon.stop()
    work.run(connection, 100)
    w.engine.stop()
    daemon.start(wait=False)
    stays("the daemon waits", lambda: is_up(daemon), 1)
    w.engine.start()
    w.equal(daemon, seconds=60)


def test_a_database_that_restarts_is_followed_on(w):
    daemon, work, connection = w.work_on_shop()
    work.run(connection, 100)
    w.db.stop()
    wait_until("the topic has lost its server", lambda: topic_state(daemon)["state"] != "running")
    w.db.start()
    work.run(w.db.connect(w.schema), 100)
    w.equal(daemon, seconds=60)


def test_a_database_killed_in_the_middle_of_writes_is_followed_on(w):
    w.db.restart("--sync-binlog=1", "--innodb-flush-log-at-trx-commit=1")
    daemon, work, connection = w.work_on_shop()
    work.run(connection, 100)
    w.db.kill()
    w.db.start(*w.db.options)
    work.run(w.db.connect(w.schema), 100)
    w.equal(daemon, seconds=60)


def test_a_cut_dump_connection_is_taken_up_again(w):
    daemon, work, connection = w.work_on_shop()
    for _ in range(5):
        work.run(connection, 40)
        cut_connections(w)
        work.run(connection, 40)
    w.equal(daemon, seconds=60)


def test_a_large_transaction_is_read_once_however_long_the_engine_takes(w):
    """Waiting for the engine is no dead dump, and a dump cut within a transaction goes on inside it."""
    w.sql("CREATE TABLE much (id INT PRIMARY KEY, a INT, b VARCHAR(200))", "INSERT INTO much VALUES (0, 0, '')")
    daemon = w.follow(w.definitions({"table": "much"}), delivery={"bytes": "1MiB"})
    w.sql("UPDATE much SET a = 1")
    w.equal(daemon)

    def reconnects():
        return int(daemon.metric("millrace_source_reconnects_total"))

    def rows_read():
        return int(daemon.metric("millrace_changes_read_total"))

    read = rows_read()
    w.engine.signal(signal.SIGSTOP)
    try:
        w.sql("INSERT INTO much WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)"
              " SELECT x.i * 1000 + y.i, x.i, REPEAT('x', 190) FROM n x, n y")
        wait_until("rows of the transaction are read", lambda: rows_read() > read + 1000)
        before = reconnects()
        stays("waiting for the engine is not taken for a dump that gives nothing", lambda: reconnects() == before, 17, 0.5)
        cut_connections(w)
    finally:
        w.engine.signal(signal.SIGCONT)

    def documents():
        return w.engine.count(w.index("much"))

    wait_until("all documents are there", lambda: documents() == 90001, 60, 1, progress=documents)
    w.equal(daemon, seconds=60)
    if reconnects() == before:
        raise Failed("the dump was not cut")
    # Without GTIDs it is read from its start, where the row is whose lock tells when it is committed.
    if w.has_gtids() and rows_read() - read != 90000:
        raise Failed(f"of 90000 rows {rows_read() - read} were read")


def test_a_dump_cut_right_after_a_rotation_goes_on_in_the_right_file(w):
    """The last transaction stands in one file, the reader is in the next one already."""
    daemon, work, connection = w.work_on_shop()
    for _ in range(3):
        work.run(connection, 5)
        w.sql("FLUSH BINARY LOGS")
        wait_until("the reader is in the next file", lambda: topic_state(daemon)["file"] == w.db.log_end()[0])
        cut_connections(w)
        work.run(connection, 5)
        w.equal(daemon)


def test_rotated_logs_are_followed(w):
    daemon, work, connection = w.work_on_shop()
    for _ in range(10):
        work.run(connection, 20)
        w.sql("FLUSH BINARY LOGS")
    w.equal(daemon)


def test_two_daemons_with_one_server_id_are_told_apart(w):
    w.load_shop()
    first = w.follow(w.shop_definitions("product", server_id=77))
    second = w.millrace()
    definitions = w.shop_definitions("customer", server_id=77)
    second.apply(definitions)
    wait_until("one of the two names the server id 77",
               lambda: any("77" in d.log_tail(20000) and "server id" in d.log_tail(20000).lower() or
                           "server_id" in d.log_tail(20000) for d in (first, second)), 60, 0.2)
    wait_until("one of the two does not try any more",
               lambda: any(d.log_tail(10**6).count("the source is stopped") == 4 for d in (first, second)), 60, 0.2)


def test_two_topics_on_one_server_do_not_throw_each_other_out(w):
    w.load_shop()
    daemon = w.follow(w.shop_definitions("product"))
    second = w.shop_definitions("customer", name="second")
    second["databases"] = [{"name": "again", "topic": "second", "schema": w.schema}]
    second["tables"][0]["table"] = "again.customer"
    daemon.apply(second)
    daemon.build("again.customer")
    w.sql("UPDATE product SET name = 'of the first'", "UPDATE customer SET name = 'of the second'")
    for name, words in ("product", "of the first"), ("customer", "of the second"):
        wait_until(f"all of {name} is followed", lambda: all(
            source["name"] == words for _, source, _ in w.engine.documents(w.index(name))))
    states = {t["name"]: t["state"] for t in daemon.json("status")["topics"]}
    if set(states.values()) != {"running"}:
        raise Failed(f"the topics are {states}")


def topic_state(daemon):
    return daemon.json("status")["topics"][0]


def on_a_private_server(w, name):
    """What no other test should see the server through."""
    w.db = w.also(Database(w.options.server, name))
    w.db.start()
    w.make_schema()
    return w.work_on_shop()


def no_dump_threads(w):
    """The server notices late that a replica is gone."""
    dumps = "command LIKE 'Binlog Dump%'"
    w.db.kill_connections(dumps)
    wait_until("the dump has ended", lambda: not w.db.sql(
        f"SELECT id FROM information_schema.processlist WHERE {dumps}"))


OTHER_LOG = "does not hold", "cannot be followed any more", "not the log", "not the one", "another"


def stops_and_begins_anew(w, daemon, work, connection, words=OTHER_LOG, states=("fail",)):
    """The topic stops and says why; topic reset and new builds are the way out."""
    def stopped():
        state = topic_state(daemon)
        return state["state"] in states and state["reason"] and state
    state = wait_until("the topic stops", stopped)
    if not any(word in state["reason"] for word in words) or "topic reset" not in state["fix"]:
        raise Failed(f"reason and fix are {state['reason']!r} and {state['fix']!r}")
    said = daemon.command("doctor", ok=(1,) if state["state"] == "fail" else (0,)).stdout
    if state["reason"][:40] not in said or "topic reset" not in said:
        raise Failed(f"doctor does not name the topic that failed:\n{said}")
    daemon.command("topic", "reset", w.schema, "--yes")
    for table in "orders", "product", "customer":
        daemon.build(f"{w.schema}.{table}")
    work.run(connection, 50)
    w.equal(daemon)


def purged_to_the_last(w):
    """A server keeps a log for a while that its engine may still need."""
    w.sql(f"PURGE BINARY LOGS TO '{w.sql('SHOW BINARY LOGS')[-1][0]}'")
    return len(w.sql("SHOW BINARY LOGS")) == 1


def start_behind_a_purge(w, daemon, work, connection):
    """While the daemon is away the server purges what follows its position."""
    daemon.stop()
    no_dump_threads(w)
    work.run(connection, 50)
    w.sql("FLUSH BINARY LOGS")
    work.run(connection, 50)
    wait_until("the server purges its log", lambda: purged_to_the_last(w))
    daemon.start()


def test_a_purged_log_stops_the_topic_with_a_way_out(w):
    daemon, work, connection = on_a_private_server(w, "purged")
    w.equal(daemon)
    start_behind_a_purge(w, daemon, work, connection)
    stops_and_begins_anew(w, daemon, work, connection)


def reset_log(w):
    w.sql("RESET BINARY LOGS AND GTIDS" if w.options.server == "mysql9" else "RESET MASTER")


def test_a_server_that_was_reset_meanwhile_stops_the_topic_with_a_way_out(w):
    daemon, work, connection = on_a_private_server(w, "reset")
    work.run(connection, 100)
    w.equal(daemon)
    daemon.stop()
    no_dump_threads(w)
    reset_log(w)
    work.run(connection, 150)
    daemon.start()
    stops_and_begins_anew(w, daemon, work, connection)


def test_a_log_that_ends_within_the_last_known_transaction_stops_the_topic_with_a_way_out(w):
    daemon, work, connection = on_a_private_server(w, "short")
    w.sql("CREATE TABLE filler (id INT PRIMARY KEY AUTO_INCREMENT, b LONGBLOB)")
    work.run(connection, 20)
    before = w.db.log_end()[1]
    w.sql("UPDATE orders SET status = IF(status = 'new', 'paid', 'new')")
    w.equal(daemon)
    daemon.stop()
    no_dump_threads(w)
    end = w.db.log_end()[1]
    reset_log(w)
    w.sql(f"INSERT INTO filler (b) VALUES (REPEAT('x', {before - w.db.log_end()[1] - 400}))")
    while w.db.log_end()[1] < before + 500:
        w.sql("INSERT INTO filler (b) VALUES ('x')")
    if not before < w.db.log_end()[1] < end:
        raise Failed(f"the log ends at {w.db.log_end()[1]}, not between {before} and {end}")
    daemon.start()
    stops_and_begins_anew(w, daemon, work, connection)


def test_a_known_place_within_an_event_of_another_log_stops_the_topic_with_a_way_out(w):
    daemon, work, connection = on_a_private_server(w, "within")
    w.sql("CREATE TABLE filler (id INT PRIMARY KEY, b LONGBLOB)")
    work.run(connection, 100)
    w.equal(daemon)
    daemon.stop()
    no_dump_threads(w)
    reset_log(w)
    # Wherever the place falls, these bytes look like the head of a short event.
    w.sql("INSERT INTO filler VALUES (1, REPEAT(UNHEX('40'), 100)), (2, REPEAT(UNHEX('40000000'), 500000))")
    work.run(connection, 50)
    daemon.start()
    stops_and_begins_anew(w, daemon, work, connection)


def test_a_known_place_between_two_events_of_a_transaction_of_another_log_stops_the_topic_with_a_way_out(w):
    """There the end of that transaction comes first, which must not pass for a place to go on from."""
    daemon, work, connection = on_a_private_server(w, "between")
    w.sql("CREATE TABLE filler (id INT PRIMARY KEY, b LONGBLOB)")
    work.run(connection, 100)
    w.equal(daemon)
    daemon.stop()
    no_dump_threads(w)
    file = w.sql("SHOW BINARY LOGS")[-1][0]
    known = [row[1] for row in w.sql(f"SHOW BINLOG EVENTS IN '{file}'") if "gtid" in row[2].lower()][-1]
    reset_log(w)

    def two_rows(key, size):
        """Where the second row's events begin, in a transaction with two rows, the first of about that size."""
        with connection.cursor() as cursor:
            cursor.execute("BEGIN")
            cursor.execute(f"INSERT INTO filler VALUES ({key}, REPEAT('x', {size:08d}))")  # statements of one length
            cursor.execute(f"INSERT INTO filler VALUES ({key + 1}, 'y')")
            cursor.execute("COMMIT")
        file = w.sql("SHOW BINARY LOGS")[-1][0]
        events = w.sql(f"SHOW BINLOG EVENTS IN '{file}'")
        ends = [row[4] for row in events if row[2].lower().startswith("write_rows")]
        return ends[-2], events[-1][4]

    connection.select_db(w.schema)
    start = w.sql("SHOW BINLOG EVENTS")[-1][4]
    within, end = two_rows(1, 1000)
    between, _ = two_rows(3, 1000 + known - end - (within - start))
    if between != known:
        raise Failed(f"the transaction has a row's end at {between}, not at {known}")
    work.run(connection, 50)
    daemon.start()
    stops_and_begins_anew(w, daemon, work, connection)


def test_a_server_that_gives_up_gtids_while_it_is_followed_is_not_read_before_its_commits(w):
    """The log shows them a tenth of a second before SELECT does, and no GTID can be waited for."""
    if not w.has_gtids():
        return
    daemon, _, _ = on_a_private_server(w, "anonymous")
    w.db.sql("SET GLOBAL gtid_mode = ON_PERMISSIVE", "SET GLOBAL gtid_mode = OFF_PERMISSIVE",
             "SET GLOBAL binlog_group_commit_sync_delay = 100000")
    for key in range(1, 21):
        w.sql(f"UPDATE orders SET title = 'anonymous {key}' WHERE id = {key}")
    w.equal(daemon)


test_a_server_that_gives_up_gtids_while_it_is_followed_is_not_read_before_its_commits.servers = ("mysql8", "mysql9")
test_a_server_that_gives_up_gtids_while_it_is_followed_is_not_read_before_its_commits.why = "always has GTIDs"


def test_a_server_that_is_reset_while_it_is_followed_stops_the_topic_with_a_way_out(w):
    daemon, work, connection = on_a_private_server(w, "reset-live")
    work.run(connection, 100)
    w.equal(daemon)
    reset_log(w)
    work.run(connection, 50)
    stops_and_begins_anew(w, daemon, work, connection)
