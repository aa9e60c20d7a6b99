"""The fault scenarios of a cluster with real processes: each phase of a rebalance, a build, more than one leader."""
import contextlib
import json
import os
import signal
import threading
import time

import yaml
from kazoo.exceptions import NoNodeError

from members import Load, Members
from servers import Failed, let_pass, stays, wait_until
from test_one_store import store_of

HELD_MS = 3000


class Eye:
    """What an independent client sees of the nodes and their state."""

    def __init__(self, client):
        self.client, self.sessions, self.wrong = client, {}, []
        client.DataWatch("/search-center/state", self.take_state)

    def take_state(self, data, _stat):
        """Each session has one leader, and they rise."""
        if not data:
            return
        state = json.loads(data)
        session, leader = state["session"], state["leader"]
        if self.sessions.setdefault(session, leader) != leader or session < max(self.sessions):
            self.wrong.append(f"session {session} of {leader} after {self.sessions}")

    def state(self):
        return json.loads(self.client.get("/search-center/state")[0])

    def node(self, node):
        """What it says of itself; nothing if it is gone."""
        with contextlib.suppress(NoNodeError):
            return json.loads(self.client.get(f"/search-center/nodes/{id_of(node)}")[0])
        return {}

    def phase(self, node):
        return self.node(node).get("node_status")

    def leader(self, nodes):
        leader = self.state()["leader"]
        return next(node for node in nodes if id_of(node) == leader)

    def wait_normal(self, m, nodes):
        """Until the last rebalance has ended, with these nodes, and each topic is the job of one of them."""
        things = sorted(f"topic/{schema}" for schema in m.schemas)
        wait_until(lambda: f"the cluster is normal: {self.state()}, {[self.node(node) for node in m.nodes]}", lambda: self.is_normal(nodes, things), 40, 0.05)
        if self.wrong:
            raise Failed("; ".join(self.wrong))

    def is_normal(self, nodes, things):
        state, seen = self.state(), [self.node(node) for node in nodes]
        return not state["running"] and sorted(state["members"]) == sorted(id_of(node) for node in nodes) and \
            all(node.get("node_status") == "NORMAL" and node["session"] == state["session"] for node in seen) and \
            sorted(job for node in seen for job in node["jobs"]) == things


def id_of(node):
    with open(os.path.join(node.config["data"], "node"), encoding="ascii") as f:
        return f.read().strip()


def restart_held(node, point):
    """It is given a pause when it comes to this point, first if no count is given."""
    node.stop()
    node.start(environment={"MILLRACE_FAILPOINT": f"{point if ':' in point else point + ':1'}:wait={HELD_MS}"})


def leads_apart(eye, m, held):
    """The leader of the rebalance under way, and the node that neither leads nor is held."""
    leader = eye.leader(m.nodes)
    return leader, next(node for node in m.nodes if node not in (leader, held))


def choose_held(m):
    """Not the node that leads: that is the first one."""
    return max(m.nodes, key=id_of)


def die_in_clean(m, eye, victim):
    """A node that is to give everything back is held while it does."""
    held, before = choose_held(m), eye.state()["session"]
    restart_held(held, "topic_saved")
    wait_until("the cluster has noticed", lambda: eye.state()["session"] > before)  # what was normal before is no answer
    eye.wait_normal(m, m.nodes)
    helper = min(m.nodes, key=id_of)
    helper.command("node", "evacuate", held.config["node_name"], "--yes", "--no-wait")
    wait_until("it is told to give back, and others have done so",
               lambda: [eye.phase(node) for node in m.nodes].count("CLEAN_OK") == 2 and eye.phase(held) == "CLEAN", 20, 0.01)
    leader, other = leads_apart(eye, m, held)
    dead = {"who gives back": held, "who has given back": other, "the leader": leader}[victim]
    session = eye.state()["session"]
    dead.kill()
    left = [node for node in m.nodes if node is not dead]
    eye.wait_normal(m, left)
    if eye.state()["session"] <= session:
        raise Failed(f"session {session} ended, though {dead.config['node_name']} died in it")
    if held is not dead and eye.node(held)["jobs"]:
        raise Failed(f"the evacuated node has {eye.node(held)}")
    dead.start()
    left[0].command("node", "admit", held.config["node_name"], "--yes")
    m.wait_shared(0, 1, 2)


def die_in_init(m, eye, victim):
    """A node that joins is held while it takes what it is given."""
    held = choose_held(m)
    restart_held(held, "term_taken")
    wait_until("it takes topics, and others have what they have",
               lambda: [eye.phase(node) for node in m.nodes].count("FINISH") == 2 and eye.phase(held) == "INIT", 20, 0.01)
    leader, other = leads_apart(eye, m, held)
    dead = {"who takes": held, "who has taken": other, "the leader": leader}[victim]
    session = eye.state()["session"]
    dead.kill()
    left = [node for node in m.nodes if node is not dead]
    eye.wait_normal(m, left)
    if eye.state()["session"] <= session:
        raise Failed(f"session {session} ended, though {dead.config['node_name']} died in it")
    dead.start()
    m.wait_shared(0, 1, 2)


def f09(w, die, victim):
    m = Members(w, topics=6, timeout="2s").start()
    load = Load(m)
    with m.kazoo() as client:
        die(m, Eye(client), victim)
    load.end()
    m.equal()
    m.end()


def test_f09_in_clean_who_gives_back_dies(w):
    f09(w, die_in_clean, "who gives back")


def test_f09_in_clean_who_has_given_back_dies(w):
    f09(w, die_in_clean, "who has given back")


def test_f09_in_clean_the_leader_dies(w):
    f09(w, die_in_clean, "the leader")


def test_f09_in_init_who_takes_dies(w):
    f09(w, die_in_init, "who takes")


def test_f09_in_init_who_has_taken_dies(w):
    f09(w, die_in_init, "who has taken")


def test_f09_in_init_the_leader_dies(w):
    f09(w, die_in_init, "the leader")


def make_f54(minutes):
    """While ZooKeeper is away for long, nobody works, and nodes do not grow."""
    def test(w):
        m = Members(w).start()
        load = Load(m, pause=0.1)
        let_pass("all is warm", 10)
        before = [node.rss_kib() for node in m.nodes]
        m.zookeeper.stop()
        wait_until("all work has ended", lambda: not m.owners(), 20, 0.2)
        stored = m.positions.last.copy()
        stays("nobody works", lambda: not m.owners() and m.positions.last == stored, 60 * minutes, 2)
        after = [node.rss_kib() for node in m.nodes]
        if any(now > was + 16 * 1024 for was, now in zip(before, after)):
            raise Failed(f"the nodes had {before} KiB, and have {after} KiB")
        m.zookeeper.start()
        m.wait_shared(0, 1, 2)
        load.end()
        m.equal(120)
        m.end()
        print(f"# resident before {before} KiB, after {minutes} minutes {after} KiB")
    return test


# -- a session that ends during a build


def term(w, topic):
    return w.db.sql(f"SELECT term FROM {store_of(w)}.term WHERE thing = 'topic/{topic}'")[0][0]


def begin_build(m, topic, version):
    """At a rate at which it takes long; some of it is done."""
    m.owner(topic).command("index", "create", f"{topic}.thing", "--rate", "300", "--no-wait")
    index = f"{m.w.schema}-{topic}_v{version}"
    wait_until("rows are read", lambda: built(m, index) >= 300, 30)
    return index


def built(m, index):
    try:
        return m.w.engine.count(index)
    except Failed:
        return 0  # it is not there yet


def end_build(m, topic, version, index, done):
    """At its new owner, from where it was."""
    if built(m, index) < done:
        raise Failed(f"{index} had {done} documents, and has {built(m, index)}")
    owner = m.owner(topic)
    wait_until("the build runs there", lambda: owner.command("index", "set", f"{topic}.thing", "--rate", "0", ok=None).returncode == 0, 30, 0.2)
    table = lambda: next(t for t in owner.status(ok=(0, 1))["tables"] if t["table"] == f"{topic}.thing")
    wait_until(lambda: f"version {version} is the current one of {table()}", lambda: table()["version"] == version, 60, 0.2)
    at = list(m.w.engine.ask("GET", f"/_alias/{m.w.schema}-{topic}"))
    if at != [index]:
        raise Failed(f"searches use {at}")
    if "index build failed" in owner.log_tail(10**6):
        raise Failed(owner.log_tail(3000))


def fill(m, topic):
    m.w.db.sql("INSERT INTO thing SELECT 10000 + seq, seq FROM seq_1_to_2500", schema=topic)
    m.equal()


def test_f49_a_session_that_ends_during_a_build_ends_the_work_first_and_another_node_goes_on(w):
    m = Members(w, nodes=2, topics=2, timeout="2s", cut=True).start()
    topic, = m.has("node-0")
    fill(m, topic)
    load = Load(m)
    before = term(w, topic)
    index = begin_build(m, topic, 2)
    with m.kazoo() as client:
        eye = Eye(client)
        m.ways[0]["zookeeper"].freeze()
        wait_until("its session is over", lambda: not eye.node(m.nodes[0]), 20, 0.005)
        if "all work on the topic has ended at once" not in m.nodes[0].log_tail(10**6):
            raise Failed(f"its session is over, and it works on:\n{m.nodes[0].log_tail(3000)}")
        done = built(m, index)
        m.wait_shared(1)
        if term(w, topic) <= before:
            raise Failed("the topic was taken over, and its term is the same")
    end_build(m, topic, 2, index, done)
    m.ways[0]["zookeeper"].thaw()
    m.wait_shared(0, 1)
    load.end()
    m.equal()
    m.end()


def test_f49_a_build_at_a_node_that_hangs_for_longer_than_its_session_goes_on_at_another_one(w):
    m = Members(w, nodes=2, topics=2, timeout="2s").start()
    topic, = m.has("node-0")
    fill(m, topic)
    load = Load(m)
    index = begin_build(m, topic, 2)
    m.hang(m.nodes[0])
    done = built(m, index)
    m.wait_shared(1)
    m.nodes[0].process.send_signal(signal.SIGCONT)  # it sends what it had in hand, which the store and the index refuse
    m.wait_shared(0, 1)
    end_build(m, topic, 2, index, done)
    load.end()
    m.equal()
    m.end()


def test_who_waits_for_a_build_elsewhere_learns_of_its_end_though_this_node_knows_it_late(w):
    m = Members(w, nodes=2, topics=4).start()
    restart_held(m.nodes[0], "term_taken:3")  # it takes two topics as it starts, and reads no other node's changes at the third
    m.wait_shared(0, 1)
    topic, moved = m.has("node-1")
    waits = threading.Thread(target=lambda: said.append(m.nodes[0].command("index", "create", f"{topic}.thing", "--wait", ok=None)))
    said = []
    waits.start()
    m.nodes[1].command("topic", "move", moved, "--to", "node-0", "--yes", "--no-wait")
    waits.join()
    if said[0].returncode != 0 or "version 2: searches use it now" not in said[0].stdout:
        raise Failed(f"exit {said[0].returncode}: {said[0].stdout}{said[0].stderr}")
    m.equal()
    m.end()


# -- more than one leader


def test_f55_a_late_joiner_and_a_second_leader_during_a_rebalance(w):
    m = Members(w, topics=6, timeout="5s", cut=True).start()
    late = m.add("late")
    load = Load(m)
    with m.kazoo() as client:
        eye, held = Eye(client), max(m.nodes[:3], key=id_of)
        before = eye.state()["session"]
        restart_held(held, "topic_saved")
        wait_until("the cluster has noticed", lambda: eye.state()["session"] > before)
        eye.wait_normal(m, m.nodes[:3])
        min(m.nodes[:3], key=id_of).command("node", "evacuate", held.config["node_name"], "--yes", "--no-wait")
        wait_until("it gives back", lambda: eye.phase(held) == "CLEAN", 20, 0.01)
        leader, session = eye.leader(m.nodes[:3]), eye.state()["session"]
        way = m.ways[m.nodes.index(leader)]["zookeeper"]
        way.freeze()
        places = sorted(client.get_children("/search-center/locks/rebalance"), key=lambda name: name[-10:])
        client.delete(f"/search-center/locks/rebalance/{places[0]}")
        late.start()
        wait_until("another one leads", lambda: eye.state()["leader"] != id_of(leader), 20, 0.01)
        way.thaw()
        eye.wait_normal(m, m.nodes)
        if eye.state()["session"] <= session or not eye.node(late)["jobs"] or eye.node(held)["jobs"]:
            raise Failed(f"{eye.state()}, {[eye.node(node) for node in m.nodes]}")
    load.end()
    m.equal()
    m.end()


AT_ONCE = 1000


def each_child(count, do):
    """Of the many, so many at once."""
    for first in range(0, count, AT_ONCE):
        for answer in [do(f"foreign-{number:06}") for number in range(first, first + AT_ONCE)]:
            answer.get()


def lose_a_node_among_children(w, count):
    m = Members(w, timeout="6s").start()
    load, folders = Load(m), ("nodes", "locks/rebalance")
    with m.kazoo() as client:
        eye = Eye(client)
        for folder in folders:
            each_child(count, lambda name, folder=folder: client.create_async(f"/search-center/{folder}/{name}"))
        m.wait_shared(0, 1, 2)
        m.nodes[2].kill()
        m.wait_shared(0, 1, seconds=20)
        m.nodes[2].start()
        m.wait_shared(0, 1, 2)
        eye.wait_normal(m, m.nodes)
        for folder in folders:
            each_child(count, lambda name, folder=folder: client.delete_async(f"/search-center/{folder}/{name}"))
        m.nodes[1].kill()
        m.wait_shared(0, 2)
        m.nodes[1].start()
    m.wait_shared(0, 1, 2)
    load.end()
    m.equal()
    m.end()


# -- two who change definitions at once


def more_tables(m, schema, names, **more):
    """A file with these tables only, which apply adds to what is stored."""
    return yaml.safe_dump({"tables": [{"table": f"{schema}.{name}", "index": f"{m.w.schema}-{schema}-{name}",
                                       "settings": {"number_of_shards": 1, "number_of_replicas": 0}} | more for name in names]})


def apply_at_once(m, *texts):
    """Each at a node of its own; what became of it."""
    done = [None] * len(texts)

    def apply(i):
        done[i] = m.nodes[i].command("apply", m.nodes[i].write("more.yaml", texts[i]), ok=None)

    threads = [threading.Thread(target=apply, args=(i,)) for i in range(len(texts))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return done


def stored_at(m):
    """What each node has stored, without the order; the same at all, soon."""
    def all_of():
        return [yaml.safe_load(node.command("export").stdout) for node in m.nodes]

    wait_until(lambda: f"all nodes have the same: {all_of()}", lambda: len({json.dumps(one, sort_keys=True) for one in all_of()}) == 1, 10, 0.2)
    return {table["table"]: table for table in all_of()[0]["tables"]}


def test_of_two_who_apply_at_once_the_second_adds_to_what_the_first_has_stored(w):
    m = Members(w, nodes=2, topics=2).start()
    schema, rounds = m.schemas[0], 2
    names = [[f"thing{i}{round_}" for round_ in range(rounds)] for i in range(2)]
    w.db.sql(*(f"CREATE TABLE {schema}.{name} (id INT PRIMARY KEY, a INT)" for name in (*sum(names, []), "east", "west")))
    m.nodes[0].stop()  # its first apply stands still in the middle of its transaction, and the other one's begins meanwhile
    m.nodes[0].start(environment={"MILLRACE_FAILPOINT": "definitions_replaced:1:wait=2000"})
    m.wait_shared(0, 1)
    for round_ in range(rounds):
        for done in apply_at_once(m, *(more_tables(m, schema, [names[i][round_]]) for i in range(2))):
            if done.returncode != 0:
                raise Failed(f"round {round_}: exit {done.returncode}: {done.stdout}{done.stderr}")
    if "a failpoint is reached" not in m.nodes[0].log_tail(10**6):
        raise Failed("the first one did not stand still")
    missing = {f"{schema}.{name}" for name in sum(names, [])} - set(stored_at(m))
    if missing:
        raise Failed(f"nobody has {missing}")
    for done in apply_at_once(m, *(more_tables(m, schema, [names[0][0]], columns=columns) for columns in (["id"], ["id", "a"]))):
        if done.returncode != 0:
            raise Failed(f"the same table: exit {done.returncode}: {done.stdout}{done.stderr}")
    if stored_at(m)[f"{schema}.{names[0][0]}"]["columns"] not in (["id"], ["id", "a"]):
        raise Failed(f"{stored_at(m)}")
    both = apply_at_once(m, *(more_tables(m, schema, [name], index=f"{w.schema}-one") for name in ("east", "west")))
    told = [done for done in both if done.returncode != 0]
    if len(told) != 1 or f"{w.schema}-one" not in told[0].stderr or len(stored_at(m).keys() & {f"{schema}.east", f"{schema}.west"}) != 1:
        raise Failed(f"two tables for one index: {both}, and stored are {sorted(stored_at(m))}")
    tables = [table for table in stored_at(m).values() if table["table"].startswith(f"{schema}.thing")]
    for node in m.nodes:
        node.write("definitions.yaml", yaml.safe_dump(m.definitions() | {"tables": tables}, sort_keys=False))
    for name in sum(names, []):
        m.nodes[1].build(f"{schema}.{name}")
    w.db.sql(*(f"INSERT INTO {schema}.{name} VALUES (1, 1)" for name in sum(names, [])))
    m.equal()
    m.end()


# -- a node that alone does not reach a party


def shown(m, schema):
    return m.w.engine.get(f"{m.w.schema}-{schema}", 1)["a"]


def cut_until_the_other_goes_on(m, party, there, back, value, topic, other):
    m.ways[0][party].freeze(there, back)
    m.change(value)
    wait_until("the other node goes on", lambda: shown(m, other) == value, 20)
    stays(lambda: f"nothing moves from {topic} at node-0 as it is cut off from the {party}: {m.owners()}", lambda: topic in m.has("node-0"), 2, 0.2)
    if there and shown(m, topic) == value:
        raise Failed(f"node-0 is cut off from the {party}, and its topic goes on")


def test_who_alone_does_not_reach_a_source_or_the_engine_keeps_its_topics_until_they_are_moved_and_that_is_not_waited_for(w):
    m = Members(w, nodes=2, topics=2, cut=True).start()
    for value, (party, there, back) in enumerate((("source", True, True), ("engine", False, True), ("engine", True, True)), 201):
        (topic,), (other,) = m.has("node-0"), m.has("node-1")
        cut_until_the_other_goes_on(m, party, there, back, value, topic, other)
        if party == "engine" and there:
            m.ways[0][party].thaw()
            m.equal()
            continue
        began = time.monotonic()
        m.nodes[1].command("node", "evacuate", "node-0", "--yes")
        wait_until("the other node has it", lambda topic=topic, value=value: shown(m, topic) == value, 20)
        if time.monotonic() - began > 15:  # less than the 20 s that what can still be delivered gets
            raise Failed(f"cut off from the {party}, node-0 was waited for: {time.monotonic() - began:.1f} s")
        m.ways[0][party].thaw()
        m.nodes[1].command("node", "admit", "node-0", "--yes")
        m.wait_shared(0, 1)
    m.equal()
    m.end()


def test_a_read_that_a_server_does_not_answer_holds_up_no_topic_that_is_moved(w):
    m = Members(w, nodes=2, topics=2).start()
    (schema,), name = m.has("node-0"), "note"
    w.db.sql(f"CREATE TABLE {schema}.label (id INT PRIMARY KEY, name VARCHAR(20))", f"CREATE TABLE {schema}.{name} (id INT PRIMARY KEY, label INT)",
             f"INSERT INTO {schema}.label VALUES (1, 'old')", f"INSERT INTO {schema}.{name} VALUES (1, 1)")
    one = {"from": "label", "table": f"{schema}.label", "to": "id", "as": "text", "columns": ["name"]}
    m.nodes[0].command("apply", m.nodes[0].write("more.yaml", more_tables(m, schema, [name], relations=[one])))
    for node in m.nodes:
        node.write("definitions.yaml", m.nodes[0].command("export").stdout)
    m.nodes[0].build(f"{schema}.{name}")
    lock = w.db.session()
    w.db.sql(f"UPDATE {schema}.label SET name = 'new'")
    lock(f"LOCK TABLES {schema}.label WRITE")
    w.db.sql(f"INSERT INTO {schema}.{name} VALUES (2, 1)")
    waits = f"SELECT COUNT(*) FROM information_schema.processlist WHERE user = 'millrace' AND state LIKE 'Waiting for table%' AND info LIKE '%{schema}%'"
    wait_until("the owner reads, and waits", lambda: w.db.sql(waits)[0][0], 20)
    began = time.monotonic()
    m.nodes[1].command("node", "evacuate", "node-0", "--yes")
    if m.has("node-0") or time.monotonic() - began > 20:  # a read may wait for an answer for a minute
        raise Failed(f"a read that waits was waited for {time.monotonic() - began:.1f} s: {m.owners()}")
    lock("UNLOCK TABLES")
    m.nodes[1].command("node", "admit", "node-0", "--yes")
    m.equal()
    m.end()


# -- by option more of it


def more_tests(options):
    """A hundred thousand only where this module is asked for by name."""
    count = 100_000 if options.only else 5000
    tests = {"test_f55_many_foreign_children_keep_no_topic_from_its_next_owner": lambda w: lose_a_node_among_children(w, count)}
    if options.minutes:
        tests["test_f54_while_zookeeper_is_away_for_long_nobody_works_and_nobody_grows"] = make_f54(options.minutes)
    return tests
