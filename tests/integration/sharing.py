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
    """The _id of the document that these columns of the row lead to; it need not be there, nor can it always."""
    contract = oracle.Contract(seer.definitions.topic_of(table))
    return prefix(name) + seer.id_of(contract, [seer.table(table).column(c) for c in columns], row)


class Path:
    """From a row of a join up to its root."""

    def __init__(self, seer, definition):
        self.seer, self.chain, self.rows = seer, [definition], {}
        while self.chain[-1]["join"].get("parent"):
            self.chain.append(seer.definitions.tables[self.chain[-1]["join"]["parent"]])

    def columns(self, level):
        """Of a table so far above: those that hold its parent's key."""
        return oracle.listed(self.chain[level]["join"].get("parent_column") or [])

    def id_of(self, level, above, columns, row):
        """The _id of the row so far above that these columns of a row name; None where they name none."""
        if any(row[c.lower()] is None for c in columns):
            return None
        return id_above(self.seer, self.chain[above]["join"]["name"], self.chain[level]["table"], columns, row)

    def rows_at(self, level):
        """{_id: row} of every row of the table so far above, whether or not it has a document."""
        if level not in self.rows:
            table = self.seer.table(self.chain[level]["table"])
            contract = oracle.Contract(self.seer.definitions.topic_of(self.chain[level]["table"]))
            key = [table.column(c) for c in oracle.listed(self.chain[level].get("key") or [])] or table.key
            name = prefix(self.chain[level]["join"]["name"])
            self.rows[level] = {name + self.seer.id_of(contract, key, row): row
                                for row in self.seer.rows(table, " AND ".join(f"{oracle.quote(c.name)} IS NOT NULL" for c in key))}
        return self.rows[level]

    def root(self, level, row):
        """The root of a row: that of its parent, or where that is not there or has none, what its own column says."""
        top = len(self.chain) - 1
        if level + 1 == top:
            return self.id_of(level, top, self.columns(level), row)
        parent = self.id_of(level, level + 1, self.columns(level), row)
        above = self.rows_at(level + 1).get(parent)
        found = self.root(level + 1, above) if above is not None else None
        return found or self.id_of(level, top, oracle.listed(self.chain[level]["root_column"]), row)


def checked(seer, definition, _id):
    """A row whose parent or root makes no _id is a dead letter."""
    if _id is not None:
        seer.check_id(_id, prefix(definition["join"]["name"]))
    return _id


def containing(seer, table):
    """As Oracle.containing() of a table of a join, of its documents; the tables on the way to the root are its last places."""
    definition = seer.definitions.tables[table]
    name, documents, path = prefix(definition["join"]["name"]), dict(joined(seer, definition)), Path(seer, definition)
    found = {key: {name + root for root in roots} & documents.keys() for key, roots in seer.containing(table).items()}
    for row, ours, _ in seer.rows_and_documents(table, definition, name):
        for level in range(len(path.chain) - 2):
            row = path.rows_at(level + 1).get(path.id_of(level, level + 1, path.columns(level), row))
            if row is None or ours not in documents:
                break
            seer.enter(seer.table(path.chain[level + 1]["table"]), row, seer.count_below(definition) + level + 1, ours, found)
    return found


def joined(seer, definition):
    table, join, path = definition["table"], definition["join"], Path(seer, definition)
    for row, ours, document in seer.rows_and_documents(table, definition, prefix(join["name"])):
        if isinstance(document, oracle.DeadLetter):
            continue
        name, root = join["name"], ours
        if join.get("parent"):
            try:
                parent = checked(seer, path.chain[1], path.id_of(0, 1, path.columns(0), row))
                root = checked(seer, path.chain[-1], path.root(0, row))
            except oracle.DeadLetter:
                continue
            if parent is None or root is None:
                continue
            name = {"name": name, "parent": parent}
        yield ours, document | {join.get("field", "join"): name, "_routing": root}
