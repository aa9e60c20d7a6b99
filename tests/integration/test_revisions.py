"""Definitions are changed as somebody saw them, or not at all."""
import json
import os
import re
import subprocess

import yaml
from servers import Failed


def ask(daemon, method, path, body=None, tag=None):
    """(status, ETag or None, text) of a call of the socket."""
    head = ["-H", f"If-Match: {tag}"] if tag else []
    data = ["-H", "Content-Type: application/json", "--data-binary", "@-"] if body is not None else []
    done = subprocess.run(["curl", "-sS", "-i", "-m", "60", "--unix-socket", daemon.config["socket"], "-X", method, *head, *data,
                           f"http://localhost/api/v1/{path}"], input=json.dumps(body) if data else None, stdout=subprocess.PIPE, text=True, check=True)
    start, text = done.stdout.split("\n\n" if "\n\n" in done.stdout else "\r\n\r\n", 1)
    found = re.search(r"^ETag: (.*?)\r?$", start, re.M)
    return int(start.split()[1]), found and found.group(1), text


def apply(daemon, definitions, tag=None, **more):
    files = [{"name": "a.yaml", "text": yaml.safe_dump(definitions), "folder": daemon.folder}]
    return ask(daemon, "POST", "apply", {"files": files} | more, tag)


def expect(answer, status, tag=None, text=""):
    if answer[0] != status or tag not in (None, answer[1]) or not re.search(text, answer[2]):
        raise Failed(f"{status} with {tag} and {text!r} was expected, and is not: {answer}")
    return answer[1]


def follow_two(w):
    w.sql("CREATE TABLE thing (id INT PRIMARY KEY, a INT)", "CREATE TABLE other (id INT PRIMARY KEY, a INT)")
    definitions = w.definitions({"table": "thing"}, {"table": "other"})
    return w.follow(definitions), definitions


def test_a_change_by_somebody_who_saw_an_older_revision_stores_nothing_and_says_who_was_faster(w):
    daemon, definitions = follow_two(w)
    seen = expect(ask(daemon, "GET", "export"), 200)
    definitions["tables"][0]["settings"] |= {"refresh_interval": "7s"}
    if expect(apply(daemon, definitions, seen, dry_run=True), 200) != seen:
        raise Failed("a dry run answers another revision than that which it looked at")
    now = expect(apply(daemon, definitions, seen), 200)
    if now == seen:
        raise Failed(f"a change has not raised {seen}")
    who = rf"uid {os.getuid()} changed them last, at 20\d\d-\d\d-\d\d \d\d:\d\d:\d\d UTC"
    definitions["tables"][1]["settings"] |= {"refresh_interval": "7s"}
    expect(apply(daemon, definitions, seen), 412, text=who)
    expect(apply(daemon, definitions, seen, dry_run=True), 412, text=who)
    expect(ask(daemon, "DELETE", f"tables/{w.schema}.other", tag=seen), 412, text=who)
    expect(ask(daemon, "POST", f"tables/{w.schema}.other/delete", {"confirm": f"{w.schema}.other"}, seen), 412, text=who)
    expect(apply(daemon, definitions, '"999999"'), 412, text=who)
    stored = {table["table"]: table for table in yaml.safe_load(ask(daemon, "GET", "export")[2])["tables"]}
    if "refresh_interval" in stored[f"{w.schema}.other"]["settings"]:
        raise Failed(f"what was refused is stored: {stored}")
    expect(ask(daemon, "GET", "export"), 200, now)


def test_a_change_by_somebody_who_saw_the_newest_revision_is_done(w):
    daemon, definitions = follow_two(w)
    seen = expect(ask(daemon, "GET", "export"), 200)
    expect(apply(daemon, definitions, seen), 200, seen)  # nothing changes
    expect(ask(daemon, "DELETE", f"tables/{w.schema}.other", tag=seen), 200)
    seen = expect(ask(daemon, "GET", "export"), 200)
    expect(ask(daemon, "POST", f"tables/{w.schema}.thing/delete", {"confirm": f"{w.schema}.thing"}, seen), 200)
