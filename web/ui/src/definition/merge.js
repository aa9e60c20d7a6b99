/* Two people changed one definition: what the other one changed, and both changes in one. */
import { html } from "../html.js";
import { t } from "../text.js";
import { text } from "../exact.js";
import { same } from "./draft.js";

const namesOf = (...definitions) => [...new Set(definitions.flatMap(Object.keys))];

/* The members in which two definitions differ. */
export const differing = (a, b) => namesOf(a, b).filter((name) => !same(a[name], b[name]));

/* Theirs with what `mine` has changed of the base; a member that both changed is mine. */
export function merged(base, theirs, mine) {
  const changed = differing(base, mine);
  return Object.fromEntries(
    namesOf(theirs, mine)
      .map((name) => [name, changed.includes(name) ? mine[name] : theirs[name]])
      .filter(([, v]) => v !== undefined),
  );
}

const Value = ({ of }) => (of === undefined ? html`<span class="soft">${t("change.nothing")}</span>` : html`<pre class="json" tabindex="0">${text(of)}</pre>`);

/* What somebody else stored since this edit began. */
export function Theirs({ draft }) {
  const theirs = differing(draft.base, draft.stored);
  const both = theirs.filter((name) => !same(draft.base[name], draft.now[name]) && !same(draft.stored[name], draft.now[name]));
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
