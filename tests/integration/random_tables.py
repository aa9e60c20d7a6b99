"""Random tables for the property tests: keys and join columns of every type, and values for them.

Values are few, so that rows meet; texts differ in case, accents and trailing spaces, so that
collations matter.
"""
# The literals that values are chosen from, and each type's SQL.
INTEGER = ['0', '1', '2', '3', '7', '12', '100', '-1', '-5']
TEXT = ["'a'", "'A'", "'ä'", "'b'", "'B '", "'b'", "'12'", "'1'", "'x,y'", "'50%'", "'it''s'", "'ß'", "'ss'", "''"]
WIDE = TEXT + ["'日本'", "'😀'", "'Ω'"]
BYTES = ["x'00'", "x'61'", "x'6100'", "x'41'", "x'2c25'", "x'ff'", "''"]
SMALL = ['1', '2', '3', '4', '5', '6', '10', '20']  # as texts they are in another order
TYPES = {
    'tiny': ('TINYINT', INTEGER),
    'int': ('INT', INTEGER + ['2147483647']),
    'big': ('BIGINT', INTEGER + ['9223372036854775807', '-9223372036854775808']),
    'ubig': ('BIGINT UNSIGNED', ['0', '1', '2', '12', '18446744073709551615']),
    'dec': ('DECIMAL(10,2)', ['0', '1', '12', '1.50', '-5', '0.01']),
    'dec4': ('DECIMAL(20,4)', ['0', '1', '12', '1.5', '-5', '0.0001']),
    'ci': ('VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci', WIDE),
    'uni': ('VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci', WIDE),
    'bin': ('VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin', WIDE),
    'latin': ('VARCHAR(20) CHARACTER SET latin1', TEXT),
    'char': ('CHAR(8) CHARACTER SET utf8mb3', TEXT + ["'日本'"]),
    'vb': ('VARBINARY(10)', BYTES),
    'fixed': ('BINARY(3)', BYTES),
    'date': ('DATE', ["'2024-01-01'", "'2024-02-29'", "'0000-00-00'", "'1999-12-31'"]),
    'dt': ('DATETIME', ["'2024-01-01 00:00:00'", "'2024-02-29 01:02:03'", "'0000-00-00 00:00:00'"]),
    'dt3': ('DATETIME(3)', ["'2024-01-01 00:00:00'", "'2024-02-29 01:02:03.5'", "'2024-02-29 01:02:03'"]),
    'time': ('TIME(1)', ["'00:00:00'", "'-01:00:00.5'", "'12:00:00'"]),
    'year': ('YEAR', ['2024', '1999', '0']),
    'enum': ("ENUM('b','a','12','Z')", ["'a'", "'b'", "'12'", "'Z'"]),
    'bit': ('BIT(9)', ['0', '1', '12', '256']),
    'dbl': ('DOUBLE', ['0', '1', '1.5', '0.1', '12']),
    'flt': ('FLOAT', ['0', '1', '1.5', '0.1', '12']),
    'ref': ('INT', SMALL),
    # About as long as an _id may be: 512 bytes.
    'long': ('VARCHAR(700) CHARACTER SET latin1', ["'a'", "'b'", "REPEAT('x', 500)", "REPEAT('x', 512)", "REPEAT('x', 513)",
                                                   "REPEAT('y', 700)"]),
}
CLASSES = [
    {'tiny', 'int', 'big', 'ubig', 'dec', 'dec4', 'ci', 'uni', 'bin', 'latin', 'char', 'enum'},
    {'tiny', 'int', 'big', 'ubig', 'dec', 'dec4', 'bit', 'dbl', 'flt', 'ref'},
    {'vb', 'fixed'}, {'date'}, {'dt', 'dt3'}, {'time'}, {'year'}, {'long'},
]
# Those that `apply` lets be joined: no numbers with texts.
APPLIED = [{'ci', 'uni', 'bin', 'latin', 'char', 'enum'}] + CLASSES[1:]
# Shown only: neither joined by, nor compared, nor part of a key.
SHOWN = {
    'text': ('TEXT CHARACTER SET utf8mb4', WIDE + ["'" + 'long ' * 60 + "'"]),
    'set': ("SET('x','y','z')", ["''", "'x'", "'x,z'", "'y'"]),
    'json': ('JSON', ["'{}'", """'{"a": [1, 2.50, null], "b": {"c": "ü"}}'""", """'{"a": []}'"""]),
    'blob': ('BLOB', BYTES),
    'ts': ('TIMESTAMP(2) NULL', ["'2024-01-01 00:00:00'", "'2024-02-29 01:02:03.25'"]),
    'serial': ('INT', ['NULL']),  # the server gives it
}
# Generated columns: of which kinds, of what kind they are, and how they are made.
MADE = [
    ({'tiny', 'int', 'ref', 'dec'}, 'dec4', '{} * 2'), ({'tiny', 'int', 'ref', 'dec', 'dec4'}, 'int', '{} + 1'),
    ({'ci', 'uni', 'bin'}, 'int', 'CHAR_LENGTH({})'), ({'ci', 'bin'}, 'ci', "CONCAT({}, 'x')"),
]
# What ALTER makes of columns: of what something is in the order of, and of others, whose values it cuts.
TEXTS = 'VARCHAR(20) CHARACTER SET utf8mb4 COLLATE '
ORDERED = {
    **dict.fromkeys(('dec', 'tiny', 'int', 'ref'), [TEXTS + 'utf8mb4_bin']), 'bin': [TEXTS + 'utf8mb4_general_ci'],
    **dict.fromkeys(('ci', 'uni'), [TEXTS + 'utf8mb4_bin', 'INT']), 'enum': ["ENUM('Z','12','a','b')"],
}
CUT = {
    **dict.fromkeys(('dec', 'dec4', 'tiny', 'int', 'ref'), ['DECIMAL(1,0) UNSIGNED', 'DECIMAL(10,0)']),
    **dict.fromkeys(('ci', 'uni', 'bin'), ['VARCHAR(1) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin', 'INT']),
}
# Whole numbers; two servers compare them alike, whatever their types.
WHOLE = {'tiny', 'int', 'big', 'ubig', 'ref'}
NAMES = ['order', 'Größe', 'a b', 'select', 'back`tick', 'N']  # for columns; each wants its quotes


def joinable(a, b, classes=None):
    return any(a in c and b in c for c in classes or CLASSES)


def joinable_across(a, b):
    """Whether columns on two servers compare alike: of one type, texts of one collation."""
    return {a, b} <= WHOLE or a == b != 'enum'  # whose collation is each server's default


def quote(name):
    return '`' + name.replace('`', '``') + '`'


class Table:
    """A table: name in the definition (DATABASE.TABLE), columns as (name, kind) and what its documents are named by.

    That is its primary key, or where `surrogate` is true another unique key beside it.
    mark: what the names of its columns begin with; server: which one it is on, '' the first."""

    def __init__(self, rng, database, name, mark='', server=''):
        self.rng, self.mark, self.server, self.surrogate = rng, mark, server, False
        self.made = {}  # generated columns: the column that each is made of, and its SQL
        self.place(database, name)

    def place(self, database, name):
        self.database, self.short, self.name = database, name, f'{database}.{name}'
        return self

    def strange(self, long=False):
        """Columns of any kind, the key of any of them; long: also of one that makes no _id."""
        kinds = self.rng.sample(sorted(set(TYPES) - {'long'}), self.rng.randint(4, 8))
        if long and self.rng.random() < 0.1:
            kinds[0] = 'long'
        self.columns = [(f'{self.mark}c{i}_{kind}', kind) for i, kind in enumerate(kinds)]
        self.key = self.columns[:self.rng.choice([1, 1, 2, 3])]
        return self.with_generated().with_serial()

    def plain(self):
        """As people make them: small keys, columns that lead to other tables' keys, and some to show."""
        rng = self.rng
        columns = [('id', 'ref')] + [(f'ref{i}', 'ref') for i in range(rng.randint(1, 3))]
        for kind in rng.sample(['ci', 'bin', 'int', 'dec', 'dt3', 'enum'] + sorted(set(SHOWN) - {'serial'}), rng.randint(1, 4)):
            columns.append((f'p_{kind}', kind))
        if rng.random() < 0.3:
            columns.append((rng.choice(NAMES), rng.choice(['ci', 'int', 'ref'])))
        self.columns = [(self.mark + name, kind) for name, kind in columns]
        self.key = self.columns[:rng.choice([1, 1, 1, 2])]
        return self.with_generated().with_serial()

    def with_generated(self):
        """Columns that are made of others, in up to three levels."""
        for number in range(self.rng.choice([0, 0, 1, 2, 3])):
            levels = [c for c in self.columns if c[0] in self.made]
            of = self.rng.choice(levels if levels and self.rng.random() < 0.6 else self.columns)
            ways = [(kind, sql) for kinds, kind, sql in MADE if of[1] in kinds]
            if ways:
                kind, sql = self.rng.choice(ways)
                column = (f'{self.mark}g{number}_{kind}', kind)
                self.columns.append(column)
                self.made[column[0]] = of, f"AS ({sql.format(quote(of[0]))}) {self.rng.choice(['STORED', 'VIRTUAL'])}"
        return self

    def source(self, column):
        """The column that somebody writes, of which this one is made."""
        while column[0] in self.made:
            column = self.made[column[0]][0]
        return column

    def generated(self):
        """Each behind what it is made of."""
        return [c for name in self.made for c in self.columns if c[0] == name]

    def written(self):
        """The columns that somebody writes."""
        return [c for c in self.columns if c[0] not in self.made]

    def with_serial(self):
        if self.rng.random() < 0.08:
            self.surrogate = True
            self.columns.append((f'{self.mark}serial', 'serial'))
        return self

    def compared(self):
        """The columns that conditions and orders may name."""
        return [c for c in self.columns if c[1] in TYPES]

    def create(self):
        lines = [self.line(c) for c in self.written() + self.generated()]
        lines.append(f"{'UNIQUE' if self.surrogate else 'PRIMARY'} KEY ({', '.join(quote(n) for n, _ in self.key)})")
        lines += [f'KEY ({quote(name)})' for name, _ in self.compared()]
        return f"CREATE TABLE {self.sql_name()} ({', '.join(lines)})"

    def line(self, column):
        name, kind = column
        more = ''.join([f' {self.made[name][1]}' if name in self.made else '', ' NOT NULL' if column in self.key else '',
                        ' NOT NULL AUTO_INCREMENT PRIMARY KEY' if kind == 'serial' else ''])
        return f'{quote(name)} {(TYPES | SHOWN)[kind][0]}{more}'

    def alter(self, column, types):
        """Another type of a column that somebody writes."""
        kept = ' NOT NULL' if column in self.key else ''
        return f'ALTER TABLE {self.sql_name()} MODIFY {quote(column[0])} {self.rng.choice(types[column[1]])}{kept}'

    def sql_name(self):
        return f'{quote(self.database)}.{quote(self.short)}'

    def value(self, kind, nullable):
        if nullable and self.rng.random() < 0.1:
            return 'NULL'
        return self.rng.choice((TYPES | SHOWN)[kind][1])

    def any_value(self, column):
        return self.value(column[1], column not in self.key)

    def insert(self):
        return f'INSERT IGNORE INTO {self.into()} VALUES {self.row()}'

    def into(self):
        """The table and the columns that rows have, for INSERT."""
        return f"{self.sql_name()} ({', '.join(quote(name) for name, _ in self.written())})"

    def row(self):
        return '(' + ', '.join(self.any_value(c) for c in self.written()) + ')'
