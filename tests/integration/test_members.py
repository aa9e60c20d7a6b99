"""Several daemons share one store: each topic is owned by one of them, and taken over when that one is gone."""
import concurrent.futures
import contextlib
import os
import shutil
import signal
import subprocess
import threading
import time
import uuid

import yaml
from kazoo.exceptions import NoNodeError, NotEmptyError

import servers
from members import Changes, Load, Members, Way
from servers import Engine, Failed, let_pass, stays, wait_until
from test_local_machine import preload
from test_one_store import on_store, store_of
from test_secure import certificates
from test_surface import documented_forms, names_in
from tunnels import Stunnel

REFUSED = 75  # EX_TEMPFAIL


def test_topics_are_shared_and_taken_over_from_a_node_that_dies_or_stops(w):
    m = Members(w).start()
    load = Load(m)
    m.nodes[0].kill()
    m.wait_shared(1, 2)
    m.nodes[0].start()
    m.wait_shared(0, 1, 2)
    m.nodes[2].stop()
    m.wait_shared(0, 1)
    m.nodes[2].start()
    m.wait_shared(0, 1, 2)
    load.end()
    m.equal()
    m.end()


def test_f52_a_node_that_hangs_is_replaced_and_its_later_writes_are_refused(w):
    m = Members(w).start()
    load = Load(m)
    m.hang(m.nodes[1])
    m.wait_shared(0, 2)
    let_pass("twice the time-out in all", 4)
    m.nodes[1].process.send_signal(signal.SIGCONT)
    m.wait_shared(0, 1, 2)
    load.end()
    m.equal()
    if "another node has taken" not in m.nodes[1].log_tail(10**6) and "giving" in m.nodes[1].log_tail(10**6):
        raise Failed(f"it gave back what was not its any more:\n{m.nodes[1].log_tail(3000)}")
    m.end()


def apply_with_rate(m, node, rate, **more):
    definitions = m.definitions()
    definitions["tables"][0]["compare"] = {"rate": rate}
    node.write("definitions.yaml", yaml.safe_dump(definitions, sort_keys=False))
    node.command("apply", "definitions.yaml", **more)


def test_a_node_that_stands_still_in_a_transaction_of_the_store_holds_up_the_others_a_moment_only(w):
    m = Members(w, nodes=2, topics=2).start()
    m.nodes[1].stop()
    m.nodes[1].start(environment={"MILLRACE_FAILPOINT": "definitions_replaced:1:wait=600000"})
    m.wait_shared(0, 1)
    apply = threading.Thread(target=lambda: apply_with_rate(m, m.nodes[1], 1000, ok=None))
    apply.start()
    try:
        wait_until("it has locks in the store, and says nothing", lambda: m.stored(
            "SELECT trx_id FROM information_schema.INNODB_TRX JOIN information_schema.PROCESSLIST ON id = trx_mysql_thread_id"
            f" WHERE db = '{store_of(w)}' AND command = 'Sleep' AND time > 0 AND trx_rows_locked > 0"), 10)
        m.hang(m.nodes[1])
        began = time.monotonic()
        apply_with_rate(m, m.nodes[0], 2000)
        if time.monotonic() - began > 30:  # the server lets it wait 50 s for a lock
            raise Failed(f"the other one waited {time.monotonic() - began:.0f} s")
        m.wait_shared(0)
    finally:
        m.nodes[1].kill()
        apply.join()
    m.equal()
    m.end()


def test_f50_who_is_cut_off_for_a_moment_goes_on_and_who_is_cut_off_for_long_stops_before_it_is_replaced(w):
    m = Members(w, cut=True).start()
    load = Load(m)
    way, store = m.ways[0]["zookeeper"], m.ways[0]["store"]
    had = m.owners()
    way.freeze()
    let_pass("less than its session lives on", 1)
    way.thaw()
    stays("nothing moves", lambda: m.owners() == had, 4, 0.3)
    way.freeze()
    m.wait_shared(1, 2)
    if "another node has taken" in m.nodes[0].log_tail(10**6):
        raise Failed(f"it was still at work when it was replaced:\n{m.nodes[0].log_tail(3000)}")
    way.thaw()
    m.wait_shared(0, 1, 2)
    store.freeze()  # it cannot take anything, nor store a position
    let_pass("its work stands still", 3)
    store.thaw()
    m.wait_shared(0, 1, 2)
    load.end()
    m.equal()
    m.end()


def test_f54_while_zookeeper_is_away_work_ends_and_begins_again_when_it_is_back(w):
    m = Members(w).start()
    m.change(50)
    m.equal()
    m.zookeeper.stop()
    wait_until("all work has ended", lambda: not m.owners(), 20, 0.2)
    status = m.nodes[0].command("status").stdout
    if "ZooKeeper" not in status and "coordination" not in status:
        raise Failed(f"status does not say why:\n{status}")
    m.change(60)
    m.zookeeper.start()
    m.wait_shared(0, 1, 2)
    m.equal()
    m.end()


def test_what_was_just_applied_is_known_where_the_next_command_of_it_goes(w):
    m = Members(w, nodes=2, topics=2).start()
    schema = m.has("node-0")[0]
    definitions = m.definitions()
    for i in range(6):
        w.db.sql(f"CREATE TABLE {schema}.more_{i} (id INT PRIMARY KEY)", f"INSERT INTO {schema}.more_{i} VALUES (1)")
        definitions["tables"].append({"table": f"{schema}.more_{i}", "index": f"{w.schema}-{schema}-more-{i}",
                                      "settings": {"number_of_shards": 1, "number_of_replicas": 0}})
        m.nodes[1].write("definitions.yaml", yaml.safe_dump(definitions, sort_keys=False))
        m.nodes[1].command("apply", "definitions.yaml")
        m.nodes[1].command("index", "create", f"{schema}.more_{i}", "--wait")
    m.equal()
    m.end()


def test_a_zookeeper_whose_disk_is_full_is_waited_for(w):
    m = Members(w, nodes=2, topics=2).start()
    subprocess.run(["prlimit", "--pid", str(m.zookeeper.pid()), "--fsize=1"], check=True)
    m.nodes[1].kill()  # that its session ends has to be written
    wait_until("nobody works", lambda: not m.owners(), 30, 0.2)
    status = m.nodes[0].command("status", ok=(0, 1)).stdout
    if "ZooKeeper" not in status or "All is well" in status:
        raise Failed(f"status does not say why:\n{status}")
    m.change(80)
    with contextlib.suppress(ProcessLookupError):  # it may have ended by itself
        m.zookeeper.kill()
    m.zookeeper.start()
    m.nodes[1].start()
    m.wait_shared(0, 1)
    m.equal()
    m.end()


def test_nodes_whose_clocks_are_an_hour_apart_work_beside_each_other(w):
    m = Members(w)
    for node, seconds in zip(m.nodes, (-3600, 0, 3600)):
        node.write("clock", str(seconds))
        node.start(environment=preload(clock=os.path.join(node.folder, "clock")))
    m.start_topics()
    for node in m.nodes:
        told = {t["name"]: (t["state"], t["told_ms"]) for t in node.status(ok=(0, 1))["topics"]}
        wait_until(lambda: f"{node.config['node_name']} knows all that others do, but {told}",
                   lambda: all(t["state"] == "running" and t["told_ms"] < 120000 for t in node.status(ok=(0, 1))["topics"]), 30)
        for schema in m.schemas:
            node.command("topic", "pause", schema)  # its owner does it
            node.command("topic", "resume", schema)
    m.wait_shared(0, 1, 2)
    m.change(70)
    m.equal()
    m.nodes[1].kill()
    m.wait_shared(0, 2)
    m.change(71)
    m.equal()
    m.end()


def test_a_zookeeper_that_is_away_at_the_start_is_logged_and_waited_for(w):
    m = Members(w, nodes=1, topics=1)
    m.zookeeper.stop()
    m.nodes[0].start()
    wait_until("the log says so", lambda: "the coordination does not answer" in m.nodes[0].log_tail(10**6), 20)
    m.zookeeper.start()
    m.start_topics()
    m.equal()
    m.end()


def test_a_zookeeper_that_was_emptied_gets_its_nodes_back(w):
    m = Members(w, timeout="2s").start()
    m.zookeeper.kill()
    shutil.rmtree(m.zookeeper.folder)
    m.zookeeper.start()
    m.change(65)
    with m.kazoo() as client:
        wait_until("all nodes are back", lambda: client.exists("/search-center/nodes") and len(client.get_children("/search-center/nodes")) == 3, 60)
    m.wait_shared(0, 1, 2, seconds=60)
    m.equal()
    m.end()


def test_a_node_with_another_key_does_not_start(w):
    m = Members(w, nodes=1, topics=1).start()
    other = m.add("other")
    other.configure(secret_file=os.path.join(other.folder, "another.key"))
    other.start(wait=False)
    if other.process.wait(40) == 0 or "is not that of the other nodes" not in other.log_tail():
        raise Failed(f"it ended with {other.process.returncode}:\n{other.log_tail()}")
    other.process = None
    m.change(66)
    m.equal()
    m.end()


def test_a_node_with_another_path_does_not_start_while_the_others_run(w):
    m = Members(w, nodes=1, topics=1).start()
    other = m.add("other")
    other.configure(coordination=f"zookeeper://127.0.0.1:{m.zookeeper.port}/elsewhere")
    other.start(wait=False)
    if other.process.wait(40) != REFUSED or "meet at /search-center in ZooKeeper, and this one has /elsewhere" not in other.log_tail():
        raise Failed(f"it ended with {other.process.returncode}:\n{other.log_tail()}")
    m.nodes[0].stop()
    other.start()
    m.wait_shared(1)
    m.nodes[0].start(wait=False)
    if m.nodes[0].process.wait(40) != REFUSED:
        raise Failed(f"it ended with {m.nodes[0].process.returncode}:\n{m.nodes[0].log_tail()}")
    m.nodes[0].process = None
    m.change(67)
    m.equal()
    m.end()


def test_a_node_with_another_engine_makes_nothing_there_and_says_what_differs(w):
    m = Members(w, nodes=2, topics=2).start()
    empty = w.also(Engine("empty"))
    empty.start()
    m.nodes[1].stop()
    m.nodes[1].configure(search={"url": [empty.url], "check_every": "1s"}, coordination_timeout="10s", delivery={"workers": 3})
    m.nodes[1].start()
    m.wait_shared(0, 1)
    topic, = m.has("node-1")

    def shown():
        (table,) = (table for table in m.nodes[0].json("status", ok=(0, 1))["tables"] if table["table"] == f"{topic}.thing")
        return table

    m.change(68)
    wait_until(lambda: f"the other node names the fault, too: {shown()}", lambda: shown()["state"] == "held" and "search.url" in shown()["reason"], 30)
    said(m.nodes[0].command("doctor", ok=(1,)), f"{topic}.thing", "search.url")
    if made := [name for name in empty.ask("GET", "/_alias") if not name.startswith(".")]:
        raise Failed(f"it made {made}")
    m.nodes[0].command("node", "evacuate", "node-1", "--yes")
    wait_until("the topic goes on elsewhere", lambda: shown()["state"] == "available", 30)
    m.equal()
    m.nodes[1].stop()
    m.nodes[1].configure(search={"url": [w.engine.url]})
    m.nodes[1].start()
    m.nodes[0].command("node", "admit", "node-1", "--yes")
    m.wait_shared(0, 1)
    m.change(69)
    m.equal()
    m.end()


def test_f65_a_copy_of_a_nodes_folder_is_no_second_node(w):
    m = Members(w, nodes=2).start()
    had = m.owners()
    copy = m.add("copy")
    os.makedirs(copy.config["data"], mode=0o700)
    shutil.copy(os.path.join(m.nodes[0].config["data"], "node"), copy.config["data"])
    copy.start()
    wait_until("it says what is wrong", lambda: "a copy of our data folder" in copy.command("status", ok=(0, 1)).stdout, 20, 0.5)
    stays("nothing moves", lambda: m.owners() == had, 5, 0.5)
    m.change(70)
    m.equal()
    m.end()


def test_a_store_in_a_file_is_refused_in_a_cluster(w):
    daemon = w.millrace(start=False, coordination="zookeeper://127.0.0.1:2181")
    daemon.start(wait=False)
    if daemon.process.wait(40) != 1 or "which one daemon has alone; fix: set store to mysql://" not in daemon.log_tail():
        raise Failed(f"it ended with {daemon.process.returncode}:\n{daemon.log_tail()}")
    daemon.process = None


def test_whoever_shares_a_store_and_whoever_has_it_alone_refuse_each_other(w):
    m = Members(w, nodes=1, topics=1).start()
    alone = w.millrace(start=False, **on_store(w))
    alone.start(wait=False)
    if alone.process.wait(40) != REFUSED or "daemons of a cluster use this store" not in alone.log_tail():
        raise Failed(f"it ended with {alone.process.returncode}:\n{alone.log_tail()}")
    m.nodes[0].stop()
    alone.start()
    m.nodes[0].start(wait=False)
    if m.nodes[0].process.wait(40) != REFUSED or "a Millrace without a cluster uses this store" not in m.nodes[0].log_tail():
        raise Failed(f"it ended with {m.nodes[0].process.returncode}:\n{m.nodes[0].log_tail()}")
    m.nodes[0].process = None
    alone.stop()
    m.end()


def test_what_one_node_is_told_the_others_do_too(w):
    m = Members(w, nodes=2).start()
    first, second = m.nodes
    schema = m.topics_of(1)[0]
    index = f"{w.schema}-{schema}"
    first.command("index", "pause", f"{schema}.thing")
    let_pass("the other node hears of it", 1)
    w.db.sql(f"UPDATE {schema}.thing SET a = 81 WHERE id = 1")
    stays("the paused index gets nothing", lambda: w.engine.get(index, 1)["a"] != 81, 3, 0.2)
    first.command("index", "resume", f"{schema}.thing")
    m.equal()
    first.command("config", "delivery", "set", "workers=3")
    wait_until("the other one has the setting", lambda: "3" in second.command("config", "delivery", "get", "workers").stdout, 10, 0.2)
    first.command("topic", "pause", schema)
    wait_until("the topic is paused", lambda: schema not in m.owners(), 10, 0.2)
    first.command("topic", "resume", schema)
    wait_until("the topic runs", lambda: schema in m.owners(), 20, 0.2)
    m.change(82)
    m.equal()
    done = first.json("topic", "reset", schema, "--yes")  # its owner starts the topic again, and yet the answer comes back
    if done["topic"] != schema or done["tables"] != 1:
        raise Failed(f"the reset answers {done}")
    first.command("index", "create", f"{schema}.thing", "--wait")
    m.change(83)
    m.equal()
    m.end()


def delete(client, path):
    with contextlib.suppress(NotEmptyError, NoNodeError):  # a node was faster
        client.delete(path, recursive=True)


def test_somebody_deletes_the_path_while_nodes_live(w):
    m = Members(w).start()
    load = Load(m)
    with m.kazoo() as client:
        if sorted(client.get_children("/search-center/nodes")) != sorted(node.json("status", ok=(0, 1))["node"] for node in m.nodes):
            raise Failed(f"other nodes: {client.get_children('/search-center/nodes')}")
        for path in "nodes", "state", "store", "locks":
            delete(client, f"/search-center/{path}")
        m.wait_shared(0, 1, 2)
        wait_until("all nodes are back", lambda: client.exists("/search-center/nodes") and len(client.get_children("/search-center/nodes")) == 3, 30)
        wait_until("the state is there again", lambda: client.exists("/search-center/state"), 30)
        client.ensure_path("/search-center/nodes/not a node")
        client.set("/search-center/nodes/" + m.nodes[0].json("status", ok=(0, 1))["node"], b"\xff" * 50000)
        client.set("/search-center/state", b'{"session":')
        client.create(f"/search-center/nodes/{uuid.uuid4()}", b'{"id":"yy"}', ephemeral=True)
        let_pass("a foreign node takes part, and does nothing", 3)
    m.wait_shared(0, 1, 2)
    load.end()
    m.equal()
    m.end()


def test_at_rest_nodes_ask_zookeeper_for_nothing(w):
    m = Members(w).start()
    m.wait_shared(0, 1, 2)
    let_pass("the last rebalance ends", 3)

    def received():
        return {line.split("[")[0].strip(): int(line.split("recved=")[1].split(",")[0]) for line in m.zookeeper.ask("cons").splitlines() if "sid=" in line}

    before = received()
    begin = time.monotonic()
    let_pass("at rest", 12)
    after = received()
    most = (time.monotonic() - begin) / 0.55 + 3  # signs of life, each 0.6 s by this time-out
    if len(before) != 3 or set(before) != set(after) or any(after[at] - before[at] > most for at in before):
        raise Failed(f"more than {most:.0f} requests: from {before} to {after}")
    m.end()


def lines(done):
    """What a command shows that moves, as {thing: (from, to)}."""
    return {thing: tuple(ends.split(" -> ")) for thing, _, ends in (line.partition(": ") for line in done.splitlines()) if " -> " in ends}


def said(done, *words):
    for word in words:
        if word not in done.stdout + done.stderr:
            raise Failed(f"no {word!r} in:\n{done.stdout}{done.stderr}")


def test_a_node_is_evacuated_for_its_update_and_admitted_again(w):
    m = Members(w).start()
    with Changes(m) as changes:
        before = m.has("node-1")
        plan = lines(m.nodes[0].command("node", "evacuate", "node-1", "--dry-run").stdout)
        if sorted(plan) != [f"topic/{topic}" for topic in before] or any(ends[0] != "node-1" for ends in plan.values()):
            raise Failed(f"node-1 has {before}, and the plan is {plan}")
        for answer in (m.nodes[0].json("node", "evacuate", "node-1", "--dry-run"), m.nodes[0].json("node", "list")):
            missing = documented_forms()[answer["schema"]] - set(names_in(answer)) - {"kind", "table", "index", "bucket", "buckets"}  # no node fills any
            if missing:
                raise Failed(f"the documented {missing} are not in {answer}")
        said(m.nodes[0].command("node", "evacuate", "node-1", ok=(2,)), "needs --yes", *(f"{thing}: node-1 -> " for thing in plan))
        if m.has("node-1") != before:
            raise Failed("a plan that was not accepted has moved something")
        m.nodes[0].command("node", "evacuate", "node-1", "--yes")
        if m.has("node-1"):
            raise Failed(f"it has returned, and topics are at {m.owners()}")
        m.wait_shared(0, 2)  # they were taken, and connect
        for thing, (_, to) in plan.items():
            topic = thing.removeprefix("topic/")
            if topic not in m.has(to):
                raise Failed(f"{thing} was to go to {to}, and topics are at {m.owners()}")
            changes.goes_on(m.node(to), topic)
        node = m.listed("node-1")["id"]
        m.nodes[1].stop()
        if m.listed(node)["state"] != "shut down" or not m.listed(node)["evacuated"]:
            raise Failed(f"it has stopped, and is {m.listed(node)}")
        m.nodes[1].start()
        wait_until("it is back, without topics", lambda: m.listed(node)["state"] == "evacuated", 30)
        m.nodes[2].command("node", "admit", node[:8], "--yes")
        m.wait_shared(0, 1, 2)
        for topic in m.has("node-1"):
            changes.goes_on(m.nodes[1], topic)
    m.equal()
    m.end()


def away(node):
    """Messages of the warnings that a node is away."""
    return [check["message"] for check in node.json("status", ok=(0, 1))["checks"] if check["id"] == "cluster.away" and check["status"] == "warn"]


def test_a_node_that_is_away_is_a_warning_until_it_is_evacuated_or_forgotten(w):
    m = Members(w, topics=3).start()
    m.nodes[2].kill()
    wait_until("somebody warns of the dead node", lambda: any("node-2 is gone: it last told of itself at" in text for text in away(m.nodes[0])), 20, 0.2)
    wait_until("its topics run elsewhere", lambda: m.are_shared({"node-0", "node-1"}), 20, 0.2)
    wait_until("a warning is no failure", lambda: m.nodes[0].command("status", "--check", ok=(0, 1)).returncode == 0, 20, 0.2)
    said(m.nodes[0].command("status"), "look at the warnings", "gone", "millrace node forget node-2")
    said(m.nodes[0].command("doctor", ok=(0, 1)), "node-2 is gone", "millrace node evacuate node-2")
    if (series := {dict(pairs)["status"]: value for (name, pairs), value in m.nodes[0].metrics().items() if dict(pairs).get("check") == "cluster.away"}) != {"warn": 1}:
        raise Failed(f"the metrics have {series}")
    dead = m.listed("node-2")["id"]
    m.nodes[0].command("node", "evacuate", "node-2", "--yes")
    wait_until("nobody warns of an evacuated node", lambda: not away(m.nodes[0]), 20, 0.2)
    m.add("node-2").start()  # the same machine with an empty disk
    wait_until("the new node takes part", lambda: "normal" in [node["state"] for node in m.nodes[1].json("node", "list")["items"] if node["name"] == "node-2"], 30, 0.2)
    if m.nodes[1].json("node", "get", "node-2")["items"][0]["id"] == dead:
        raise Failed("the name finds the dead node")
    answer = m.nodes[1].json("node", "forget", "node-2", "--yes")
    if answer["id"] != dead or set(names_in(answer)) != documented_forms()[answer["schema"]]:
        raise Failed(f"the dead node is {dead}, and the answer {answer}")
    with m.kazoo() as client:
        if dead in client.get("/search-center/state")[0].decode():
            raise Failed("the cluster still keeps that it is evacuated")
    said(m.nodes[0].command("node", "forget", "node-2", "--yes", ok=(1,)), "node-2 lives", "millrace node evacuate node-2")
    if sorted(node["name"] for node in m.nodes[0].json("node", "list")["items"]) != ["node-0", "node-1", "node-2"]:
        raise Failed(f"the nodes are {m.nodes[0].json('node', 'list')}")
    m.nodes[1].stop()
    wait_until("somebody warns of the stopped node", lambda: any("node-1 was shut down at" in text for text in away(m.nodes[0])), 20, 0.2)
    m.nodes[1].start()
    wait_until("nobody warns of a node that is back", lambda: not away(m.nodes[0]), 20, 0.2)
    m.change(95)
    m.equal()
    m.end()


class Judged(threading.Thread):
    """Asks nodes for their judgement all the time: nothing may fail."""

    def __init__(self, *nodes):
        super().__init__(daemon=True)
        self.nodes, self.n, self.failed, self.done = nodes, 0, [], threading.Event()
        self.start()

    def run(self):
        while not self.done.is_set():
            for node in self.nodes:
                status = node.json("status", ok=(0, 1))
                self.failed += [(node.config["node_name"], check) for check in status["checks"] if check["status"] == "fail"]
                self.n += 1

    def end(self):
        self.done.set()
        self.join()
        if self.failed or self.n < 10:
            raise Failed(f"of {self.n} judgements {len(self.failed)} failed: {self.failed[:3]}")


def shown(node, topic):
    return next(t for t in node.status(ok=(0, 1))["topics"] if t["name"] == topic)


def test_a_topic_on_its_way_is_neither_running_nor_a_failure(w):
    m = Members(w, nodes=2, topics=2, cut=True).start()
    first, second = m.nodes
    topic = m.has("node-0")[0]
    wait_until("both show all topics as running", lambda: all(shown(node, t)["state"] == "running" for node in m.nodes for t in m.schemas), 20, 0.2)
    judged = Judged(first, second)
    first.command("topic", "move", topic, "--to", "node-1", "--yes")
    second.command("node", "evacuate", "node-1", "--yes")
    for node in m.nodes:
        wait_until("all run at node-0", lambda: [(t["state"], t["owner"]) for t in node.status()["topics"]] == [("running", "node-0")] * 2, 10, 0.2)
    second.command("node", "admit", "node-1", "--yes")
    wait_until("both have one", lambda: m.are_shared({"node-0", "node-1"}), 20, 0.2)
    judged.end()
    topic = m.has("node-0")[0]
    m.ways[1]["store"].freeze()  # it cannot take what it is given
    first.command("topic", "move", topic, "--to", "node-1", "--yes", "--no-wait")
    wait_until("it moves", lambda: shown(first, topic)["state"] == "moving", 10, 0.1)
    judged = Judged(first)

    def moves():
        now = shown(first, topic)
        return (now["state"], now["owner"], now["lag_seconds"]) == ("moving", "node-1", None) and "moving to node-1 for" in now["reason"]

    wait_until("it is to start there", moves, 10, 0.1)
    stays("nobody is shown as running it", moves, 8, 0.2)
    said(first.command("status"), "moving", "unknown")
    judged.end()
    m.ways[1]["store"].thaw()
    wait_until("it runs there", lambda: (shown(first, topic)["state"], shown(first, topic)["owner"]) == ("running", "node-1"), 40, 0.2)
    m.change(96)
    m.equal()
    m.end()


def test_what_a_node_told_before_it_was_started_again_is_not_shown_as_its_state(w):
    m = Members(w, nodes=2, topics=2).start()
    viewer, owner = m.nodes
    viewer.command("node", "evacuate", "node-0", "--yes")
    wait_until("it runs at node-1", lambda: shown(viewer, m.schemas[0])["owner"] == "node-1" and shown(viewer, m.schemas[0])["state"] == "running", 20, 0.1)
    before = m.listed("node-1")["since"]
    owner.kill()
    let_pass("times of a second's precision differ", 1.1)
    started = time.time()
    owner.start()
    told = started
    while told <= started + 1:  # until it has told anew
        if time.time() > started + 40:
            raise Failed("it tells nothing")
        is_back = viewer.json("node", "get", "node-1")["items"][0]["since"] not in (before, None)
        topic = shown(viewer, m.schemas[0])
        at = time.time() - float(topic["told_ms"]) / 1000
        if is_back and topic["state"] == "running" and at < started:
            raise Failed(f"it was started again, and is shown as {topic}")
        told = at if is_back and topic["state"] == "running" else told
    m.end()


def test_a_topic_moves_to_the_node_that_a_person_names(w):
    m = Members(w).start()
    topic = m.has("node-0")[0]
    with Changes(m) as changes:
        plan = lines(m.nodes[1].command("topic", "move", topic, "--to", "node-2", "--dry-run").stdout)
        if plan[f"topic/{topic}"] != ("node-0", "node-2"):
            raise Failed(f"the plan is {plan}")
        m.nodes[1].command("topic", "move", topic, "--to", "node-2", "--yes")
        if topic not in m.has("node-2") or not m.are_shared({"node-0", "node-1", "node-2"}):
            raise Failed(f"it was to go to node-2, and topics are at {m.owners()}")
        changes.goes_on(m.nodes[2], topic)
        if m.listed("node-2")["moved_here"] != [topic]:
            raise Failed(f"it was moved to node-2, and is listed as {m.listed('node-2')}")
        wait_until("another node tells its finding with its numbers", lambda: any(
            c["group"] == f"topic {topic}" and c["code"] == "topic.runs.ok" and c["values"]["state"] == "running" and c["values"]["lag_seconds"] >= 0
            for c in m.nodes[0].status()["checks"]), 20)
        said(m.nodes[1].command("topic", "move", topic, "--to", "any", "--yes"), "done")
        if m.listed("node-2")["moved_here"]:
            raise Failed("the wish is still there")
        m.nodes[1].command("node", "rebalance", "--yes")
        if not m.are_shared({"node-0", "node-1", "node-2"}):
            raise Failed(f"topics are at {m.owners()}")
    m.nodes[1].command("topic", "pause", topic)
    for name in "node-0", "node-1":  # at one of which it is not
        m.nodes[2].command("topic", "move", topic, "--to", name, "--yes")  # waits for no work of it
    m.nodes[1].command("topic", "resume", topic)
    m.nodes[0].command("topic", "move", "none", "--to", "node-1", "--yes", ok=(1,))
    m.equal()
    m.end()


def test_a_node_whose_stop_takes_long_gives_back_what_another_one_is_to_have(w):
    m = Members(w, nodes=1, topics=2, timeout="8s")
    engine = Way(w.engine.port)
    slow, = m.nodes
    slow.configure(search={"url": [f"http://127.0.0.1:{engine.port}"]},
                   delivery={"drain_timeout": "100s", "drain_cancel_timeout": "1s", "request_timeout": "100s"})
    m.start()
    _, busy = m.schemas  # the first one moves
    engine.freeze()
    w.db.sql(f"UPDATE {busy}.thing SET a = 70 WHERE id = 1")
    wait_until("it is sent, and not answered", lambda: slow.metric("millrace_changes_in_flight", topic=busy) > 0, 20)
    slow.process.send_signal(signal.SIGTERM)
    wait_until("it stops", lambda: "stopping: delivering" in slow.log_tail(10**6), 20)
    other = m.add("other")
    other.start()
    wait_until("the other one has a topic", lambda: any(t["state"] == "running" and t["told_ms"] == 0 for t in other.status(ok=(0, 1))["topics"]), 26)
    if slow.process.poll() is not None:
        raise Failed("the stop did not take long")
    engine.thaw()
    if slow.process.wait(60) != 0:
        raise Failed(f"it ended with {slow.process.returncode}:\n{slow.log_tail()}")
    slow.process = None
    m.wait_shared(1)
    m.change(71)
    m.equal()
    m.end()


def test_the_hold_of_an_index_ends_where_its_topic_was_given_back(w):
    m = Members(w, nodes=2, topics=2).start()
    schema = m.schemas[0]
    index = f"{w.schema}-{schema}_v1"
    had = m.owner(schema)
    other = next(node for node in m.nodes if node is not had)

    def holds(node):
        return node.metric("millrace_index_held", topic=schema, index=index) == 1

    w.engine.ask("PUT", f"/{index}/_settings", {"index.blocks.write": True})
    w.db.sql(f"UPDATE {schema}.thing SET a = 80 WHERE id = 1")
    wait_until("the index is held", lambda: holds(had), 30)
    m.alive().command("topic", "move", schema, "--to", other.config["node_name"], "--yes")
    wait_until("the other node holds it instead", lambda: holds(other) and not holds(had), 60)
    w.engine.ask("PUT", f"/{index}/_settings", {"index.blocks.write": None})
    m.equal()
    m.end()


def resident(node):
    """Bytes of memory that it has now."""
    with open(f"/proc/{node.process.pid}/statm", encoding="utf-8") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_a_topic_that_comes_and_goes_for_months_leaves_nothing_behind(w):
    m = Members(w, nodes=2, topics=2, timeout="8s").start()
    load = Load(m)
    schema = m.schemas[0]

    def move(times):
        for _ in range(times):
            for name in "node-0", "node-1":
                m.alive().command("topic", "move", schema, "--to", name, "--yes")
                wait_until(f"{name} has it", lambda at=[name]: m.owners().get(schema) == at, 40, 0.1)

    move(5)  # then pools of memory and caches are full
    had = [resident(node) for node in m.nodes]
    move(15)
    grew = [resident(node) - before for node, before in zip(m.nodes, had)]
    load.end()
    m.equal()
    m.end()
    if max(grew) > 6 << 20:
        raise Failed(f"30 moves of each topic took {grew} bytes")


def test_wishes_that_cannot_be_met_are_refused_with_a_way_out(w):
    m = Members(w, nodes=2, topics=2, group="one")
    m.nodes[1].configure(node_name="node-0")
    m.start()
    wait_until("all topics run", lambda: len(m.owners()) == 2 and m.nodes[0].status(ok=(0, 1))["cluster"]["normal"], 30)
    ids = [node["id"] for node in m.nodes[0].json("node", "list")["items"]]
    said(m.nodes[0].command("node", "evacuate", "node-0", "--yes", ok=(1,)), "2 nodes are called node-0", "give the id")
    said(m.nodes[0].command("node", "evacuate", "node-7", "--yes", ok=(1,)), "there is no node node-7", "millrace node list")
    said(m.nodes[0].command("topic", "move", "none", "--to", ids[0], "--yes", ok=(1,)), "there is no topic none", "millrace topic list")
    have = {node["id"]: node["topics"] for node in m.nodes[0].json("node", "list")["items"]}
    if sorted(have.values()) != [[], sorted(m.schemas)]:
        raise Failed(f"topics of one group are at {have}")
    said(m.nodes[0].command("topic", "move", m.schemas[0], "--to", next(node for node in ids if not have[node]), "--dry-run"),
         "these move together", *(f"topic/{schema}: {next(node for node in ids if have[node])} -> " for schema in m.schemas))
    m.nodes[0].command("node", "evacuate", ids[0], "--yes")
    said(m.nodes[0].command("node", "evacuate", ids[1], "--yes", ok=(1,)), "no other node could take", "node admit")
    said(m.nodes[0].command("topic", "move", m.schemas[0], "--to", ids[0], "--yes", ok=(1,)), "is evacuated", "node admit")
    said(m.nodes[0].command("doctor", ok=(0, 1)), "whoever reaches ZooKeeper", "coordination_auth_file")
    m.zookeeper.stop()
    wait_until("status says that the coordination is away", lambda: not m.nodes[0].status(ok=(0, 1))["cluster"]["connected"], 20)
    status = m.nodes[0].json("status", "--check", ok=(1,))
    if not any(check["id"] == "cluster.reach" and check["status"] == "fail" and check["fix"] for check in status["checks"]):
        raise Failed(f"the coordination is away, and the checks are {status['checks']}")
    said(m.nodes[0].command("node", "list", ok=(75,)), "the coordination does not answer", "fix:")
    said(m.nodes[0].command("node", "rebalance", "--yes", ok=(75,)), "the coordination does not answer", "fix:")


def test_what_is_so_already_is_said_and_not_done(w):
    m = Members(w, nodes=2, topics=2).start()
    topic = m.has("node-1")[0]
    session = m.nodes[0].json("status")["cluster"]["session"]
    said(m.nodes[0].command("node", "admit", "node-1"), "node-1 takes topics already; nothing to do")
    said(m.nodes[0].command("node", "rebalance"), "shared evenly already; nothing to do")
    said(m.nodes[0].command("topic", "move", topic, "--to", "any"), "the cluster chooses already; nothing to do")
    said(m.nodes[0].command("topic", "move", topic, "--to", "node-1", "--yes"), "done")  # it stays there now
    said(m.nodes[0].command("topic", "move", topic, "--to", "node-1"), "was moved to node-1 already, and is there; nothing to do")
    if m.nodes[0].json("status")["cluster"]["session"] != session or m.listed("node-1")["moved_here"] != [topic]:
        raise Failed(f"what was to do nothing has begun a rebalance: {m.nodes[0].json('node', 'list')}")
    m.nodes[0].command("node", "evacuate", "node-1", "--yes")
    said(m.nodes[0].command("node", "evacuate", "node-1"), "node-1 is evacuated already; nothing to do")
    said(m.nodes[0].command("node", "admit", "node-1", "--yes"), "done")
    m.end()


def test_a_topic_that_does_not_run_where_it_was_moved_says_why(w):
    m = Members(w, nodes=2, topics=2).start()
    topic = m.has("node-0")[0]
    try:
        w.db.sql("REVOKE REPLICATION SLAVE ON *.* FROM millrace@'127.0.0.1'")
        refused = m.nodes[0].command("topic", "move", topic, "--to", "node-1", "--yes", ok=(1,))
        said(refused, f"topic {topic} is at node-1 now, and does not run there", "REPLICATION SLAVE")
    finally:
        w.db.sql("GRANT REPLICATION SLAVE ON *.* TO millrace@'127.0.0.1'")
    m.nodes[0].command("topic", "resume", topic, ok=None)
    m.change(97)
    m.equal()
    m.end()


def test_the_node_that_hangs_is_named_while_others_wait_for_it(w):
    m = Members(w, timeout="20s").start()
    m.hang(m.nodes[1])
    with concurrent.futures.ThreadPoolExecutor() as pool:
        asked = pool.submit(m.nodes[0].command, "node", "evacuate", "node-1", "--yes")
        listed = lambda: {node["name"]: node["state"] for node in m.nodes[0].json("node", "list")["items"]}  # noqa: E731
        wait_until(lambda: f"the others wait; the nodes are {listed()}", lambda: listed() == {"node-0": "waiting", "node-1": "evacuating", "node-2": "waiting"}, 20, 0.2)
        let_pass("the command says for whom it waits", 3)
        m.nodes[1].process.send_signal(signal.SIGCONT)
        text = asked.result().stderr
    if "waits for node-1 to stop" not in text and "(not ready yet: node-1)" not in text or "node node-" in text:
        raise Failed(f"it says:\n{text}")
    wait_until("it has given all away", lambda: listed()["node-1"] == "evacuated", 30, 0.2)
    m.end()


def hears(m, port):
    """Tells whether ZooKeeper hears what is said at this port."""
    try:
        return m.zookeeper.ask("ruok", port) == "imok"
    except ConnectionError:
        return False


def test_zookeeper_is_reached_through_stunnel(w):
    m = Members(w, nodes=0, topics=2)
    ours, foreign = (certificates(os.path.join(servers.RUN, w.schema + name)) for name in ("-ours", "-foreign"))
    far = w.also(Stunnel("tunnel-far", m.zookeeper.port, ours)).start()
    near = w.also(Stunnel("tunnel-near", far.port, ours, client="yes", checkIP="127.0.0.1")).start()
    for name in "node-0", "node-1":
        m.add(name, zookeeper_ports=[near.port])
    m.start()
    near.stop()
    wait_until("all work has ended", lambda: not m.owners(), 20, 0.2)
    near.start()
    m.wait_shared(0, 1)
    m.change(90)
    m.equal()
    stranger = Stunnel("tunnel-stranger", far.port, ours, client="yes", cert=f"{foreign}/server.pem", key=f"{foreign}/server.key")
    deceived = Stunnel("tunnel-deceived", far.port, ours, client="yes", CAfile=f"{foreign}/ca.pem")
    nobody = Stunnel("tunnel-nobody", far.port, ours, client="yes", cert=None, key=None)
    for tunnel, heard in (near, True), (stranger, False), (nobody, False), (deceived, False):
        if tunnel is not near:
            w.also(tunnel).start()
        if hears(m, tunnel.port) != heard:
            raise Failed(f"ZooKeeper {'does not hear' if heard else 'hears'} what comes through {tunnel.folder}")
    m.end()
