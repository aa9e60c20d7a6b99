"""Words of the IK analyzer: kept by people, and served to the search engine's nodes by every node alike."""
import email.utils
import http.client
import json
import time

from members import Members
from servers import OPENSEARCH, Engine, Failed, free_port, run_script, wait_until
from tasks import Task, person
from test_objects import refused

TOKEN = "0123456789abcdef0123"


class Port:
    """words.listen of one daemon, as the analyzer asks it."""

    def __init__(self, **more):
        self.number = free_port()
        self.config = {"listen": f"127.0.0.1:{self.number}", "token_file": "words.token"} | more

    def url(self, name):
        return f"http://127.0.0.1:{self.number}/words/{TOKEN}/{name}.dic"

    def ask(self, method="GET", name="ext", etag=None, path=None):
        """(status, headers, words)"""
        connection = http.client.HTTPConnection("127.0.0.1", self.number, timeout=10)
        try:
            connection.request(method, path or f"/words/{TOKEN}/{name}.dic", headers={"If-None-Match": etag} if etag else {})
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read().decode().split("\n")[:-1]
        finally:
            connection.close()

    def etag(self, name="ext"):
        return self.ask("HEAD", name)[1]["ETag"]


def serve(w, **more):
    port = Port(**more)
    daemon = w.millrace(start=False, words=port.config)
    daemon.write("words.token", TOKEN + "\n")
    return daemon.start(), port


def is_served(port, *words, name="ext"):
    status, head, found = port.ask("GET", name)
    if status != 200 or found != list(words) or head["Content-Type"] != "text/plain; charset=utf-8":
        raise Failed(f"{words} were to be served: {status}, {dict(head)}, {found[:10]}")
    return head


def test_only_what_is_published_is_served_and_the_etag_is_that_of_the_content(w):
    daemon, port = serve(w)
    empty = is_served(port)
    if empty["Last-Modified"] is not None:
        raise Failed("nothing was published, and yet it changed")
    daemon.command("word", "add", "龙井茶", "apple", "铁观音")
    if is_served(port)["ETag"] != empty["ETag"]:
        raise Failed("words that are not published change the ETag")
    before = time.time()
    daemon.command("word", "publish", "龙井茶", "apple")
    one = is_served(port, "apple", "龙井茶")
    changed = email.utils.parsedate_to_datetime(one["Last-Modified"]).timestamp()
    if not before - 2 <= changed <= time.time() + 2:
        raise Failed(f"published at {before}, and changed at {changed}")
    if port.ask("GET", etag=one["ETag"])[0] != 304 or port.ask("HEAD", etag=one["ETag"])[0] != 304 or port.ask("GET", etag=empty["ETag"])[0] != 200:
        raise Failed("who has the words is to get 304, and nobody else")
    status, head, body = port.ask("HEAD")
    if status != 200 or body or head["ETag"] != one["ETag"] or int(head["Content-Length"]) != len("apple\n龙井茶\n".encode()):
        raise Failed(f"HEAD: {status}, {dict(head)}, {body}")
    daemon.command("word", "publish", "--all")
    two = is_served(port, "apple", "铁观音", "龙井茶")
    daemon.command("word", "delete", "铁观音", "--yes")
    three = is_served(port, "apple", "龙井茶")
    if two["ETag"] == one["ETag"] or three["ETag"] != one["ETag"]:
        raise Failed("the ETag is not that of the content")
    daemon.command("word", "add", "的", "--list", "stop", "--publish")
    is_served(port, "的", name="stop")
    if port.etag() != one["ETag"]:
        raise Failed("a word of the other list changes the ETag")
    daemon.stop()
    daemon.start()
    if is_served(port, "apple", "龙井茶")["ETag"] != one["ETag"]:
        raise Failed("a restart changes the ETag")


def test_a_new_word_can_be_changed_and_a_published_one_only_deleted(w):
    daemon = w.millrace()
    daemon.command("word", "add", "a")
    daemon.command("word", "add", "p", "--publish")
    daemon.command("word", "set", "a", "b")
    if [(one["word"], one["state"]) for one in daemon.json("word", "list")["items"]] != [("b", "init"), ("p", "published")]:
        raise Failed(f"{daemon.json('word', 'list')}")
    refused(daemon.command("word", "set", "p", "q", ok=None), "is published, so it can only be deleted")
    refused(daemon.command("word", "set", "b", "p", ok=None), "has the word p already")
    refused(daemon.command("word", "set", "none", "x", ok=None), "has no word none")
    refused(daemon.command("word", "publish", "b", "none", ok=None), "has no word none")
    refused(daemon.command("word", "delete", "b", "none", "--yes", ok=None), "has no word none")
    refused(daemon.command("word", "get", "none", ok=None), "has no word none")
    if daemon.json("word", "get", "b")["items"][0]["state"] != "init":
        raise Failed("of several words one was published")
    daemon.command("word", "delete", "p", "--yes")
    if daemon.command("word", "export").stdout != "b\n":
        raise Failed(daemon.command("word", "export").stdout)
    entries = daemon.json("audit", "list")["items"]
    if entries[0]["what"] != "delete words" or entries[0]["asked"]["words"] != ["p"]:
        raise Failed(f"who deleted a word is to be noted: {entries[0]}")


def test_what_is_no_word_is_refused_and_no_line_of_its_file_is_added(w):
    daemon = w.millrace()
    for bad, why in ("x" * 10240, "10240 bytes, and may have 255"), ("a\nb", "line break"), (" a", "space"), ("", "is empty"):
        refused(daemon.command("word", "add", "good", bad, ok=None), why)
    refused(daemon.command("word", "add", "a", "--list", "other", ok=None), "ext or stop", code=2)
    file = daemon.write("bad.dic", "one\n" + "x" * 10240 + "\n\ntwo\nthr\x01ee\n")
    done = daemon.command("word", "import", file, "-o", "json", ok=(1,))
    report = json.loads(done.stderr.splitlines()[-1])
    if [one["line"] for one in report["errors"]] != [2, 5] or "none was added" not in report["message"]:
        raise Failed(f"{report}")
    if daemon.json("word", "list")["items"]:
        raise Failed("of a file with bad lines words were added")


def test_a_hundred_thousand_words_are_imported_served_and_exported(w):
    daemon, port = serve(w)
    words = sorted({f"词{number}" for number in range(100000)}, key=lambda word: word.encode())
    daemon.command("word", "import", daemon.write("many.dic", "\ufeff" + "\r\n".join(reversed(words)) + "\n\n  \n"), "--publish")
    is_served(port, *words)
    if daemon.command("word", "export", "--state", "published").stdout.split("\n")[:-1] != words:
        raise Failed("the export is not what was imported")
    again = daemon.json("word", "import", "-", "--publish", input="\n".join(words))
    if again["added"] or again["published"]:
        raise Failed(f"what is there was added again: {again}")
    page = daemon.json("word", "list", "--limit", "2", "--after", words[10])
    if [one["word"] for one in page["items"]] != words[11:13] or page["more_after"] != words[12]:
        raise Failed(f"the page is {page}")


def test_only_given_addresses_with_the_token_get_words_and_nothing_else_is_served(w):
    daemon, port = serve(w)
    daemon.command("word", "add", "a", "--publish")
    for path in f"/words/{TOKEN[:-1]}x/ext.dic", f"/words/{TOKEN}/other.dic", f"/words/{TOKEN}/", "/metrics", "/livez", "/", "/ui/licences.txt", "/status", "/api/v1/words":
        if port.ask(path=path)[0] not in (400, 404):
            raise Failed(f"{path}: {port.ask(path=path)}")
    daemon.stop()
    port.config["allow"] = ["10.0.0.0/8", "192.0.2.7"]
    daemon.configure(words=port.config)
    daemon.start()
    if port.ask()[0] != 403:
        raise Failed(f"127.0.0.1 is not allowed: {port.ask()}")
    daemon.stop()
    with open(daemon.log, encoding="utf-8") as f:
        if TOKEN in f.read():
            raise Failed("the token is in the log")
    if TOKEN in daemon.command("config", "show").stdout:
        raise Failed("config show shows the token")


def test_a_port_without_a_token_or_with_a_wrong_address_is_refused(w):
    cases = (({}, "short", "needs a token of 16"), ({}, "", "token"), ({}, "0123456789abcdef/", "letters, digits"),
             ({"allow": ["db1"]}, TOKEN, "is no address and no network"), ({"listen": "db1:7702"}, TOKEN, "words.listen"))
    daemon, port = serve(w)
    daemon.stop()
    for wrong, token, why in cases:
        daemon.write("words.token", token + "\n")
        daemon.configure(words=port.config | wrong)
        done = daemon.command("run", ok=None)
        if done.returncode == 0 or why not in done.stderr + done.stdout:
            raise Failed(f"{wrong}: {done.returncode}, {done.stderr}")
    daemon.configure(words={"listen": port.config["listen"], "token": TOKEN})
    refused(daemon.command("run", ok=None), "words.token is written here and others may read this file")
    daemon.write("millrace.yaml", open(daemon.config_file, encoding="utf-8").read())
    daemon.start()
    is_served(port)


def pulls(daemon):
    return {(one["list"], one["address"]): one for one in daemon.json("word", "status")["pulls"]}


def test_who_pulled_which_state_is_shown(w):
    daemon, port = serve(w)
    if pulls(daemon):
        raise Failed(f"nobody has asked: {pulls(daemon)}")
    daemon.command("word", "add", "a", "--publish")
    port.ask("HEAD")
    one = pulls(daemon)["ext", "127.0.0.1"]
    if one["pulled"] is not None or one["current"] or one["asked"] is None:
        raise Failed(f"it has only asked: {one}")
    etag = port.ask()[1]["ETag"]
    one = pulls(daemon)["ext", "127.0.0.1"]
    if one["pulled"] is None or not one["current"] or one["etag"] != etag:
        raise Failed(f"it has pulled: {one}")
    daemon.command("word", "add", "b", "--publish")
    port.ask("HEAD", etag=etag)
    if pulls(daemon)["ext", "127.0.0.1"]["current"]:
        raise Failed("it has not pulled the new word")
    daemon.stop()
    daemon.start()
    port.ask("HEAD", etag=port.etag())
    if not pulls(daemon)["ext", "127.0.0.1"]["current"]:
        raise Failed("after a restart it says itself what it has")
    port.ask(path=f"/words/{TOKEN}x/ext.dic")
    text = daemon.command("word", "status").stdout
    if "PULLED BY" not in text or "127.0.0.1" not in text or list(pulls(daemon)) != [("ext", "127.0.0.1")]:
        raise Failed(text)


def test_all_nodes_serve_the_same_with_the_same_etag_and_time(w):
    ports = [Port(), Port()]
    m = Members(w, nodes=2, topics=2)
    for node, port in zip(m.nodes, ports):
        node.write("words.token", TOKEN + "\n")
        node.configure(words=port.config)
    m.start()
    m.nodes[0].command("word", "add", "龙井茶", "b", "--publish")
    one, two = (is_served(port, "b", "龙井茶") for port in ports)
    if one["ETag"] != two["ETag"] or one["Last-Modified"] != two["Last-Modified"]:
        raise Failed(f"{dict(one)}, {dict(two)}")
    m.nodes[1].command("word", "delete", "b", "--yes")
    one, two = (is_served(port, "龙井茶") for port in ports)
    if one["ETag"] != two["ETag"] or one["Last-Modified"] != two["Last-Modified"]:
        raise Failed(f"{dict(one)}, {dict(two)}")
    m.end()


def test_the_tables_that_use_the_analyzer_are_named_with_what_to_build(w):
    w.sql("CREATE TABLE thing (id INT PRIMARY KEY, title VARCHAR(50))", "INSERT INTO thing VALUES (1, '新到龙井茶上市')",
          "CREATE TABLE plain (id INT PRIMARY KEY, title VARCHAR(50))")
    ik = {"analysis": {"analyzer": {"ik_like": {"type": "standard"}}}}  # no plugin is needed for the name
    small = {"number_of_shards": 1, "number_of_replicas": 0}
    daemon = w.follow(w.definitions({"table": "thing", "settings": small | ik, "columns": ["*", {"name": "title", "type": "text", "analyzer": "ik_like"}]},
                                    {"table": "plain"}))
    table = f"{w.schema}.thing"
    added = daemon.json("word", "add", "龙井茶")
    if [(one["table"], one["older_than_words"]) for one in added["tables"]] != [(table, False)]:
        raise Failed(f"{added}")
    hint = f"millrace index create {table}"
    if hint not in daemon.command("word", "publish", "龙井茶").stdout:
        raise Failed("a build is to be offered")
    if [one["older_than_words"] for one in daemon.json("word", "status")["tables"]] != [True]:
        raise Failed(daemon.command("word", "status").stdout)
    daemon.build(table)
    state, = daemon.json("word", "status")["tables"]
    if state["older_than_words"] or state["version"] != 2:
        raise Failed(f"{state}")
    tokens = daemon.json("word", "try", "one two", "--analyzer", "standard")["tokens"]
    if [one["token"] for one in tokens] != ["one", "two"]:
        raise Failed(f"{tokens}")
    refused(daemon.command("word", "try", "one", "--analyzer", "none_such", ok=None), "none_such", code=2)
    refused(daemon.command("word", "try", "x" * 10001, ok=None), "10000 bytes")


class IkEngine(Engine):
    """A node with the analyzer, which asks this port for words each second."""

    def __init__(self, port):
        super().__init__("ik-engine")
        self.port_of_words = port

    def start(self, *_):
        run_script(OPENSEARCH, "start", "--major", "2", "--data", self.folder, "--port", str(self.port), "--transport", str(self.transport),
                   "--heap", self.heap, "--compiler", self.compiler, "--ik", f"{self.port_of_words.url('ext')},{self.port_of_words.url('stop')}")


def test_a_published_word_changes_what_the_engine_makes_of_a_text(w):
    port = Port()
    w.engine = IkEngine(port)
    w.engine.start()
    try:
        publish_and_look(w, port)
    finally:
        for daemon in w.daemons:
            daemon.stop()
        w.engine.wipe()


def publish_and_look(w, port):
    w.sql("CREATE TABLE thing (id INT PRIMARY KEY, title VARCHAR(50))", "INSERT INTO thing VALUES (1, '新到蓝鲸茶上市')")
    daemon = w.millrace(start=False, words=port.config)
    daemon.write("words.token", TOKEN + "\n")
    daemon.start()
    daemon.apply(w.definitions({"table": "thing", "columns": ["id", {"name": "title", "type": "text", "analyzer": "ik_smart"}]}))
    table = f"{w.schema}.thing"
    daemon.build(table)

    def tokens():
        return [one["token"] for one in daemon.json("word", "try", "新到蓝鲸茶上市")["tokens"]]

    def found():
        w.engine.ask("POST", f"/{w.index('thing')}/_refresh")
        hits = w.engine.ask("POST", f"/{w.index('thing')}/_search", {"query": {"term": {"title": "蓝鲸茶"}}})["hits"]["hits"]
        return sorted(one["_id"] for one in hits)

    before = tokens()
    if "蓝鲸茶" in before or "上市" not in before:
        raise Failed(f"the dictionary has this word already: {before}")
    daemon.command("word", "add", "蓝鲸茶")
    hint = daemon.command("word", "publish", "蓝鲸茶").stdout
    if f"millrace index create {table}" not in hint:
        raise Failed(f"a build is to be offered: {hint}")
    wait_until(lambda: f"the engine has the word: {tokens()}", lambda: "蓝鲸茶" in tokens())
    wait_until("the engine's node has what is published", lambda: pulls(daemon)["ext", "127.0.0.1"]["current"] and ("stop", "127.0.0.1") in pulls(daemon))
    w.sql("INSERT INTO thing VALUES (2, '蓝鲸茶')")
    wait_until("what is indexed from now on has the word", lambda: found() == ["2"])  # and the old text stays
    daemon.build(table)
    if found() != ["1", "2"]:
        raise Failed(f"after a build all text has the word: {found()}")
    daemon.command("word", "add", "上市", "--list", "stop", "--publish")
    wait_until("the word is left out", lambda: "上市" not in tokens())
    daemon.command("word", "delete", "蓝鲸茶", "--yes")
    daemon.command("word", "delete", "上市", "--list", "stop", "--yes")
    wait_until(lambda: f"the engine cuts as before: {tokens()}", lambda: tokens() == before)
    w.sql("INSERT INTO thing VALUES (3, '又到蓝鲸茶')")
    wait_until("a text without the word is indexed", lambda: w.engine.get(w.index("thing"), 3))
    at_the_page(daemon, table, found)


def at_the_page(daemon, table, found):
    def is_cut():
        """The engine has got the word, and takes a moment to read its dictionary anew: whoever tries too early tries again."""
        browser.click("Try", within="main form")
        try:
            browser.shows("ik_smart: 新到 | 蓝鲸茶 | 上市", 2)
        except Failed:
            return False
        return True

    with person(daemon) as browser, Task(browser, "T5", 120):
        browser.click("Words", within="nav.site")
        browser.click("Add words", within="main")
        browser.fill("One word a line", "蓝鲸茶")
        browser.tick("Publish them at once")
        browser.click("Add words", within="dialog")
        browser.click("Who has them")
        browser.wait("the engine has what is published", lambda: "has an older list" not in browser.text() and "has what is published" in browser.text())
        browser.click("Try", within=".tabs")
        browser.fill("Text", "新到蓝鲸茶上市")
        browser.wait("the analyzer has the word", is_cut)
        if "3" in found():
            raise Failed("what was indexed before has the word without a build")
        browser.click("Who has them")
        browser.click("Build a new index version", beside=table)
        browser.click("Build a new index version", within="dialog")
        wait_until("text that was there is found by the word", lambda: found() == ["1", "2", "3"])
