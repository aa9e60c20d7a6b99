"""Daemons that keep anti-entropy trees beside what else is tested, and what these trees must say at the end."""
import random
import re

import yaml

from servers import Failed, wait_until

ON = {"trees": True, "exchange_every": "1s", "verify_every": "never", "verify_rate": 0}


def of_coin(seed):
    """What half of the seeds configure."""
    return {"index": dict(ON)} if random.Random(f"trees {seed}").random() < 0.5 else {}


def index_of(table):
    return table.get("index") or (table.get("table") or table["pattern"]).split(".", 1)[1]


def without(daemon):
    """The indexes that never have trees: rows read by time, pipelines, and values that the engine does not keep."""
    with open(f"{daemon.folder}/definitions.yaml", encoding="utf-8") as f:
        tables = yaml.safe_load(f)["tables"]
    return {index_of(t) for t in tables if "sync_every" in t or "pipeline" in t.get("settings", {}) or "_source" in t.get("mapping", {})}


def trees(daemon):
    """{table: its trees} of all that must have some; those of which a person must decide have none."""
    never = without(daemon)
    return {t["table"]: t["trees"] or {"state": "none", "exchanged": None} for t in daemon.status()["tables"]
            if t["state"] == "available" and not t["verify"] and t["index"] not in never}


def exchanged(daemon, seconds=120):
    """Of each index an exchange ends that began after this call."""
    seen = {}  # table: the times of its exchanges

    def are():
        daemon.check_alive()
        now = trees(daemon)
        for table, its in now.items():
            seen.setdefault(table, []).extend([its["exchanged"]] if its["exchanged"] not in seen.get(table, []) else [])
        return all(its["state"] == "complete" and len(seen[table]) > 2 for table, its in now.items()) and now
    return wait_until(lambda: f"the trees are exchanged, but {trees(daemon)}; log: {put_off(daemon)}", are, seconds, 0.2)


def put_off(daemon):
    return [line for line in daemon.log_tail(10**6).splitlines() if "trees" in line][-5:]


def alarms(daemon, since=0, but=()):
    """The verifications, trees or not, that found something; since: where its log was then; but: of no such table."""
    ends = [line for line in daemon.log_tail(10**9).encode()[since:].decode(errors="replace").splitlines() if '"a verification has ended"' in line]
    return [line for line in ends if not all(re.search(rf'"?{what}"?[:=]"?0\b', line) for what in ("differing", "repaired"))
            and not any(f'.{table}"' in line for table in but)]


def reports(daemon):
    return [daemon.json("report", "get", r["job"], ok=None) for r in daemon.json("report", "list")["items"]
            if r["verdict"] == "different" or r["differing"] or r["repaired"]]


def found_nothing(daemon, since=0, but=()):
    found = alarms(daemon, since, but)
    if found:
        raise Failed(f"nothing was damaged, and this was found: {found}; reports: {reports(daemon)}")


def tell_nothing(daemon, seconds=120, since=0, but=()):
    """Nothing was damaged, so nothing may have been found; all documents are equal by now."""
    now = exchanged(daemon, seconds)
    found_nothing(daemon, since, but)
    return now
