/* Parents and children: the tables that share an index by a join field, as a tree. */
import { html } from "../html.js";
import { t } from "../text.js";
import { link } from "../route.js";
import { shownOf } from "./members.js";

const nameOf = (x) => x.table ?? x.pattern;
const indexOf = (x) => x.index ?? nameOf(x).split(".").pop();

/*
 * The tables of the index, each {table, children, isLost}: those without a parent first, with what hangs
 * from them; then those whose parent is no table of the index, or that are their own ancestors.
 */
export function familyOf(draft, all) {
  const members = [...all.filter((x) => nameOf(x) !== nameOf(draft)), draft].filter((x) => x.join && indexOf(x) === indexOf(draft));
  const seen = new Set();
  const branch = (table, isLost) => {
    seen.add(table);
    const children = members.filter((x) => x.join.parent === nameOf(table) && !seen.has(x));
    return { table, isLost, children: children.map((x) => branch(x, false)) };
  };
  const roots = members.filter((x) => !x.join.parent).map((x) => branch(x, false));
  return [...roots, ...members.flatMap((x) => (seen.has(x) ? [] : [branch(x, true)]))];
}

const facts = ({ join, root_column }) =>
  [join.parent_column && `parent_column: ${shownOf("texts", join.parent_column)}`, root_column && `root_column: ${shownOf("texts", root_column)}`].filter(Boolean);

function Branch({ of, draft }) {
  const name = nameOf(of.table);
  return html`<li><strong>${of.table.join.name}</strong>${" "}
    ${of.table === draft ? html`<code>${name}</code> <span class="soft">${t("relation.join.this")}</span>` : html`<a href=${link(["tables", name], { tab: "relations" })}><code>${name}</code></a>`}${" "}
    <span class="soft">${facts(of.table).join(" · ")}</span>
    ${of.isLost && html` <span class="bad">■ ${t("relation.join.lost", { parent: of.table.join.parent })}</span>`}
    ${of.children.length > 0 && html`<ul>${of.children.map((x) => html`<${Branch} of=${x} draft=${draft} />`)}</ul>`}</li>`;
}

export const JoinTree = ({ of, all }) =>
  html`<h2>${t("relation.join")}</h2>
    <p class="soft">${t("relation.join.field", { index: indexOf(of), field: of.join.field ?? "join" })}</p>
    <ul class="tree">${familyOf(of, all).map((x) => html`<${Branch} of=${x} draft=${of} />`)}</ul>
    <p><a href=${link(["tables", nameOf(of)], { tab: "settings" })}>${t("relation.join.edit")}</a></p>`;
