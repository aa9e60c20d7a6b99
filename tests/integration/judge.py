"""The judge: are the documents of an index what the database says, all of them, to the last digit?

The expected documents come from oracle.py, a second implementation that knows SQL and the contract
and nothing of Millrace.
"""
import io
import time

import oracle
import sharing
from servers import Failed


def index_of(table):
    return table.get("index") or table["table"].split(".", 1)[1]


def verdicts(database, engine, path, tables=None, absent=(), others=()):
    """[(table, equal, report)] of each table that the definition file defines (or of those named).

    absent: fields that a document may lack where they are null, as they came after it; others: servers of
    other topics by their names."""
    definitions = oracle.Definitions([path])
    connections = {topic: other.connect(conv={}) for topic, other in dict(others).items()}
    connection = database.connect(conv={})
    try:
        seer = oracle.Oracle(connection, definitions, connections)
        return [verdict(seer, engine, name, index_of(table), absent) for name, table in definitions.tables.items()
                if tables is None or name in tables]
    finally:
        for opened in (connection, *connections.values()):
            opened.close()


def without_nulls(names, value):
    """Without these fields where they are null, at any depth."""
    if isinstance(value, list):
        return [without_nulls(names, item) for item in value]
    if not isinstance(value, dict):
        return value
    return {k: without_nulls(names, v) for k, v in value.items() if v is not None or k not in names}


def verdict(seer, engine, table, index, absent=()):
    # A row that cannot be a document is in the dead letters, not in the index.
    shared = sharing.is_shared(seer.definitions.tables[table])
    wanted = sharing.documents(seer, index_of, index).items() if shared else seer.documents(table)
    expected = {key: without_nulls(absent, document) for key, document in wanted
                if not isinstance(document, oracle.DeadLetter)}
    actual = {key: without_nulls(absent, oracle.without_ours(source))
              for key, source, _ in engine.documents(index, routing=shared)}
    report = io.StringIO()
    equal = oracle.compare(expected, actual, show=3, out=report)
    return table, equal, f"{table} in {index}: {report.getvalue()}"


def wait_equal(database, engine, path, tables=None, seconds=30, alive=None, absent=(), others=()):
    """Judges until everything is equal; the last reports as Failed when that takes too long.

    The database must be still.  alive is called in between, to fail early when there is no hope."""
    end = time.monotonic() + seconds
    pause = 0.05
    while True:
        found = verdicts(database, engine, path, tables, absent, others)
        if all(equal for _, equal, _ in found):
            return
        if time.monotonic() > end:
            raise Failed(f"not equal within {seconds} s:\n" + "".join(report for _, equal, report in found if not equal))
        if alive:
            alive()
        time.sleep(pause)
        pause = min(pause * 2, 1)
