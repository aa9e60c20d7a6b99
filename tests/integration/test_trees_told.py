"""What exchanges of the anti-entropy trees did, and why one was put off, is said by status, metrics and doctor."""
import glob
import os

from servers import Failed, wait_until
from test_relations import grant_alone
from test_trees import ON, complete, trees


def warning(w, daemon, table):
    """What status and doctor say of a table's trees."""
    return of_trees(w, daemon.json("status")["checks"], table)


def of_trees(w, checks, table):
    return next((c for c in checks if c["id"] == "table.trees" and c["group"] == f"table {w.schema}.{table}"), None)


def exchanges(w, daemon, result, table="item"):
    return daemon.metric("millrace_table_exchanges_total", table=f"{w.schema}.{table}", result=result)


def go_on(w, daemon, table):
    wait_until("the exchanges go on", lambda: (t := trees(w, daemon, table)) and t["exchanges"] and t["put_off_reason"] is None, 60)
    wait_until("the doctor warns no more", lambda: not warning(w, daemon, table), 30)


def test_an_exchange_that_is_put_off_and_trees_that_are_missing_are_told(w):
    w.sql("CREATE TABLE item (id INT PRIMARY KEY)", "CREATE TABLE other (id INT PRIMARY KEY)",
          "CREATE TABLE detail (id INT PRIMARY KEY, other_id INT, KEY (other_id))", "INSERT INTO item SELECT seq FROM seq_1_to_300")
    details = {"from": "id", "table": "detail", "to": "other_id", "as": "details", "many": True}
    daemon = w.follow(w.definitions({"table": "item"}, {"table": "other", "relations": [details]}), index=ON)
    complete(w, daemon)
    first = wait_until("an exchange ended", lambda: trees(w, daemon)["exchanges"] and trees(w, daemon), 30)
    if (first["differing"], first["put_off"], first["put_off_reason"]) != (0, 0, None) or not exchanges(w, daemon, "equal"):
        raise Failed(f"{first}")
    item = {"table": f"{w.schema}.item"}
    if daemon.metric("millrace_table_trees_state", state="complete", **item) != 1 or daemon.metric("millrace_table_trees_entries", **item) != 300:
        raise Failed("the metrics do not say which trees there are")
    if warning(w, daemon, "item") or w.table(daemon, "item")["verify_due"]:
        raise Failed("the doctor warns of trees that are compared, or the status says when it is not")

    with w.db.connect(w.schema) as locker, locker.cursor() as cursor:
        cursor.execute("LOCK TABLES detail WRITE")
        w.sql("INSERT INTO other VALUES (1)")
        off = wait_until("an exchange is put off", lambda: trees(w, daemon, "other")["put_off"] and trees(w, daemon, "other"), 60)
        if "could be delivered" not in off["put_off_reason"] or exchanges(w, daemon, "put_off", "other") < 1:
            raise Failed(f"{off}")
        said = wait_until("the doctor warns", lambda: warning(w, daemon, "other"), 60)
        if "the last exchange was put off: not all that the source has could be delivered" not in said["message"] or said["fix"] != "millrace status says what waits":
            raise Failed(f"{said}")
        if daemon.metric("millrace_checks", check="table.trees", status="warn") < 1:
            raise Failed("the metrics do not say that the doctor warns")
        if trees(w, daemon)["put_off"] or warning(w, daemon, "item"):
            raise Failed("what one index waits for has put off the exchange of another")
    for table in ("item", "other"):
        go_on(w, daemon, table)

    daemon.command("index", "pause", f"{w.schema}.other")
    daemon.stop()
    for path in glob.glob(f"{daemon.folder}/data/trees/*"):
        os.unlink(path)
    daemon.start()
    said = wait_until("the doctor misses the trees of an index that takes nothing", lambda: warning(w, daemon, "other"), 60)
    if not of_trees(w, daemon.json("doctor", ok=None)["items"], "other"):
        raise Failed("status warns, the doctor does not")
    if "has none now; the table is held: a person paused it" not in said["message"] or "millrace index resume" not in said["fix"] or not w.table(daemon, "other")["verify_due"]:
        raise Failed(f"{said}")
    if daemon.metric("millrace_table_trees_state", table=f"{w.schema}.other", state="missing") != 1:
        raise Failed("the metrics do not say that trees are missing")

    daemon.command("index", "resume", f"{w.schema}.other")
    complete(w, daemon, "other")
    go_on(w, daemon, "other")
    w.equal(daemon)


def test_why_the_comparison_that_makes_trees_ended_early_is_told(w):
    user = "millrace@'127.0.0.1'"
    w.sql("CREATE TABLE item (id INT PRIMARY KEY)", "INSERT INTO item SELECT seq FROM seq_1_to_300")
    grant_alone(w, user, "item")
    daemon = w.follow(w.definitions({"table": "item"}), index=ON)
    complete(w, daemon)
    daemon.stop()
    for path in glob.glob(f"{daemon.folder}/data/trees/*"):
        os.unlink(path)
    w.sql(f"REVOKE SELECT ON {w.schema}.item FROM {user}")
    daemon.start()
    said = wait_until("the doctor says why there are no trees",
                      lambda: (is_ := warning(w, daemon, "item")) and "the comparison that makes them ended early: " in is_["message"] and is_, 120)
    report = daemon.json("report", "list")["items"][0]
    if "SELECT command denied" not in report["why"] or report["why"].split("; fix: ")[0] not in said["message"]:
        raise Failed(f"the doctor says {said}; the report: {report}")
    w.sql(f"GRANT SELECT ON {w.schema}.item TO {user}")
    daemon.json("verify", f"{w.schema}.item")
    go_on(w, daemon, "item")
