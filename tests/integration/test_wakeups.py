"""A daemon at rest sleeps: each of its threads waits for a signal or a deadline, and none looks around."""
import time
from pathlib import Path

from servers import Failed, let_pass, wait_until

WATCHED = 15  # seconds, in which each source sends as many heartbeats as in any others
TOPICS = 20
MOST = 3  # wake-ups a second
MOST_SHARED = 40  # of a node that asks its store twice a second what others have stored there


def wakeups(daemon):
    """How often each thread went to sleep so far, by name and id."""
    found = {}
    for task in Path(f"/proc/{daemon.process.pid}/task").iterdir():
        try:
            lines = [line.split(":", 1) for line in (task / "status").read_text().splitlines()]
        except (FileNotFoundError, ProcessLookupError):  # a job's thread has ended
            continue
        fields = {name: value.strip() for name, value in lines}
        found[fields["Name"], task.name] = int(fields["voluntary_ctxt_switches"])
    return found


def rates(daemon):
    """Wake-ups a second of the threads of each name, the most first."""
    before, since = wakeups(daemon), time.monotonic()
    let_pass("wake-ups are counted for a while", WATCHED)
    after, seconds = wakeups(daemon), time.monotonic() - since
    each = {}
    for key, n in after.items():
        each[key[0]] = each.get(key[0], 0) + (n - before.get(key, 0)) / seconds
    return dict(sorted(each.items(), key=lambda of: -of[1]))


def rests(daemon):
    seen, most = {}, MOST_SHARED if daemon.is_cluster else MOST

    def is_at_rest():
        seen.clear()
        seen.update(rates(daemon))
        return sum(seen.values()) < most

    wait_until(lambda: f"fewer than {most} wake-ups a second: " + ", ".join(f"{name} {n:.2f}" for name, n in seen.items()),
               is_at_rest, 120)


def test_wakeups_at_rest_a_daemon_wakes_fewer_than_three_times_a_second(w):
    """And the change that comes then is followed."""
    w.sql("CREATE TABLE thing (id INT PRIMARY KEY, a INT)", "INSERT INTO thing VALUES (1, 1), (2, 2)")
    daemon = w.follow(w.definitions({"table": "thing"}), delivery={"request_timeout": "2s"})
    w.equal(daemon)
    rests(daemon)
    w.db.kill()
    wait_until("the broken connection is noticed", lambda: '"cannot follow the source' in daemon.log_tail(4000))
    topic = daemon.json("status")["topics"][0]
    if topic["lag_seconds"] == 0 or not topic["lag_at_most"]:
        raise Failed(f"the first status after the connection broke says that all is delivered: {topic}")
    w.db.start(*w.db.options)
    w.sql("UPDATE thing SET a = a + 1")
    w.equal(daemon)


def topic_of_its_own(w, definitions, schema):
    """One more topic with a database of its own, on the same server."""
    w.db.sql(f"DROP DATABASE IF EXISTS {schema}", f"CREATE DATABASE {schema}",
             f"GRANT SELECT ON {schema}.* TO millrace@'127.0.0.1'",
             f"CREATE TABLE {schema}.thing (id INT PRIMARY KEY, a INT)", f"INSERT INTO {schema}.thing VALUES (1, 1)")
    definitions["topics"].append(definitions["topics"][0] | {"name": schema})
    definitions["databases"].append({"name": schema, "topic": schema})
    definitions["tables"].append({"table": f"{schema}.thing", "index": w.index(schema)})


def test_wakeups_at_rest_a_daemon_with_twenty_topics_wakes_fewer_than_three_times_a_second(w):
    """And a change of each topic is followed then."""
    w.sql("CREATE TABLE thing (id INT PRIMARY KEY, a INT)", "INSERT INTO thing VALUES (1, 1)")
    definitions = w.definitions({"table": "thing"})
    schemas = [f"{w.schema}_{n}" for n in range(1, TOPICS)]
    try:
        for schema in schemas:
            topic_of_its_own(w, definitions, schema)
        daemon = w.follow(definitions, delivery={"request_timeout": "2s"})
        w.equal(daemon)
        rests(daemon)
        quiet = daemon.json("status")
        if not quiet["ok"] or any(topic["state"] != "running" or topic["reason"] for topic in quiet["topics"]):
            raise Failed(f"the first status after a quiet time says that a server hangs: {quiet['checks']}")
        w.db.sql(*(f"UPDATE {schema}.thing SET a = a + 1" for schema in [w.schema, *schemas]))
        w.equal(daemon)
    finally:
        w.db.sql(*(f"DROP DATABASE IF EXISTS {schema}" for schema in schemas))
