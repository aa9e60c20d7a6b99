// What the daemon finds or refuses has a name in its C sources, and the page a text for it in each language.
import test from 'node:test';
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';

const LANGUAGES = ['en', 'zh', 'ru'];
const texts = Object.assign({}, ...readdirSync('web/ui/texts').map((file) => JSON.parse(readFileSync(`web/ui/texts/${file}`, 'utf8'))));

const sources = (folder) => readdirSync(folder, { recursive: true }).filter((name) => name.endsWith('.c')).map((name) => readFileSync(`${folder}/${name}`, 'utf8'));
const found = (text, pattern) => [...text.matchAll(pattern)].map((m) => m[1]);

// The codes of checks: "topic.runs.paused", and "topic.runs" of a check with one finding.
const FOLDERS = ['view', 'state', 'doctor', 'admin', 'check', 'dead_letter', 'alarm'];
const CODE = /"((?:topic|table|search|store|mysql|cluster|alarms)\.[a-z_]+(?:\.[a-z_]+){0,2}|dead_letters(?:\.[a-z_]+)?)"/g;
const OTHERS = ['alarms.url', 'alarms.test']; // a setting, and what millrace alarm test sends
const codes = [...new Set(FOLDERS.flatMap((folder) => sources(`rebalance/${folder}`)).flatMap((text) => found(text, CODE)))].filter((code) => !OTHERS.includes(code));

// What has no text of its own has that of a wider code, as findingOf() of checks.js looks it up.
const said = (code, part, language) => {
  const words = code.split('.');
  return words.map((_, i) => words.slice(0, words.length - i).join('.')).map((k) => texts[`finding.${k}${part}`]?.[language]).find(Boolean);
};

test('each finding of a check has its text and why it matters, in each language', () => {
  assert.ok(codes.length > 80, `${codes.length} codes are too few: does this test still find them?`);
  for (const code of codes) for (const part of ['', '.why']) for (const language of LANGUAGES) assert.ok(said(code, part, language), `finding.${code}${part} lacks ${language}`);
});

// Their fix is a statement or a command, which is the same in each language.
const STATEMENTS = /^(mysql\.(binlog_format|binlog_row_image|gtid|retention|grant_status|grant_dump\.denied|server_id|table_read\.denied|table_key|table_engine)|topic\.runs\.paused|table\.(built|compared|compared\.never|runs\.(paused|check|delayed|replay)))$/;

test('each finding says what helps, in each language', () => {
  for (const code of codes.filter((code) => !STATEMENTS.test(code)))
    for (const language of LANGUAGES) assert.ok(said(code, '.fix', language), `finding.${code}.fix lacks ${language}`);
});

test('each check has a title in each language', () => {
  const ids = [...new Set(codes.map((code) => (code.startsWith('dead_letters') ? 'dead_letters' : code.split('.').slice(0, 2).join('.'))))];
  assert.deepEqual(ids.filter((id) => LANGUAGES.some((l) => !texts[`check.${id}`]?.[l])), []);
});

test('each value that a text names is one that the sources give', () => {
  const given = new Set(FOLDERS.flatMap((folder) => sources(`rebalance/${folder}`)).flatMap((text) => found(text, /\{\s*"(\w+)",\s*\.(?:text|number) =/g)));
  for (const [key, of] of Object.entries(texts).filter(([key]) => key.startsWith('finding.')))
    for (const language of LANGUAGES)
      for (const name of found(of[language], /\{(\w+)\}/g)) assert.ok(given.has(name), `${key} in ${language} names {${name}}`);
});

// What a dialog sends is tried by `preview`, with dry_run.
test('each dialog that sends a change can be tried', () => {
  const UNTRIED = ['put("me/password"']; // a password is only right or wrong
  const folder = 'web/ui/src';
  for (const name of readdirSync(folder, { recursive: true }).filter((name) => name.endsWith('.js'))) {
    const lines = readFileSync(`${folder}/${name}`, 'utf8').split('\n');
    lines.forEach((line, i) => {
      if (!/^ *run: .*\b(post|put|patch|remove)\(/.test(line) || UNTRIED.some((part) => line.includes(part))) return;
      const start = lines.slice(0, i).findLastIndex((before) => /^ *title: /.test(before));
      assert.ok(lines.slice(start, i).some((before) => /^ *preview: .*(dry_run: true|tryIndex)/.test(before)), `${name}:${i + 1} sends what nobody can try`);
    });
  }
});

// The codes of problems: by status, and those of single places.
const problems = [...new Set(sources('web').flatMap((text) => [
  ...found(text, /\{[45]\d\d, "[^"]*", "([a-z-]+)"\}/g),
  ...found(text, /\.code = ((?:[^;,]|\n)*?)[,}]/g).flatMap((part) => found(part, /"([a-z-]+)"/g)),
  ...found(text, /answer_secret\([^;]*?"([a-z-]+)"/g),
]))];

test('each problem of the API has its text in each language', () => {
  assert.ok(problems.length > 25, `${problems} are too few: does this test still find them?`);
  assert.deepEqual(problems.filter((code) => LANGUAGES.some((l) => !texts[`problem.${code}`]?.[l])), []);
});
