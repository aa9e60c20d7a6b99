#!/usr/bin/python3
"""Golden documents: what the loader makes of each case's rows, on a real server.

    tests/golden/run.py [--flavour F] [--build DIR] [--update] [--random N] [--seed N] [CASE...]

A case is a folder: schema.sql, data.sql, definition.yaml and expected.ndjson, which the oracle
wrote (--update) and a person has looked at.  Without it the case is about the statements: each
must use an index.  The file `flavour` names the only kinds of server that know a case's types.
Random cases follow, of which the seed is printed.  Speaks TAP.
"""
import argparse
import io
import json
import os
import random
import re
import shutil
import socket
import subprocess
import sys

here = os.path.dirname(os.path.abspath(__file__))
repo = os.path.dirname(os.path.dirname(here))
sys.path.insert(0, here)
sys.path.insert(0, os.path.join(repo, 'tests', 'integration'))
import oracle  # noqa: E402
import random_case  # noqa: E402
import random_families  # noqa: E402
import sharing  # noqa: E402
import pymysql  # noqa: E402


def free_port():
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        return s.getsockname()[1]


class Server:
    def __init__(self, flavour, port):
        self.flavour, self.port = flavour, port
        self.data = os.path.join(repo, 'tests', 'run', 'golden-' + flavour)
        self.tool = os.path.join(repo, 'tools', 'mysql', 'server')

    def start(self):
        subprocess.run([self.tool, 'start', '--data', self.data, '--port', str(self.port),
                        '--flavour', self.flavour], check=True, stdout=sys.stderr)
        with open(os.path.join(self.data, 'port'), encoding='utf-8') as file:
            self.port = int(file.read())
        with open(os.path.join(self.data, 'password'), encoding='utf-8') as file:
            self.password = file.read().strip()

    def stop(self):
        subprocess.run([self.tool, 'stop', '--data', self.data], check=True, stdout=sys.stderr)

    def connect(self):
        return pymysql.connect(host='127.0.0.1', port=self.port, user='root',
                               password=self.password, charset='utf8mb4', conv={},
                               client_flag=pymysql.constants.CLIENT.MULTI_STATEMENTS)


class Case:
    def __init__(self, name, server, program, folder=None):
        self.folder = folder or os.path.join(here, name)
        self.name, self.server, self.program = name, server, program
        self.definition = os.path.join(self.folder, 'definition.yaml')
        self.definitions = oracle.Definitions([self.definition])

    def fits(self):
        path = os.path.join(self.folder, 'flavour')
        if not os.path.exists(path):
            return True
        with open(path, encoding='utf-8') as file:
            return self.server.flavour.startswith(tuple(file.read().split()))

    def run_sql(self, connection, name):
        with open(os.path.join(self.folder, name), encoding='utf-8') as file:
            with connection.cursor() as cursor:
                cursor.execute(file.read())
                while cursor.nextset():
                    pass
        connection.commit()

    def load(self):
        """Into an empty database; the binlog then has this case's rows only."""
        connection = self.server.connect()
        with connection.cursor() as cursor:
            reset = 'RESET MASTER'
            if self.server.flavour == 'mysql9':
                reset = 'RESET BINARY LOGS AND GTIDS'
            cursor.execute(reset)
            for database in self.definitions.databases.values():
                schema = database.get('schema') or database['name']
                cursor.execute(f'DROP DATABASE IF EXISTS {oracle.quote(schema)}')
        self.run_sql(connection, 'schema.sql')
        self.run_sql(connection, 'data.sql')
        connection.close()

    def judge(self):
        return oracle.Oracle(self.server.connect(), self.definitions)

    def truth(self):
        """{TABLE: {_id: document or DeadLetter}} as the oracle sees the database."""
        judge = self.judge()
        return {t: dict(sharing.joined(judge, d) if 'join' in d else judge.documents(t))
                for t, d in self.definitions.tables.items()}

    def is_joined(self, table):
        """Its documents are shown with their routing, and dead letters are left out."""
        return 'join' in self.definitions.tables[table]

    def expected_path(self):
        return os.path.join(self.folder, 'expected.ndjson')

    def update(self):
        with open(self.expected_path(), 'w', encoding='utf-8') as file:
            for table, documents in self.truth().items():
                for i, d in documents.items():
                    line = {'table': table, '_id': i}
                    line |= {'_error': True} if isinstance(d, Exception) else {'_source': d}
                    file.write(oracle.encode(line) + '\n')

    def expected(self):
        result = {t: {} for t in self.definitions.tables}
        with open(self.expected_path(), encoding='utf-8') as file:
            for line in map(oracle.json_of, file):
                result[line['table']][line['_id']] = line.get('_source', 'a dead letter')
        return result

    def dump(self, mode, table):
        return subprocess.run(
            [self.program, mode, self.definition, table, str(self.server.port)],
            env=dict(os.environ, GOLDEN_PASSWORD=self.server.password),
            check=True, stdout=subprocess.PIPE, timeout=300).stdout.decode().split('\n')[:-1]

    def documents(self, mode, table):
        found = {}
        for line in map(oracle.json_of, self.dump(mode, table)):
            if line['_id'] in found:
                raise AssertionError(f"{line['_id']} came twice")
            routing = {'_routing': line['_routing']} if '_routing' in line else {}
            if '_source' in line:
                found[line['_id']] = line['_source'] | routing
            elif not self.is_joined(table):
                found[line['_id']] = 'a dead letter'
        return found

    def roots(self, table):
        """Roots that hold a related row but are not found from it."""
        found = {}
        for *row, root in map(oracle.json_of, self.dump('roots', table)):
            found.setdefault((int(row[0]), tuple(row[1:])), set()).add(root)
        judge = self.judge()
        held = sharing.containing(judge, table) if self.is_joined(table) else judge.containing(table)
        return {key: roots - found.get(key, set()) for key, roots in held.items()
                if not roots <= found.get(key, set())}


    def statements(self, table):
        """What the loader and the resolver run: the longest statement of each shape."""
        lines = self.dump('trace', table)
        shapes = {}
        for line in lines[lines.index('') + 1:]:
            sql = json.loads(line)
            shape = re.sub(r"(x|_utf8mb4 )?'[^']*'|-?\b\d[\d.e+-]*|(ROW)?\([,() ]*\),?", '', sql)
            of_keys = ' WHERE ' in sql or ' STRAIGHT_JOIN ' in sql
            if of_keys and 'information_schema' not in sql and len(sql) > len(shapes.get(shape, '')):
                shapes[shape] = sql
        return list(shapes.values())

    def scans(self, table):
        """Statements that read a table without an index, with their plans."""
        found = []
        connection = self.server.connect()
        with connection.cursor(pymysql.cursors.DictCursor) as cursor:
            cursor.execute("SET time_zone = '+00:00'")
            for sql in self.statements(table):
                cursor.execute('EXPLAIN FORMAT=TRADITIONAL ' + sql)
                plan = [r for r in cursor.fetchall() if not (r['table'] or '<').startswith('<')]
                scan = ('ALL',) if ' LIMIT ' in sql else ('ALL', 'index')
                if not sql.startswith('SELECT COUNT') and any(r['type'] in scan for r in plan):
                    found.append(sql[:300] + '\n' + '\n'.join(str(r) for r in plan))
        connection.close()
        return found


class Tap:
    def __init__(self):
        self.n = self.failed = 0

    def result(self, good, name, notes=''):
        self.n += 1
        self.failed += not good
        print(f"{'ok' if good else 'not ok'} {self.n} - {name}")
        for line in notes.splitlines() if not good else []:
            print('# ' + line)
        sys.stdout.flush()

    def equal(self, expected, actual, name):
        notes = io.StringIO()
        self.result(oracle.compare(expected, actual, 3, notes), name, notes.getvalue())

    def attempt(self, name, test):
        try:
            test()
        except Exception as e:  # whatever it is, the other tests go on
            self.result(False, name, f'{type(e).__name__}: {e}')


def dead_or_document(documents):
    return {i: 'a dead letter' if isinstance(d, Exception) else d for i, d in documents.items()}


def check_indexes(tap, case):
    for table in case.definitions.tables:
        title = f'{case.name}: {table}: every statement uses an index'

        def check(t=table, title=title):
            scans = case.scans(t)
            tap.result(not scans, title, '\n\n'.join(scans))
        tap.attempt(title, check)


def run_case(tap, case):
    case.load()
    if not os.path.exists(case.expected_path()):
        check_indexes(tap, case)
        return
    truth = {t: dead_or_document(d) for t, d in case.truth().items()}
    expected = case.expected()
    for table in case.definitions.tables:
        tap.equal(expected[table], truth[table],
                  f'{case.name}: {table}: the oracle says what was recorded')
    check_documents(tap, case, expected)


def check_documents(tap, case, expected):
    for table in case.definitions.tables:
        name = f'{case.name}: {table}'
        for mode in ('range', 'keys') if case.is_joined(table) else ('range', 'keys', 'images', 'areas'):
            title = f'{name}: documents by {mode}'
            tap.attempt(title, lambda m=mode, t=table, title=title:
                        tap.equal(expected[t], case.documents(m, t), title))
        title = f'{name}: every related row leads to the documents that hold it'

        def check_roots(t=table, title=title):
            lost = case.roots(t)
            tap.result(not lost, title, '\n'.join(f'{k}: {v}' for k, v in list(lost.items())[:5]))
        tap.attempt(title, check_roots)


def run_random(tap, server, program, seed):
    folder = os.path.join(repo, 'tests', 'run', f'golden-random-{seed}')
    random_case.write(folder, seed, random_families.join)
    case = Case(f'random {seed}', server, program, folder)
    case.load()
    before = tap.failed
    check_documents(tap, case, {t: dead_or_document(d) for t, d in case.truth().items()})
    if tap.failed == before:
        shutil.rmtree(folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n', maxsplit=1)[0])
    parser.add_argument('--flavour', default='mariadb')
    parser.add_argument('--port', type=int, help='of the server; default: a free one')
    parser.add_argument('--build', default=os.path.join(repo, 'build'))
    parser.add_argument('--update', action='store_true')
    parser.add_argument('--keep', action='store_true', help='leave the server running')
    parser.add_argument('--random', type=int, default=20, metavar='N', help='random cases to run')
    parser.add_argument('--seed', type=int, help='of the first random case')
    parser.add_argument('cases', nargs='*')
    options = parser.parse_args()
    server = Server(options.flavour, options.port or free_port())
    program = os.path.join(options.build, 'tests', 'golden', 'golden_dump')
    names = options.cases or sorted(
        n for n in os.listdir(here) if os.path.exists(os.path.join(here, n, 'definition.yaml')))
    tap = Tap()
    server.start()
    try:
        for name in names:
            case = Case(name, server, program)
            if not case.fits():
                continue
            if options.update:
                if os.path.exists(case.expected_path()) or options.cases:
                    case.load()
                    case.update()
            else:
                tap.attempt(name, lambda case=case: run_case(tap, case))
        if not options.cases and not options.update:
            first = options.seed if options.seed is not None else random.randrange(10 ** 6)
            print(f'# seed {first}')
            for seed in range(first, first + options.random):
                tap.attempt(f'random {seed}', lambda s=seed: run_random(tap, server, program, s))
    finally:
        if not options.keep:
            server.stop()
    if not options.update:
        print(f'1..{tap.n}')
    return 1 if tap.failed else 0


if __name__ == '__main__':
    sys.exit(main())
