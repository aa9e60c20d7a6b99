"""A random case: tables with keys and join columns of every type, a tree over them, and data.

The same seed gives the same case.  Values are few, so that rows meet; texts differ in case, accents
and trailing spaces, so that collations matter.
"""
import json
import os
import random

# The literals that values are chosen from, and each type's SQL.
INTEGER = ['0', '1', '2', '3', '7', '12', '100', '-1', '-5']
TEXT = ["'a'", "'A'", "'ä'", "'b'", "'B '", "'b'", "'12'", "'1'", "'x,y'", "'50%'", "'it''s'", "'ß'", "'ss'", "''"]
WIDE = TEXT + ["'日本'", "'😀'", "'Ω'"]
BYTES = ["x'00'", "x'61'", "x'6100'", "x'41'", "x'2c25'", "x'ff'", "''"]
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
}
CLASSES = [
    {'tiny', 'int', 'big', 'ubig', 'dec', 'dec4', 'ci', 'uni', 'bin', 'latin', 'char', 'enum'},
    {'tiny', 'int', 'big', 'ubig', 'dec', 'dec4', 'bit', 'dbl', 'flt'},
    {'vb', 'fixed'}, {'date'}, {'dt', 'dt3'}, {'time'}, {'year'},
]


def joinable(a, b):
    return any(a in c and b in c for c in CLASSES)


class Table:
    def __init__(self, rng, number):
        self.name = f't{number}'
        kinds = rng.sample(sorted(TYPES), rng.randint(4, 8))
        self.columns = [(f'c{i}_{kind}', kind) for i, kind in enumerate(kinds)]
        self.key = self.columns[:rng.choice([1, 1, 2, 3])]
        self.rng = rng

    def create(self):
        lines = [f'{name} {TYPES[kind][0]}{" NOT NULL" if (name, kind) in self.key else ""}'
                 for name, kind in self.columns]
        lines.append(f"PRIMARY KEY ({', '.join(n for n, _ in self.key)})")
        lines += [f'KEY ({name})' for name, _ in self.columns]
        return f"CREATE TABLE {self.name} ({', '.join(lines)});"

    def value(self, kind, nullable):
        if nullable and self.rng.random() < 0.1:
            return 'NULL'
        return self.rng.choice(TYPES[kind][1])

    def changes(self, n):
        """Inserts mostly; also updates, of keys too, and deletes."""
        for _ in range(n):
            row = [self.value(kind, (name, kind) not in self.key) for name, kind in self.columns]
            dice = self.rng.random()
            name, kind = self.rng.choice(self.columns)
            other, other_kind = self.rng.choice(self.columns)
            where = f'{other} = {self.value(other_kind, False)}'
            if dice < 0.75:
                yield f"INSERT IGNORE INTO {self.name} VALUES ({', '.join(row)});"
            elif dice < 0.93:
                value = self.value(kind, (name, kind) not in self.key)
                yield f'UPDATE IGNORE {self.name} SET {name} = {value} WHERE {where};'
            else:
                yield f'DELETE FROM {self.name} WHERE {where} LIMIT 2;'


class Tree:
    def __init__(self, rng, tables, database):
        self.rng, self.tables, self.database, self.n = rng, tables, database, 0

    def relation(self, outer, depth):
        """A relation from the outer table, or None where nothing can be joined."""
        inner = self.rng.choice(self.tables)
        relation = self.through(outer, inner) if self.rng.random() < 0.25 else self.direct(outer, inner)
        if relation is None:
            return None
        self.n += 1
        relation |= {'table': f'{self.database}.{inner.name}', 'as': f'r{self.n}',
                     'many': self.rng.random() < 0.6}
        if self.rng.random() < 0.25:
            name, kind = self.rng.choice(inner.columns)
            relation['where'] = f'{name} <> {inner.value(kind, False)}'
        if self.rng.random() < 0.25:
            relation['order_by'] = f"{self.rng.choice(inner.columns)[0]}{self.rng.choice(['', ' DESC'])}"
        if relation['many']:
            relation |= {'distinct': self.rng.random() < 0.25}
            if self.rng.random() < 0.25:
                relation['limit'] = self.rng.randint(1, 4)
        if self.rng.random() < 0.2:
            return relation | {'values': self.rng.choice(inner.columns)[0]}
        if self.rng.random() < 0.5:
            relation['columns'] = [n for n, _ in inner.columns if self.rng.random() < 0.5]
        if inner is outer:
            relation['max_depth'] = self.rng.randint(1, 3)
        relation['relations'] = self.relations(inner, depth - 1)
        return relation

    def pairs(self, outer, inner):
        """What is joined, one pair mostly; None where nothing can be."""
        pairs = [(a, b) for a in outer.columns for b in inner.columns if joinable(a[1], b[1])]
        if not pairs:
            return None
        chosen = self.rng.sample(pairs, 1)
        apart = [p for p in pairs if p[0] != chosen[0][0] and p[1] != chosen[0][1]]
        if apart and self.rng.random() < 0.25:
            chosen.append(self.rng.choice(apart))
        return [a[0] for a, _ in chosen], [b[0] for _, b in chosen]

    def direct(self, outer, inner):
        pairs = self.pairs(outer, inner)
        return pairs and {'from': pairs[0], 'to': pairs[1]}

    def through(self, outer, inner):
        """By way of a third table, or of one of the two."""
        link = self.rng.choice(self.tables)
        first, second = self.pairs(outer, link), self.pairs(link, inner)
        return first and second and {
            'from': first[0], 'to': second[1],
            'through': {'table': f'{self.database}.{link.name}', 'from': first[1], 'to': second[0]}}

    def relations(self, outer, depth):
        wanted = self.rng.randint(0, 2) if depth > 0 else 0
        return [r for r in (self.some_relation(outer, depth) for _ in range(wanted)) if r]

    def some_relation(self, outer, depth):
        """A few tries, as not every two tables can be joined."""
        return next((r for r in (self.relation(outer, depth) for _ in range(20)) if r), None)

    def table(self, table):
        relations = self.relations(table, 3) or [self.some_relation(table, 1)]
        definition = {'table': f'{self.database}.{table.name}', 'relations': [r for r in relations if r]}
        if len(table.key) == 1 and table.key[0][1] in ('ci', 'uni', 'bin', 'latin', 'char', 'vb'):
            return definition  # an empty text is no _id: a dead letter before anything is asked
        if self.rng.random() < 0.2:
            name, kind = self.rng.choice(table.columns)
            definition['filter'] = f'{name} <> {table.value(kind, False)}'
        marks = [(name, kind) for name, kind in table.columns if kind in ('tiny', 'int', 'dec', 'bin', 'enum')]
        if marks and self.rng.random() < 0.3:
            name, kind = self.rng.choice(marks)
            value = table.value(kind, True)
            definition['soft_delete'] = {'column': name, 'deleted': None if value == 'NULL' else
                                         value[1:-1].replace("''", "'") if value[0] == "'" else json.loads(value)}
        return definition


def write(folder, seed):
    """The case's files; the definition is JSON, which is YAML as well."""
    rng = random.Random(seed)
    database = 'golden_random'
    tables = [Table(rng, i) for i in range(rng.randint(2, 5))]
    definition = {
        'topics': [{'name': 't', 'address': '127.0.0.1', 'user': 'root',
                    'password_env': 'GOLDEN_PASSWORD', 'zero_date': 'text'}],
        'databases': [{'name': database, 'topic': 't'}],
        'tables': [Tree(rng, tables, database).table(t) for t in tables],
    }
    use = f"SET NAMES utf8mb4;\nSET sql_mode = '', time_zone = '+00:00';\nUSE {database};\n"
    statements = [s for t in tables for s in t.changes(rng.randint(5, 60))]
    os.makedirs(folder, exist_ok=True)
    for name, text in (
            ('schema.sql', f'CREATE DATABASE {database} CHARACTER SET utf8mb4;\n{use}' +
             '\n'.join(t.create() for t in tables)),
            ('data.sql', use + '\n'.join(statements)),
            ('definition.yaml', json.dumps(definition, indent=1, ensure_ascii=False))):
        with open(os.path.join(folder, name), 'w', encoding='utf-8') as file:
            file.write(text + '\n')
