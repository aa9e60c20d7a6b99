"""A random case: tables in one or two databases, a tree of relations over them, and their first rows.

The same seed gives the same case.
"""
import json
import os
import random

from random_tables import Table, joinable, joinable_across, WHOLE, quote

TEXTUAL = ('ci', 'uni', 'bin', 'latin', 'char')
PLACES = 16  # of tables in a document: what leads to a row multiplies
# Where they are NOT NULL, servers find zero by IS NULL, but not where it is known to be equal to a constant.
ZERO_DATES = ('date', 'dt', 'dt3')
NUMBERS = ('tiny', 'int', 'big', 'ref', 'dec', 'dbl')


class Tree:
    """Relations over tables, to a depth; each in one of all forms.

    mark: what names begin with, so that documents of several tables can stand in one index."""

    def __init__(self, rng, tables, classes, mark=''):
        self.rng, self.tables, self.classes, self.mark, self.n = rng, tables, classes, mark, 0

    def chance(self, share):
        return self.rng.random() < share

    def relation(self, outer, depth, arrays):
        """A relation from the outer table, or None where nothing can be joined; arrays: how many are around it."""
        over = [t for t in self.tables if t.server != outer.server]
        inner = self.rng.choice(over if over and self.chance(0.4) else self.tables)
        relation = self.through(outer, inner) if self.chance(0.25) else self.direct(outer, inner)
        if relation is None:
            return None
        self.n += 1
        relation |= {'table': inner.name, 'as': f'{self.mark}r{self.n}', 'many': self.chance(0.6)}
        if self.chance(0.25):
            relation['refresh'] = 'area'
        if self.chance(0.35):
            relation['where'] = self.condition(inner)
        if self.chance(0.25):
            relation['order_by'] = f"{quote(self.rng.choice(inner.compared())[0])}{self.rng.choice(['', ' DESC'])}"
        if relation['many']:
            relation |= {'distinct': self.chance(0.25)}
            if self.chance(0.25) or arrays > 1:  # what arrays in arrays hold multiplies
                relation['limit'] = self.rng.randint(1, 4)
        if self.chance(0.2):
            return relation | {'values': self.rng.choice(inner.columns)[0]}
        form = self.rng.choice(['nested', 'flattened', None, None, None])
        if form:
            relation[form] = True
        if self.chance(0.6):
            relation['columns'] = self.columns(inner)
            if self.chance(0.5):  # what only a condition or an order looks at
                said = relation.get('where', '') + relation.get('order_by', '')
                relation['columns'] = [c for c in relation['columns'] if quote(name_of(c)) not in said]
        if inner is outer:
            relation['max_depth'] = self.rng.randint(1, 3)
            if relation['many'] and relation['max_depth'] > 1:
                relation['limit'] = self.rng.randint(1, 3)
        relation['relations'] = self.relations(inner, depth - 1, arrays + relation['many'])
        return relation

    def condition(self, table):
        """Of the table's own row; NULL is neither this nor that."""
        name, kind = self.rng.choice(table.compared())
        value, other = table.value(kind, False), table.value(kind, False)
        form = self.rng.choice(['{0} <> {1}', '{0} <> {1}', '{0} = {1} OR {0} = {2}', '{0} IS NULL', '{0} IS NOT NULL',
                                '{0} >= {1}', 'NOT {0} <=> {1}'])
        if form == '{0} IS NULL' and kind in ZERO_DATES and (name, kind) in table.key:
            form = '{0} = {1}'
        return form.format(quote(name), value, other)

    def columns(self, table):
        """A choice of columns, with names and values of their own."""
        rng = self.rng
        if self.chance(0.2):
            return ['*', {'name': rng.choice(table.columns)[0], 'skip': True}]
        chosen = [self.column(c) for c in table.columns if self.chance(0.4)]
        if self.chance(0.15):
            chosen.append({'name': f'{self.mark}constant', 'value': rng.choice(['k', 7, True, ['a', 'b']])})
        names = [name for name, kind in table.columns if kind in ('ref', 'int', 'ci', 'bin', 'enum')]
        if len(names) > 1 and self.chance(0.15):
            chosen.append({'name': f'{self.mark}joined', 'transform': [
                {'kind': 'join', 'columns': rng.sample(names, 2), 'by': rng.choice([' ', '-', ', '])}]})
        return chosen

    def column(self, column):
        (name, kind), rng = column, self.rng
        if not self.chance(0.35):
            return name
        if self.chance(0.4):
            return {'name': name, 'as': f'as {name}'}
        if kind in TEXTUAL and self.chance(0.6):
            return {'name': name, 'transform': rng.choice([
                [{'kind': 'trim'}], [{'kind': 'split', 'by': ','}, {'kind': 'trim'}],
                [{'kind': 'mask', 'salt': 'pepper'}], [{'kind': 'text'}]])}
        if kind in TEXTUAL:
            return {'name': name, 'default': 'none'}
        if kind in NUMBERS:
            of_whole = [{'type': 'boolean'}, {'transform': [{'kind': 'date', 'format': 'epoch_second'}]},
                        {'transform': [{'kind': 'number'}]}]
            return {'name': name} | rng.choice([
                {'default': 0}, {'default': -1, 'as': f'd_{name}'}, {'transform': [{'kind': 'text'}]},
                {'transform': [{'kind': 'boolean'}]}, *(of_whole if kind in WHOLE - {'big'} else [])])
        if kind == 'json':
            return {'name': name, 'transform': [{'kind': 'text'}]}
        return name

    def pairs(self, outer, inner):
        """What is joined, one pair mostly; None where nothing can be."""
        pairs = [(a, b) for a in outer.columns for b in inner.columns if joinable(a[1], b[1], self.classes)
                 and (outer.server == inner.server or joinable_across(a[1], b[1]))]
        if not pairs:
            return None
        of_keys = [(a, b) for a, b in pairs if a in outer.key or b in inner.key]
        chosen = self.rng.sample(of_keys if of_keys and self.chance(0.7) else pairs, 1)
        apart = [p for p in pairs if p[0] != chosen[0][0] and p[1] != chosen[0][1]]
        if apart and self.chance(0.2):
            chosen.append(self.rng.choice(apart))
        return [a[0] for a, _ in chosen], [b[0] for _, b in chosen]

    def direct(self, outer, inner):
        pairs = self.pairs(outer, inner)
        return pairs and {'from': pairs[0], 'to': pairs[1]}

    def through(self, outer, inner):
        """By way of a third table, or of one of the two; a statement joins it with the inner one."""
        link = self.rng.choice([t for t in self.tables if t.server == inner.server])
        first, second = self.pairs(outer, link), self.pairs(link, inner)
        return first and second and {
            'from': first[0], 'to': second[1],
            'through': {'table': link.name, 'from': first[1], 'to': second[0]}}

    def relations(self, outer, depth, arrays=0):
        wanted = self.rng.choice([0, 1, 1, 2]) if depth > 0 else 0
        return [r for r in (self.some_relation(outer, depth, arrays) for _ in range(wanted)) if r]

    def some_relation(self, outer, depth, arrays=0):
        """A few tries, as not every two tables can be joined."""
        return next((r for r in (self.relation(outer, depth, arrays) for _ in range(20)) if r), None)

    def table(self, table, depth):
        relations = self.relations(table, depth) or [self.some_relation(table, 1)]
        definition = {'table': table.name, 'relations': [r for r in relations if r]}
        if table.surrogate:
            definition['key'] = [name for name, _ in table.key]
        if self.chance(0.3):
            definition['columns'] = self.columns(table)
        if len(table.key) == 1 and table.key[0][1] in TEXTUAL + ('vb',):
            return definition  # an empty text is no _id; test_filters.py has such rows
        if self.chance(0.2):
            definition['filter'] = self.condition(table)
        marks = [(name, kind) for name, kind in table.columns if kind in ('tiny', 'int', 'ref', 'dec', 'bin', 'enum')]
        if marks and self.chance(0.25):
            name, kind = self.rng.choice(marks)
            value = table.value(kind, True)
            definition['soft_delete'] = {'column': name, 'deleted': None if value == 'NULL' else
                                         value[1:-1].replace("''", "'") if value[0] == "'" else json.loads(value)}
        return definition


def name_of(entry):
    return entry if isinstance(entry, str) else entry['name']


def hides(thing, column):
    """Whether the column does not show."""
    shown = [thing['values']] if 'values' in thing else [name_of(c) for c in thing.get('columns', ['*'])]
    return column not in shown and '*' not in shown


def places(definition):
    """How often tables stand in a document; one of `max_depth` stands below itself."""
    return definition.get('max_depth', 1) * (1 + sum(places(r) for r in definition.get('relations', [])))


class Case:
    """Tables, definitions of the documents of some, and statements that make their first rows."""

    def __init__(self, seed, databases, classes=None, abroad=None):
        """abroad: a database on another server, where some of the tables are."""
        rng = self.rng = random.Random(seed)
        self.classes = classes  # of types that are joined
        self.plain, names = rng.random() < 0.5, rng.sample(databases, len(databases))
        self.databases = names if rng.random() < 0.3 else names[:1]
        self.abroad, self.tables = abroad, []
        self.alike, self.later = [], []  # those of a pattern; and those that are made meanwhile
        for i in range(rng.randint(3 if abroad else 2, 5)):
            self.tables.append(self.table(f't{i}', away=abroad and (i == 1 or i > 1 and rng.random() < 0.5)))

    def table(self, name, away=False, mark=''):
        """One of the case's kind."""
        rng = self.rng
        table = (Table(rng, self.abroad, name, mark, 'abroad') if away else
                 Table(rng, rng.choice(self.databases), name, mark))
        table = table.plain() if self.plain and rng.random() < 0.9 else table.strange(self.classes is not None)
        if self.abroad:  # what two servers compare alike
            table.columns.append((f'{mark}over', 'ref'))
        return table

    def definitions(self, n):
        """What documents are of n of the tables."""
        return [self.definition(t) for t in self.rng.sample(self.tables, min(n, len(self.tables)))]

    def definition(self, table, tables=None, mark='', most=PLACES):
        """Not larger than an index takes, and a naive model can bear; tables: those that it may lead to."""
        for depth in (self.rng.randint(1, 4), 4, 3, 2, 1, 1):
            found = Tree(self.rng, tables or self.tables, self.classes, mark).table(table, depth)
            if places(found) <= most:
                break
        return found

    def named(self, definitions):
        """(table, column, what is said of it) of those that conditions and orders name; several times where it does not show."""
        tables, found, left = {t.name: t for t in self.tables}, [], list(definitions)
        for thing in left:
            left += thing.get('relations', [])
            said = ' '.join(thing.get(field, '') for field in ('where', 'order_by', 'filter'))
            soft = thing.get('soft_delete', {}).get('column')
            for table in [tables[thing['table']]] if 'table' in thing else self.alike:
                found += [(table, table.source(c), said) for c in table.columns
                          if table.source(c) not in table.key and (quote(c[0]) in said or c[0] == soft)
                          for _ in range(4 if hides(thing, c[0]) else 1)]
        return found

    def first_rows(self):
        """(table, statement) of each."""
        for table in self.tables:
            for _ in range(self.rng.randint(2, 14)):
                yield table, table.insert()


def write(folder, seed, family):
    """The files of a golden case; the definition is JSON, which is YAML as well.  family: makes tables of a join, for some."""
    databases = ['golden_random', 'golden_random_b']
    case = Case(seed, databases)
    definition = {
        'topics': [{'name': 't', 'address': '127.0.0.1', 'user': 'root',
                    'password_env': 'GOLDEN_PASSWORD', 'zero_date': 'text'}],
        'databases': [{'name': database, 'topic': 't'} for database in databases],
        'tables': case.definitions(len(case.tables)),
    }
    if case.rng.random() < 0.4:
        definition['tables'] += [table | {'index': 'family'} for table in family(case)]
    session = "SET NAMES utf8mb4;\nSET sql_mode = '', time_zone = '+00:00';\n"
    create = [f'CREATE DATABASE {name} CHARACTER SET utf8mb4' for name in databases]
    os.makedirs(folder, exist_ok=True)
    for name, statements in (('schema.sql', create + [t.create() for t in case.tables]), ('data.sql', [statement for _, statement in case.first_rows()])):
        with open(os.path.join(folder, name), 'w', encoding='utf-8') as file:
            file.write(session + ';\n'.join(statements) + ';\n')
    with open(os.path.join(folder, 'definition.yaml'), 'w', encoding='utf-8') as file:
        json.dump(definition, file, indent=1, ensure_ascii=False)
