"""Nodes of two versions on one store: this program's, and a second one that is newer (second.py)."""
import json
import os

import second
from members import Changes, Load, Members
from servers import Failed, wait_until
from test_members import REFUSED, said
from test_one_store import store_of

ENDS = 1  # what a start that no repetition helps ends with


def become(node, program):
    """Its update, as cluster.md has it: between a stop and a start."""
    node.stop()
    node.program = program
    node.start()


def give_ids(*nodes):
    """In this order: the lowest one is the first to lead, while it lives."""
    for digit, node in zip("123", nodes):
        os.makedirs(node.config["data"], mode=0o700)
        node.write(os.path.join(node.config["data"], "node"), f"{digit * 8}-{digit * 4}-4{digit * 3}-8{digit * 3}-{digit * 12}\n")


def state(node, name):
    """Of the named node, as this one lists it."""
    return next(item["state"] for item in node.json("node", "list")["items"] if item["name"] == name)


def longest_pause(changes, topic):
    """Seconds between two stored positions of the topic, at most."""
    at = [when for when, _ in changes.places(topic)]
    return max((later - earlier).total_seconds() for earlier, later in zip(at, at[1:]))


def test_three_nodes_become_newer_one_after_the_other_under_load(w):
    newer, _ = second.build()
    m = Members(w).start()
    with Changes(m) as changes:
        for i, node in enumerate(m.nodes):
            name, other = node.config["node_name"], m.nodes[(i + 1) % 3]
            other.command("node", "evacuate", name, "--yes")
            become(node, newer)
            wait_until("it is back, without topics", lambda other=other, name=name: state(other, name) == "evacuated", 30)
            other.command("node", "admit", name, "--yes")
            m.wait_shared(0, 1, 2)
        pauses = {topic: longest_pause(changes, topic) for topic in m.schemas}
    if max(pauses.values()) > 4 + 2:  # the time-out, and two seconds
        raise Failed(f"topics stood still for {pauses}")
    m.equal()
    m.end()


# -- beside each other


def told(m):
    """What ZooKeeper has of the nodes, by name, and who led the last rebalance."""
    with m.kazoo() as client:
        data = [json.loads(client.get(f"/search-center/nodes/{node}")[0]) for node in client.get_children("/search-center/nodes")]
        state = json.loads(client.get("/search-center/state")[0])
    return {node["name"]: node for node in data}, next((node["name"] for node in data if node["id"] == state["leader"]), None)


def rebalance(m):
    """Who led it."""
    m.nodes[1].command("node", "rebalance", "--yes")
    return told(m)[1]


def counted(m, topic):
    """How often newer nodes have taken the job of the newer kind, as the store has it."""
    (state, rows), = m.w.db.sql(f"SELECT state, rows_done FROM {store_of(m.w)}.job WHERE kind = 'census' AND table_name = '{topic}.thing'")
    if (state if isinstance(state, str) else state.decode()) != "init":
        raise Failed(f"the job is {state}")
    return rows


def test_an_older_and_a_newer_node_work_beside_each_other_and_take_over_from_each_other(w):
    newer, _ = second.build()
    m = Members(w, nodes=2)
    new, old = m.nodes
    give_ids(old, new)
    m.start()
    load = Load(m)
    become(new, newer)
    m.wait_shared(0, 1)
    for node in m.nodes:
        versions = {item["name"]: item["version"] for item in node.json("node", "list")["items"]}
        if versions["node-0"] != second.VERSION or versions["node-1"] == second.VERSION:
            raise Failed(f"the versions are {versions}")
    wait_until("the older one has led a rebalance", lambda: rebalance(m) == "node-1", 30)
    nodes, _ = told(m)
    if nodes["node-0"].get("census") != 5 or "census" in nodes["node-1"]:
        raise Failed(f"an older node has written the data of both, which are {nodes}")
    work_is_passed_on(m, old, m.has("node-0")[0])
    work_is_passed_on(m, new, m.has("node-1")[0])
    topic = m.has("node-0")[0]
    old.build(f"{topic}.thing")
    if counted(m, topic) != 0:
        raise Failed("nobody has taken the topic since its job was stored")
    new.kill()
    m.wait_shared(1)
    load.rest()
    m.equal()
    load.resume()
    job, = (job for job in old.json("job", "list")["items"] if job["kind"] == "census" and job["table"] == f"{topic}.thing")
    if counted(m, topic) != 0 or "does not know" not in job["waits_for"] or "upgrade" not in job["fix"]:
        raise Failed(f"an older node has the job, and lists it as {job}")
    new.start()
    m.wait_shared(0, 1)
    old.kill()
    m.wait_shared(0)
    if counted(m, topic) == 0:
        raise Failed("a newer node has the topic, and has not taken its job")
    old.start()
    m.wait_shared(0, 1)
    said(old.command("log", "list", f"{topic}.thing"), "counted")
    load.end()
    m.equal()
    m.end()


def work_is_passed_on(m, node, topic):
    """A definition that this node applies is the other one's work, which has the topic."""
    m.w.db.sql(f"CREATE TABLE {topic}.more (id INT PRIMARY KEY, a INT)", f"INSERT INTO {topic}.more VALUES (1, 1)")
    m.tables.append((topic, "more"))
    for each in m.nodes:
        each.write("definitions.yaml", json.dumps(m.definitions()))
    node.command("apply", "definitions.yaml")
    wait_until("both nodes know the table", lambda: all(f"{topic}.more" in each.command("table", "list").stdout for each in m.nodes), 10)
    node.build(f"{topic}.more")


# -- and not


def refuses(node, status, *words):
    node.start(wait=False)
    if node.process.wait(40) != status or any(word not in node.log_tail() for word in words):
        raise Failed(f"it ended with {node.process.returncode}, and not {status}, and said not all of {words}:\n{node.log_tail()}")
    node.process = None  # that it ended is as it should be


def connection_of(node, name):
    """The number of the named node's connection, as this one's refusal says it."""
    return node.log_tail().split(f"{name} (")[1].split("connection ")[1].split(";")[0]


def test_a_newer_node_that_older_ones_cannot_stand_waits_for_them_and_then_keeps_them_out(w):
    _, newer = second.build()
    m = Members(w, topics=3, cut=True).start()
    first, cut, new = m.nodes
    m.change(100)
    new.stop()
    new.program = newer
    refuses(new, REFUSED, f"migration {second.NUMBER} (census)", "node-0 (", "node-1 (", "fix: stop them first")
    if "node-2" in new.log_tail():
        raise Failed(f"it names itself, or who had its place:\n{new.log_tail()}")
    m.wait_shared(0, 1)
    m.change(101)
    m.equal()
    first.stop()
    refuses(new, REFUSED, "node-1 (")
    way = m.ways[1]["store"]
    way.freeze()
    w.db.sql(f"KILL {connection_of(new, 'node-1')}")  # as the refusal says, if a machine is gone
    new.start()
    way.thaw()
    if cut.process.wait(40) != ENDS or f"a newer Millrace has changed the store to version {second.NUMBER}" not in cut.log_tail():
        raise Failed(f"the older one ended with {cut.process.returncode}:\n{cut.log_tail()}")
    m.wait_shared(2)
    for older in first, cut:
        refuses(older, ENDS, f"a newer Millrace has changed the store to version {second.NUMBER}", "fix: install the newer one")
        older.program = newer
        older.start()
    m.wait_shared(0, 1, 2)
    m.change(102)
    m.equal()
    m.end()
