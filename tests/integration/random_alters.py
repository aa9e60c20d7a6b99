"""ALTERs of what documents depend on: which columns of a case, and why.

Documents can still be made after each: what is joined stays as it is, and so does what is shown in a form of its own,
and what tables of one index hold.
"""
from random_case import hides
from random_tables import CUT, ORDERED, quote


def some(rng, case, definitions, n):
    """(table, statement, why) of at most n; one of every kind of reason is as likely as any other."""
    found = possible(case, definitions)
    reasons = sorted({why for _, _, why, _ in found})
    because = [rng.choice(reasons) for _ in range(n if found else 0)]
    chosen = [rng.choice([entry for entry in found if entry[2] == why]) for why in because]
    return [(table, table.alter(column, types), why) for table, column, why, types in chosen]


def possible(case, definitions):
    """(table, column, why, types), several times where the column does not show."""
    things, tables = list(definitions), {t.name: t for t in case.tables}
    for thing in things:  # with the relations below them
        things += thing.get("relations", [])
    roots = {d.get("table") for d in definitions}
    together = {t.name for t in case.alike} | {d["table"] for d in definitions if "join" in d}
    fixed, found = kept(things, tables), []
    for thing in things:
        table = tables.get(thing.get("table"))
        for column in table.columns if table and table.name not in together else []:
            of, why = table.source(column), reason(table, thing, column)
            types = ORDERED if why == "a key" or of == column and quote(of[0]) in thing.get("order_by", "") else CUT
            if why and of[1] in types and (table.name, of[0]) not in fixed:
                hidden = (all(hides(other, of[0]) for other in things if other.get("table") == table.name)
                          and not (of in table.key and table.name in roots))
                found += [(table, of, why + ", hidden" * hidden, types)] * (4 if hidden else 1)
    return found


def reason(table, thing, column):
    """Why documents depend on the column, or on what it is generated from; None where they do not, or show just it."""
    name, made = column[0], column[0] in table.made
    if any(quote(name) in thing.get(field, "") for field in ("where", "order_by", "filter")):
        return "named, made" if made else "named"
    if column in table.key and "to" in thing:
        return "a key"
    return "made" if made and not hides(thing, name) else None


def kept(things, tables):
    """(table, column) of what must stay what it is, and of what that is generated from."""
    found = set()
    for thing in things:
        found |= {(thing.get("table"), name) for name in formed(thing)}
        for relation in thing.get("relations", []):
            link = relation.get("through")
            found |= {(thing.get("table"), name) for name in relation["from"]}
            found |= {(relation["table"], name) for name in relation["to"]}
            found |= {(link["table"], name) for name in link["from"] + link["to"]} if link else set()
    return found | {(t.name, t.source(c)[0]) for t in tables.values() for c in t.generated() if (t.name, c[0]) in found}


def formed(thing):
    """The columns that are shown in a form of their own, or mark deleted rows."""
    entries = [c for c in thing.get("columns", []) if isinstance(c, dict) and "skip" not in c]
    joined = [name for c in entries for step in c.get("transform", []) for name in step.get("columns", [])]
    return [c["name"] for c in entries] + joined + [thing.get("soft_delete", {}).get("column")]
