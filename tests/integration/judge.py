"""The judge: are the documents of an index what the database says, all of them, to the last digit?

The expected documents come from oracle.py, a second implementation that knows SQL and the contract
and nothing of Millrace.
"""
import io
import time

import oracle
import sharing
from servers import Failed, let_pass


def index_of(table):
    return table.get("index") or table["table"].split(".", 1)[1]


def verdicts(database, engine, path, tables=None, absent=(), others=()):
    """[(table, equal, report)] of each table that the definition file defines (or of those named).

    absent: fields that a document may lack where they are null, as they came after it; others: servers of
    other topics by their names."""
    return [verdict(engine, *each, absent) for each in expectations(database, path, tables, absent, others)]


def expectations(database, path, tables, absent, others):
    """[(table, index, whether tables share it, {_id: document})] as the databases are now."""
    definitions = oracle.Definitions([path])
    connections = {topic: other.connect(conv={}) for topic, other in dict(others).items()}
    connection = database.connect(conv={})
    try:
        seer = oracle.Oracle(connection, definitions, connections)
        return [expectation(seer, name, index_of(table), absent) for name, table in definitions.tables.items()
                if tables is None or name in tables]
    finally:
        for opened in (connection, *connections.values()):
            opened.close()


def without_nulls(names, value):
    """Without these fields where they are null, at any depth."""
    if not names:
        return value
    if isinstance(value, list):
        return [without_nulls(names, item) for item in value]
    if not isinstance(value, dict):
        return value
    return {k: without_nulls(names, v) for k, v in value.items() if v is not None or k not in names}


def expectation(seer, table, index, absent):
    # A row that cannot be a document is in the dead letters, not in the index.
    shared = sharing.is_shared(seer.definitions.tables[table])
    wanted = sharing.documents(seer, index_of, index).items() if shared else seer.documents(table)
    return table, index, shared, {key: without_nulls(absent, document) for key, document in wanted
                                  if not isinstance(document, oracle.DeadLetter)}


def verdict(engine, table, index, shared, expected, absent=()):
    stored = {key: source for key, source, _ in engine.documents(index, routing=shared)}
    actual = {key: without_nulls(absent, oracle.without_ours(source)) for key, source in stored.items()}
    report = io.StringIO()
    equal = oracle.compare(expected, actual, show=3, out=report,
                           by_engine={key for key, source in stored.items() if "_millrace" in source})
    return table, equal, f"{table} in {index}: {report.getvalue()}"


def written(*servers):
    """Where their logs end; where nothing is logged it is another answer each time."""
    try:
        return [server.log_end() for server in servers]
    except (Failed, IndexError):
        return object()


def wait_equal(database, engine, path, tables=None, seconds=30, alive=None, absent=(), others=()):
    """Judges until everything is equal; the last reports as Failed when that takes too long.

    What is expected is found out again only when something was written, as that takes longer than to
    look.  alive is called in between, to fail early when there is no hope."""
    end = time.monotonic() + seconds
    pause, before, expected = 0.05, None, None
    while True:
        if before != (before := written(database, *dict(others).values())):
            expected = expectations(database, path, tables, absent, others)
        found = [verdict(engine, *each, absent) for each in expected]
        if all(equal for _, equal, _ in found):
            return
        if time.monotonic() > end:
            raise Failed(f"not equal within {seconds} s:\n" + "".join(report for _, equal, report in found if not equal))
        if alive:
            alive()
        let_pass("until it looks again", pause)
        pause = min(pause * 2, 1)


# -- an index that is too large for the memory


STEP = 5000  # ids at a time; the engine gives 10,000 documents of one search


def unequal_ranges(database, engine, path, table, column):
    """[report] of each range of a column of whole numbers, which its documents show, too, in which not all is equal."""
    definitions = oracle.Definitions([path])
    index, connection = index_of(definitions.tables[table]), database.connect(conv={})
    try:
        seer = oracle.Oracle(connection, definitions)
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT MIN({column}), MAX({column}) FROM {table}")
            low, high = map(int, cursor.fetchone())
        count, found, reports = engine.count(index), 0, []  # it refreshes
        for start in range(low, high + 1, STEP):
            n, report = verdict_of_range(seer, engine, table, index, column, start)
            found += n
            reports += [report] if report else []
    finally:
        connection.close()
    return reports + ([f"{table} in {index}: {count} documents, of which {found} are of rows"] if count != found else [])


def verdict_of_range(seer, engine, table, index, column, start):
    """How many documents there are, and what differs, or None."""
    expected = {key: document for key, document in seer.documents(table, among=f"{column} >= {start} AND {column} < {start + STEP}")
                if not isinstance(document, oracle.DeadLetter)}
    hits = engine.ask("POST", f"/{index}/_search", {"size": 2 * STEP, "query": {"range": {column: {"gte": start, "lt": start + STEP}}}})
    actual = {hit["_id"]: oracle.without_ours(hit["_source"]) for hit in hits["hits"]["hits"]}
    report = io.StringIO()
    equal = oracle.compare(expected, actual, show=3, out=report)
    return len(actual), None if equal else f"{table} in {index} from {column} {start} on: {report.getvalue()}"


def wait_equal_in_ranges(database, engine, path, table, column="id", seconds=60):
    """As wait_equal() for a table of any size, while the database is still; each look takes a while."""
    end = time.monotonic() + seconds
    while reports := unequal_ranges(database, engine, path, table, column):
        if time.monotonic() > end:
            raise Failed(f"not equal within {seconds} s, in {len(reports)} ranges:\n" + "".join(reports[:5]))
        let_pass("until it looks again", 1)
