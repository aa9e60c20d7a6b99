/*
 * The columns of a document's own row: a line for each column of the server's table and for what only
 * the definition has; shown or not, under which name, as which type.  entries.js changes the list.
 */
import { html } from "../html.js";
import { t } from "../text.js";
import { hasRole, may } from "../session.js";
import { useData } from "../data.js";
import { path } from "../api.js";
import { text } from "../exact.js";
import { Loaded, Problem } from "../parts.js";
import { columnOf, entriesOf, hasRest, linesOf, withAll, withLater, withMember, withShown } from "./entries.js";

const TYPES = ["", "keyword", "text", "long", "integer", "short", "double", "scaled_float", "boolean", "date", "ip", "binary", "object", "flattened", "geo_point"];

/* Analyzers that every engine has, those of the IK plugin, and the definition's own come as proposals. */
const ANALYZERS = ["standard", "simple", "whitespace", "stop", "keyword", "cjk", "english", "russian", "ik_smart", "ik_max_word"];
const analyzersOf = (definition) => [...new Set([...Object.keys(definition.settings?.analysis?.analyzer ?? {}), ...ANALYZERS])];

/* Members that a line has no field for: whoever changes the others should know that they are there. */
const FIELDS = ["name", "as", "type", "analyzer", "keyword", "skip"];
const furtherOf = (column) => Object.entries(column).filter(([name]) => !FIELDS.includes(name)).map(([name, v]) => `${name}: ${text(v)}`);

/* What needs no column of the table. */
const isMade = (column) => "value" in column || column.transform !== undefined;

function Line({ of, definition, change, admin }) {
  const { server, mine, name, on } = of;
  const set = (member, value) => change(withMember(definition, of, member, value));
  const input = (member, label) =>
    html`<input aria-label=${`${name}: ${label}`} disabled=${!on || !admin} value=${mine[member] ?? ""} size="12" list=${member === "analyzer" ? "analyzers" : undefined} onChange=${(e) => set(member, e.target.value)} />`;
  return html`<tr>
    <td data-label=${t("columns.shown")}><input type="checkbox" aria-label=${t("columns.show", { name })} checked=${on} disabled=${!admin}
      onChange=${(e) => change(withShown(definition, of, e.target.checked))} /></td>
    <td data-label=${t("columns.column")}><code>${name}</code>${!server && !isMade(mine) && html` <span class="bad">■ ${t("columns.gone")}</span>`}</td>
    <td data-label=${t("columns.server_type")} class="soft">${server?.column_type ?? (mine.value !== undefined ? t("columns.constant") : isMade(mine) ? t("columns.made") : "–")}</td>
    <td data-label=${t("columns.field")}>${input("as", t("columns.field"))}</td>
    <td data-label=${t("columns.type")}>
      <select aria-label=${`${name}: ${t("columns.type")}`} disabled=${!on || !admin} value=${mine.type ?? ""} onChange=${(e) => set("type", e.target.value)}>
        ${[...new Set([...TYPES, mine.type ?? ""])].map((x) => html`<option value=${x} selected=${x === (mine.type ?? "")}>${x || `${server?.type ?? ""} (${t("columns.default")})`}</option>`)}
      </select></td>
    <td data-label=${t("columns.analyzer")}>${(mine.type ?? server?.type) === "text" ? input("analyzer", t("columns.analyzer")) : "–"}</td>
    <td data-label="keyword">${(mine.type ?? server?.type) === "text"
      ? html`<input type="checkbox" aria-label=${`${name}: keyword`} checked=${mine.keyword === true} disabled=${!on || !admin} onChange=${(e) => set("keyword", e.target.checked)} />`
      : "–"}</td>
    <td data-label=${t("columns.note")} class="soft">${server?.note ?? ""}${furtherOf(mine).map((x) => html` <code>${x}</code>`)}</td>
  </tr>`;
}

function Editor({ server, definition, set }) {
  const list = linesOf(server, definition);
  const admin = may("admin");
  const rest = hasRest(definition);
  return html`<p class="row">
      <button type="button" disabled=${!admin || rest} onClick=${() => set(withAll(server, definition))}>${t("columns.generate")}</button>
      <label><input type="checkbox" disabled=${!admin} checked=${rest} onChange=${(e) => set(withLater(server, definition, e.target.checked))} /> ${t("columns.later")}</label>
      <span class="soft">${t("columns.shown_of", { n: list.filter((x) => x.on).length, all: list.length })}</span></p>
    <datalist id="analyzers">${analyzersOf(definition).map((name) => html`<option value=${name} />`)}</datalist>
    <div class="scroll" tabindex="0" role="region" aria-label=${t("table.columns")}><table>
      <caption class="hidden">${t("table.columns")}</caption>
      <thead><tr>${["shown", "column", "server_type", "field", "type", "analyzer"].map((x) => html`<th scope="col">${t(`columns.${x}`)}</th>`)}
        <th scope="col">keyword</th><th scope="col">${t("columns.note")}</th></tr></thead>
      <tbody>${list.map((x, i) => html`<${Line} of=${x} definition=${definition} admin=${admin} key=${`${x.name} ${i}`} change=${set} />`)}</tbody>
    </table></div>`;
}

/* Without the rights to read the server's columns, the definition alone. */
const OwnOnly = ({ definition }) =>
  html`<ul>${(definition.columns ?? []).map(columnOf).map((c) => html`<li><code>${c.name ?? c.as}</code> ${c.as ? `→ ${c.as}` : ""} ${c.type ?? ""}${c.skip === true ? t("columns.skipped") : ""}</li>`)}</ul>
    ${hasRest(definition) && html`<p>${t(definition.columns === undefined ? "columns.all" : "columns.all_others")}</p>`}`;

export function Columns({ draft, set }) {
  const table = draft.table;
  const server = useData(table && hasRole("operator") ? path(["tables", table, "columns"]) : null, { live: false });
  if (!Array.isArray(entriesOf(draft))) return html`<p>${t("columns.no_list")}</p>`;
  if (!table) return html`<p>${t("columns.pattern")}</p><${OwnOnly} definition=${draft} />`;
  if (!hasRole("operator")) return html`<${OwnOnly} definition=${draft} />`;
  if (server.data === null && server.problem)
    return html`<${Problem} of=${server.problem} again=${server.again} /><${OwnOnly} definition=${draft} />`;
  return html`<${Loaded} of=${server} show=${(data) => html`<${Editor} server=${data.items} definition=${draft} set=${set} />`} />`;
}
