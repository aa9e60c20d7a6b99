#!/usr/bin/env python3
"""The judge: what every document must be, computed from SQL by the definition file alone.

Independent of the product and deliberately naive: every row is read by a query of its own, in one
consistent snapshot.  It implements the contract of docs/definitions.md ("A document is ...").

    oracle.py documents DEFINITION TABLE           one {"_id", "_source"} a line, sorted by _id
    oracle.py judge DEFINITION TABLE --engine URL  compares all documents of the table's index
    oracle.py compare EXPECTED ACTUAL              two files as `documents` prints them

The server is named by --socket or --host and --port, --user, --password (or --defaults-file),
else by the definition's topic.  Exit status: 0 equal, 1 differences, 2 wrong usage.
"""
import argparse
import base64
import configparser
import datetime
import json
import os
import re
import struct
import sys
import urllib.request
from decimal import Decimal

import pymysql
import transform
import yaml
from transform import encode

INTEGERS = {'tinyint', 'smallint', 'mediumint', 'int', 'bigint'}
TEXTS = {'char', 'varchar', 'tinytext', 'text', 'mediumtext', 'longtext'}
BYTES = {'binary', 'varbinary', 'tinyblob', 'blob', 'mediumblob', 'longblob'}
GEOMETRIES = {'geometry', 'point', 'linestring', 'polygon', 'multipoint', 'multilinestring',
              'multipolygon', 'geometrycollection', 'geomcollection'}
STRING_FIELDS = {'keyword', 'text', 'wildcard', 'match_only_text', 'constant_keyword'}


def quote(name):
    return '`' + name.replace('`', '``') + '`'


class DeadLetter(Exception):
    """The row has no document: it belongs into the dead letters."""


class Column:
    """One column as information_schema knows it."""

    def __init__(self, row, json_checks):
        self.name = row['COLUMN_NAME']
        self.kind = row['DATA_TYPE'].lower()
        self.column_type = row['COLUMN_TYPE'].lower()
        self.charset = row['CHARACTER_SET_NAME']
        self.collation = row['COLLATION_NAME']
        self.precision = int(row['NUMERIC_PRECISION'] or 0)
        self.scale = int(row['NUMERIC_SCALE'] or 0)
        self.fsp = int(row['DATETIME_PRECISION'] or 0)
        self.visible = 'INVISIBLE' not in row['EXTRA'].upper()
        if self.kind == 'longtext' and any(
                re.search(r'json_valid\(\s*' + re.escape(quote(self.name)) + r'\s*\)', check, re.I)
                for check in json_checks):
            self.kind = 'json'

    def expression(self):
        """Reads the value as exact text; what is not plain text as hexadecimal digits."""
        name = quote(self.name)
        if self.kind in INTEGERS or self.kind in ('decimal', 'year', 'bit'):
            return f'{name} + 0'
        if self.kind in ('float', 'double'):
            return f'CAST({name} AS DOUBLE)'
        if self.kind in BYTES or self.kind == 'vector':
            return f'HEX({name})'
        if self.kind in GEOMETRIES:
            return f'HEX(ST_AsGeoJSON({name}))'
        if self.kind in ('date', 'datetime', 'timestamp', 'time', 'uuid', 'inet4', 'inet6'):
            return f'CAST({name} AS CHAR)'
        return f'HEX(CONVERT({name} USING utf8mb4))'

    def field_type(self):
        """The default field type, as far as a value's form depends on it."""
        return 'keyword' if self.kind == 'decimal' and self.precision > 18 else ''


def shortest_float32(d):
    for digits in range(1, 10):
        text = f'{d:.{digits}g}'
        try:
            if struct.pack('<f', float(text)) == struct.pack('<f', d):
                return Decimal(text)
        except OverflowError:
            continue  # rounded up past the largest
    raise ValueError(d)


def number_text(number):
    """As JavaScript prints it: without exponent from 1e-6 to below 1e21."""
    if number == 0 or Decimal('1e-6') <= abs(number) < Decimal('1e21'):
        text = f'{number:f}'
        return text.rstrip('0').rstrip('.') if '.' in text else text
    text = f'{number.normalize():e}'
    return text.replace('e+', 'e')


def year_of(column, text):
    year = int(text)
    if column.column_type == 'year(2)':
        return year + (2000 if year < 70 else 1900)
    return year


def json_of(text):
    return json.loads(text, parse_float=Decimal, parse_int=Decimal)


class Contract:
    """Cell text to document value: the forms that the design fixes."""

    def __init__(self, topic):
        self.zero_date = topic.get('zero_date', 'null')
        self.zone = topic.get('time_zone') or ''

    def date(self, column, text):
        incomplete = text[:4] == '0000' or text[5:7] == '00' or text[8:10] == '00'
        if incomplete and self.zero_date == 'dead_letter':
            raise DeadLetter(f'{column.name} is {text}')
        if incomplete and self.zero_date == 'null':
            return None
        return text.replace(' ', 'T') + self.offset(column, text, incomplete)

    def offset(self, column, text, incomplete):
        if column.kind == 'timestamp':
            return 'Z'
        if column.kind != 'datetime' or not self.zone or incomplete:
            return ''
        if self.zone.upper() in ('Z', 'UTC', '+00:00'):
            return 'Z'
        if re.fullmatch(r'[+-]\d\d:\d\d', self.zone):
            return self.zone
        import zoneinfo
        when = datetime.datetime.fromisoformat(text[:19])
        seconds = int(when.replace(tzinfo=zoneinfo.ZoneInfo(self.zone)).utcoffset().total_seconds())
        sign, seconds = ('-', -seconds) if seconds < 0 else ('+', seconds)
        return f'{sign}{seconds // 3600:02}:{seconds % 3600 // 60:02}'

    def value(self, column, field_type, text):
        if text is None:
            return None
        kind = column.kind
        if kind in INTEGERS or kind in ('year', 'bit'):
            number = year_of(column, text) if kind == 'year' else int(text)
            return number != 0 if field_type == 'boolean' else Decimal(number)
        if kind == 'decimal':
            return text if (field_type or column.field_type()) in STRING_FIELDS else Decimal(text)
        if kind == 'float':
            return Binary(shortest_float32(float(text)))
        if kind == 'double':
            return Binary(number_text(Decimal(repr(float(text)))))
        if kind in ('date', 'datetime', 'timestamp'):
            return self.date(column, text)
        if kind in ('time', 'uuid', 'inet4', 'inet6'):
            return text
        return self.value_of_bytes(column, bytes.fromhex(text))

    @staticmethod
    def value_of_bytes(column, raw):
        if column.kind in BYTES:
            return base64.b64encode(raw).decode()
        if column.kind == 'vector':
            return [shortest_float32(f) for f in struct.unpack(f'<{len(raw) // 4}f', raw)]
        if column.kind == 'json' or column.kind in GEOMETRIES:
            return json_of(raw.decode())
        text = raw.decode(errors='replace')
        if column.kind == 'set':
            return text.split(',') if text else []
        return text

    @staticmethod
    def key_text(column, text):
        """A key part as it stands in _id; text is the cell."""
        if column.kind in BYTES:
            return text.lower()
        if column.kind in TEXTS or column.kind in ('enum', 'set'):
            return bytes.fromhex(text).decode()
        if column.kind in ('datetime', 'timestamp'):
            return text.replace(' ', 'T') + ('Z' if column.kind == 'timestamp' else '')
        if column.kind == 'float':
            return number_text(shortest_float32(float(text)))
        if column.kind == 'double':
            return number_text(Decimal(repr(float(text))))
        if column.kind == 'year':
            return str(year_of(column, text))
        return text


class Table:
    """A table of the database, with its columns and primary key."""

    def __init__(self, cursor, schema, name):
        self.schema, self.name, self.cursor = schema, name, cursor
        self.from_clause = f'{quote(schema)}.{quote(name)}'
        cursor.execute('SELECT * FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = %s AND '
                       'TABLE_NAME = %s ORDER BY ORDINAL_POSITION', (schema, name))
        rows = cursor.fetchall()
        if not rows:
            raise SystemExit(f'no such table: {schema}.{name}')
        checks = self.json_checks(cursor)
        self.columns = {row['COLUMN_NAME'].lower(): Column(row, checks) for row in rows}
        cursor.execute('SELECT COLUMN_NAME FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = '
                       "%s AND TABLE_NAME = %s AND INDEX_NAME = 'PRIMARY' ORDER BY SEQ_IN_INDEX",
                       (schema, name))
        ends = {row['COLUMN_NAME'] for row in rows if row['GENERATION_EXPRESSION'] == 'ROW END'}
        self.key = [self.column(row['COLUMN_NAME']) for row in cursor.fetchall() if row['COLUMN_NAME'] not in ends]

    def json_checks(self, cursor):
        cursor.execute('SELECT VERSION() AS v')
        if 'mariadb' not in cursor.fetchone()['v'].lower():
            return []
        cursor.execute('SELECT CHECK_CLAUSE FROM information_schema.CHECK_CONSTRAINTS WHERE '
                       'CONSTRAINT_SCHEMA = %s AND TABLE_NAME = %s', (self.schema, self.name))
        return [row['CHECK_CLAUSE'] for row in cursor.fetchall()]

    def column(self, name):
        return self.columns[name.lower()]


class Definitions:
    """The definition files, and what they say about a database."""

    def __init__(self, paths):
        self.topics, self.databases, self.tables = {}, {}, {}
        for path in paths:
            with open(path, encoding='utf-8') as file:
                content = yaml.load(file, Loader=yaml.CSafeLoader)  # a tenth of the time of the other one
            self.topics.update({t['name']: t for t in content.get('topics') or []})
            self.databases.update({d['name']: d for d in content.get('databases') or []})
            self.tables.update({t.get('table') or t['pattern']: t for t in content.get('tables') or []})
        self.folder = os.path.dirname(os.path.abspath(paths[0]))

    def topic_of(self, table):
        return self.topics[self.databases[table.split('.', 1)[0]]['topic']]

    def schema_and_name(self, table):
        database, name = table.split('.', 1)
        return self.databases[database].get('schema') or database, name


def listed(value):
    return value if isinstance(value, list) else [value]


class Oracle:
    """Computes documents; everything it reads of one server is of one snapshot.

    others: connections to the servers of other topics than those of the tables asked for."""

    def __init__(self, connection, definitions, others=()):
        self.cursor = self.snapshot(connection)
        self.others = {topic: self.snapshot(other) for topic, other in dict(others).items()}
        self.definitions = definitions
        self.cached_tables, self.cached_rows, self.ranks, self.less_deep = {}, {}, {}, {}

    @staticmethod
    def snapshot(connection):
        cursor = connection.cursor(pymysql.cursors.DictCursor)
        cursor.execute("SET time_zone = '+00:00', sql_mode = ''")
        cursor.execute('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ')
        cursor.execute('START TRANSACTION WITH CONSISTENT SNAPSHOT')
        return cursor

    def cursor_of(self, topic):
        return self.others.get(topic, self.cursor)

    def table(self, name):
        if name not in self.cached_tables:
            cursor = self.cursor_of(self.definitions.topic_of(name)['name'])
            self.cached_tables[name] = Table(cursor, *self.definitions.schema_and_name(name))
        return self.cached_tables[name]

    def rows(self, table, condition, order_by=None):
        """Rows in key order, or another before that: {lower-case column name: exact text}."""
        names = [f'_o{i}' for i in range(len(table.columns))]  # no column of theirs, so that an order means theirs
        select = ', '.join(f'{c.expression()} AS {name}' for c, name in zip(table.columns.values(), names))
        sql = f'SELECT {select} FROM {table.from_clause} WHERE {condition}'
        order = [order_by] if order_by else []
        order += [f'{table.from_clause}.{quote(c.name)}' for c in table.key]
        if order:
            sql += ' ORDER BY ' + ', '.join(order)
        table.cursor.execute(sql)
        return [{name: cell.decode() if isinstance(cell, bytes) else None if cell is None else str(cell)
                 for name, cell in zip(table.columns, row.values())} for row in table.cursor.fetchall()]

    def documents(self, name, keys=None, among=''):
        """Yields (_id, document or DeadLetter) of every row, or of those whose _id is in keys, or that the condition is true of."""
        for _, _id, document in self.rows_and_documents(name, self.definitions.tables[name], among=among):
            if keys is None or _id in keys:
                yield _id, document

    def rows_and_documents(self, name, definition, prefix='', among=''):
        """Yields (row, _id, document or DeadLetter) of every row of the table that has one; its _ids begin with prefix."""
        table = self.table(name)
        contract = Contract(self.definitions.topic_of(name))
        key = [table.column(c) for c in listed(definition.get('key') or [])] or table.key
        condition = '(' + definition['filter'] + '\n)' if definition.get('filter') else 'TRUE'
        condition += ''.join(f' AND {quote(c.name)} IS NOT NULL' for c in key)
        if definition.get('soft_delete'):
            condition += self.not_deleted(**definition['soft_delete'])
        condition += f' AND ({among})' if among else ''
        for row in self.rows(table, condition):
            _id = prefix + self.id_of(contract, key, row)
            try:
                self.check_id(_id, prefix)
                yield row, _id, self.object(contract, table, definition, row)
            except (DeadLetter, transform.Unfit) as e:
                yield row, _id, DeadLetter(str(e))

    @staticmethod
    def check_id(_id, prefix=''):
        if _id == prefix or len(_id.encode()) > 512:
            raise DeadLetter('a key that is not empty makes an _id of 512 bytes at most')

    def not_deleted(self, column, deleted):
        if isinstance(deleted, str):
            deleted = "'" + deleted.replace("'", "''") + "'"
        return f" AND NOT ({quote(column)} <=> {'NULL' if deleted is None else deleted})"

    @staticmethod
    def id_of(contract, key, row):
        parts = [contract.key_text(c, row[c.name.lower()]) for c in key]
        if len(parts) == 1:
            return parts[0]
        return ','.join(p.replace('%', '%25').replace(',', '%2C') for p in parts)

    def object(self, contract, table, definition, row):
        result = {}
        for entry in self.columns_of(table, definition):
            if 'value' in entry:
                result[entry.get('as') or entry['name']] = json_of(json.dumps(entry['value']))
                continue
            value = self.column_value(contract, table, entry, row)
            if value is None and 'default' in entry:
                value = json_of(json.dumps(entry['default']))
            result[entry.get('as') or self.name_of(table, entry)] = value
        for relation in self.relations_of(definition):
            name = relation.get('as') or relation['table'].split('.', 1)[1]
            result[name] = self.relation(contract, table, relation, row)
        return result

    @staticmethod
    def name_of(table, entry):
        """As the table spells it; what is joined has a name of the definition."""
        joined = (entry.get('transform') or [{}])[0].get('kind') == 'join'
        return entry['name'] if joined else table.column(entry['name']).name

    @staticmethod
    def column_value(contract, table, entry, row):
        def value(name, field_type=''):
            column = table.column(name)
            return contract.value(column, field_type, row[column.name.lower()])

        steps = entry.get('transform') or []
        if not steps:
            return value(entry['name'], entry.get('type') or '')
        first = steps[0]
        if first['kind'] == 'join':
            texts = [transform.text(v) for v in map(value, first['columns']) if v is not None]
            return transform.run(steps[1:], first.get('by', '').join(texts)) if texts else None
        found = value(entry['name'])
        return None if found is None else transform.run(steps, transform.text(found))

    def relations_of(self, definition):
        """Those below a table or a relation; one of `max_depth` stands below itself, one less deep."""
        found = list(definition.get('relations') or [])
        if (definition.get('max_depth') or 0) > 1:
            slot = id(definition)
            if slot not in self.less_deep:
                self.less_deep[slot] = definition | {'max_depth': definition['max_depth'] - 1}
            found.append(self.less_deep[slot])
        return found

    @staticmethod
    def columns_of(table, definition):
        if definition.get('columns') is None:
            return [{'name': c.name} for c in table.columns.values() if c.visible]
        entries = [{'name': e} if isinstance(e, str) else e for e in definition['columns']]
        listed_names = {e['name'].lower() for e in entries}
        rest = [{'name': c.name} for c in table.columns.values()
                if c.visible and c.name.lower() not in listed_names]
        result = []
        for entry in entries:
            if entry['name'] == '*':
                result += rest
            elif not entry.get('skip'):
                result.append(entry)
        return result

    def relation(self, contract, outer, relation, row):
        table = self.table(relation['table'])
        children = self.children(outer, relation, row)
        if not relation.get('distinct'):  # what is left out below each level would multiply
            children = children[:relation.get('limit')]
        found = [self.element(contract, table, relation, child) for child in children]
        if not relation.get('many'):
            return found[0] if found else None
        if relation.get('distinct'):
            first = {}
            for e in found:
                first.setdefault(encode(e), e)
            found = list(first.values())
        return found[:relation.get('limit')]

    def element(self, contract, table, relation, row):
        if not relation.get('values'):
            return self.object(contract, table, relation, row)
        entries = relation.get('columns') or [{}]
        field_type = entries[0].get('type') if isinstance(entries[0], dict) else ''
        column = table.column(relation['values'])
        return contract.value(column, field_type or '', row[column.name.lower()])

    def children(self, outer, relation, row):
        """The rows that a row of the outer table relates to."""
        table = self.table(relation['table'])
        if not relation.get('through'):
            found = self.joined(outer, relation['from'], table, relation['to'], row, relation)
        else:
            found = [child for link in self.links(outer, relation, row) for child in self.joined(
                self.table(relation['through']['table']), relation['through']['to'], table, relation['to'], link,
                relation)]
            found.sort(key=lambda child: self.rank(table, relation, child))
        return found if relation.get('many') else found[:1]

    def links(self, outer, relation, row):
        through = relation['through']
        return self.joined(outer, relation['from'], self.table(through['table']), through['from'], row)

    def rank(self, table, relation, row):
        """Where the row stands among all that the relation may lead to."""
        if id(relation) not in self.ranks:
            rows = self.rows(table, 'TRUE', relation.get('order_by'))
            self.ranks[id(relation)] = {tuple(r.values()): i for i, r in enumerate(rows)}
        return self.ranks[id(relation)][tuple(row.values())]

    def joined(self, outer, from_columns, inner, to_columns, row, relation=None):
        """The inner table's rows that a row of the outer one is joined with."""
        relation = relation or {}
        pairs = [(outer.column(a), inner.column(b)) for a, b in zip(listed(from_columns), listed(to_columns))]
        cells = tuple(row[a.name.lower()] for a, _ in pairs)
        if None in cells:
            return []
        slot = (outer.from_clause, inner.from_clause, id(inner), str(from_columns), str(to_columns), relation.get('where'),
                relation.get('order_by'), cells)
        if slot not in self.cached_rows:
            conditions = [self.equal(a, b, cell) for (a, b), cell in zip(pairs, cells)]
            if relation.get('where'):
                conditions.append('(' + relation['where'] + '\n)')
            self.cached_rows[slot] = self.rows(inner, ' AND '.join(conditions), relation.get('order_by'))
        return self.cached_rows[slot]

    def equal(self, a, b, cell):
        """SQL: column b of the related table equals the cell of the outer column a.

        Where the two columns compare differently, equal means: as b does and as a does.
        """
        name, literal = quote(b.name), self.literal(a, cell)
        if b.kind == 'bit':  # MySQL cuts a literal's fraction: BIT 0 is "equal" to 0.5
            name = f'({name} + 0)'
        conditions = [f'{name} = {self.typed(b, a, literal)}']
        if (a.kind, a.collation, a.fsp) != (b.kind, b.collation, b.fsp):
            conditions.append(f'{self.typed(a, b, name)} = {self.typed(a, a, literal)}')
        return '(' + ' AND '.join(conditions) + ')'

    @staticmethod
    def literal(column, cell):
        """A cell as read by Column.expression(), as SQL."""
        if column.kind in BYTES:
            return f"x'{cell}'"
        if column.charset:
            return f"CONVERT(x'{cell}' USING utf8mb4)" if cell else "''"
        if column.kind in ('float', 'double'):
            return f'{float(cell):.17e}'
        if column.kind in INTEGERS or column.kind in ('decimal', 'year', 'bit'):
            return cell
        return f"'{cell}'"

    @staticmethod
    def typed(column, source, expression):
        """The expression, of the type of source, as something of the type of column."""
        if column.charset:
            digits = '+0' if source.kind in INTEGERS or source.kind == 'decimal' else ''
            return f'CONVERT({expression}{digits} USING {column.charset}) COLLATE {column.collation}'
        if column.kind in ('date', 'uuid', 'inet4', 'inet6'):
            return f'CAST({expression} AS {column.kind})'
        if column.kind in ('datetime', 'timestamp', 'time'):
            kind = 'TIME' if column.kind == 'time' else 'DATETIME'
            return f'CAST({expression} AS {kind}({column.fsp}))'
        if source.charset and column.kind == 'decimal':
            return f'CAST({expression} AS DECIMAL(65,{column.scale}))'
        if source.charset and (column.kind in INTEGERS or column.kind == 'bit'):
            unsigned = 'unsigned' in column.column_type or column.kind == 'bit'
            return f"CAST({expression} AS {'UNSIGNED' if unsigned else 'SIGNED'})"
        return expression

    def containing(self, name):
        """{(place, key cells of a related row): {_id of a root whose document holds it}}.

        Places are numbered as they stand in the definition, each before those below it.
        """
        definition = self.definitions.tables[name]
        table, found = self.table(name), {}
        contract = Contract(self.definitions.topic_of(name))
        key = [table.column(c) for c in listed(definition.get('key') or [])] or table.key
        condition = 'TRUE' + ''.join(f' AND {quote(c.name)} IS NOT NULL' for c in key)
        for row in self.rows(table, condition):
            _id = self.id_of(contract, key, row)
            if 1 <= len(_id.encode()) <= 512:
                self.walk(table, definition, row, 0, _id, found)
        return found

    def walk(self, table, definition, row, place, root, found):
        """Enter the rows below the place."""
        for relation in self.relations_of(definition):
            if relation.get('through'):
                place += 1
                link = self.table(relation['through']['table'])
                for child in self.links(table, relation, row):
                    self.enter(link, child, place, root, found)
            place += 1
            inner = self.table(relation['table'])
            for child in self.children(table, relation, row):
                self.enter(inner, child, place, root, found)
                self.walk(inner, relation, child, place, root, found)
            place += self.count_below(relation)

    @staticmethod
    def enter(table, row, place, root, found):
        cells = tuple(Contract.key_text(c, row[c.name.lower()]) for c in table.key)
        found.setdefault((place, cells), set()).add(root)

    def count_below(self, definition):
        """The places of a definition's relations; a link table has one of its own."""
        return sum(1 + bool(r.get('through')) + self.count_below(r) for r in self.relations_of(definition))


class Binary(Decimal):
    """Of a FLOAT or DOUBLE, in the shortest text that is the same number."""


def same(a, b, by_engine=False):
    """Equal as documents: the same types, and numbers as numbers.

    by_engine: the engine has written the whole document again, after a change of a part of it, and Java prints some
    doubles longer than needed (4.751728000000001E21): then these are compared as doubles."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(v, b[k], by_engine) for k, v in a.items())
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(same(v, w, by_engine) for v, w in zip(a, b))
    if isinstance(a, Decimal) and isinstance(b, Decimal):
        is_binary = isinstance(a, Binary) or isinstance(b, Binary)
        return a == b or (by_engine and is_binary and float(a) == float(b))
    return type(a) is type(b) and a == b


def compare(expected, actual, show=5, out=sys.stdout, by_engine=()):
    """Both {_id: document}; what Millrace adds (_millrace...) is not looked at.  True when equal.

    by_engine: the ids of documents that the engine has written, see same()."""
    missing = [i for i in expected if i not in actual]
    extra = [i for i in actual if i not in expected]
    differ = [i for i in expected if i in actual and not same(expected[i], actual[i], i in by_engine)]
    print(f'{len(expected)} expected, {len(actual)} found: {len(missing)} missing, {len(extra)} '
          f'extra, {len(differ)} different', file=out)
    for title, ids in (('missing', missing), ('extra', extra), ('different', differ)):
        for i in ids[:show]:
            print(f'  {title} {i}', file=out)
            for side, of in (('expected', expected), ('found', actual)):
                if i in of:
                    print(f'    {side:8} {encode(of[i])[:2000]}', file=out)
    return not (missing or extra or differ)


def without_ours(document):
    return {k: v for k, v in document.items() if not k.startswith('_millrace')}


class Engine:
    """All documents of an index; sorted by nothing, read by scroll."""

    def __init__(self, url, user='', password=''):
        self.url = url.rstrip('/')
        self.headers = {'Content-Type': 'application/json'}
        if user:
            login = base64.b64encode(f'{user}:{password}'.encode()).decode()
            self.headers['Authorization'] = 'Basic ' + login

    def call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, self.headers, method=method)
        with urllib.request.urlopen(request, timeout=120) as answer:
            return json_of(answer.read())

    def documents(self, index):
        self.call('POST', f'/{index}/_refresh')
        page = self.call('POST', f'/{index}/_search?scroll=2m',
                         {'size': 2000, 'query': {'match_all': {}}, 'sort': ['_doc']})
        found = {}
        while page['hits']['hits']:
            for hit in page['hits']['hits']:
                found[hit['_id']] = without_ours(hit['_source'])
            page = self.call('POST', '/_search/scroll',
                             {'scroll': '2m', 'scroll_id': page['_scroll_id']})
        self.call('DELETE', '/_search/scroll', {'scroll_id': page['_scroll_id']})
        return found


def connect(options, topic):
    """By the options, else as the topic says."""
    given = {}
    if options.defaults_file:
        parser = configparser.ConfigParser(allow_no_value=True, interpolation=None)
        parser.read(options.defaults_file)
        given = dict(parser['client'])
    host, _, port = (topic.get('address') or '127.0.0.1').partition(':')
    password = options.password or given.get('password') or topic.get('password') or ''
    if not password and topic.get('password_file'):
        path = os.path.join(options.folder, topic['password_file'])
        if os.path.exists(path):
            with open(path, encoding='utf-8') as file:
                password = file.read().rstrip('\n')
    where = {'unix_socket': options.socket} if options.socket else {
        'host': options.host or given.get('host') or host,
        'port': int(options.port or given.get('port') or port or 3306)}
    return pymysql.connect(user=options.user or given.get('user') or topic.get('user') or 'root',
                           password=password, charset='utf8mb4', conv={}, **where)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    commands = parser.add_subparsers(dest='command', required=True)
    for name in ('documents', 'judge'):
        command = commands.add_parser(name)
        command.add_argument('definition', nargs='+', help='definition files, then the table')
        for option in ('--socket', '--host', '--port', '--user', '--password', '--defaults-file'):
            command.add_argument(option)
        if name == 'judge':
            command.add_argument('--engine', required=True)
            command.add_argument('--engine-user', default='')
            command.add_argument('--engine-password', default='')
            command.add_argument('--index', help='default: the alias of the table')
            command.add_argument('--show', type=int, default=5)
    command = commands.add_parser('compare')
    command.add_argument('expected')
    command.add_argument('actual')
    return parser.parse_args()


def read_lines(path):
    with open(path, encoding='utf-8') as file:
        return {d['_id']: d['_source'] for d in map(json_of, file)}


def main():
    options = arguments()
    if options.command == 'compare':
        return 0 if compare(read_lines(options.expected), read_lines(options.actual)) else 1
    *paths, table = options.definition
    definitions = Definitions(paths)
    options.folder = definitions.folder
    if table not in definitions.tables:
        print(f'{table} is not defined', file=sys.stderr)
        return 2
    connection = connect(options, definitions.topic_of(table))
    found = dict(Oracle(connection, definitions).documents(table))
    if options.command == 'documents':
        for i in sorted(found):
            if isinstance(found[i], DeadLetter):
                print(encode({'_id': i, '_error': str(found[i])}))
            else:
                print(encode({'_id': i, '_source': found[i]}))
        return 0
    found = {i: d for i, d in found.items() if not isinstance(d, DeadLetter)}
    index = options.index or definitions.tables[table].get('index') or table.split('.', 1)[1]
    engine = Engine(options.engine, options.engine_user, options.engine_password)
    return 0 if compare(found, engine.documents(index), options.show) else 1


if __name__ == '__main__':
    sys.exit(main())
