"""What status, metrics and doctor say of topics and tables that do not go on: how long, why, and never that all is well."""
from detour import Detour
from servers import Failed, wait_until


def topic(daemon):
    return daemon.status()["topics"][0]


def block(w, index, on=True):
    w.engine.ask("PUT", f"/{index}/_settings", {"index.blocks.write": True if on else None})


def names(daemon, *words, ok=(1,)):
    """The doctor says all of this, and not that all is well."""
    said = daemon.command("doctor", ok=ok).stdout
    missing = [word for word in words if word not in said]
    if missing or "All is well" in said:
        raise Failed(f"the doctor does not say {missing}:\n{said}")


def grows(daemon, look, least=2):
    """The lag of what is looked at becomes longer than that, and goes on growing."""
    then = wait_until("the lag grows", lambda: (look(daemon)["lag_seconds"] or 0) > least and look(daemon)["lag_seconds"])
    wait_until("it goes on", lambda: look(daemon)["lag_seconds"] > then)


def is_up_to_date(daemon, look):
    wait_until("all is delivered", lambda: look(daemon)["lag_seconds"] == 0 and not look(daemon)["lag_at_most"])


def test_what_a_held_index_does_not_take_is_the_lag_of_its_topic(w):
    daemon = w.follow_good_and_bad()
    is_up_to_date(daemon, topic)
    block(w, f"{w.index('bad')}_v1")
    w.sql("UPDATE bad SET a = 2", "UPDATE good SET a = 2")
    wait_until("the index is held", lambda: w.table(daemon, "bad")["state"] == "held")
    grows(daemon, topic)
    grows(daemon, lambda d: w.table(d, "bad"))
    if topic(daemon)["lag_at_most"]:
        raise Failed("the change is known, but its age is shown as a bound")
    if daemon.metric("millrace_source_lag_seconds") < 2:
        raise Failed("the metric does not say it")
    names(daemon, "table " + w.schema + ".bad", w.table(daemon, "bad")["reason"][:40])
    block(w, f"{w.index('bad')}_v1", on=False)
    w.equal(daemon, seconds=60)
    is_up_to_date(daemon, topic)


def test_the_lag_of_a_server_that_is_away_grows_and_is_a_bound(w):
    with Detour(w.db.port) as detour:
        w.sql("CREATE TABLE part (id INT PRIMARY KEY, a INT)", "INSERT INTO part VALUES (1, 1)")
        daemon = w.follow(w.definitions({"table": "part"}, address=f"127.0.0.1:{detour.port}"))
        is_up_to_date(daemon, topic)
        detour.lead_to(1)
        wait_until("the topic connects", lambda: topic(daemon)["state"] == "connecting")
        wait_until("its lag is a bound", lambda: topic(daemon)["lag_at_most"])
        grows(daemon, topic, 5)
        grows(daemon, lambda d: w.table(d, "part"), 5)
        if daemon.metric("millrace_source_lag_seconds") < 5 or topic(daemon)["lag_bytes"] is not None:
            raise Failed(f"it is {topic(daemon)}")
        said = daemon.command("status").stdout
        if "<= " not in said and "≤ " not in said:
            raise Failed(f"nobody sees that it is a bound:\n{said}")
        names(daemon, topic(daemon)["reason"][:30], ok=(0, 1))
        detour.lead_to(w.db.port)
        daemon.command("topic", "resume", w.schema)
        w.sql("UPDATE part SET a = 2")
        w.equal(daemon, seconds=90)
        is_up_to_date(daemon, topic)


def test_a_table_that_is_stopped_has_the_lag_of_what_stopped_it(w):
    daemon = w.follow_good_and_bad(schema_changes="stop")
    w.sql("TRUNCATE bad")
    wait_until("the table stops", lambda: w.table(daemon, "bad")["state"] == "stopped")
    w.sql("UPDATE good SET a = 7")
    w.equal(daemon, [f"{w.schema}.good"])
    grows(daemon, lambda d: w.table(d, "bad"))
    grows(daemon, topic)
    is_up_to_date(daemon, lambda d: w.table(d, "good"))
    if topic(daemon)["lag_of"] != f"{w.schema}.bad" or f"belongs to {w.schema}.bad" not in daemon.command("status").stdout:
        raise Failed(f"nobody sees whose change it is: {topic(daemon)}")
    if daemon.metric("millrace_table_lag_seconds", table=f"{w.schema}.good") != 0:
        raise Failed("the other table has its lag")
    names(daemon, w.table(daemon, "bad")["reason"][:30], "index create")
    daemon.build(f"{w.schema}.bad")
    is_up_to_date(daemon, topic)


def test_a_build_that_the_engine_does_not_take_says_why(w):
    w.sql("CREATE TABLE part (id INT PRIMARY KEY, a INT)", "INSERT INTO part VALUES (1, 1), (2, 2), (3, 3)")
    daemon = w.millrace()
    daemon.apply(w.definitions({"table": "part", "settings": {"number_of_shards": 1, "number_of_replicas": 0, "blocks.write": True}}))
    daemon.command("index", "create", f"{w.schema}.part", "--no-wait")

    def blocked():
        waits = (w.table(daemon, "part")["build"] or {}).get("waits_for") or ""
        return waits if "block" in waits else None

    waits = wait_until("status says what the build waits for", blocked, 60)
    said = daemon.command("status").stdout
    if f"waits: {waits[:30]}" not in said:
        raise Failed(f"it waits for {waits!r}:\n{said}")
    job = daemon.json("job", "list")["items"][0]
    if "block" not in job["waits_for"]:
        raise Failed(f"the job is {job}")
    names(daemon, "the build of version", "millrace index reset", ok=(0, 1))
    block(w, f"{w.index('part')}_v1", on=False)
    wait_until("the build ends", lambda: w.table(daemon, "part")["state"] == "available", 60)
    w.equal(daemon)
