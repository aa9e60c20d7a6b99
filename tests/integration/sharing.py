"""Documents of tables that share an index, by the contract: parent and child, or one pattern.

For the judge, beside oracle.py: `_routing` stands in these documents as if it were a field.
"""
import re

import oracle


def is_shared(definition):
    return bool(definition.get("join") or definition.get("pattern"))


def prefix(name):
    return name.replace("%", "%25").replace(":", "%3A") + ":"


def documents(seer, index_of, index):
    """{_id: document} of all tables whose index it is."""
    found = {}
    for definition in seer.definitions.tables.values():
        if index_of(definition) == index:
            found.update(joined(seer, definition) if definition.get("join") else alike(seer, definition))
    return found


def alike(seer, definition):
    """Every table that the pattern names, as it is there now."""
    for name in tables_of(seer, definition["pattern"]):
        for _, key, document in seer.rows_and_documents(name, definition):
            if not isinstance(document, oracle.DeadLetter):
                source = {definition["source_field"]: name} if definition.get("source_field") else {}
                yield prefix(name) + key, document | source


def tables_of(seer, pattern):
    for database, entry in seer.definitions.databases.items():
        seer.cursor.execute("SELECT TABLE_NAME AS t FROM information_schema.TABLES WHERE TABLE_SCHEMA = %s",
                            (entry.get("schema") or database,))
        for row in seer.cursor.fetchall():
            name = f"{database}.{row['t']}"
            if re.fullmatch(pattern, name):
                yield name


def key_text(seer, table, columns, row):
    contract = oracle.Contract(seer.definitions.topic_of(table))
    return seer.id_of(contract, [seer.table(table).column(c) for c in columns], row)


def joined(seer, definition):
    table, join, tables = definition["table"], definition["join"], seer.definitions.tables
    chain = [definition]
    while chain[-1]["join"].get("parent"):
        chain.append(tables[chain[-1]["join"]["parent"]])
    parent_columns = oracle.listed(join.get("parent_column") or [])
    root_columns = [definition["root_column"]] if len(chain) > 2 else parent_columns
    for row, key, document in seer.rows_and_documents(table, definition):
        if isinstance(document, oracle.DeadLetter) or any(row[c.lower()] is None for c in parent_columns + root_columns):
            continue
        ours, name = prefix(join["name"]) + key, join["name"]
        if len(chain) > 1:
            name = {"name": name, "parent": prefix(chain[1]["join"]["name"]) + key_text(seer, table, parent_columns, row)}
            root = prefix(chain[-1]["join"]["name"]) + key_text(seer, table, root_columns, row)
        else:
            root = ours
        yield ours, document | {join.get("field", "join"): name, "_routing": root}
