"""Random transactions on random tables: every kind of statement that changes rows.

A transaction is a list of statements, on one server.  Those that the server refuses (a key that is there
already) change nothing, and the transaction goes on.
"""
import collections

from random_tables import SMALL, TYPES, quote


class Work:
    """Transactions for a case's tables; rng decides, so that the same seed gives the same work."""

    def __init__(self, rng, tables):
        self.rng, self.tables, self.done = rng, tables, collections.Counter()
        self.kinds = [(getattr(self, name), weight) for name, weight in (
            ("insert", 8), ("insert_several", 4), ("insert_ignore", 3), ("replace", 8), ("upsert", 6), ("update", 20),
            ("update_key", 7), ("update_several", 8), ("update_joined", 5), ("update_ordered", 3), ("swap_keys", 4),
            ("swap_values", 4), ("delete", 7), ("delete_several", 7), ("delete_joined", 3), ("come_and_go", 3),
            ("go_and_come", 4), ("hot_row", 2), ("everything", 2), ("select_into", 3), ("part_rolled_back", 3),
            ("nothing", 1))]

    def transaction(self):
        """(server, statements)"""
        self.server = self.rng.choice(self.tables).server
        kinds, weights = zip(*self.kinds)
        n = self.rng.choice([1, 1, 1, 2, 3, 6, 15])
        chosen = self.rng.choices(kinds, weights, k=n)
        self.done.update(kind.__name__ for kind in chosen)
        statements = [s for kind in chosen for s in kind()]
        return self.server, ["BEGIN", *statements, "ROLLBACK" if self.rng.random() < 0.05 else "COMMIT"]

    def small_transaction(self, named):
        """One column of some rows, which nothing else makes good; mostly one of those of Case.named()."""
        table = self.rng.choice(self.tables)
        column, said = self.rng.choice(self.others(table)), ""
        if named and self.rng.random() < 0.8:
            table, column, said = self.rng.choice(named)
        value = self.set(table, [column])
        literals = [v for v in TYPES.get(column[1], ("", []))[1] if f" {v}" in said]
        if literals and self.rng.random() < 0.5:  # what decides whether the rows count
            value = f"{quote(column[0])} = {self.rng.choice(literals)}"
        where = self.rng.choice([self.one(table), self.several(table), "TRUE"])
        return table.server, ["BEGIN", f"UPDATE IGNORE {table.sql_name()} SET {value} WHERE {where}", "COMMIT"]

    # -- pieces

    def table(self):
        """One on the server that the transaction is on."""
        return self.rng.choice([t for t in self.tables if t.server == self.server])

    def set(self, table, columns):
        """What an UPDATE sets these columns to; sometimes what others have."""
        return ", ".join(f"{quote(c[0])} = {self.expression(table, c)}" for c in columns)

    def expression(self, table, column):
        same = [c for c in table.columns if c[1] == column[1] and c != column]
        if same and self.rng.random() < 0.1:
            return quote(self.rng.choice(same)[0])
        if column[1] == "ref" and self.rng.random() < 0.1:
            return f"{quote(column[0])} % {len(SMALL)} + 1"
        return table.any_value(column)

    def others(self, table):
        return [c for c in table.written() if c not in table.key and c[1] != "serial"] or table.key

    def some(self, columns):
        return self.rng.sample(columns, min(len(columns), self.rng.choice([1, 1, 1, 2, 3])))

    def one(self, table):
        """The condition of a row by its key."""
        return " AND ".join(f"{quote(n)} = {table.value(k, False)}" for n, k in table.key)

    def several(self, table):
        """A condition that some rows fulfil."""
        name, kind = self.rng.choice(table.compared())
        value = table.value(kind, False)
        return self.rng.choice([f"{quote(name)} = {value}", f"{quote(name)} = {value}", f"{quote(name)} <= {value}",
                                f"{quote(name)} IS NULL"])

    def insert_into(self, table, verb, rows):
        return f"{verb} INTO {table.into()} VALUES {', '.join(table.row() for _ in range(rows))}"

    # -- kinds of change

    def insert(self):
        return [self.insert_into(self.table(), "INSERT", 1)]

    def insert_several(self):
        return [self.insert_into(self.table(), "INSERT IGNORE", self.rng.randint(2, 6))]

    def insert_ignore(self):
        return [self.insert_into(self.table(), "INSERT IGNORE", 1)]

    def replace(self):
        return [self.insert_into(self.table(), "REPLACE", self.rng.choice([1, 1, 3]))]

    def upsert(self):
        table = self.table()
        return [self.insert_into(table, "INSERT", self.rng.choice([1, 1, 3])) + " ON DUPLICATE KEY UPDATE "
                + self.set(table, self.some(table.written() if self.rng.random() < 0.2 else self.others(table)))]

    def update(self):
        table = self.table()
        return [f"UPDATE {table.sql_name()} SET {self.set(table, self.some(self.others(table)))} WHERE {self.one(table)}"]

    def update_key(self):
        table = self.table()
        columns = self.some(table.key) + (self.some(self.others(table)) if self.rng.random() < 0.3 else [])
        return [f"UPDATE {self.rng.choice(['', 'IGNORE '])}{table.sql_name()} SET {self.set(table, dict.fromkeys(columns))} "
                f"WHERE {self.one(table)}"]

    def update_several(self):
        table = self.table()
        return [f"UPDATE IGNORE {table.sql_name()} SET {self.set(table, self.some(table.written()))} "
                f"WHERE {self.several(table)}"]

    def joined(self):
        """Two tables and a condition that joins them, or None."""
        a, b = self.table(), self.table()
        pairs = [(x, y) for x in a.columns for y in b.columns if x[1] == y[1]]
        if a is b or not pairs:
            return None
        (x, _), (y, _) = self.rng.choice(pairs)
        return a, b, f"{a.sql_name()} a JOIN {b.sql_name()} b ON a.{quote(x)} = b.{quote(y)}"

    def update_joined(self):
        found = self.joined()
        if not found:
            return self.update()
        a, b, join = found
        columns = [f"a.{quote(c[0])} = {a.any_value(c)}" for c in self.some(self.others(a))]
        if self.rng.random() < 0.5:
            columns += [f"b.{quote(c[0])} = {b.any_value(c)}" for c in self.some(self.others(b))]
        return [f"UPDATE IGNORE {join} SET {', '.join(columns)} WHERE a.{self.several(a)}"]

    def delete_joined(self):
        found = self.joined()
        if not found:
            return self.delete()
        a, _, join = found
        return [f"DELETE {self.rng.choice(['a', 'a', 'a, b'])} FROM {join} WHERE a.{self.one(a).replace(' AND ', ' AND a.')}"]

    def update_ordered(self):
        table = self.table()
        (name, kind), order = self.rng.choice(table.key), self.rng.choice(["", " DESC"])
        change = f"{quote(name)} + 1" if kind == "ref" else table.value(kind, False)
        return [f"UPDATE IGNORE {table.sql_name()} SET {quote(name)} = {change} ORDER BY {quote(name)}{order} "
                f"LIMIT {self.rng.randint(1, 3)}"]

    def swap_keys(self):
        """By way of a key that is aside; where one of the two is not there, the other moves."""
        table = self.table()
        (name, kind), rest = table.key[0], table.key[1:]
        a, b, aside = (table.value(kind, False) for _ in range(3))
        fixed = "".join(f" AND {quote(n)} = {table.value(k, False)}" for n, k in rest)
        return [f"UPDATE {table.sql_name()} SET {quote(name)} = {new} WHERE {quote(name)} = {old}{fixed}"
                for old, new in ((a, aside), (b, a), (aside, b))]

    def swap_values(self):
        """What two rows hold and lead to: both ends of a join change hands."""
        table = self.table()
        name, kind = self.rng.choice(self.others(table))
        one, other = table.value(kind, True), table.value(kind, True)
        a, b = self.one(table), self.one(table)
        return [f"UPDATE IGNORE {table.sql_name()} SET {quote(name)} = {one} WHERE {a}",
                f"UPDATE IGNORE {table.sql_name()} SET {quote(name)} = {other} WHERE {b}",
                f"UPDATE IGNORE {table.sql_name()} SET {quote(name)} = {one} WHERE {b}"]

    def delete(self):
        table = self.table()
        return [f"DELETE FROM {table.sql_name()} WHERE {self.one(table)}"]

    def delete_several(self):
        table = self.table()
        limit = self.rng.choice(["", " LIMIT 1", " LIMIT 4"])
        return [f"DELETE FROM {table.sql_name()} WHERE {self.several(table)}{limit}"]

    def come_and_go(self):
        table = self.table()
        one = self.one(table)
        return [self.insert_into(table, "INSERT IGNORE", 3), f"DELETE FROM {table.sql_name()} WHERE {one}",
                self.insert_into(table, "REPLACE", 1)]

    def go_and_come(self):
        """A row goes, and comes again with the same key and other values."""
        table = self.table()
        cells = {c: table.any_value(c) for c in table.written()}
        one = " AND ".join(f"{quote(c[0])} = {cells[c]}" for c in table.key)
        again = f"INSERT INTO {table.into()} VALUES ({', '.join(cells.values())})"
        between = ["COMMIT", "BEGIN"] if self.rng.random() < 0.3 else []
        return [f"DELETE FROM {table.sql_name()} WHERE {one}", *between, again]

    def hot_row(self):
        table = self.table()
        one = self.one(table)
        return [f"UPDATE IGNORE {table.sql_name()} SET {self.set(table, self.some(self.others(table)))} WHERE {one}"
                for _ in range(self.rng.randrange(3, 20))]

    def everything(self):
        """A large transaction: every row, again and again."""
        table = self.table()
        return [f"UPDATE IGNORE {table.sql_name()} SET {self.set(table, self.some(self.others(table)))}"
                for _ in range(self.rng.randint(1, 10))]

    def select_into(self):
        """Rows from rows of the same table, with another key."""
        table = self.table()
        cells = [table.value(c[1], False) if c in table.key else quote(c[0]) for c in table.written()]
        return [f"INSERT IGNORE INTO {table.into()} SELECT {', '.join(cells)} FROM {table.sql_name()} "
                f"WHERE {self.several(table)}"]

    def part_rolled_back(self):
        return ["SAVEPOINT s"] + self.update() + self.delete() + self.replace() + ["ROLLBACK TO SAVEPOINT s"] + self.update()

    def nothing(self):
        table = self.table()
        name = quote(self.rng.choice(table.written())[0])
        return [f"UPDATE {table.sql_name()} SET {name} = {name}"]
