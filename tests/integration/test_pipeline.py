"""Documents pass an ingest pipeline of the engine: what it sets, drops, refuses, and when it is away."""
from servers import Failed, let_pass, wait_until
from test_verify import Damage

ROWS = 40
# Makes a field; drops what is marked 'drop'; fails for what is marked 'fail' or 'script'.
PROCESSORS = [{"script": {"source": "ctx.words = ctx.t + '!'"}}, {"drop": {"if": "ctx.t == 'drop'"}},
              {"fail": {"if": "ctx.t == 'fail'", "message": "no good"}},
              {"script": {"if": "ctx.t == 'script'", "source": "ctx.n = ctx.nothing.length()"}}]


def name_of(w):
    return f"{w.schema}-pipeline"


def put(w, processors=PROCESSORS, name=None):
    w.engine.ask("PUT", f"/_ingest/pipeline/{name or name_of(w)}", {"processors": processors})


def delete(w, name=None):
    w.engine.ask("DELETE", f"/_ingest/pipeline/{name or name_of(w)}", ok=(200, 404))


def definition(w, **more):
    return w.definitions({"table": "thing", "pipeline": name_of(w), "mapping": {"properties": {"words": {"type": "keyword"}}}} | more)


def make(w):
    w.sql("CREATE TABLE thing (id INT PRIMARY KEY, t VARCHAR(20), part INT, KEY (part))", "CREATE TABLE part (id INT PRIMARY KEY, a INT)",
          "INSERT INTO part VALUES (1, 1)",
          "INSERT INTO thing VALUES " + ", ".join(f"({i}, 'text {i}', 1)" for i in range(1, ROWS + 1)))


def followed(w, **config):
    make(w)
    put(w)
    return w.follow(definition(w), **config)


def words(w, key):
    found = w.engine.get(w.index("thing"), key)
    return found and found.get("words")


def wait_words(w, key, text):
    wait_until(f"thing {key} has the words {text!r}", lambda: words(w, key) == text)


def letters(daemon):
    return daemon.json("dead-letter", "list")["items"]


def test_every_document_passes_the_pipeline_of_its_table(w):
    daemon = followed(w)
    if words(w, 7) != "text 7!":
        raise Failed(f"the build has the words {words(w, 7)!r}")
    w.sql("UPDATE thing SET t = 'new' WHERE id = 7", "INSERT INTO thing VALUES (99, 'late', 1)", "DELETE FROM thing WHERE id = 8")
    wait_words(w, 7, "new!")
    wait_words(w, 99, "late!")
    wait_until("thing 8 is gone", lambda: w.engine.get(w.index("thing"), 8) is None)
    said = daemon.json("explain", f"{w.schema}.thing", "7")
    if said["pipeline"] != name_of(w) or f'"pipeline":"{name_of(w)}"' not in said["bulk"][0]:
        raise Failed(f"explain says {said['pipeline']!r} and {said['bulk'][0]}")


def test_what_the_pipeline_drops_is_not_in_the_index_and_is_counted(w):
    make(w)
    put(w)
    w.sql("UPDATE thing SET t = 'drop' WHERE id <= 5")
    daemon = w.follow(definition(w))
    if w.table(daemon, "thing")["dropped"] != 5 or w.engine.count(w.index("thing")) != ROWS - 5:
        raise Failed(f"the build: {w.table(daemon, 'thing')['dropped']} dropped, {w.engine.count(w.index('thing'))} documents")
    w.sql("UPDATE thing SET t = 'drop' WHERE id = 10", "UPDATE thing SET t = 'back' WHERE id = 1")
    wait_until("the older document of thing 10 is gone", lambda: w.engine.get(w.index("thing"), 10) is None)
    wait_words(w, 1, "back!")
    if w.table(daemon, "thing")["dropped"] != 6:
        raise Failed(f"status counts {w.table(daemon, 'thing')['dropped']}")
    if "ingest pipeline has dropped documents: 6\n" not in daemon.command("status").stdout:
        raise Failed(f"status says {daemon.command('status').stdout}")
    if daemon.metric("millrace_table_documents_total", table=f"{w.schema}.thing", result="dropped") != 6:
        raise Failed("the metric is not 6")
    if letters(daemon) or w.table(daemon, "thing")["state"] != "available":
        raise Failed(f"{letters(daemon)} {w.table(daemon, 'thing')}")


def test_a_document_for_which_the_pipeline_fails_is_a_dead_letter_that_can_be_replayed(w):
    daemon = followed(w)
    w.sql("UPDATE thing SET t = 'fail' WHERE id = 3", "UPDATE thing SET t = 'script' WHERE id = 4", "UPDATE thing SET t = 'well' WHERE id = 5")
    # One request: the engine tells of these three in another order.
    w.sql("UPDATE thing SET t = ELT(id - 29, 'fail', 'ok', 'ok', 'drop', 'ok', 'script', 'drop', 'fail') WHERE id BETWEEN 30 AND 37")
    wait_words(w, 5, "well!")
    wait_until("five are dead letters", lambda: len(letters(daemon)) == 5)
    reasons = {str(letter["doc_id"]): letter["reason"].split(":")[0] for letter in letters(daemon)}
    fails, scripts = "fail_processor_exception", "script_exception"
    if reasons != {"3": fails, "4": scripts, "30": fails, "35": scripts, "37": fails}:
        raise Failed(f"reasons: {reasons}")
    for key, text in {31: "ok!", 33: None, 34: "ok!", 36: None}.items():
        wait_words(w, key, text)
    put(w, PROCESSORS[:1])
    daemon.command("dead-letter", "replay", "--all")
    wait_words(w, 3, "fail!")
    wait_words(w, 35, "script!")
    wait_until("no letter is left", lambda: not letters(daemon))


def test_apply_refuses_a_pipeline_that_is_missing_or_moves_documents(w):
    make(w)
    delete(w)
    daemon = w.millrace()
    for dry in ((), ("-n",)):
        said = daemon.apply(definition(w), *dry, ok=(1, 65)).stderr
        if f"the search engine has no ingest pipeline `{name_of(w)}`" not in said or f"PUT /_ingest/pipeline/{name_of(w)}" not in said:
            raise Failed(f"apply said: {said}")
    put(w, [{"set": {"field": "_routing", "value": "x"}}])
    said = daemon.apply(definition(w), ok=(1, 65)).stderr
    if "sets `_routing`" not in said:
        raise Failed(f"apply said: {said}")
    put(w)
    relation = {"from": "part", "table": "part", "to": "id", "as": "whole", "refresh": "area"}
    said = daemon.apply(definition(w, relations=[relation])).stderr
    if "`refresh: area` has no effect" not in said or "pipeline" not in said:
        raise Failed(f"apply said: {said}")


def test_another_pipeline_takes_effect_with_a_build(w):
    daemon = followed(w)
    other = name_of(w) + "-2"
    put(w, [{"set": {"field": "words", "value": "other"}}], other)
    said = daemon.apply(definition(w, pipeline=other))
    if "index create" not in said.stdout + said.stderr:
        raise Failed(f"apply said: {said.stdout}{said.stderr}")
    w.sql("UPDATE thing SET t = 'old way' WHERE id = 7")
    wait_words(w, 7, "old way!")
    daemon.build(f"{w.schema}.thing")
    wait_words(w, 7, "other")


def test_a_pipeline_that_is_deleted_holds_the_index_until_it_is_back(w):
    daemon = followed(w)
    delete(w)
    w.sql("UPDATE thing SET t = 'waits' WHERE id <= 20", "DELETE FROM thing WHERE id > 30")
    held = wait_until("the index is held", lambda: w.table(daemon, "thing")["state"] == "held" and w.table(daemon, "thing"))
    if f"pipeline with id [{name_of(w)}] does not exist" not in held["reason"] or "create the ingest pipeline again" not in held["fix"]:
        raise Failed(f"reason and fix are {held['reason']!r} and {held['fix']!r}")
    if "no ingest pipeline" not in str(daemon.json("doctor", ok=None)):
        raise Failed("the doctor does not miss the pipeline")
    let_pass("deletes, which pass no pipeline, must not end the hold", 3)
    if w.table(daemon, "thing")["state"] != "held" or letters(daemon):
        raise Failed(f"{w.table(daemon, 'thing')['state']}, {letters(daemon)}")
    put(w)
    for key in range(1, 21):
        wait_words(w, key, "waits!")
    wait_until("what was deleted is gone", lambda: all(w.engine.get(w.index("thing"), key) is None for key in range(31, ROWS + 1)))
    wait_until("the table runs", lambda: w.table(daemon, "thing")["state"] == "available")


def test_a_pipeline_that_gives_documents_other_ids_stops_the_index(w):
    daemon = followed(w)
    put(w, [{"script": {"source": "ctx._id = 'other'"}}])
    w.sql("UPDATE thing SET t = 'moved' WHERE id = 7")
    held = wait_until("the index is held", lambda: w.table(daemon, "thing")["state"] == "held" and w.table(daemon, "thing"))
    if "another id, other" not in held["reason"] or "leave `_id` and `_index`" not in held["fix"]:
        raise Failed(f"reason and fix are {held['reason']!r} and {held['fix']!r}")
    put(w)
    daemon.build(f"{w.schema}.thing")
    wait_words(w, 7, "moved!")
    if w.engine.get(w.index("thing"), "other") is not None:
        raise Failed("the other document is in the new index")


def test_a_default_pipeline_that_drops_documents_holds_nothing_up(w):
    make(w)
    put(w)
    w.sql("UPDATE thing SET t = 'drop' WHERE id <= 5")
    table = {"table": "thing", "mapping": {"properties": {"words": {"type": "keyword"}}}, "settings": {"default_pipeline": name_of(w)}}
    daemon = w.follow(w.definitions(table))
    w.sql("UPDATE thing SET t = ELT(id - 29, 'fail', 'ok', 'ok', 'drop', 'ok', 'script', 'drop', 'fail') WHERE id BETWEEN 30 AND 37")
    wait_words(w, 31, "ok!")
    wait_until("thing 33 is gone", lambda: w.engine.get(w.index("thing"), 33) is None)
    wait_until("three are dead letters", lambda: len(letters(daemon)) == 3)
    wait_words(w, 34, "ok!")
    if w.engine.count(w.index("thing")) != ROWS - 7:
        raise Failed(f"{w.engine.count(w.index('thing'))} documents")


def test_verify_compares_what_millrace_wrote_and_tells_what_may_be_dropped_apart(w):
    make(w)
    put(w)
    w.sql("UPDATE thing SET t = 'drop' WHERE id <= 5")
    daemon = w.follow(definition(w), index={"verify_every": "2s", "verify_rate": 0})
    found = daemon.json("verify", f"{w.schema}.thing")
    if (found["verdict"], found["equal"], found["apart_counts"]["dropped"]) != ("equal", ROWS - 5, 5):
        raise Failed(f"{found}")
    Damage(w, "thing").change(7, lambda d: d.update(t="wrong"))
    Damage(w, "thing").lose(9)
    found = daemon.json("verify", f"{w.schema}.thing", "--repair")
    if (found["verdict"], found["repaired"], found["apart_counts"]["dropped"]) != ("equal", 2, 5):
        raise Failed(f"{found}")
    wait_words(w, 7, "text 7!")
    wait_words(w, 9, "text 9!")
    if daemon.json("trace", f"{w.schema}.thing", "3", ok=None)["code"] != "dropped":
        raise Failed("trace does not name the pipeline")
    reports = daemon.json("report", "list")["items"]
    if len(reports) != 2 or w.table(daemon, "thing")["verify_due"] is not None:
        raise Failed(f"what a pipeline changes is compared on a schedule: {reports}")
