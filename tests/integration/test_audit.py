"""Who has changed what is kept, and whoever asks hears it."""
import json
import os

from members import Members
from servers import Failed, wait_until
from test_objects import follow


def listed(daemon, *more):
    return daemon.json("audit", "list", *more)["items"]


def is_noted(entry, **fields):
    found = {name: entry.get(name) for name in fields}
    if found != fields:
        raise Failed(f"{fields} was to be noted, and it is {entry}")


def test_each_change_is_noted_with_who_and_what_was_before_and_no_question_is(w):
    daemon, table = follow(w), f"{w.schema}.thing"
    before = len(listed(daemon))
    text = daemon.command("export").stdout
    daemon.command("table", "set", table, "filter=a > 0", "--dry-run")
    daemon.command("apply", daemon.write("same.yaml", text))
    daemon.command("table", "set", table, "fliter=a > 0", ok=(1,))
    for question in ("status",), ("explain", table, "1"), ("mapping", table, daemon.write("same.yaml", text)), ("verify", table, "--key", "1", "--dry-run"):
        daemon.command(*question, ok=(0, 1))
    if len(listed(daemon)) != before:
        raise Failed(f"somebody has changed nothing, and is noted: {listed(daemon)[0]}")
    daemon.command("table", "set", table, "filter=a > 0")
    daemon.command("config", "delivery", "set", "batch_max=77")
    daemon.command("index", "pause", table, "--reason", "a person's reason")
    paused, settings, definition = listed(daemon, "--limit", "3")
    is_noted(paused, object=table, method="POST")
    if paused["reason"] != "a person's reason" or paused["answered"] is not None:
        raise Failed(f"the reason is not noted: {paused}")
    if "77" not in json.dumps(settings["answered"]) or settings["asked"] is not None:
        raise Failed(f"the setting is not noted: {settings}")
    is_noted(definition, object=table, target="/api/v1/apply")
    change, = definition["answered"]["items"]
    if not definition["who"].startswith("uid ") or change["fields"][0]["path"] != "filter" or change["fields"][0]["after"] != "a > 0":
        raise Failed(f"the definition is not noted: {definition}")
    if listed(daemon, table)[0] != paused or {one["object"] for one in listed(daemon, table)} != {table} or listed(daemon, "no.such"):
        raise Failed(f"of {table} are noted {listed(daemon, table)}")
    older = daemon.json("audit", "list", "--limit", "1", "--after", str(paused["id"]))
    if [one["id"] for one in older["items"]] != [settings["id"]] or older["more_after"] != settings["id"]:
        raise Failed(f"the next page is {older}")


def test_the_reason_of_what_is_dangerous_is_noted_as_it_was_given(w):
    daemon, table = follow(w), f"{w.schema}.thing"
    why = "заявка 7 & 龙井茶? <b>100%</b>"
    for dangerous in (("config", "delivery", "set", "batch_max=77"), ("table", "set", table, "filter=a > 0"), ("topic", "reset", w.schema, "--yes"),
                      ("dead-letter", "discard", "--reason", "no such reason", "--yes"), ("table", "delete", table, "--yes")):
        daemon.command(*dangerous, "--why", why, ok=(0, 1))
    by = {entry["what"]: entry["reason"] for entry in listed(daemon, "--limit", "4")}
    if set(by.values()) != {why} or len(by) != 4:
        raise Failed(f"the reasons are {by}")
    daemon.command("config", "delivery", "set", "batch_max=78", "--why", "x" * 1001, ok=(1, 2))
    daemon.command("config", "delivery", "set", "batch_max=79", "--why", "x" * 1000)
    is_noted(listed(daemon)[0], reason="x" * 1000)
    daemon.command("dead-letter", "discard", "--reason", "no such reason", "--yes", ok=(0, 1))
    if "no such" in listed(daemon)[0]["reason"]:
        raise Failed("which dead letters is taken for the reason")


def test_no_password_of_a_definition_is_kept_by_the_audit_log(w):
    daemon = follow(w)
    topic = daemon.json("topic", "list")["items"][0]["name"]
    with open(os.path.join(daemon.folder, "source.password"), encoding="utf-8") as f:
        password = f.read().strip()
    daemon.command("topic", "set", topic, "password_file=", f"password={password}")
    if topic not in str(listed(daemon)[0]["answered"]) or password in daemon.command("audit", "list", "-o", "json").stdout:
        raise Failed(f"{listed(daemon)[0]}")


def test_a_change_without_a_daemon_is_noted_too(w):
    daemon, table = follow(w), f"{w.schema}.thing"
    daemon.stop()
    daemon.command("table", "set", table, "filter=a > 0")
    daemon.start()
    is_noted(listed(daemon)[0], who="", method="POST", target="/api/v1/apply")


def test_of_several_nodes_the_one_that_was_asked_notes_a_change_once(w):
    m = Members(w, nodes=2, topics=2).start()
    (topic,) = m.has("node-0")
    before = len(listed(m.nodes[1]))
    m.nodes[1].command("topic", "pause", topic, "--reason", "asked at the other node")
    wait_until("both see it", lambda: len(listed(m.nodes[0])) == len(listed(m.nodes[1])) == before + 1, 10)
    is_noted(listed(m.nodes[0])[0], node="node-1", object=topic)
    m.nodes[1].command("topic", "resume", topic)
    m.end()
