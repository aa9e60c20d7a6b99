"""What random shapes are made of: in how many seeds each feature is, so that one that is never made is noticed."""
from random_tables import TYPES, quote

RELATION = {  # what is said of a relation: whether it is so
    "one to one": lambda r: not r["many"] and "through" not in r,
    "one to many": lambda r: r["many"] and "through" not in r,
    "many to many": lambda r: r["many"] and "through" in r,
    "one through a link": lambda r: not r["many"] and "through" in r,
    "a link as a relation": lambda r: r["many"] and any(not below["many"] for below in r.get("relations", [])),
    "composite join": lambda r: len(r["from"]) > 1,
    "where": lambda r: "where" in r,
    "where in a link": lambda r: "where" in r and "through" in r,
    "order": lambda r: "order_by" in r,
    "order and limit": lambda r: "order_by" in r and "limit" in r,
    "limit": lambda r: "limit" in r,
    "distinct": lambda r: r.get("distinct"),
    "distinct and limit": lambda r: r.get("distinct") and "limit" in r,
    "single values": lambda r: "values" in r and not r["many"],
    "array of single values": lambda r: "values" in r and r["many"],
    "nested": lambda r: r.get("nested"),
    "flattened": lambda r: r.get("flattened"),
    "object": lambda r: not r["many"] and "values" not in r,
    "array of objects": lambda r: r["many"] and not {"values", "nested", "flattened"} & set(r),
    "itself": lambda r: "max_depth" in r,
    "itself, several times": lambda r: r.get("max_depth", 1) > 1,
    "refresh: area": lambda r: r.get("refresh") == "area",
    "columns": lambda r: "columns" in r,
}
COLUMN = {
    "renamed": lambda c: "as" in c,
    "skip": lambda c: c.get("skip"),
    "constant": lambda c: "value" in c,
    "default": lambda c: "default" in c,
    "type: boolean": lambda c: c.get("type") == "boolean",
}
STEPS = "text", "trim", "split", "join", "mask", "boolean", "number", "date"
CHANGES = ("insert", "insert_several", "insert_ignore", "replace", "upsert", "update", "update_key", "update_several",
           "update_joined", "update_ordered", "swap_keys", "swap_values", "delete", "delete_several", "delete_joined",
           "come_and_go", "go_and_come", "hot_row", "everything", "select_into", "part_rolled_back")
WHOLE = ("filter", "soft delete", "soft delete by NULL", "composite key", "a key beside the primary key",
         "a key that is about too long", "a JSON column", "a deep relation below filter or soft delete",
         "over two databases", "over two servers", "to the other server", "to the other server and back",
         "through a link on the other server", "a document of the second server",
         "join", "a join of two children", "grandchildren", "great-grandchildren", "a composite parent_column",
         "a composite root_column", "a root_column that holds a part of the parent's key, too",
         "a join with relations", "a join with a filter or soft delete", "a join's relation to the other server",
         "a name for the join field", "several shards", "a pattern", "a pattern over two databases", "source_field",
         "a generated column", "a generated column of generated ones", "shown: what is generated", "filter by what is generated",
         "where by what is generated", "order by what is generated", "join by what is generated", "ALTER: named", "ALTER: named, hidden",
         "ALTER: a key", "ALTER: a key, hidden", "ALTER: made", "ALTER: made, hidden", "ALTER: named, made, hidden",
         "a table that joins a pattern later", "two clients at once", "a moved middle", "a moved row of three levels")


def of(shapes):
    """{feature: in how many of the shapes it is}"""
    found = dict.fromkeys([*(f"depth {n}" for n in range(1, 5)), *(f"relation: {n}" for n in RELATION),
                           *(f"column: {n}" for n in COLUMN), *(f"transform: {n}" for n in STEPS),
                           *(f"join by {kind}" for kind in sorted(TYPES)), *(f"key of {kind}" for kind in sorted(TYPES)),
                           *WHOLE, *(f"work: {name}" for name in CHANGES)], 0)
    for shape in shapes:
        for name in set(Look(shape).found) & set(found):
            found[name] += 1
    return found


def lines(found):
    """A table of features and in how many seeds they are."""
    cells = [f"{count:4} {name}" for name, count in found.items()]
    rows = -(-len(cells) // 3)
    return ["   ".join(cell.ljust(42) for cell in cells[row::rows]).rstrip() for row in range(rows)]


class Look:
    """The features of one shape, in `found`."""

    def __init__(self, shape):
        self.tables = {t.name: t for t in shape.case.tables}
        self.kinds = {(t.name, name): kind for t in shape.case.tables for name, kind in t.columns}
        self.found = {f"work: {name}" for name in shape.work.done}
        self.updated = {(t, name) for t, name in self.kinds if self.is_updated(shape, t, name)}
        for table in shape.tables:
            self.definition(shape, table)
        self.note("a table that joins a pattern later", shape.case.later)
        self.note("two clients at once", shape.clients > 1)
        for _, _, why in shape.altered:
            self.note(f"ALTER: {why}")
        self.note("a generated column", any(t.made for t in shape.case.tables))
        self.note("a generated column of generated ones", any(
            of[0] in t.made for t in shape.case.tables for of, _ in t.made.values()))
        self.note("over two databases", len({t.database for t in shape.case.tables}) > 1)
        self.note("over two servers", len({t.server for t in shape.case.tables}) > 1)

    def note(self, name, when=True):
        if when:
            self.found.add(name)

    def is_updated(self, shape, table, column):
        """Whether a statement sets the column of that table alone."""
        begin, sets = self.tables[table].sql_name() + " SET ", f"`{column.replace('`', '``')}` = "
        return any(begin in s and sets in s.split(begin)[1].split(" WHERE ")[0]
                   for phase in shape.phases for _, statements in phase for s in statements if s.startswith("UPDATE"))

    def definition(self, shape, definition):
        shared = "join" in definition or "pattern" in definition
        table = self.tables[definition["table"]] if "table" in definition else shape.case.alike[0]
        self.note("filter", "filter" in definition)
        self.note("soft delete", "soft_delete" in definition)
        self.note("soft delete by NULL", definition.get("soft_delete", {"deleted": 0})["deleted"] is None)
        self.note("composite key", len(table.key) > 1)
        self.note("a key beside the primary key", "key" in definition)
        self.note("a key that is about too long", any(kind == "long" for _, kind in table.key))
        self.note("a document of the second server", table.server)
        self.note("several shards", shared and definition["settings"]["number_of_shards"] > 1)
        for _, kind in table.key:
            self.note(f"key of {kind}")
        self.columns(table, definition)
        self.relations(table, definition, [table])
        self.note("a deep relation below filter or soft delete",
                  {"filter", "soft_delete"} & set(definition) and any(r.get("relations") for r in definition["relations"]))
        if "join" in definition:
            self.join(shape, definition)
        if "pattern" in definition:
            self.note("a pattern")
            self.note("a pattern over two databases", len({t.database for t in shape.case.alike}) > 1)
            self.note("source_field", "source_field" in definition)

    def join(self, shape, definition):
        parent = definition["join"].get("parent")
        above = {t["table"]: t["join"].get("parent") for t in shape.tables if "join" in t}
        self.note("join")
        self.note("grandchildren", above.get(parent))
        self.note("great-grandchildren", above.get(above.get(parent)))
        self.note("a join of two children", parent and list(above.values()).count(parent) > 1)
        self.note("a composite parent_column", len(definition["join"].get("parent_column", [])) > 1)
        root = definition.get("root_column", [])
        self.note("a composite root_column", isinstance(root, list) and len(root) > 1)
        self.note("a root_column that holds a part of the parent's key, too",
                  isinstance(root, list) and set(root) & set(definition["join"].get("parent_column", [])))
        self.note("a join with relations", definition["relations"])
        self.note("a join with a filter or soft delete", {"filter", "soft_delete"} & set(definition))
        self.note("a join's relation to the other server", any(
            self.tables[r["table"]].server != self.tables[definition["table"]].server for r in definition["relations"]))
        self.note("a name for the join field", "field" in definition["join"])
        if parent and definition["table"] in above.values():
            self.note("a moved middle", any((definition["table"], c) in self.updated
                                            for c in definition["join"]["parent_column"]))

    def columns(self, table, thing):
        entries = thing.get("columns", ["*"])
        names = [e if isinstance(e, str) else e["name"] for e in entries]
        for made in table.made:
            self.note("shown: what is generated", made in names or "*" in names)
            for field, name in (("filter", "filter"), ("where", "where"), ("order_by", "order")):
                self.note(f"{name} by what is generated", quote(made) in thing.get(field, ""))
            self.note("join by what is generated", made in thing.get("to", []))
        self.note("a JSON column", any(kind == "json" and (name in names or "*" in names) for name, kind in table.columns))
        for entry in entries:
            if isinstance(entry, dict):
                for name, holds in COLUMN.items():
                    self.note(f"column: {name}", holds(entry))
                for step in entry.get("transform", []):
                    self.note(f"transform: {step['kind']}")

    def relations(self, outer, thing, path):
        for relation in thing.get("relations", []):
            inner = self.tables[relation["table"]]
            way = path + [inner]
            self.note(f"depth {min(len(path), 4)}")
            for name, holds in RELATION.items():
                self.note(f"relation: {name}", holds(relation))
            for side, columns in ((outer, relation["from"]), (inner, relation["to"])):
                for column in columns:
                    self.note(f"join by {self.kinds[side.name, column]}")
            if outer.server != inner.server:
                self.note("to the other server")
                self.note("through a link on the other server", "through" in relation)
            self.note("to the other server and back", [t.server for t in path[:1] + [inner]] == [path[0].server] * 2 and
                      any(t.server != inner.server for t in path))
            self.note("a moved row of three levels", len(path) > 2 and any(
                (inner.name, column) in self.updated for column in relation["to"]))
            self.columns(inner, relation)
            self.relations(inner, relation, way)
