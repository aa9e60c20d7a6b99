/*
 * Members of a definition as fields: what a field shows of a member, and what is typed as the member's
 * value.  `id` is the way to the member ("compare.rate"); kinds are text, texts, flag, count, choice and json.
 */
import { parseExact, text } from "../exact.js";

const wordsOf = (typed) => typed.split(",").map((x) => x.trim()).filter(Boolean);

export const valueAt = (definition, id) => id.split(".").reduce((v, name) => v?.[name], definition);

export function shownOf(kind, v) {
  if (kind === "flag") return v === true;
  if (v === undefined) return "";
  if (kind === "json") return text(v);
  if (kind === "texts" && Array.isArray(v)) return v.join(", ");
  return v !== null && typeof v === "object" ? text(v) : String(v);
}

/* The value; undefined: none.  Throws if it is to be JSON and is not. */
export function valueOf(kind, typed) {
  if (kind === "flag") return typed || undefined;
  if (typed.trim() === "") return undefined;
  if (kind === "count") return Number(typed);
  if (kind === "json") return parseExact(typed);
  if (kind !== "texts") return typed;
  const words = wordsOf(typed);
  return words.length > 1 ? words : words[0];
}

/* A map that loses its last member goes, too. */
const orGone = (map) => (map === undefined || Object.keys(map).length === 0 ? undefined : map);

function put(before, [name, ...inner], value) {
  const own = inner.length === 0 ? value : orGone(put(before[name] ?? {}, inner, value));
  const next = { ...before, [name]: own };
  if (own === undefined) delete next[name];
  return next;
}

/* The definition with what is typed in a field; as it was if the field shows what it showed. */
export function withField(before, { id, kind }, typed) {
  if (typed === undefined || typed === shownOf(kind, valueAt(before, id))) return before;
  return put(before, id.split("."), valueOf(kind, typed));
}

/* A field of a dialog for a member. */
const INPUTS = { flag: "checkbox", count: "number", choice: "select", json: "textarea" };
export const fieldOf = ({ id, kind, ...more }, definition) => ({
  id,
  type: INPUTS[kind] ?? "text",
  min: kind === "count" ? 1 : undefined,
  rows: kind === "json" ? 4 : undefined,
  value: shownOf(kind, valueAt(definition, id)),
  ...more,
});
