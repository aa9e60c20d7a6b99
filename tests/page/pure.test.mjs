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
const { familyOf } = await import('../../web/ui/src/definition/join.js');
const { databasesOf } = await import('../../web/ui/src/definition/pattern.js');
const { deferred } = await import('../../web/ui/src/definition/defer.js');
const { commandOf, sourceOf } = await import('../../web/ui/src/definition/source.js');
const { columnOf, entriesOf, hasRest, isKey, linesOf, withAll, withFields, withKey, withLater, withMember, withShown } = await import('../../web/ui/src/definition/entries.js');
const { conflicts, differing, merged } = await import('../../web/ui/src/definition/merge.js');
const { same } = await import('../../web/ui/src/definition/draft.js');
const { kindOfReason, partOfKind } = await import('../../web/ui/src/screens/letters.js');
const { checkLink, findingOf, groupName } = await import('../../web/ui/src/checks.js');
const { notJudged } = await import('../../web/ui/src/verify/kinds.js');
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

test('members of a relation that nobody has changed stay, also those that are lists or say the default', () => {
  const before = { table: 's.t', from: ['a,b', 'c'], to: 'b', many: true, distinct: false, refresh: 'parent', through: { table: 's.l', from: 'x', to: 'y' }, columns: [] };
  const shown = { from: 'a,b, c', many: true, distinct: false, refresh: 'parent', 'through.table': 's.l', 'through.from': 'x', 'through.to': 'y', columns: '', values: '', max_depth: '' };
  assert.equal(relationOf(before, shown), before);
  const after = relationOf(before, { ...shown, refresh: 'area', distinct: true, values: 'v', max_depth: '2', 'through.from': 'x, z' });
  assert.deepEqual(after, { ...before, refresh: 'area', distinct: true, values: 'v', max_depth: 2, through: { table: 's.l', from: ['x', 'z'], to: 'y' } });
  assert.deepEqual(relationOf(after, { ...shown, columns: '', 'through.table': '', 'through.from': '', 'through.to': '', refresh: '' }).through, undefined);
});

test('columns of a relation that are left out stay so, and the second entry of a column is its own', () => {
  const before = { columns: [{ name: 'a', as: 'x' }, { name: 'a', as: 'y' }, { name: 's', skip: true }, '*'] };
  const of = (columns) => relationOf(before, { columns }).columns;
  assert.deepEqual(of('a, a, *, b'), [before.columns[0], before.columns[1], '*', 'b', before.columns[2]]);
  assert.deepEqual(of(''), ['*', before.columns[2]]);
  assert.deepEqual(of('s'), [{ name: 's' }]);
});

test('parents and children are a tree, and a ring is not followed', () => {
  const table = (name, parent, index = 'i') => ({ table: `s.${name}`, index, join: { name, ...(parent ? { parent: `s.${parent}` } : {}) } });
  const names = (list) => list.map((x) => `${x.isLost ? '?' : ''}${x.table.join.name}(${names(x.children)})`).join(' ');
  const draft = table('remark', 'answer');
  assert.equal(names(familyOf(draft, [table('answer', 'question'), table('question'), table('other', undefined, 'o'), { table: 's.x', index: 'i' }, table('remark')])), 'question(answer(remark()))');
  assert.equal(names(familyOf(draft, [table('answer', 'remark')])), '?answer(remark())');
  assert.equal(names(familyOf(draft, [])), '?remark()');
});

test('an edited topic keeps its other members and loses what was emptied', () => {
  const values = { ...NO_VALUES, address: 'db:3306', user: 'm', tls: 'unchecked', server_id: '7' };
  assert.deepEqual(sourceOf('topic', { name: 'shop', group: 'g', later: 1 }, values), {
    name: 'shop', later: 1, address: 'db:3306', user: 'm', tls: { verify: false }, server_id: 7,
  });
});

const serverColumns = (...names) => names.map((name) => ({ name, type: 'keyword', column_type: 'varchar(9)', invisible: name.startsWith('hidden') }));
const lineOf = (server, definition, name) => linesOf(server, definition).find((l) => l.name === name);

test('an edit of one column keeps `*`, what is skipped, defaults and constants', () => {
  const columns = ['*', { name: 'name', default: '' }, { name: 'flag', type: 'boolean', default: false }, { name: 'secret', skip: true }, { name: 'kind', value: '' }];
  const server = serverColumns('id', 'name', 'flag', 'secret', 'title');
  const before = { table: 's.t', columns };
  assert.deepEqual(withMember(before, lineOf(server, before, 'title'), 'type', 'text').columns, [...columns.slice(0, 4), { name: 'title', type: 'text' }, columns[4]]);
  assert.deepEqual(withMember(before, lineOf(server, before, 'flag'), 'as', 'f').columns[2], { name: 'flag', type: 'boolean', default: false, as: 'f' });
  assert.deepEqual(linesOf(server, before).map((l) => `${l.name} ${l.on}`), ['id true', 'name true', 'flag true', 'secret false', 'title true', 'kind true']);
  assert.equal(withAll(server, before), before);
});

test('a definition of all columns stays one of all columns, and a list stays a list', () => {
  const server = serverColumns('id', 'title', 'secret');
  const all = { table: 's.t' };
  const edited = withMember(all, lineOf(server, all, 'title'), 'type', 'text');
  assert.deepEqual(edited.columns, ['*', { name: 'title', type: 'text' }]);
  assert.deepEqual(withMember(edited, lineOf(server, edited, 'title'), 'type', ''), all);
  const hidden = withShown(all, lineOf(server, all, 'secret'), false);
  assert.deepEqual(hidden.columns, ['*', { name: 'secret', skip: true }]);
  assert.deepEqual(withShown(hidden, lineOf(server, hidden, 'secret'), true), all);
  const list = { columns: ['id', { name: 'secret', skip: true, type: 'text' }] };
  assert.deepEqual(withAll(server, list).columns, ['id', 'title', { name: 'secret', skip: true, type: 'text' }]);
  assert.deepEqual(withLater(server, all, false).columns, ['id', 'title', 'secret']);
  assert.deepEqual(withLater(server, list, true).columns, [...list.columns, '*']);
});

test('what no server has goes when it is not shown, and the second entry of a column is a line of its own', () => {
  const server = serverColumns('id', 'hidden');
  const before = { columns: ['ID', { name: 'id', as: 'key' }, { name: 'gone', type: 'text' }, { name: 'kind', value: 1 }] };
  assert.deepEqual(linesOf(server, before).map((l) => [l.name, l.at, l.on]), [['ID', 0, true], ['id', 1, true], ['hidden', null, false], ['gone', 2, true], ['kind', 3, true]]);
  assert.deepEqual(withShown(before, linesOf(server, before)[3], false).columns, before.columns.filter((_, i) => i !== 2));
  assert.deepEqual(withShown({}, lineOf(server, {}, 'hidden'), true).columns, ['*', 'hidden']);
});

/* Entries and definitions as people write them, with members that no editor knows. */
const randomEntry = (name) => {
  const members = { as: 'x', type: pick(['text', 'long']), default: pick(['', false, 0, null, 'n']), skip: pick([true, false]), value: pick(['', 1, false]), keyword: pick([true, false]), copy_to: [], transform: [{ kind: 'trim' }], later: { a: '' } };
  const some = Object.entries(members).filter(() => random(4) === 0);
  return some.length === 0 && random(3) > 0 ? name : { name, ...Object.fromEntries(some) };
};

test('an edit of one column leaves every other entry, every other member and their order as they are', () => {
  const names = ['id', 'name', 'flag', 'hidden', 'secret', 'note'];
  for (let i = 0; i < 5000; i++) {
    const server = serverColumns(...names.filter(() => random(3) > 0));
    const list = [...names.filter(() => random(2)).map(randomEntry), ...(random(2) ? [randomEntry('made')] : [])];
    if (random(2)) list.splice(random(list.length + 1), 0, '*');
    const before = { table: 's.t', filter: '', ...(random(4) ? { columns: list } : {}), delayed: false };
    const copy = structuredClone(before);
    const line = pick(linesOf(server, before));
    if (!line) continue;
    const [member, value] = pick([['as', 'z'], ['as', ''], ['type', 'date'], ['keyword', false], ['keyword', true], ['analyzer', 'ik_smart'], ['skip', undefined]]);
    const after = random(3) ? withMember(before, line, member, value) : withShown(before, line, !line.on);
    assert.deepEqual(before, copy);
    const others = (d, own) => entriesOf(d).filter((e) => !own(String(columnOf(e).name)));
    const isLine = (name) => name === line.name;
    assert.deepEqual(others(after, isLine), others(before, isLine));
    assert.equal(hasRest(after), hasRest(before));
    assert.deepEqual({ ...after, columns: 0 }, { ...before, columns: 0 });
    const mine = entriesOf(after).map(columnOf).find((c) => isLine(c.name));
    const written = new Set([member, 'skip']);
    if (mine && line.at !== null) for (const name of [...Object.keys(line.mine), ...Object.keys(mine)]) if (!written.has(name)) assert.deepEqual(mine[name], line.mine[name]);
    if (!mine) assert.ok(Object.keys(line.mine).every((name) => name === 'name' || written.has(name)) || !line.server || 'value' in line.mine);
  }
});

test('a column that is left out and shown again is as it was', () => {
  const names = ['id', 'name', 'flag', 'secret'];
  for (let i = 0; i < 3000; i++) {
    const server = serverColumns(...names);
    const list = names.filter(() => random(2)).map(randomEntry);
    if (random(2)) list.splice(random(list.length + 1), 0, '*');
    const before = random(4) ? { columns: list } : {};
    const line = pick(linesOf(server, before).filter((l) => l.on && !('value' in l.mine) && l.mine.skip === undefined));
    if (!line) continue;
    const hidden = withShown(before, line, false);
    assert.equal(lineOf(server, hidden, line.name).on, false);
    const again = withShown(hidden, lineOf(server, hidden, line.name), true);
    assert.deepEqual(linesOf(server, again).map((l) => [l.name, l.mine, l.on]), linesOf(server, before).map((l) => [l.name, l.mine, l.on]));
  }
});

test('the key of a definition is the server\'s unless it says another one', () => {
  const both = withKey(['id'], { table: 's.t' }, 'shop', true);
  assert.deepEqual(both, { table: 's.t', key: ['id', 'shop'] });
  assert.deepEqual(withKey(['id'], both, 'ID', false), { table: 's.t', key: 'shop' });
  assert.deepEqual(withKey(['id'], both, 'shop', false), { table: 's.t' });
  assert.ok(isKey(['id'], { key: 'Shop' }, 'shop') && !isKey(['id'], { key: 'shop' }, 'id') && isKey(['id'], {}, 'id'));
});

test('a dialog writes the members of a column that somebody has changed', () => {
  const fields = [{ id: 'default', kind: 'json' }, { id: 'copy_to', kind: 'texts' }, { id: 'transform', kind: 'json' }];
  const before = { columns: ['*', { name: 'a', default: '', copy_to: ['x,y'] }] };
  const line = linesOf(serverColumns('a'), before)[0];
  assert.equal(withFields(before, line, fields, { default: '""', copy_to: 'x,y', transform: '' }), before);
  assert.deepEqual(withFields(before, line, fields, { default: '0', copy_to: 'x, z', transform: '[{"kind":"trim"}]' }).columns[1], { name: 'a', default: 0, copy_to: ['x', 'z'], transform: [{ kind: 'trim' }] });
  assert.throws(() => withFields(before, line, fields, { default: 'none' }));
});

test('the order of members makes no difference to whether a definition is changed', () => {
  assert.ok(same({ a: 1, b: [{ c: '', d: parseExact('1.50') }] }, { b: [{ d: parseExact('1.50'), c: '' }], a: 1 }));
  assert.ok(!same({ a: parseExact('1.5') }, { a: parseExact('1.50') }));
  assert.ok(!same(['a', 'b'], ['b', 'a']));
});

test('what two people changed of a definition is in it, and of what both changed the own value', () => {
  const base = { table: 's.t', filter: 'a = 1', key: ['id'], columns: ['a'], delayed: true };
  const theirs = { table: 's.t', filter: 'a = 2', key: ['id'], columns: ['a', 'b'], index: 'i' };
  const mine = { table: 's.t', filter: 'a = 1', columns: ['a', 'c'], delayed: true, pipeline: 'p' };
  assert.deepEqual(differing(base, theirs), ['filter', 'columns', 'delayed', 'index']);
  assert.deepEqual(merged(base, theirs, mine), { table: 's.t', filter: 'a = 2', columns: ['a', 'b', 'c'], index: 'i', pipeline: 'p' });
  assert.deepEqual(conflicts(base, theirs, mine), []);
  assert.deepEqual(conflicts(base, theirs, { ...mine, filter: 'a = 3' }), ['filter']);
  assert.deepEqual(merged(base, base, mine), mine);
  assert.deepEqual(merged(base, theirs, base), theirs);
});

test('a pattern belongs to the databases that it matches, as the daemon splits it', () => {
  const known = ['shop', 'shop_1', 'shop_2', 'crm'];
  for (const [name, databases] of [['shop.orders', ['shop']], ['gone.orders', ['gone']], ['shop_1\\.orders_[0-9]+', ['shop_1']], ['shop_[0-9]+\\.o.*', ['shop_1', 'shop_2']],
    ['shop.orders_[0-9]+', ['shop']], ['orders_[0-9]+', known], ['(shop|crm)\\.o', ['shop', 'crm']], ['shop.*', known], ['(', known], ['(\\.a', []], ['shop.a$b', ['shop']]])
    assert.deepEqual(databasesOf(name, known), databases, name);
});

test('columns that two people changed are merged by their names', () => {
  const text = (name) => ({ name, type: 'text' });
  const of = (columns) => ({ table: 's.t', ...(columns ? { columns } : {}) });
  for (const [base, theirs, mine, both, clash] of [
    [undefined, ['*', text('a')], ['*', text('b')], ['*', text('a'), text('b')], []],
    [['a', 'b', 'c'], ['a', 'b'], [text('a'), 'b', 'c'], [text('a'), 'b'], []],
    [['a', 'b'], [text('a'), 'b'], ['b'], ['b'], ['columns: a']],
    [['a'], [text('a')], [{ name: 'a', type: 'long' }], [{ name: 'a', type: 'long' }], ['columns: a']],
    [['a'], [text('a')], [text('a')], [text('a')], []],
    [['a', { name: 'a', as: 'x' }], ['a'], ['b'], ['b'], ['columns']],
  ]) {
    assert.deepEqual(merged(of(base), of(theirs), of(mine)).columns, both);
    assert.deepEqual(conflicts(of(base), of(theirs), of(mine)), clash);
  }
});

test('a table is marked as delayed, or not, and keeps all else', () => {
  const before = { table: 's.t', filter: '', columns: ['*', { name: 'a', default: false }] };
  const top = [{ table: 's.u' }];
  assert.deepEqual(deferred(before, true), { ...before, delayed: true });
  assert.deepEqual(deferred({ ...before, delayed: true, top_relations: top }, false, true), before);
  assert.deepEqual(deferred({ ...before, delayed: true, top_relations: top }, false, false), { ...before, top_relations: top });
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

test('documents that could not be judged are not called equal', () => {
  assert.equal(notJudged({ documents: 3, equal: 2, differing: 0 }), 1);
  assert.equal(notJudged({ documents: 3, equal: 2, differing: 1 }), 0);
  assert.equal(notJudged({ documents: 3, differing: 0 }), 0); // a replay compares nothing
});
