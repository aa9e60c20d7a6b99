"""Three search nodes, of which one at a time is killed, stopped or restarted while the database is written to (F28)."""

from servers import Failed, let_pass, open_store, wait_until
from test_kill import Writer
from test_purge import key_of, put_purged_into
from workload import Workload

NODES = 3
REQUESTS_AT_ONCE = 10  # delivery.helpers


class Trickle(Workload):
    """Steady and little: that it goes on is what counts, and a node that comes back must catch up."""

    def run(self, connection, transactions, commit_share=0.95):
        super().run(connection, transactions, commit_share)
        let_pass("its rhythm", 0.1)


def follow_shop(w, urls, delivery=None, **search):
    w.load_shop()
    definitions = w.shop_definitions("orders")
    for table in definitions["tables"]:
        table["settings"] = {"number_of_shards": 2, "number_of_replicas": 1}
    daemon = w.follow(definitions, search={"url": urls} | search, delivery=delivery or {})
    w.engine.wait_for("green")
    return daemon, Writer(w, Trickle(w.rng))


def failed_requests(daemon):
    return daemon.metric("millrace_bulk_requests_failed_total")


def judge_while_written(w, daemon, writer):
    """What is written from now on arrives."""
    w.engine.wait_for("yellow")
    enough = writer.transactions + 30
    writer.resume()
    wait_until("the writer goes on", lambda: writer.error or writer.transactions >= enough, 60)
    writer.rest()
    w.equal(daemon, seconds=90)
    writer.resume()


def bring_back(w, daemon, writer, node):
    node.start()
    w.engine.wait_for("green")
    judge_while_written(w, daemon, writer)


def kill_and_judge(w, daemon, writer, node):
    """Nothing is lost, and the dead one is left alone."""
    before = failed_requests(daemon)
    node.kill()
    for _ in range(2):
        judge_while_written(w, daemon, writer)
    # What was on its way breaks off; then one at a time tries it, after 1 s, 2 s and so on.
    if failed_requests(daemon) - before > 3 * REQUESTS_AT_ONCE:
        raise Failed(f"{failed_requests(daemon) - before} requests failed while one node of three was dead")


def wait_used(node):
    wait_until(f"the daemon sends to {node.name}", lambda: node.connections() > 0, 60, 0.5)


def test_a_killed_node_that_has_primaries_loses_nothing_and_is_used_again_when_it_is_back(w):
    daemon, writer = follow_shop(w, w.engine.urls)
    try:
        node = w.engine.primaries(f"{w.index('orders')}_v1")[0]
        kill_and_judge(w, daemon, writer, node)
        bring_back(w, daemon, writer, node)
        wait_used(node)
    finally:
        writer.end()
    w.equal(daemon)


def test_the_killed_leader_of_a_cluster_loses_nothing_although_only_its_address_was_configured(w):
    leader = w.engine.manager()
    daemon, writer = follow_shop(w, [leader.url], sniff=True, sniff_interval="1s")
    try:
        for node in w.engine.nodes:
            wait_used(node)
        kill_and_judge(w, daemon, writer, leader)
        bring_back(w, daemon, writer, leader)
        wait_used(leader)
    finally:
        writer.end()
    w.equal(daemon)


def test_a_rolling_restart_loses_nothing(w):
    daemon, writer = follow_shop(w, w.engine.urls)
    try:
        for node in w.engine.nodes:
            node.stop()
            judge_while_written(w, daemon, writer)
            bring_back(w, daemon, writer, node)
    finally:
        writer.end()
    w.equal(daemon)


def test_of_a_node_that_hangs_the_others_take_over_within_the_request_timeout(w):
    """Its connections stay open, and what is sent to it has no answer; nor has what the others send on to its shards,
    until the cluster gives these to them, so a fuse may blow meanwhile."""
    daemon, writer = follow_shop(w, w.engine.urls, delivery={"request_timeout": "5s"})
    try:
        node = w.engine.primaries(f"{w.index('orders')}_v1")[0]
        wait_used(node)
        node.hang()
        try:
            judge_while_written(w, daemon, writer)
        finally:
            node.go_on()
        w.engine.wait_for("green")
        judge_while_written(w, daemon, writer)
    finally:
        writer.end()
    w.equal(daemon)


def outstanding_documents(daemon):
    with open_store(daemon) as store:
        return store.execute("SELECT COUNT(*) FROM purged").fetchone()[0]


def test_a_red_shard_keeps_only_its_own_documents_waiting(w):
    """F30.  They are in the same requests as those of the other shards, which are not kept back for long."""
    w.sql("CREATE TABLE thing (id INT PRIMARY KEY, a INT)",
          "INSERT INTO thing VALUES " + ", ".join(f"({key}, 0)" for key in range(60)))
    daemon = w.follow(w.definitions({"table": "thing", "settings": {"number_of_shards": 3, "number_of_replicas": 0}}),
                      search={"url": w.engine.urls}, delivery={"request_timeout": "5s"})
    index = f"{w.index('thing')}_v1"
    nodes = w.engine.primaries(index)

    def node_of(key):
        return nodes[int(w.engine.ask("GET", f"/{index}/_search_shards?routing={key}")["shards"][0][0]["shard"])]

    well = [key for key in range(60) if node_of(key) is not nodes[0]]

    def with_value(value):
        return [key for key in well if int(w.engine.get(index, key)["a"]) == value]

    nodes[0].kill()
    w.engine.wait_for("red")
    for value in (1, 2, 3):  # the first is written before its answer is kept back
        w.sql(f"UPDATE thing SET a = {value}")
        wait_until(lambda: f"{len(well)} documents have {value}, and not {len(with_value(value))}",
                   lambda: with_value(value) == well, 30)
    # Nor is what was purged of the others kept back, in which its own come first.
    daemon.kill()
    put_purged_into(w, daemon, index, "thing", [(str(key), key_of(str(key))) for key in sorted(range(60), key=lambda key: key in well)])
    w.engine.ask("DELETE", f"/{index}/_doc/{well[-1]}")
    daemon.start()
    wait_until("what was purged of the others is taken out", lambda: 0 < outstanding_documents(daemon) == 60 - len(well), 60)
    if w.engine.get(index, well[-1]) is None:
        raise Failed("it was taken out and not written")
    nodes[0].start()
    w.engine.wait_for("green")
    wait_until("nothing purged is left", lambda: outstanding_documents(daemon) == 0, 60)
    w.equal(daemon)
