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
        for _, key, document in seer.rows_and_documents(name, definition, prefix(name)):
            if not isinstance(document, oracle.DeadLetter):
                source = {definition["source_field"]: name} if definition.get("source_field") else {}
                yield key, document | source


def tables_of(seer, pattern):
    for database, entry in seer.definitions.databases.items():
        cursor = seer.cursor_of(entry["topic"])
        cursor.execute("SELECT TABLE_NAME AS t FROM information_schema.TABLES WHERE TABLE_SCHEMA = %s",
                       (entry.get("schema") or database,))
        for row in cursor.fetchall():
            name = f"{database}.{row['t']}"
            if re.fullmatch(pattern, name):
                yield name


def id_above(seer, name, table, columns, row):
    """The _id of the document that these columns of the row lead to; it need not be there."""
    contract = oracle.Contract(seer.definitions.topic_of(table))
    _id = prefix(name) + seer.id_of(contract, [seer.table(table).column(c) for c in columns], row)
    seer.check_id(_id, prefix(name))
    return _id


def joined(seer, definition):
    table, join, tables = definition["table"], definition["join"], seer.definitions.tables
    chain = [definition]
    while chain[-1]["join"].get("parent"):
        chain.append(tables[chain[-1]["join"]["parent"]])
    parent_columns = oracle.listed(join.get("parent_column") or [])
    root_columns = [definition["root_column"]] if len(chain) > 2 else parent_columns
    for row, ours, document in seer.rows_and_documents(table, definition, prefix(join["name"])):
        if isinstance(document, oracle.DeadLetter) or any(row[c.lower()] is None for c in parent_columns + root_columns):
            continue
        name, root = join["name"], ours
        if len(chain) > 1:
            try:
                name = {"name": name, "parent": id_above(seer, chain[1]["join"]["name"], table, parent_columns, row)}
                root = id_above(seer, chain[-1]["join"]["name"], table, root_columns, row)
            except oracle.DeadLetter:
                continue
        yield ours, document | {join.get("field", "join"): name, "_routing": root}
