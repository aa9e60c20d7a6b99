"""SQL expressions of definitions: which functions they may call, and what becomes of those that are stored already."""
import os
import re

import pymysql
from servers import Failed, open_store

# What servers keep out of stored generated columns though it says the same of the same: it hangs on settings that
# our sessions set (src/mysql/mysql.c), or is another name of one that they take.
SET_BY_US = {"DAYNAME", "MONTHNAME", "FROM_UNIXTIME", "UNIX_TIMESTAMP", "TO_CHAR", "JSON_MERGE"}
ARGUMENTS = {"CAST": ["a AS CHAR"], "CONVERT": ["a USING latin1"], "EXTRACT": ["DAY FROM d"], "TIMESTAMPADD": ["DAY, 1, d"],
             "TIMESTAMPDIFF": ["DAY, d, d"], "DATE_ADD": ["d, INTERVAL 1 DAY"], "DATE_SUB": ["d, INTERVAL 1 DAY"],
             "GET_FORMAT": ["DATE, 'USA'"], "POSITION": ["'a' IN a"], "COLUMN_GET": ["a, 1 AS CHAR"]}
ANY = ["a", "a, a", "a, a, a", "a, a, a, a", "d", "d, 1", "p", "p, p", "p, 1", ""]
REFUSED = (1901, 3102, 3763)  # not in a generated column
PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "definitions.md")


def listed():
    """The functions that docs/definitions.md lists."""
    with open(PAGE, encoding="utf-8") as page:
        rows = page.read().split("### Functions of expressions")[1].split("<!-- end -->")[0]
    return [name for row in re.findall(r"^\| [^|]+ \| ([A-Z0-9_ ]+) \|$", rows, re.M) for name in row.split()]


def judge(cursor, name):
    """What the server says of a generated column that is stored and made by the function."""
    said = []
    for arguments in ARGUMENTS.get(name, ANY):
        try:
            cursor.execute(f"CREATE TABLE made (a VARCHAR(20), d DATETIME, p GEOMETRY, g BLOB AS ({name}({arguments})) STORED)")
            cursor.execute("DROP TABLE made")
            return None
        except pymysql.err.MySQLError as e:
            said.append(e.args)
    return next((message for code, message in said if code in REFUSED and f"`{name}`" not in message), None)  # it has none of that name


def test_no_server_says_of_a_listed_function_that_it_changes_by_itself(w):
    names = listed()
    if len(names) < 300:
        raise Failed(f"only {len(names)} functions are listed")
    wrong = []
    with w.db.connect(w.schema) as connection, connection.cursor() as cursor:
        cursor.execute("SET sql_mode = ''")
        wrong = [f"{name}: {said}" for name in names if name not in SET_BY_US and (said := judge(cursor, name))]
        silent = [name for name in ("RAND", "UUID", "NOW", "SLEEP", "CONNECTION_ID") if not judge(cursor, name)]
    if wrong or silent:
        raise Failed(f"refused by the server: {wrong}; not refused by it: {silent}")


def test_a_stored_expression_that_is_refused_goes_on_and_is_named_until_its_table_is_applied(w):
    w.sql("CREATE TABLE thing (id INT PRIMARY KEY, n INT)", "CREATE TABLE good (id INT PRIMARY KEY)",
          "INSERT INTO thing VALUES (1, 1), (2, 2)", "INSERT INTO good VALUES (1)")
    definitions = w.definitions({"table": "thing", "filter": "n = 1"}, {"table": "good"})
    daemon = w.follow(definitions)
    daemon.stop()
    with open_store(daemon) as store:
        for table, column in (("definition", "body"), ("index_version", "definition")):
            store.execute(f"UPDATE {table} SET {column} = REPLACE({column}, 'n = 1', 'n = 1 AND RAND() < 2')")
    daemon.start()
    w.sql("INSERT INTO thing VALUES (3, 1)", "UPDATE thing SET n = 1 WHERE id = 2", "UPDATE thing SET n = 0 WHERE id = 1")
    w.equal(daemon, [f"{w.schema}.thing"])
    state = w.table(daemon, "thing")
    if state["state"] != "available" or "`RAND` in `filter`" not in state["reason"] or "apply" not in state["fix"]:
        raise Failed(f"status says {state}")
    told = [item for item in daemon.json("doctor", ok=None)["items"] if "`RAND` in `filter`" in item["message"]]
    if len(told) != 1 or told[0]["status"] != "fail" or told[0]["group"] != f"table {w.schema}.thing" or not told[0]["fix"]:
        raise Failed(f"doctor says {told}")
    if w.table(daemon, "good")["reason"]:
        raise Failed("it is said of another table as well")
    good = dict(definitions, tables=definitions["tables"][1:])
    daemon.apply(good)
    refused = daemon.apply(daemon.command("export").stdout, ok=(1,))
    if "`RAND` in `filter`" not in refused.stderr:
        raise Failed(f"apply says {refused.stderr}")
    daemon.apply(definitions)
    if w.table(daemon, "thing")["reason"]:
        raise Failed("it is said though the definition is right")


def test_a_filter_by_a_generated_column_that_changes_by_itself_is_refused(w):
    w.sql("CREATE TABLE thing (id INT PRIMARY KEY, made DATE, age INT AS (DATEDIFF(CURDATE(), made)) VIRTUAL,"
          " old INT AS (age > 10) VIRTUAL)")
    daemon = w.millrace()
    shown = daemon.apply(w.definitions({"table": "thing"}))
    refused = daemon.apply(w.definitions({"table": "thing", "columns": ["id"], "filter": "old = 1"}), ok=(1,))
    if "warning: column `age`" not in shown.stderr + shown.stdout or "error: column `old`" not in refused.stderr or "curdate" not in refused.stderr:
        raise Failed(f"shown: {shown.stderr}; filtered: {refused.stderr}")


test_a_filter_by_a_generated_column_that_changes_by_itself_is_refused.servers = ("mariadb", "mariadb11")
test_a_filter_by_a_generated_column_that_changes_by_itself_is_refused.why = "only MariaDB has such columns"
