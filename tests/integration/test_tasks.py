"""What people do at the page with a running system, each within its time: see docs/page.md."""
import json
import threading

import test_delayed
from members import Members
from servers import Failed, let_pass, wait_until
from tasks import Task, person
from test_dead_letters import letters


class Searches(threading.Thread):
    """Asks the alias all the time: each search must find something."""

    def __init__(self, w, index, query):
        super().__init__(daemon=True)
        self.w, self.path, self.query, self.count, self.wrong, self.done = w, f"/{index}/_search", query, 0, [], threading.Event()

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, failure, *_):
        self.done.set()
        self.join()
        if not failure and (self.wrong or not self.count):
            raise Failed(f"of {self.count} searches {len(self.wrong)} found nothing, first {self.wrong[:1]}")

    def run(self):
        while not self.done.is_set():
            self.count += 1
            try:
                if not self.w.engine.ask("POST", self.path, {"query": self.query})["hits"]["hits"]:
                    self.wrong.append("no document")
            except Exception as e:
                self.wrong.append(str(e))
            let_pass("as often as somebody searches", 0.02)


def test_an_analyzer_is_changed_while_searches_go_on_and_the_cut_over_is_undone(w):
    w.sql("CREATE TABLE tea (id INT PRIMARY KEY, name TEXT)", "INSERT INTO tea VALUES (1, 'Green Teas'), (2, 'Black Teas')")
    daemon = w.follow(w.definitions({"table": "tea"}))
    table, index = f"{w.schema}.tea", w.index("tea")

    def finds(word):
        return bool(w.engine.ask("POST", f"/{index}/_search", {"query": {"match": {"name": word}}})["hits"]["hits"])

    if finds("tea"):
        raise Failed("the analyzer knows plurals already")
    with person(daemon, "admin") as browser, Searches(w, index, {"match": {"name": "teas"}}):
        with Task(browser, "T3", 180):
            browser.click("Tables")
            browser.click(table)
            browser.click("Columns", within="main")
            browser.fill("name: Analyzer", "english\t")
            browser.click("Review and store …")
            browser.click("Try without changing anything", within="dialog")
            browser.shows("takes effect with a new index version")
            browser.click("Store the definition", within="dialog")
            browser.click("Build a new index version", within="main")
            browser.tick("Wait with the cut-over until somebody says so")
            browser.fill("Older versions that stay current for a roll-back", "1")
            browser.click("Build a new index version", within="dialog")
            browser.click("Open", within=".toast")
            browser.wait("the build is done", lambda: w.table(daemon, "tea")["wait"], 60)
            if finds("tea"):
                raise Failed("nobody has cut over, and searches use the new version")
            browser.click("Cut over", within="main")
            browser.click("Cut over", within="dialog")
            wait_until("searches use the new analyzer", lambda: finds("tea"))
        with Task(browser, "T4", 20):
            browser.click("Versions")
            browser.click(index)
            browser.click("Roll back", within="main")
            browser.click("Roll back", within="dialog")
            browser.shows("Searches use version 1")
            if finds("tea"):
                raise Failed("searches use the new version still")
    w.sql("INSERT INTO tea VALUES (3, 'Teas')")
    wait_until("the old version is current", lambda: w.engine.get(index, 3))


def test_nine_refused_documents_are_understood_corrected_and_written(w):
    w.sql("CREATE TABLE part (id INT PRIMARY KEY, code VARCHAR(20))",
          *(f"INSERT INTO part VALUES ({i}, '{i}')" for i in range(1, 21)))
    daemon = w.follow(w.definitions({"table": "part", "columns": ["id", {"name": "code", "type": "integer"}]}))
    w.sql("UPDATE part SET code = CONCAT('n', id) WHERE id < 10")
    wait_until("nine dead letters", lambda: len(letters(daemon)) == 9)
    with person(daemon, "admin") as browser:
        browser.shows("in 1 table")
        with Task(browser, "T6", 120):
            browser.click("Go there", beside="9 dead letters")
            browser.shows("9 ×")
            browser.click("Correct the columns")
            browser.choose("code: Field type", "keyword")
            browser.click("Review and store …")
            browser.click("Store the definition", within="dialog")
            browser.click("Build a new index version", within="main")
            browser.click("Build a new index version", within="dialog")
            wait_until("the new version is searched", lambda: w.table(daemon, "part")["version"] == 2, 60)
            browser.click("Dead letters")
            browser.shows("No document was refused")
    w.equal(daemon)


def test_the_documents_of_one_reason_are_written_again_and_no_others(w):
    w.sql("CREATE TABLE part (id INT PRIMARY KEY, code VARCHAR(20), size VARCHAR(20))",
          *(f"INSERT INTO part VALUES ({i}, '1', '1')" for i in range(1, 11)))
    daemon = w.follow(w.definitions({"table": "part", "columns": ["id", {"name": "code", "type": "integer"}, {"name": "size", "type": "integer"}]}))
    w.sql("UPDATE part SET code = CONCAT('it''s ', id) WHERE id < 10", "UPDATE part SET size = 'n10' WHERE id = 10")
    wait_until("ten dead letters", lambda: len(letters(daemon)) == 10)
    w.engine.ask("PUT", f"/{w.index('part')}/_mapping", {"properties": {name: {"type": "integer", "ignore_malformed": True} for name in ("code", "size")}})
    with person(daemon) as browser:
        browser.go("#/letters")
        browser.click("Write these again", beside="[code]")
        browser.click("Write again", within="dialog")
        browser.shows("9 documents are written again")
        browser.shows_not("9 ×")
        browser.shows("1 × mapper_parsing_exception: failed to parse field [size]")
    if [letter["doc_id"] for letter in letters(daemon)] != ["10"]:
        raise Failed(f"{letters(daemon)}")


def test_a_node_is_emptied_for_its_upgrade_and_admitted_again(w):
    m = Members(w, nodes=2, topics=2).start()
    with person(m.nodes[0]) as browser, Task(browser, "T7", 180):
        browser.click("Cluster")
        browser.click("Evacuate", beside="node-1")
        browser.click("Try without changing anything", within="dialog")
        browser.shows("node-1 -> node-0")
        browser.click("Evacuate", within="dialog")
        browser.shows("you can stop it now", 40)
        if m.has("node-1") or m.has("node-0") != sorted(m.schemas):
            raise Failed(f"it can be stopped, and topics are at {m.owners()}")
        m.nodes[1].stop()
        browser.shows("shut down")
        m.nodes[1].start()
        browser.shows("you can stop it now", 40)
        browser.click("Admit", beside="node-1")
        browser.click("Admit", within="dialog")
        m.wait_shared(0, 1)
        browser.shows("at rest")
    m.change(5)
    m.equal()
    m.end()


def test_an_auditor_gets_a_report_that_both_sides_are_equal(w):
    w.load_shop()
    daemon = w.follow(w.shop_definitions("product"))
    rows = w.sql("SELECT COUNT(*) FROM product")[0][0]
    with person(daemon) as browser, Task(browser, "T8", 120):
        browser.click("Verify")
        browser.click("Verify", within="main td")
        browser.click("Verify", within="dialog")
        browser.click("Open", within=".toast")
        browser.click("Save as JSON")
        name, content = browser.downloaded()
        report = json.loads(content)
        if (report["verdict"], report["documents"], report["equal"], report["differing"]) != ("equal", rows, rows, 0):
            raise Failed(f"of {rows} rows {name} says {report}")


def test_a_nightly_run_that_was_missed_is_seen_at_once_and_run(w):
    daemon = test_delayed.follow(w, "label", "part", delayed={"expect_every": "20s"})
    w.sql("UPDATE label SET name = 'new' WHERE id = 1")  # and of part nothing waits
    test_delayed.waits(daemon, 1)
    with person(daemon) as browser:
        browser.wait("both runs are late", lambda: browser.text().count("no delayed run of it was good") == 2, 60)
        with Task(browser, "T9", 60):
            browser.click("Go there", within="main")
            for i, table in enumerate(("label", "part")):
                browser.wait("those that are late are shown", lambda: browser.text().count("▲ overdue") == 2 - i)
                browser.click("Run now", within="main", beside=f"{w.schema}.{table}")
                browser.click("Run now", within="dialog")
                browser.click("Tables", within="main")
                wait_until("the run was good", lambda: w.table(daemon, table)["runs"]["delayed"]["last_success"])
            browser.click("Overview")
            browser.shows("Nothing: all checks are fine.")
    if test_delayed.name_in(w, 10) != "new":
        raise Failed("documents show the old label")
