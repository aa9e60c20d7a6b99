/*
 * A table's definition while somebody edits it: what the edit began with, what the page has, and the ETag
 * that it is based on.  The daemon checks it; this file only knows how to keep, change and store it.
 * Whoever goes to another screen finds the changes again; a browser asks before it forgets them.
 */
import { signal } from "@preact/signals";
import { ask, path } from "../api.js";
import { Exact, text } from "../exact.js";
import { me } from "../session.js";

/* Members in any order are the same definition. */
const sorted = (v) => {
  if (Array.isArray(v)) return v.map(sorted);
  if (v === null || typeof v !== "object" || v instanceof Exact) return v;
  return Object.fromEntries(Object.keys(v).sort().map((k) => [k, sorted(v[k])]));
};
export const same = (a, b) => text(sorted(a ?? null)) === text(sorted(b ?? null)) && (a === undefined) === (b === undefined);

/*
 * By user and table: {base, etag, now, typed}.  `typed` has for a field, by its name, what is typed there
 * while it is no value yet, and why: {text, why}.
 */
const drafts = signal(new Map());
const keyOf = (name) => `${me.value?.who} ${name}`;

const stays = (e) => e.preventDefault();

function put(key, draft) {
  const next = new Map(drafts.value);
  if (draft && (!same(draft.now, draft.base) || Object.keys(draft.typed).length > 0)) next.set(key, draft);
  else next.delete(key);
  if (next.size > 0) addEventListener("beforeunload", stays);
  else removeEventListener("beforeunload", stays);
  drafts.value = next;
}

/* Whether the caller has changes of this table that are not stored. */
export const isDrafted = (name) => drafts.value.has(keyOf(name));

/* The draft of a table, whose stored definition and ETag are those. */
export function useDraft(name, stored, etag) {
  const key = keyOf(name);
  const mine = drafts.value.get(key);
  const isBehind = mine !== undefined && !same(mine.base, stored);
  const change = (next) => {
    const before = drafts.value.get(key) ?? { base: stored, etag, now: stored, typed: {} };
    put(key, { ...before, ...next(before) });
  };
  return {
    now: mine?.now ?? stored,
    base: mine?.base ?? stored,
    stored,
    /* Somebody else has stored another definition since. */
    isBehind,
    /* What changed since, if anything, is another table. */
    etag: isBehind ? mine.etag : etag,
    isChanged: mine !== undefined,
    /* Why what is typed is no definition; then nothing can be stored. */
    wrong: Object.values(mine?.typed ?? {})[0]?.why ?? "",
    typed: (field) => mine?.typed[field],
    set: (now) => change(() => ({ now })),
    /* The field has this text and no value, or without a reason why it has one again. */
    setTyped: (field, text, why) =>
      change(({ typed: { [field]: _, ...typed } }) => ({ typed: why ? { ...typed, [field]: { text, why } } : typed })),
    /* Go on from what is stored now. */
    rebase: (now) => change(() => ({ base: stored, etag, now })),
    discard: () => put(key, undefined),
  };
}

export const targetOf = (definition) => ["tables", definition.table ?? definition.pattern];

const send = async (definition, etag, dryRun) =>
  (await ask("PUT", path(targetOf(definition), { dry_run: dryRun ? "true" : "" }), definition, { headers: etag ? { "If-Match": etag } : {} })).data;

/* The definition as it is stored now, and its ETag. */
export async function load(name) {
  const { data, etag } = await ask("GET", path(["tables", name]));
  return { definition: data.items?.[0] ?? data, etag };
}

/*
 * Store it, or with dryRun only check it.  If somebody has changed another definition meanwhile, it is
 * sent again; if it was this one, 412 says who.
 */
export async function store({ now, base, etag }, dryRun) {
  try {
    return await send(now, etag, dryRun);
  } catch (problem) {
    if (problem.status !== 412) throw problem;
    const seen = await load(targetOf(base)[1]);
    if (!same(seen.definition, base)) throw problem;
    return send(now, seen.etag, dryRun);
  }
}

/* A definition file of this one table, as `apply` takes it: JSON is YAML, too. */
export const fileOf = (definition) => [{ name: "page", text: text({ tables: [definition] }), folder: "/" }];
