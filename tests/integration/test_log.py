"""What the log keeps: of each build its parameters, mapping, settings, nodes, end and times."""
from members import Members
from servers import Failed, open_store, wait_until
from test_builds import numbers
from test_failpoints import armed, until_dead


def expect(what, is_, wanted):
    if is_ != wanted:
        raise Failed(f"{what}: {is_}, and not {wanted}")


def events(daemon, w, name="thing"):
    """The newest first."""
    return daemon.json("log", "list", f"{w.schema}.{name}")["items"]


def build(daemon, w, version, name="thing"):
    """What is kept of a build, by its event; the list, a moment earlier, has the same but for what the engine was sent."""
    begun = [e for e in events(daemon, w, name) if e["event"] in ("building", "rebuilding") and e["version"] == version]
    expect(f"events that begin version {version}", len(begun), 1)
    whole = daemon.json("log", "get", str(begun[0]["id"]))["items"][0]
    expect("members by the list", begun[0]["build"].keys(), whole["build"].keys() - {"mappings", "settings"})
    for name in ("kind", "parameters", "began"):
        expect(f"{name} by the list", begun[0]["build"][name], whole["build"][name])
    return whole["build"]


def test_a_build_is_kept_with_what_it_was_given_and_sent_and_with_its_end(w):
    daemon = w.follow(numbers(w, "thing", rows=100))
    daemon.command("index", "create", f"{w.schema}.thing", "--rate", "5000", "--keep", "1", "--verify", "full")
    kept = build(daemon, w, 2)
    expect("kind and end", (kept["kind"], kept["end"], kept["error"]), ("create", "succeeded", ""))
    for name, value in (("rate", 5000), ("keep", 1), ("verify", "full"), ("hold", False)):
        expect(name, kept["parameters"][name], value)
    expect("fields", sorted(kept["mappings"]["properties"]), ["a", "id"])
    expect("nodes", [node["id"] for node in kept["nodes"]], [daemon.json("node", "list")["items"][0]["id"]])
    if not kept["began"] <= kept["ended"]:
        raise Failed(f"it ended before it began: {kept['began']}, {kept['ended']}")
    if not kept["settings"]["create"] or not kept["settings"]["publish"]:
        raise Failed(f"settings are missing: {kept['settings']}")
    built = next(e for e in events(daemon, w) if e["event"] == "built" and e["version"] == 2)
    expect("the build by its other event", daemon.json("log", "get", str(built["id"]))["items"][0]["build"], kept)
    if "build" in built:
        raise Failed("the list has the build twice")
    shown = daemon.command("log", "get", str(built["id"])).stdout
    if "publish:" not in shown or "began:" not in shown:
        raise Failed(f"the settings or times are not shown: {shown}")


def test_each_end_of_a_build_is_kept(w):
    daemon = w.follow(numbers(w, "thing", rows=100))
    daemon.command("index", "create", f"{w.schema}.thing", "--rate", "1", "--no-wait")
    wait_until("its node is noted", lambda: build(daemon, w, 2)["nodes"])
    expect("while it runs", (build(daemon, w, 2)["end"], build(daemon, w, 2)["ended"]), ("running", None))
    daemon.command("index", "reset", f"{w.schema}.thing", "--yes")
    expect("reset", build(daemon, w, 2)["end"], "reset")
    daemon.command("index", "create", f"{w.schema}.thing", "--hold", "--no-wait")
    wait_until("it waits", lambda: build(daemon, w, 3)["end"] == "waiting")
    daemon.command("index", "cutover", f"{w.schema}.thing")
    expect("after the cutover", build(daemon, w, 3)["end"], "succeeded")
    daemon.command("index", "create", f"{w.schema}.thing", "--rate", "1", "--no-wait")
    w.sql("ALTER TABLE thing DROP PRIMARY KEY")
    wait_until("its build has failed", lambda: build(daemon, w, 4)["end"] == "failed", 60)
    if not build(daemon, w, 4)["error"] or not build(daemon, w, 4)["ended"]:
        raise Failed(f"it does not say why and when: {build(daemon, w, 4)}")


def test_a_build_whose_daemon_died_before_it_began_is_kept_as_interrupted(w):
    daemon = w.follow(numbers(w, "thing", rows=10))
    daemon.kill()
    daemon.start(environment=armed("version_created"))
    daemon.command("index", "create", f"{w.schema}.thing", "--no-wait", ok=None)
    until_dead(daemon, "version_created")
    daemon.start()
    failed = lambda: [e for e in events(daemon, w) if e["event"] == "failed" and e["version"] == 2]  # noqa: E731
    wait_until("it is told as failed", failed)
    kept = daemon.json("log", "get", str(failed()[0]["id"]))["items"][0]["build"]
    expect("its end", (kept["end"], kept["nodes"]), ("interrupted", []))
    if "the daemon ended" not in kept["error"] or not kept["ended"]:
        raise Failed(f"it does not say why and when: {kept}")
    daemon.build(f"{w.schema}.thing")
    expect("the next one", build(daemon, w, 3)["end"], "succeeded")


def test_a_build_that_goes_on_after_a_kill_has_its_node_once(w):
    daemon = w.follow(numbers(w, "thing", rows=100))
    daemon.command("index", "create", f"{w.schema}.thing", "--rate", "1", "--no-wait")
    wait_until("its node is noted", lambda: build(daemon, w, 2)["nodes"])
    daemon.kill()
    daemon.start()
    wait_until("the build goes on", lambda: "job" in (w.table(daemon, "thing")["build"] or ()))
    daemon.command("index", "set", f"{w.schema}.thing", "--rate", "0")
    wait_until("it has succeeded", lambda: build(daemon, w, 2)["end"] == "succeeded", 30)
    expect("nodes", len(build(daemon, w, 2)["nodes"]), 1)


def test_events_of_an_older_release_are_listed_without_a_build(w):
    daemon = w.follow(numbers(w, "thing", rows=10))
    daemon.kill()
    with open_store(daemon) as store:
        store.execute("DELETE FROM build_log")
    daemon.start()
    begun = [e for e in events(daemon, w) if e["event"] == "building"]
    expect("builds of the event", [e.get("build") for e in begun], [None])
    expect("the event itself", daemon.json("log", "get", str(begun[0]["id"]))["items"], begun)


def test_an_event_that_is_unknown_is_refused(w):
    daemon = w.follow(numbers(w, "thing", rows=10))
    for event in "987654321", "abc":
        done = daemon.command("log", "get", event, ok=(1,))
        if f"there is no event {event}" not in done.stderr or "millrace log list" not in done.stderr:
            raise Failed(f"it said {done.stderr}")


def test_a_build_that_another_node_goes_on_with_has_both_in_the_order_of_coming(w):
    m = Members(w, nodes=2).start()
    schema = m.topics_of(1)[0]
    w.sql(f"INSERT INTO {schema}.thing VALUES " + ", ".join(f"({i}, 0)" for i in range(1000, 1300)))
    first, second = m.nodes[1], m.nodes[0]
    second.command("index", "create", f"{schema}.thing", "--rate", "40", "--nodes", "1", "--no-wait")

    def kept():
        events = [e for e in second.json("log", "list", f"{schema}.thing")["items"] if e["event"] == "building"]
        return next(e["build"] for e in events if e["version"] == 2)

    wait_until("its first node is noted", lambda: kept()["nodes"])
    first.kill()
    wait_until("the other one is noted", lambda: len(kept()["nodes"]) == 2, 40)
    second.command("index", "set", f"{schema}.thing", "--rate", "0")
    wait_until("it has succeeded", lambda: kept()["end"] == "succeeded", 40)
    expect("the nodes", [node["name"] for node in kept()["nodes"]], ["node-1", "node-0"])
    m.end()


def test_the_events_come_page_by_page_each_with_its_build(w):
    daemon = w.follow(numbers(w, "thing", rows=10))
    for _ in range(2):
        daemon.command("index", "create", f"{w.schema}.thing")
    table, whole = f"{w.schema}.thing", events(daemon, w)
    if len(whole) < 6 or sum("build" in e for e in whole) != 3:
        raise Failed(f"three builds are in {whole}")
    turned, after = [], []
    while True:
        page = daemon.json("log", "list", table, "--limit", "2", *after)
        turned += page["items"]
        if page["next"] is None:
            break
        expect("the next page begins after the last event", page["more_after"], page["items"][-1]["id"])
        after = ["--after", str(page["more_after"])]
    expect("the events of all pages", turned, whole)
    expect("what a person reads", "there are older ones: --after" in daemon.command("log", "list", "--limit", "1").stdout, True)
