"""Random tables that share an index: parents and children of several levels, or many that are alike.

What they make is a list of definitions; the tables come to those of the case, so that work is done on them as well.
"""
import copy

from random_case import PLACES


class Member:
    """A table of a join: what it is a child of, and which columns hold the keys of its parent and of its root."""

    def __init__(self, table, parent=None, parent_columns=(), root_columns=()):
        self.table, self.parent, self.parent_columns, self.root_columns = table, parent, list(parent_columns), list(root_columns)

    @property
    def level(self):
        return self.parent.level + 1 if self.parent else 0

    @property
    def root(self):
        return self.parent.root if self.parent else self


def member_table(case, number, away):
    """Some values of its key may make no _id: what is below them are dead letters."""
    return case.table(f"m{number}", away, f"m{number}_")


def child(case, number, parent):
    """Below the second level the root's key is in columns of its own; of a part of it, as a tenant is, all keys may be made."""
    mark = f"m{number}_"
    table, rng = member_table(case, number, parent.table.server != ""), case.rng
    key, root = parent.table.key, parent.root.table.key
    names = [(f"{mark}up{i}", kind) for i, (_, kind) in enumerate(key)]
    top = [(f"{mark}top{i}", kind) for i, (_, kind) in enumerate(root)] if parent.level > 0 else []
    shown = table.columns[len(table.key):]
    if len(root) > 1 and names[0][1] == root[0][1] and rng.random() < 0.7:
        top[:1] = names[:1] if top else []
        table.key = names[:1] + table.key
    rest = [column for column in names + [c for c in top if c not in names] if column not in table.key] + shown
    rng.shuffle(rest)
    table.columns = table.key + rest
    return Member(table, parent, [n for n, _ in names], [n for n, _ in top])


def join(case):
    """A root, children, and children of these to the fourth level; some are children of one table."""
    rng = case.rng
    root = member_table(case, 0, case.abroad and rng.random() < 0.4)
    members, wanted = [Member(root)], rng.choice([2, 3, 3, 4])
    if rng.random() < 0.4:
        root.key = root.columns[:2]
    for number in range(1, wanted):
        parents = [m for m in members if m.level < 3]
        members.append(child(case, number, parents[-1] if rng.random() < 0.7 else rng.choice(parents)))
    case.tables += [m.table for m in members]
    names = {m: rng.choice(["", "", "a:b%"]) + m.table.short for m in members}
    found = []
    for member in members:
        definition = case.definition(member.table, mark=member.table.mark, most=PLACES // 2)
        definition["join"] = {"name": names[member]}
        if member.parent:
            definition["join"] |= {"parent": member.parent.table.name, "parent_column": member.parent_columns}
        if member.root_columns:
            definition["root_column"] = member.root_columns[0] if len(member.root_columns) == 1 else member.root_columns
        found.append(definition)
    if rng.random() < 0.3:
        for definition in found:
            definition["join"]["field"] = "belongs"
    return found


def alike(case, names):
    """Tables that a pattern names, in the databases that have these names; the last comes later than the others."""
    rng = case.rng
    others = [t for t in case.tables if not t.server]
    first = case.table("p1")
    case.alike = [first]
    for number in range(2, rng.choice([3, 4, 5]) + 1):
        case.alike.append(copy.copy(first).place(rng.choice(case.databases), f"p{number}"))
    definition = case.definition(first, others, most=PLACES // 2)
    del definition["table"]
    definition["pattern"] = rf"({'|'.join(names)})\.p[0-9]+"
    if rng.random() < 0.7:
        definition["source_field"] = "origin"
    case.tables += case.alike
    case.later = case.alike[-1:]
    return [definition]
