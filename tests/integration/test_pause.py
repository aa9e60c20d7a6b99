"""A person pauses an index or a topic: it says so everywhere, others go on, nothing is lost when it goes on."""
from servers import Failed, http, stays, wait_until
from test_held import table, two_tables
from test_purge import count, outstanding

SMALL = {"bytes": "1MiB", "high_water_mark": 100}


def topic(w, daemon):
    return next(t for t in daemon.status()["topics"] if t["name"] == w.schema)


def value(w, name, key):
    return w.engine.get(w.index(name), key)["a"]


def change_all(w, a):
    w.sql(f"UPDATE busy SET a = {a}, t = REPEAT('x', 3000)", "DELETE FROM busy WHERE id % 7 = 0",
          "REPLACE INTO busy VALUES (1001, 1, 'new')")


def doctor_says(daemon, words):
    printed = daemon.command("doctor", ok=(1,)).stdout
    if words not in printed:
        raise Failed(f"doctor does not say {words!r}:\n{printed}")


def is_told_everywhere(daemon, group, check, reason, fix):
    """By `doctor`, `status`, the exit code of `status --check`, the page, and the metrics."""
    checked = daemon.command("status", "--check", ok=(1,)).stdout
    for where, text in (("doctor", daemon.command("doctor", ok=(1,)).stdout), ("status", daemon.command("status").stdout),
                        ("status --check", checked), ("the page", http("GET", daemon.url + "/status")[1])):
        for words in (group, reason, fix):
            if words not in text:
                raise Failed(f"{where} does not say {words!r}:\n{text}")
    if daemon.metric("millrace_ok") != 0 or daemon.metric("millrace_checks", check=check, status="fail") != 1:
        raise Failed(f"the metrics have no failed {check}")


def all_is_well(daemon):
    wait_until("all is well again", lambda: daemon.json("status")["ok"])
    daemon.command("status", "--check")
    if daemon.metric("millrace_ok") != 1:
        raise Failed("the metrics say that something is wrong")


def is_shown(w, daemon, name, reason):
    t = wait_until(f"{name} is shown as paused",
                   lambda: table(w, daemon, name)["state"] == "held" and table(w, daemon, name))
    if reason not in t["reason"] or t["fix"] != f"millrace index resume {w.schema}.{name}":
        raise Failed(f"reason and fix are {t['reason']!r} and {t['fix']!r}")
    is_told_everywhere(daemon, f"table {w.schema}.{name}", "table.runs", reason, t["fix"])
    if daemon.metric("millrace_table_state", table=f"{w.schema}.{name}", state="held") != 1:
        raise Failed(f"the metrics do not say that {name} is held")


def test_a_paused_index_stays_as_it_is_over_a_kill_and_others_go_on(w):
    daemon = two_tables(w, delivery=SMALL)
    busy = f"{w.schema}.busy"
    daemon.command("index", "pause", busy, "--reason", "the cluster is upgraded")
    change_all(w, 5)
    w.sql("UPDATE idle SET a = 7")
    w.equal(daemon, [f"{w.schema}.idle"])
    is_shown(w, daemon, "busy", "the cluster is upgraded")
    daemon.kill()
    daemon.start()
    w.sql("UPDATE busy SET a = 6 WHERE id = 2", "UPDATE idle SET a = 8")
    w.equal(daemon, [f"{w.schema}.idle"])
    is_shown(w, daemon, "busy", "the cluster is upgraded")
    wait_until("its changes wait as keys", lambda: outstanding(daemon) > 0)
    wait_until("all of them wait so", lambda: daemon.metric("millrace_changes_in_flight") == 0)
    waiting = outstanding(daemon)
    stays(lambda: f"nothing is written to it, and {waiting} changes wait, not {outstanding(daemon)}",
          lambda: value(w, "busy", 2) == 0 and outstanding(daemon) == waiting, 3, 0.5)
    daemon.command("index", "resume", busy)
    w.equal(daemon, seconds=60)
    wait_until("nothing purged is left", lambda: outstanding(daemon) == 0, 60)
    if daemon.json("dead-letter", "list")["items"]:
        raise Failed("there are dead letters")
    all_is_well(daemon)


def test_a_daemon_with_a_paused_index_drains_and_its_neighbour_is_built(w):
    daemon = two_tables(w)
    daemon.command("index", "pause", f"{w.schema}.busy")
    change_all(w, 5)
    daemon.command("index", "create", f"{w.schema}.idle")
    drained = daemon.json("drain", "--timeout", "20")
    if drained["end"] != "done" or drained["queued"] > 0:
        raise Failed(f"the drain ends as {drained}")
    daemon.command("index", "resume", f"{w.schema}.busy")
    w.equal(daemon, seconds=60)


def test_what_a_pause_excludes_is_refused_with_the_way_out(w):
    daemon = two_tables(w)
    busy = f"{w.schema}.busy"
    for words, *args in (
            ("no table or index", "index", "pause", f"{w.schema}.no_such"),
            ("there is no topic", "topic", "pause", "no_such"),
            ("there is no topic", "topic", "resume", "no_such")):
        said = daemon.command(*args, ok=(1,)).stderr
        if words not in said:
            raise Failed(f"millrace {' '.join(args)} says {said}")
    daemon.command("index", "pause", busy)
    said = daemon.command("index", "create", busy, ok=(1,)).stderr
    if f"millrace index resume {busy}" not in said:
        raise Failed(f"a build of a paused index says {said}")
    daemon.command("index", "pause", busy, "--reason", "again")  # pausing twice gives the newer reason
    is_shown(w, daemon, "busy", "again")
    daemon.command("index", "resume", busy)
    daemon.command("index", "resume", busy)
    daemon.command("index", "create", busy, "--rate", "10", "--no-wait")
    said = daemon.command("index", "pause", busy, ok=(1,)).stderr
    if "is being built" not in said or f"millrace index reset {busy}" not in said:
        raise Failed(f"a pause of an index that is built says {said}")
    daemon.command("index", "set", busy, "--rate", "0")
    w.equal(daemon, seconds=60)


def test_doctor_tells_that_the_log_of_a_paused_topic_is_purged(w):
    daemon = two_tables(w)
    w.sql("UPDATE busy SET a = 1 WHERE id = 1")
    w.equal(daemon)
    daemon.command("topic", "pause", w.schema)
    doctor_says(daemon, "the server still has the log from")
    w.sql("FLUSH BINARY LOGS")
    last = w.sql("SHOW BINARY LOGS")[-1][0]

    def purge():  # not while the server has not noticed that nobody reads it any more
        w.sql(f"PURGE BINARY LOGS TO '{last}'", "UPDATE busy SET a = a + 1 WHERE id = 1")
        return w.sql("SHOW BINARY LOGS")[0][0] == last

    wait_until("the log is purged", purge)
    doctor_says(daemon, "from where Millrace goes on: it was purged")


def test_a_paused_topic_reads_nothing_over_a_restart_until_it_is_resumed(w):
    daemon = two_tables(w)
    w.sql("UPDATE busy SET a = 1 WHERE id = 1")
    w.equal(daemon)
    daemon.command("topic", "pause", w.schema, "--reason", "the server moves")
    w.sql("UPDATE busy SET a = 2 WHERE id = 1")
    for _ in range(2):
        t = topic(w, daemon)
        if t["state"] != "created" or "the server moves" not in t["reason"]:
            raise Failed(f"the topic is shown as {t}")
        if t["fix"] != f"millrace topic resume {w.schema}":
            raise Failed(f"the fix is {t['fix']!r}")
        is_told_everywhere(daemon, f"topic {w.schema}", "topic.runs", "the server moves", t["fix"])
        stays("nothing is read", lambda: value(w, "busy", 1) == 1, 3, 0.5)
        daemon.stop()
        daemon.start()
    daemon.command("topic", "resume", w.schema)
    w.equal(daemon)
    if topic(w, daemon)["state"] != "running" or count(daemon, "purged") > 0:
        raise Failed(f"the topic is {topic(w, daemon)}")
    all_is_well(daemon)
