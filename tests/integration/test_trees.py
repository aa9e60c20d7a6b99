"""The anti-entropy trees (`index.trees`): what the engine lacks of what the source has is found and repaired."""
import glob
import itertools
import threading

import exchanging
from servers import Failed, stays, wait_until, while_loaded
from test_join import FORUM, forum
from test_verify import Damage

ON = {"trees": True, "exchange_every": "1s", "verify_every": "never", "verify_rate": 0}


LONG = "an-id-of-which-trees-have-a-hash-"  # more than 16 bytes


def follow(w, n=300, index=ON, ids="", topic=None, **config):
    w.sql(f"CREATE TABLE item (id {'VARCHAR(60)' if ids else 'INT'} PRIMARY KEY, name VARCHAR(20))", "CREATE TABLE other (id INT PRIMARY KEY)",
          f"INSERT INTO item SELECT {f'CONCAT({chr(39)}{ids}{chr(39)}, seq)' if ids else 'seq'}, CONCAT('n', seq) FROM seq_1_to_{n}")
    return w.follow(w.definitions({"table": "item"}, {"table": "other"}, **topic or {}), index=index, **config), Damage(w, "item")


def trees(w, daemon, table="item"):
    return w.table(daemon, table)["trees"]


def complete(w, daemon, table="item"):
    def are():
        t = trees(w, daemon, table)
        return t if t and t["state"] == "complete" else None
    return wait_until(f"the trees of {table} are complete", are, 60)


def exchanged(w, daemon, table="item"):
    """Two exchanges end that began after this call."""
    for _ in range(2):
        before = trees(w, daemon, table)["exchanged"]
        wait_until(f"the trees of {table} are exchanged",
                   lambda: (trees(w, daemon, table) or {"exchanged": before})["exchanged"] != before, 60)


def found(daemon, table):
    return [daemon.json("report", "get", r["job"], ok=None) for r in daemon.json("report", "list")["items"]
            if r["table"] == table]


def place(w, damage, key):
    """Where the log ends after a change of this row, and the version that the change has."""
    w.sql(f"UPDATE item SET name = 'known' WHERE id = '{key}'")
    end = int(w.sql("SHOW MASTER STATUS")[0][1])
    wait_until("the change is there", lambda: damage.stored(key)["_source"]["name"] == "known", 30)
    return end, int(damage.stored(key)["_version"])


def hide(w, daemon, damage, number, ids=""):
    """Make a row's change lose against a foreign document with a version above it, which Millrace can have given out."""
    lost = daemon.metric("millrace_changes_done_total", outcome="superseded")
    (end, version), (later, above) = (place(w, damage, f"{ids}{n + number}") for n in (200, 220))
    key = f"{ids}{number}" if ids else number
    damage.put(key, {"id": key, "name": "wrong"}, above + (above - version) * 1000 // (later - end))
    w.sql("BEGIN", f"UPDATE item SET name = 'right' WHERE id = '{key}'",
                  f"INSERT INTO other SELECT {number} * 100000 + seq FROM seq_1_to_20000", "COMMIT")
    wait_until("the change is refused", lambda: daemon.metric("millrace_changes_done_total", outcome="superseded") > lost, 30)


def again(daemon, kill=False, **index):
    daemon.kill() if kill else daemon.stop()
    daemon.configure(index=ON | index)
    daemon.start()


def test_a_change_that_lost_against_a_foreign_document_is_found_and_repaired(w):
    for kill in (False, True):
        if not kill:
            daemon, damage = follow(w, index=ON | {"exchange_every": "1h"})
        else:
            again(daemon, exchange_every="1h")
        built = complete(w, daemon)["built"]
        hide(w, daemon, damage, 7 + kill)
        if damage.stored(7 + kill)["_source"]["name"] != "wrong":
            raise Failed("the change was not refused")
        again(daemon, kill)
        wait_until("it is repaired", lambda: damage.stored(7 + kill)["_source"]["name"] == "right", 60)
        report = wait_until("a report tells of it", lambda: [r for r in found(daemon, f"{w.schema}.item") if r["repaired"] == 1], 30)[-1]
        if report["verdict"] != "equal" or report["documents"] != 300 or (report["counts"]["different"], report["repaired_counts"]["different"]) != (1, 1):
            raise Failed(f"{report}")
        told = w.table(daemon, "item")["repairs"]["exchange"]
        if (told["different"], sum(told.values())) != (1, 1) or daemon.metric("millrace_table_repairs_total", by="exchange", kind="different") != 1:
            raise Failed(f"an exchange repaired a document that was different, and the status says {told}")
        if complete(w, daemon)["built"] != built:
            raise Failed("the trees did not go on after the restart")
        w.equal(daemon)
    exchanged(w, daemon)
    if len(found(daemon, f"{w.schema}.item")) != 3:  # with the comparison that made the trees
        raise Failed(f"{found(daemon, f'{w.schema}.item')}")


def test_a_document_of_whose_id_the_trees_have_only_a_hash_is_found(w):
    daemon, damage = follow(w, ids=LONG, index=ON | {"exchange_every": "1h"})
    built = complete(w, daemon)["built"]
    hide(w, daemon, damage, 7, LONG)
    again(daemon, kill=True)  # and has no names in memory
    wait_until("it is repaired", lambda: damage.stored(f"{LONG}7")["_source"]["name"] == "right", 60)
    hide(w, daemon, damage, 8, LONG)
    wait_until("it is repaired", lambda: damage.stored(f"{LONG}8")["_source"]["name"] == "right", 60)
    exchanged(w, daemon)
    told = trees(w, daemon)
    if told["unnamed"] != 0 or told["built"] != built:
        raise Failed(f"{told}")
    w.equal(daemon)


def children(w, ids):
    """An index of 30 questions and 300 answers whose keys begin like this, of which some go and some move."""
    w.sql("CREATE TABLE question (id INT PRIMARY KEY)", "CREATE TABLE answer (name VARCHAR(60) PRIMARY KEY, question_id INT)",
          "INSERT INTO question SELECT seq FROM seq_1_to_30",
          f"INSERT INTO answer SELECT CONCAT('{ids}', seq), seq % 30 + 1 FROM seq_1_to_300")
    daemon = w.follow(w.definitions(
        {"table": "question", "index": "faq", "join": {"name": "question"}},
        {"table": "answer", "index": "faq", "join": {"name": "answer", "parent": "question", "parent_column": "question_id"}}), index=ON)
    complete(w, daemon, "question")
    w.sql("DELETE FROM answer WHERE question_id = 7", "UPDATE answer SET question_id = 9 WHERE question_id = 8")
    w.equal(daemon)
    exchanged(w, daemon, "question")
    told = trees(w, daemon, "question")
    if told["unnamed"] or told["documents"] != 320:
        raise Failed(f"{told}")
    if exchanging.reports(daemon):
        raise Failed(f"{exchanging.reports(daemon)}")


def test_what_an_exchange_finds_gone_on_both_sides_leaves_the_trees(w):
    children(w, "a")


def test_so_does_what_the_trees_have_only_a_hash_of(w):
    children(w, LONG)


def test_trees_that_missed_changes_or_are_damaged_are_built_anew(w):
    daemon, _ = follow(w)
    built = complete(w, daemon)["built"]
    daemon.stop()
    daemon.configure(index=ON | {"trees": False})
    daemon.start()
    w.sql("UPDATE item SET name = 'missed' WHERE id = 3")
    w.equal(daemon)
    if trees(w, daemon) or glob.glob(f"{daemon.folder}/data/trees/*"):
        raise Failed("a daemon that keeps no trees left some")
    again(daemon)
    anew = complete(w, daemon)["built"]
    if anew <= built:
        raise Failed("the trees are the old ones")
    daemon.stop()
    for path in glob.glob(f"{daemon.folder}/data/trees/*.source"):
        with open(path, "r+b") as f:
            f.seek(4096)
            f.write(b"damage" * 100)
    daemon.start()
    if complete(w, daemon)["built"] <= anew:
        raise Failed("damaged trees went on")
    w.equal(daemon)


def test_a_definition_says_how_its_index_is_compared(w):
    daemon, _ = follow(w, index=ON | {"trees": False, "exchange_every": "1h"})
    if trees(w, daemon):
        raise Failed("trees are off")
    daemon.apply(w.definitions({"table": "item", "compare": {"trees": "keep", "exchange_every": "1s"}}, {"table": "other"}))
    complete(w, daemon)
    exchanged(w, daemon)
    if trees(w, daemon, "other"):
        raise Failed("only one table asks for trees")
    w.sql("UPDATE item SET name = 'followed' WHERE id = 3")
    w.equal(daemon)
    exchanged(w, daemon)
    daemon.apply(w.definitions({"table": "item", "compare": {"trees": "none"}}, {"table": "other"}))
    wait_until("no tree is left", lambda: not glob.glob(f"{daemon.folder}/data/trees/*"), 30)


def building(w, daemon):
    return (trees(w, daemon) or {"state": ""})["state"] == "building"


def test_a_person_does_not_wait_for_the_comparison_that_makes_trees(w):
    daemon, damage = follow(w, n=3000, index=ON | {"verify_rate": 100, "exchange_every": "1h"})
    wait_until("the trees are being built", lambda: building(w, daemon), 30)
    refused = daemon.command("verify", f"{w.schema}.item", "--repair", "--yes", ok=(2,))
    if "nobody has looked" not in refused.stderr or not building(w, daemon):
        raise Failed(f"an order that is refused has ended the comparison: {refused.stderr}")
    damage.lose(9)
    sample = daemon.json("verify", f"{w.schema}.item", "--where", "id < 20", ok=(1,))
    if (sample["verdict"], sample["documents"], sample["differing"]) != ("different", 19, 1) or not building(w, daemon):
        raise Failed(f"{sample}")
    if {j["kind"] for j in daemon.json("job", "list")["items"]} != {"compare"}:
        raise Failed("the comparison that makes trees is not listed as one")
    answer = daemon.json("verify", w.index("item"), "--repair")
    if daemon.json("job", "list")["items"]:
        raise Failed("what compared the index by itself has not made way for its name")
    if (answer["verdict"], answer["documents"], answer["repaired"]) != ("equal", 3000, 1):
        raise Failed(f"{answer}")
    if trees(w, daemon)["state"] != "complete":
        raise Failed("the verification of all of it has made no trees")
    if len(found(daemon, f"{w.schema}.item")) != 2:
        raise Failed("a comparison that made way has left a report")


def test_trees_of_an_index_that_a_person_has_repaired_are_exchanged(w):
    daemon, damage = follow(w, index=ON | {"trees": False})
    for key in range(1, 31):
        damage.lose(key)
    again(daemon)
    wait_until("the index is marked", lambda: w.table(daemon, "item")["verify"], 60)
    if w.table(daemon, "item")["trees"]["state"] != "missing":
        raise Failed("an index of which a person must decide has trees")
    daemon.json("verify", f"{w.schema}.item", "--repair", "--yes")
    complete(w, daemon)
    exchanged(w, daemon)
    w.equal(daemon)


def test_indexes_are_exchanged_and_verified_while_another_is_compared(w):
    slow = {"table": "item", "compare": {"trees": "keep", "rate": 100}}
    daemon, _ = follow(w, n=3000, index=ON | {"trees": False})
    daemon.apply(w.definitions({"table": "item"}, {"table": "other", "compare": {"trees": "keep"}}))
    complete(w, daemon, "other")
    daemon.apply(w.definitions(slow, {"table": "other", "compare": {"trees": "keep"}}))
    wait_until("the trees of the large index are being built", lambda: building(w, daemon), 30)
    exchanged(w, daemon, "other")
    answer = daemon.json("verify", f"{w.schema}.other")
    if answer["verdict"] != "equal" or not building(w, daemon):
        raise Failed(f"{answer}, {trees(w, daemon)}")


def test_exchanges_during_a_load_give_no_false_alarm(w):
    daemon, _ = follow(w)
    complete(w, daemon)
    end = threading.Event()

    def load():
        for i in itertools.count():
            if end.is_set():
                return
            key = w.rng.randrange(400)
            w.sql(f"REPLACE INTO item VALUES ({key}, 'v{i}')" if w.rng.random() < 0.8 else f"DELETE FROM item WHERE id = {key}")

    writer = threading.Thread(target=load)
    writer.start()
    try:
        for _ in while_loaded(8):
            exchanged(w, daemon)
        daemon.kill()
        daemon.start()
        exchanged(w, daemon)
    finally:
        end.set()
        writer.join()
    w.equal(daemon)
    exchanged(w, daemon)
    wrong = [r for r in found(daemon, f"{w.schema}.item") if r["repaired"] or r["differing"] or r["verdict"] == "different"]
    if wrong:
        raise Failed(f"{wrong}")
    rows = int(w.sql("SELECT COUNT(*) FROM item")[0][0])
    if trees(w, daemon)["documents"] != rows:
        raise Failed(f"{trees(w, daemon)} for {rows} rows")


def test_an_exchange_that_may_not_repair_two_of_ten_documents_leaves_them_to_a_person(w):
    daemon, damage = follow(w, n=10)
    complete(w, daemon)
    w.sql("SET SESSION sql_log_bin = 0", "DELETE FROM item WHERE id = 3", "UPDATE item SET name = 'hidden' WHERE id = 4")
    daemon.json("verify", f"{w.schema}.item", ok=(1,))  # looks, and so the trees know that these two differ
    mark = wait_until("the index is marked", lambda: w.table(daemon, "item")["verify"], 60)
    if "an exchange of trees found 2 of 10 documents different" not in mark:
        raise Failed(mark)
    said = [c for c in daemon.json("doctor", ok=None)["items"] if c["id"] == "table.verify"]
    if [c["group"] for c in said] != [f"table {w.schema}.item"] or said[0]["why"] != mark or "--repair" not in said[0]["fix"]:
        raise Failed(f"{said}")
    if daemon.metric("millrace_checks", check="table.verify", status="warn") != 1:
        raise Failed("the metrics do not say that a table is to be verified")
    for options in (["--repair", "--dry-run"], ["--repair"]):
        answer = daemon.json("verify", f"{w.schema}.item", *options, ok=(1,))
        if (answer["differing"], answer["repaired"]) != (2, 0):
            raise Failed(f"{answer}")
    if not damage.stored(3)["found"] or damage.stored(4)["_source"]["name"] != "n4":
        raise Failed("what a person was to decide was changed")
    answer = daemon.json("verify", f"{w.schema}.item", "--repair", "--yes")
    if (answer["verdict"], answer["repaired"]) != ("equal", 2) or w.table(daemon, "item")["verify"]:
        raise Failed(f"{answer}")
    w.equal(daemon)
    complete(w, daemon)
    exchanged(w, daemon)


def documents(w, table):
    return sorted(w.engine.documents(w.index(table)), key=str)


def test_a_source_that_is_half_restored_empties_no_index(w):
    w.sql("CREATE TABLE item (id INT PRIMARY KEY, name VARCHAR(20), changed DATETIME(3) NOT NULL)",
          "INSERT INTO item SELECT seq, CONCAT('n', seq), '2026-01-01' FROM seq_1_to_2000")
    daemon = w.follow(w.definitions({"table": "item", "daily_check_column": "changed"}), index=ON)
    complete(w, daemon)
    daemon.json("check", f"{w.schema}.item")
    before = documents(w, "item")
    w.sql("SET SESSION sql_log_bin = 0", "DELETE FROM item WHERE id > 1000", "UPDATE item SET name = 'old', changed = '2026-01-02' WHERE id > 800")
    daemon.json("verify", f"{w.schema}.item", ok=(1,))  # looks, and so the trees know what differs
    mark = wait_until("an exchange marks the index", lambda: w.table(daemon, "item")["verify"], 60)
    if "an exchange of trees found 1200 of 2000" not in mark:
        raise Failed(mark)
    checked = daemon.json("check", f"{w.schema}.item", "--repair", ok=(1,))
    if (checked["differing"], checked["repaired"]) != (200, 0):
        raise Failed(f"{checked}")
    again(daemon, verify_every="2s")
    compared = wait_until("it is compared by itself", lambda: (c := w.table(daemon, "item")["compared"]) and c["repaired"] is not None and c["differing"] and c, 60)
    if (compared["verdict"], compared["differing"]) != ("different", 1200):
        raise Failed(f"{compared}")
    if [r["repaired"] for r in found(daemon, f"{w.schema}.item") if r["repaired"]] or documents(w, "item") != before:
        raise Failed("something was changed")


def exchanges(daemon):
    return [j["table"] for j in daemon.json("job", "list")["items"] if j["kind"] == "exchange"]


def test_an_index_that_is_built_is_not_exchanged_until_that_is_over(w):
    daemon, _ = follow(w)
    complete(w, daemon)
    complete(w, daemon, "other")
    daemon.stop()
    daemon.start(environment={"MILLRACE_FAILPOINT": "build_filled:1:wait=600000"})
    complete(w, daemon)
    daemon.build(f"{w.schema}.item", "--no-wait")
    wait_until("its rows are written", lambda: '"a failpoint is reached"' in daemon.log_tail(), 30)
    wait_until("an exchange from before has ended", lambda: f"{w.schema}.item" not in exchanges(daemon), 30)
    before = trees(w, daemon)["exchanges"]
    exchanged(w, daemon, "other")
    if trees(w, daemon)["exchanges"] != before:
        raise Failed("it was exchanged while it was built")
    daemon.kill()
    daemon.start()
    wait_until("the build is over", lambda: w.table(daemon, "item")["version"] == 2, 30)
    complete(w, daemon)
    exchanged(w, daemon)


def test_a_row_that_a_filter_leaves_out_is_in_neither_tree(w):
    w.sql("CREATE TABLE item (id INT PRIMARY KEY, shown INT)", "INSERT INTO item SELECT seq, seq % 3 > 0 FROM seq_1_to_300")
    daemon = w.follow(w.definitions({"table": "item", "filter": "shown = 1"}), index=ON)

    if complete(w, daemon)["documents"] != 200:
        raise Failed(f"{trees(w, daemon)}")
    w.sql("INSERT INTO item SELECT 1000 + seq, 0 FROM seq_1_to_50", "UPDATE item SET shown = 0 WHERE id <= 60",
          "UPDATE item SET shown = 1 - shown WHERE id > 200", "DELETE FROM item WHERE id IN (2, 299, 300)")
    w.equal(daemon)
    exchanged(w, daemon)
    shown = int(w.sql("SELECT COUNT(*) FROM item WHERE shown = 1")[0][0])
    if trees(w, daemon)["documents"] != shown:
        raise Failed(f"not {shown}: {trees(w, daemon)}")
    exchanging.found_nothing(daemon)


def test_the_stream_waits_for_a_tree_that_lags(w):
    daemon, _ = follow(w, n=10, ids=LONG, index=ON | {"exchange_every": "1h"})
    complete(w, daemon)
    daemon.stop()
    daemon.start(environment={"MILLRACE_FAILPOINT": "trees_taken:1:wait=600000"})  # the trees take nothing any more
    w.sql(f"INSERT INTO item SELECT CONCAT('{LONG}', 100 + seq), 'new' FROM seq_1_to_40000")
    wait_until("some of it is written", lambda: w.engine.count(w.index("item")) > 10, 30)
    stays("not all of it is written", lambda: w.engine.count(w.index("item")) < 40010, 4)
    daemon.kill()
    daemon.start()
    w.equal(daemon, seconds=60)


def test_children_that_move_and_go_under_a_load_give_no_false_alarm_to_an_exchange(w):
    w.sql(*FORUM, "INSERT INTO question SELECT seq, 'q' FROM seq_1_to_30", "INSERT INTO answer SELECT seq, seq % 30 + 1, 'a' FROM seq_1_to_200",
          "INSERT INTO remark SELECT seq, 1, seq % 200 + 1, NULL, 'r' FROM seq_1_to_200")
    daemon = w.follow(forum(w), index=ON)
    complete(w, daemon, "question")
    end = threading.Event()

    def load():
        while not end.is_set():
            one, other, root = (w.rng.randrange(n) for n in (220, 220, 32))
            w.sql(w.rng.choice([f"UPDATE answer SET question_id = {root} WHERE id = {one}", f"DELETE FROM answer WHERE id = {one}",
                                f"REPLACE INTO answer VALUES ({one}, {root}, 'new')", f"UPDATE remark SET answer_id = {other} WHERE n = {one}",
                                f"REPLACE INTO remark VALUES ({one}, 1, {other}, NULL, 'new')", f"DELETE FROM question WHERE id = {root}",
                                f"REPLACE INTO question VALUES ({root}, 'new')"]))

    writer = threading.Thread(target=load)
    writer.start()
    try:
        for _ in while_loaded(1):
            exchanged(w, daemon, "question")
    finally:
        end.set()
        writer.join()
    w.equal(daemon)
    exchanged(w, daemon, "question")
    exchanging.found_nothing(daemon)
    if trees(w, daemon, "question")["documents"] != w.engine.count(w.index("forum")):
        raise Failed(f"{trees(w, daemon, 'question')} for {w.engine.count(w.index('forum'))} documents")
