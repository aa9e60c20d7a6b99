// The page's code that touches no browser: numbers without a loss, addresses, definitions that dialogs
// make, and what the palette understands.  tests/page/pure.tap bundles this file and runs it by node.
import test from 'node:test';
import assert from 'node:assert/strict';

globalThis.location = { hash: '' };
globalThis.localStorage = { getItem: () => null, setItem: () => {} };
globalThis.BroadcastChannel = class { postMessage() {} };
globalThis.document = { hidden: false, addEventListener() {} };
// An interval of the page would keep node alive.
globalThis.setInterval = () => 0;

const { parseExact, text } = await import('../../web/ui/src/exact.js');
const { visible } = await import('../../web/ui/src/html.js');
const { link } = await import('../../web/ui/src/route.js');
const { traceOf } = await import('../../web/ui/src/palette.js');
const { relationOf } = await import('../../web/ui/src/definition/relations.js');
const { commandOf, sourceOf } = await import('../../web/ui/src/definition/source.js');
const { columnOf, shortColumn } = await import('../../web/ui/src/definition/draft.js');
const { kindOfReason, partOfKind } = await import('../../web/ui/src/screens/letters.js');
const { checkLink, findingOf, groupName } = await import('../../web/ui/src/checks.js');
const { overall, worst } = await import('../../web/ui/src/state.js');
const { seriesOf } = await import('../../web/ui/src/plots.js');

// The fields of a topic that nobody has filled.
const NO_VALUES = {
  ...Object.fromEntries(['address', 'user', 'password_file', 'password_env', 'password', 'server_public_key_file', 'group', 'start', 'time_zone', 'day_zone', 'zero_date', 'on_gap', 'server_id', 'description'].map((f) => [f, ''])),
  secret: 'file', tls: 'off',
};

let seed = Number(process.env.SEED ?? Date.now() % 1e9);
console.log(`# seed ${seed}`);
const random = (n) => {
  seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff;
  return (seed >>> 8) % n;
};
const pick = (list) => list[random(list.length)];

const NUMBERS = ['0', '-1', '24.50', '9007199254740993', '-12345678901234567890.123456789012345678', '1e400', '1E5', '0.1', '1.10', '18446744073709551615'];
const STRINGS = ['', 'a', '24.50', '"', '\\', '\\"1"', 'number: 1', '\u0001number:1', '龙井茶', '\u202e', '</script>', '\n', '{"a":1.50}'];

// JSON as text, made without JSON.stringify of numbers: what must come out again.
function make(depth) {
  const kind = random(depth > 0 ? 5 : 3);
  if (kind === 0) return pick(NUMBERS);
  if (kind === 1) return JSON.stringify(pick(STRINGS));
  if (kind === 2) return pick(['true', 'false', 'null']);
  const parts = Array.from({ length: random(4) }, () => make(depth - 1));
  if (kind === 3) return `[${parts.join(',')}]`;
  return `{${parts.map((p, i) => `${JSON.stringify(`k${i}${pick(STRINGS)}`)}:${p}`).join(',')}}`;
}

const squeeze = (json) => json.replace(/"(?:[^"\\]|\\.)*"|\s+/g, (x) => (x[0] === '"' ? x : ''));

test('every document comes out as it came in, with every digit', () => {
  for (let i = 0; i < 20000; i++) {
    const json = make(4);
    assert.equal(squeeze(text(parseExact(json))), json);
  }
});

test('a string that looks like the mark of a number stays a string', () => {
  assert.equal(typeof parseExact('"\\u0001number:1"'), 'string');
});

test('an address has its parts and filters encoded', () => {
  assert.equal(link(['tables', 'a/b?c'], { find: 'x&y', none: '', gone: undefined }), '#/tables/a%2Fb%3Fc?find=x%26y');
});

test('the palette takes table:key as a trace, by table, index or bare name', () => {
  const tables = [{ table: 'shop.orders', index: 'o' }];
  for (const name of ['shop.orders', 'o', 'orders']) assert.deepEqual(traceOf(`${name}:42`, tables), { table: 'shop.orders', key: '42' });
  assert.deepEqual(traceOf('orders:a:b', tables), { table: 'shop.orders', key: 'a:b' });
  for (const other of ['orders', 'orders:', ':42', 'nothing:42']) assert.equal(traceOf(other, tables), undefined);
});

test('an edited relation keeps what the dialog does not show', () => {
  const before = { table: 's.t', from: 'a', to: 'b', refresh: 'none', columns: [{ name: 'x', type: 'text' }, 'y'], nested: true };
  const values = { table: 's.t', from: 'a, c', to: 'b, d', as: 'n', many: true, nested: false, columns: 'y, x, z', where: '', order_by: '', limit: '3' };
  assert.deepEqual(relationOf(before, values), {
    table: 's.t', from: ['a', 'c'], to: ['b', 'd'], refresh: 'none', as: 'n', many: true, limit: 3, columns: ['y', { name: 'x', type: 'text' }, 'z'],
  });
});

test('an edited topic keeps its other members and loses what was emptied', () => {
  const values = { ...NO_VALUES, address: 'db:3306', user: 'm', tls: 'unchecked', server_id: '7' };
  assert.deepEqual(sourceOf('topic', { name: 'shop', group: 'g', later: 1 }, values), {
    name: 'shop', later: 1, address: 'db:3306', user: 'm', tls: { verify: false }, server_id: 7,
  });
});

test('a source has the one password that was chosen, and keeps the stored one if nothing is typed', () => {
  const typed = { ...NO_VALUES, address: 'db', user: 'm', secret: 'typed', password_file: '/left/over' };
  assert.deepEqual(sourceOf('topic', undefined, { ...typed, name: 'shop', password: 'geheim' }), { name: 'shop', address: 'db', user: 'm', password: 'geheim' });
  assert.deepEqual(sourceOf('topic', { name: 'shop', password: '***' }, typed), { name: 'shop', address: 'db', user: 'm', password: '***' });
  assert.deepEqual(sourceOf('topic', { name: 'shop', password: '***' }, { ...typed, secret: 'file' }), { name: 'shop', address: 'db', user: 'm', password_file: '/left/over' });
});

test('a password stands in no command line', () => {
  const typed = { ...NO_VALUES, name: 'shop', address: 'db', user: 'm', secret: 'typed', password: "geheim'" };
  assert.equal(commandOf('topic', undefined, typed), 'millrace topic add shop address=db user=m password="$PASSWORD"');
  assert.equal(commandOf('topic', { name: 'shop', address: 'db', user: 'm', password: '***' }, { ...typed, password: '' }), 'millrace topic set shop');
});

test('fields of TLS leave its other members alone', () => {
  const of = (tls, values) => sourceOf('database', { name: 'x', topic: 't', tls }, { ...NO_VALUES, topic: 't', schema: '', ...values }).tls;
  assert.deepEqual(of({ ca_file: 'a', verify: false, later: 1 }, { tls: 'on', tls_ca_file: 'b' }), { ca_file: 'b', later: 1 });
  assert.deepEqual(of(undefined, { tls: 'on' }), {});
  assert.equal(of({ ca_file: 'a' }, { tls: 'off' }), undefined);
});

test('a column is written as briefly as people write it', () => {
  assert.equal(shortColumn(columnOf('id')), 'id');
  assert.deepEqual(shortColumn({ name: 'a', as: '', keyword: false, type: 'text' }), { name: 'a', type: 'text' });
});

test('reasons that differ in values only are one kind', () => {
  const reason = (field, id, value) => `mapper_parsing_exception: failed to parse field [${field}] of type [long] in document with id '${id}'. Preview of field's value: '${value}': For input string: "${value}"`;
  const kind = kindOfReason(reason('price', 7, "it's"));
  assert.equal(kind, kindOfReason(reason('price', 12, 'n/a')));
  assert.notEqual(kind, kindOfReason(reason('size', 7, "it's")));
  assert.equal(kindOfReason("failed to parse field [price] of type [long] in document with id '7'"), kindOfReason("failed to parse field [price] of type [long] in document with id '12'"));
  assert.equal(partOfKind(kind), 'mapper_parsing_exception: failed to parse field [price] of type [long]');
  assert.ok(reason('price', 7, "it's").includes(partOfKind(kind)));
});

test('a check leads to where its fix can be done', () => {
  const to = (group, fix) => checkLink({ id: 'table.runs', group, fix });
  assert.equal(to('table shop.tea', 'millrace delayed run --all --wait, for shop.tea'), '#/delayed');
  assert.equal(to('table shop.tea', 'millrace check shop.tea --repair'), '#/verify');
  assert.equal(to('table shop.tea', 'millrace dead-letter list --table shop.tea'), '#/letters?table=shop.tea');
  assert.equal(to('table shop.tea', 'millrace index cutover shop.tea'), '#/versions/shop.tea');
  assert.equal(to('table shop.tea', 'millrace index create shop.tea'), '#/tables/shop.tea');
  assert.equal(to('topic shop', 'millrace replay cannot read a day of it again'), '#/topics/shop');
  assert.equal(to('search', undefined), '#/doctor');
});

test('a check that the page has no text for is said by the daemon, and its fix stays', () => {
  const check = { id: 'table.new', code: 'table.new.kind', values: {}, group: 'table shop.tea', status: 'warn', message: 'odd', why: 'matters', fix: 'look' };
  assert.deepEqual(findingOf(check), { text: 'odd', why: 'matters', fix: 'look', isCommand: true, said: '', saidFix: '' });
  assert.equal(groupName('moon phase'), 'moon phase');
});

test('the whole is never better than its worst check, and unknown without a status', () => {
  assert.equal(overall(null), 'unknown');
  assert.equal(overall({ running: false, checks: [] }), 'bad');
  assert.equal(overall({ running: true, checks: [{ status: 'ok' }, { status: 'warn' }] }), 'warn');
  assert.equal(overall({ running: true, checks: [{ status: 'fail' }, { status: 'warn' }] }), 'bad');
  assert.equal(worst(['running', 'a state of a newer daemon']), 'unknown');
});

test('a plot has a time for each value', () => {
  const history = { from: '2026-11-21T09:00:00Z', step_seconds: 10, steps: 3, topics: [{ topic: 'a', lag_seconds: [1, null, 2] }], delivery: { bulk_p99_seconds: [1, 1, 1] } };
  const { times, series } = seriesOf(history, { id: 'lag_seconds' });
  assert.deepEqual(times.map((x) => x - times[0]), [0, 10, 20]);
  assert.deepEqual(series, [{ name: 'a', values: [1, null, 2] }]);
});

test('what hides or turns a line around is shown as an escape, and what is read is left alone', () => {
  for (const [hidden, shown] of [['a\u202eb', 'a\\u202eb'], ['\u0000\u001b[2J', '\\u0000\\u001b[2J'], ['\u2066\u2069', '\\u2066\\u2069'], ['a\u200bb\ufeff', 'a\\u200bb\\ufeff'], ['\r', '\\u000d']])
    assert.equal(visible(hidden), shown);
  for (const text of ['龙井茶', 'שלום', 'مرحبا', 'a\n\tb', '👩‍💻', 'می\u200cخواهم', '<b>&lt;', '\\u202e']) assert.equal(visible(text), text);
});
