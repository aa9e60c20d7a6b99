/* Two people changed one definition: what the other one changed, and both changes in one. */
import { html } from "../html.js";
import { t } from "../text.js";
import { text } from "../exact.js";
import { same } from "./draft.js";
import { columnOf, entriesOf } from "./entries.js";

const namesOf = (...definitions) => [...new Set(definitions.flatMap(Object.keys))];

/* The members in which two definitions differ. */
export const differing = (a, b) => namesOf(a, b).filter((name) => !same(a[name], b[name]));

/* Of one member: what only one of them changed is theirs or mine, and what both changed is mine. */
const chosen = (base, theirs, mine) => (same(base, mine) ? theirs : mine);

/* Entries by their columns' names; null if a column has two, which no name tells apart. */
function byName(definition) {
  const entries = entriesOf(definition);
  if (!Array.isArray(entries)) return null;
  const map = new Map(entries.map((e) => [String(columnOf(e).name), e]));
  return map.size === entries.length ? map : null;
}

/* Both columns, entry by entry, in their order; those that only mine has come last. */
function mergedColumns(base, theirs, mine) {
  const [b, t, m] = [base, theirs, mine].map(byName);
  if (!b || !t || !m) return mine.columns;
  const names = [...new Set([...t.keys(), ...m.keys()])];
  return names.map((name) => chosen(b.get(name), t.get(name), m.get(name))).filter((entry) => entry !== undefined);
}

/* Theirs with what `mine` has changed of the base. */
export function merged(base, theirs, mine) {
  const both = (name) => !same(base[name], theirs[name]) && !same(base[name], mine[name]);
  const of = (name) => (name === "columns" && both(name) ? mergedColumns(base, theirs, mine) : chosen(base[name], theirs[name], mine[name]));
  return Object.fromEntries(namesOf(theirs, mine).map((name) => [name, of(name)]).filter(([, v]) => v !== undefined));
}

/* What both changed to something else, so that mine would undo theirs: members, and columns by name. */
export function conflicts(base, theirs, mine) {
  const clash = (b, t, m) => !same(b, t) && !same(b, m) && !same(t, m);
  const [b, t, m] = [base, theirs, mine].map(byName);
  const columns = b && t && m ? [...new Set([...t.keys(), ...m.keys()])].filter((name) => clash(b.get(name), t.get(name), m.get(name))).map((name) => `columns: ${name}`) : ["columns"];
  return differing(base, theirs)
    .filter((name) => clash(base[name], theirs[name], mine[name]))
    .flatMap((name) => (name === "columns" ? columns : [name]));
}

const Value = ({ of }) => (of === undefined ? html`<span class="soft">${t("change.nothing")}</span>` : html`<pre class="json" tabindex="0">${text(of)}</pre>`);

/* What somebody else stored since this edit began. */
export function Theirs({ draft }) {
  const theirs = differing(draft.base, draft.stored);
  const both = conflicts(draft.base, draft.stored, draft.now);
  return html`<p class="warn">▲ ${t("draft.behind", { members: theirs.join(", ") })}</p>
    <div class="scroll" tabindex="0" role="region" aria-label=${t("draft.theirs")}><table>
      <caption>${t("draft.theirs")}</caption>
      <thead><tr><th scope="col">${t("draft.member")}</th><th scope="col">${t("draft.was")}</th><th scope="col">${t("draft.is")}</th></tr></thead>
      <tbody>${theirs.map((name) => html`<tr>
        <td data-label=${t("draft.member")}><code>${name}</code></td>
        <td data-label=${t("draft.was")}><${Value} of=${draft.base[name]} /></td>
        <td data-label=${t("draft.is")}><${Value} of=${draft.stored[name]} /></td></tr>`)}</tbody>
    </table></div>
    ${both.length > 0 && html`<p class="warn">▲ ${t("draft.both", { members: both.join(", ") })}</p>`}
    <p class="row"><button type="button" class="primary" onClick=${() => draft.rebase(merged(draft.base, draft.stored, draft.now))}>${t("draft.keep_mine")}</button></p>`;
}
