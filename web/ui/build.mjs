// Makes the page of the admin: bundles src/ and texts/, and writes all files as one C file, which
// the daemon serves them from (asset.h).  The same sources and packages give the same bytes.
//
//   node build.mjs SOURCE MADE FILE...
//
// SOURCE is this folder, each FILE one that local.mk names.  MADE has node_modules/, which npm has filled by package-lock.json, and gets
// src/, a copy beside them, so that nothing depends on where the folders are, and assets.c.

import { createHash } from 'node:crypto';
import { cpSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, relative, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';

const FIRST_LOAD_MAX = 80 * 1024; // bytes, compressed: index, program, style, one language
const LANGUAGES = ['en', 'zh', 'ru'];
const TYPES = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  json: 'application/json',
  txt: 'text/plain; charset=utf-8',
};

const [source, made, ...named] = process.argv.slice(2).map((path) => resolve(path));
const modules = join(made, 'node_modules');

function fail(what) {
  console.error(`web/ui: ${what}`);
  process.exit(1);
}

const hash = (bytes) => createHash('sha256').update(bytes).digest('hex');
const read = (...path) => readFileSync(join(source, ...path), 'utf8');

// name: as the browser asks for it; lasting: the name changes with the content.
function asset(name, content, lasting = true) {
  const bytes = Buffer.from(content);
  const gzip = gzipSync(bytes, { level: 9 });
  gzip[9] = 255; // which system made it is nobody's business
  return { name, bytes, gzip, lasting };
}

// What local.mk does not name would be missing in a release, and a change of it would go unnoticed.
function checkNames() {
  for (const folder of ['src', 'texts'].map((name) => join(source, name))) {
    for (const entry of readdirSync(folder, { recursive: true }).map((name) => join(folder, name))) {
      if (statSync(entry).isFile() && !named.includes(entry)) fail(`local.mk does not name ${relative(source, entry)}: add it`);
    }
  }
}

// ---- texts ----

// The texts of all languages by key, from all files of texts/: one file has the texts of some screens.
function readTexts() {
  const all = {};
  for (const file of readdirSync(join(source, 'texts')).sort()) {
    for (const [key, text] of Object.entries(JSON.parse(read('texts', file)))) {
      if (key in all) fail(`texts/${file} has ${key}, which another file has, too`);
      const missing = LANGUAGES.filter((language) => text[language] === undefined || text[language] === '');
      if (missing.length > 0) fail(`texts/${file}: ${key} lacks ${missing.join(', ')}`);
      all[key] = text;
    }
  }
  return all;
}

// Every text that the sources ask for by name is there.
function checkUse(texts) {
  for (const file of readdirSync(join(source, 'src'), { recursive: true }).filter((name) => name.endsWith('.js'))) {
    for (const [, key] of read('src', file).replace(/\/\*[^]*?\*\//g, '').matchAll(/\bt\(\s*"([^"]+)"/g)) {
      if (!(key in texts)) fail(`src/${file} asks for the text ${key}, which no file of texts/ has`);
    }
  }
}

function makeTexts() {
  const all = readTexts();
  checkUse(all);
  return LANGUAGES.map((language) => {
    const content = JSON.stringify(Object.fromEntries(Object.entries(all).map(([key, text]) => [key, text[language]])));
    return asset(`texts-${language}-${hash(content).slice(0, 8)}.json`, content);
  });
}

// ---- program and style ----

// What esbuild makes of the sources: assets, the names of the two that index.html loads, what the
// browser loads before the page shows something, and the packages whose code is inside.
async function bundle(texts) {
  const esbuild = createRequire(join(modules, 'x.js'))('esbuild');
  const byLanguage = Object.fromEntries(LANGUAGES.map((language, i) => [language, `ui/${texts[i].name}`]));
  rmSync(join(made, 'src'), { recursive: true, force: true });
  cpSync(join(source, 'src'), join(made, 'src'), { recursive: true });
  const result = await esbuild.build({
    absWorkingDir: made,
    entryPoints: [
      { in: 'src/main.js', out: 'app' },
      { in: 'src/style.css', out: 'style' },
    ],
    define: { __TEXTS__: JSON.stringify(byLanguage) },
    loader: { '.svg': 'dataurl' },
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'browser',
    target: ['es2022'],
    minify: true,
    charset: 'utf8',
    legalComments: 'none', // licences.txt has them
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    outdir: 'ui', // only a name: nothing is written there
    metafile: true,
    write: false,
    logLevel: 'warning',
  }).catch(() => process.exit(1)); // esbuild has said why

  const base = (path) => path.split('/').pop();
  const outputs = Object.entries(result.metafile.outputs);
  const entry = (file) => outputs.find(([, o]) => o.entryPoint === file);
  const [app, appOutput] = entry('src/main.js');
  const [style] = entry('src/style.css');
  const first = new Set([base(app), base(style)]);
  const follow = (output) => output.imports.filter((i) => i.kind === 'import-statement' && !first.has(base(i.path)))
    .forEach((i) => { first.add(base(i.path)); follow(result.metafile.outputs[i.path]); });
  follow(appOutput);
  const packages = new Set();
  for (const input of Object.keys(result.metafile.inputs)) {
    const inside = input.split('node_modules/').pop();
    if (inside !== input) packages.add(inside.match(/^(@[^/]+\/)?[^/]+/)[0]);
  }
  return {
    assets: result.outputFiles.map((file) => asset(base(file.path), file.contents)),
    app: base(app), style: base(style), first, packages: [...packages].sort(),
  };
}

// ---- the rest ----

// The index loads the program and the style sheet, and has no code or style itself, as the policy
// of the answer allows none.
function makeIndex(bundled) {
  let html = read('src', 'index.html').replace(/<!--[^]*?-->/g, '').replace(/\n\s*/g, '\n').trim() + '\n';
  for (const [from, to] of [['main.js', bundled.app], ['style.css', bundled.style]]) {
    const wanted = new RegExp(`(src|href)=("?)${from.replace('.', '\\.')}\\2(?=[\\s>])`, 'g');
    if ((html.match(wanted) ?? []).length !== 1) fail(`src/index.html must refer to ${from} exactly once`);
    html = html.replace(wanted, (_, name, quote) => `${name}=${quote}ui/${to}${quote}`);
  }
  for (const [what, pattern] of [['a style', /<style|\sstyle=/i], ['a script', /<script(?![^>]*\ssrc=)|\son\w+=|javascript:/i],
    ['an address of another host', /(src|href|content)=["']?(\w+:)?\/\//i]]) {
    if (pattern.test(html)) fail(`src/index.html has ${what}; the content security policy forbids it`);
  }
  return asset('index.html', html, false);
}

function makeLicences(packages) {
  const texts = packages.map((name) => {
    const about = JSON.parse(readFileSync(join(modules, name, 'package.json'), 'utf8'));
    const file = readdirSync(join(modules, name)).find((n) => /^licen[cs]e/i.test(n));
    if (file === undefined) fail(`the package ${name} has no licence text`);
    return `${name} ${about.version} (${about.license})\n\n${readFileSync(join(modules, name, file), 'utf8').trim()}\n`;
  });
  return asset('licences.txt', `The page of Millrace contains these packages.\n\n${texts.join(`\n${'-'.repeat(72)}\n\n`)}`, false);
}

function write(assets) {
  const lines = ['/* Made from web/ui by build.mjs. */', '/* clang-format off */', '#include "config.h"', '', '#include "web/ui/asset.h"', ''];
  assets.forEach((a, i) => {
    lines.push(`static const unsigned char bytes_${i}[] = {`);
    for (let at = 0; at < a.gzip.length; at += 8192) lines.push(`${[...a.gzip.subarray(at, at + 8192)].join(',')},`);
    lines.push('};');
  });
  lines.push('', 'const struct page_asset page_assets[] = {');
  assets.forEach((a, i) => lines.push(
    `    {.name = "${a.name}", .type = "${TYPES[a.name.split('.').pop()]}", .etag = "W/\\"${hash(a.bytes).slice(0, 16)}\\"",`,
    `     .lasting = ${a.lasting}, .gzip = bytes_${i}, .n_gzip = ${a.gzip.length}, .n_bytes = ${a.bytes.length}},`,
  ));
  lines.push('};', `const size_t n_page_assets = ${assets.length};`, '');
  writeFileSync(join(made, 'assets.c.tmp'), lines.join('\n'));
  renameSync(join(made, 'assets.c.tmp'), join(made, 'assets.c'));
}

checkNames();

const texts = makeTexts();
const bundled = await bundle(texts);
const index = makeIndex(bundled);
const assets = [index, ...bundled.assets, ...texts, makeLicences(bundled.packages)]
  .sort((a, b) => (a.name < b.name ? -1 : 1));
const largestText = Math.max(...texts.map((t) => t.gzip.length));
const firstLoad = index.gzip.length + largestText
  + bundled.assets.filter((a) => bundled.first.has(a.name)).reduce((sum, a) => sum + a.gzip.length, 0);
if (firstLoad > FIRST_LOAD_MAX) fail(`the first load has ${firstLoad} bytes, more than ${FIRST_LOAD_MAX}: load a part later, by import()`);
write(assets);
console.log(`  PAGE     ${assets.length} files, ${firstLoad} bytes before it shows`);
