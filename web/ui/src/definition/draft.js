/*
 * A table's definition while somebody edits it: what is stored, what the page has, and the ETag that
 * the change is based on.  The daemon checks it; this file only knows how to change it.
 */
import { useState } from "preact/hooks";
import { ask, get, path } from "../api.js";
import { Exact, text } from "../exact.js";

/* Members in any order are the same definition. */
const sorted = (v) => {
  if (Array.isArray(v)) return v.map(sorted);
  if (v === null || typeof v !== "object" || v instanceof Exact) return v;
  return Object.fromEntries(Object.keys(v).sort().map((k) => [k, sorted(v[k])]));
};
export const same = (a, b) => text(sorted(a)) === text(sorted(b));

export function useDraft(stored, etag) {
  const [draft, setDraft] = useState(null);
  /* Why what is typed as text is no definition; then nothing can be stored. */
  const [wrong, setWrong] = useState("");
  const now = draft ?? stored;
  return {
    now,
    wrong,
    setWrong,
    etag,
    isChanged: draft !== null && !same(draft, stored),
    set: setDraft,
    discard: () => (setDraft(null), setWrong("")),
  };
}

export const targetOf = (definition) => ["tables", definition.table ?? definition.pattern];

/* Store it, or with dryRun only check it; 412 says who changed it meanwhile. */
export async function store(definition, etag, dryRun) {
  const { data } = await ask("PUT", path(targetOf(definition), { dry_run: dryRun ? "true" : "" }), definition, {
    headers: etag ? { "If-Match": etag } : {},
  });
  return data;
}

/* A definition file of this one table, as `apply` takes it: JSON is YAML, too. */
export const fileOf = (definition) => [{ name: "page", text: text({ tables: [definition] }), folder: "/" }];

/* The columns of a table as the server has them. */
export const serverColumns = (table) => get(path(["tables", table, "columns"]));
