"""The judge itself: it sees every kind of wrong, so that its yes means something."""
import json
import os

import yaml

import judge
import oracle
import servers
from servers import Failed


def store(w, definitions):
    """Puts the right documents into the index by hand; gives the definition file."""
    path = os.path.join(servers.RUN, f"{w.schema}.yaml")
    with open(path, "w", encoding="utf-8") as f:
        yaml.safe_dump(definitions, f, sort_keys=False, allow_unicode=True)
    connection = w.db.connect(conv={})
    seer = oracle.Oracle(connection, oracle.Definitions([path]))
    for table in definitions["tables"]:
        lines = []
        for key, document in seer.documents(table["table"]):
            lines += [json.dumps({"index": {"_id": key}}), oracle.encode(document)]
        answer = w.engine.ask("POST", f"/{table['index']}/_bulk", "\n".join(lines) + "\n")
        if answer["errors"]:
            raise Failed(str(answer)[:500])
    connection.close()
    return path


def test_the_judge_sees_missing_extra_and_different_documents(w):
    w.load_shop()
    definitions = w.shop_definitions()
    path = store(w, definitions)
    for table, equal, report in judge.verdicts(w.db, w.engine, path):
        if not equal:
            raise Failed(f"{table}: {report}")
    orders = w.index("orders")
    w.engine.ask("POST", f"/{orders}/_update/1", {"doc": {"total": 1}})
    w.engine.ask("POST", f"/{orders}/_update/2", {"doc": {"items": []}})
    w.engine.ask("POST", f"/{orders}/_update/3", {"doc": {"_millrace": "is not looked at"}})
    w.engine.ask("DELETE", f"/{orders}/_doc/4")
    w.engine.ask("PUT", f"/{orders}/_doc/900000", {"id": 900000})
    _, equal, report = judge.verdicts(w.db, w.engine, path, [f"{w.schema}.orders"])[0]
    if equal or "1 missing, 1 extra, 2 different" not in report:
        raise Failed(report)
