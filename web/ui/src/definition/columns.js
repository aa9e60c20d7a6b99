/*
 * The columns of a document's own row, one line for each column of the server's table: shown or not,
 * under which name, as which type.  "All columns" adds what is missing and keeps every edit.
 */
import { html } from "../html.js";
import { t } from "../text.js";
import { hasRole, may } from "../session.js";
import { useData } from "../data.js";
import { path } from "../api.js";
import { Loaded, Problem } from "../parts.js";
import { columnOf, shortColumn } from "./draft.js";

const TYPES = ["", "keyword", "text", "long", "integer", "short", "double", "scaled_float", "boolean", "date", "ip", "binary", "object", "flattened", "geo_point"];

/* Analyzers that every engine has, those of the IK plugin, and the definition's own come as proposals. */
const ANALYZERS = ["standard", "simple", "whitespace", "stop", "keyword", "cjk", "english", "russian", "ik_smart", "ik_max_word"];
const analyzersOf = (definition) => [...new Set([...Object.keys(definition.settings?.analysis?.analyzer ?? {}), ...ANALYZERS])];

/* What each line shows: the server's columns in their order, then those only the definition has. */
function lines(server, definition) {
  const own = (definition.columns ?? []).map(columnOf);
  const all = definition.columns === undefined;
  const star = own.some((c) => c.name === "*");
  const list = server.map((s) => {
    const mine = own.find((c) => c.name === s.name);
    return { server: s, mine: mine ?? { name: s.name }, on: !mine?.skip && (all || star || mine !== undefined) };
  });
  const extra = own.filter((c) => c.name !== "*" && !server.some((s) => s.name === c.name));
  return [...list, ...extra.map((mine) => ({ server: null, mine, on: !mine.skip }))];
}

const toColumns = (list) => list.filter((x) => x.on).map((x) => shortColumn(x.mine));

function Line({ of, change, admin }) {
  const { server, mine, on } = of;
  const name = mine.name ?? mine.as;
  const set = (member, value) => change({ ...of, on: true, mine: { ...mine, [member]: value } });
  const input = (member, label) =>
    html`<input aria-label=${`${name}: ${label}`} disabled=${!on || !admin} value=${mine[member] ?? ""} size="12" list=${member === "analyzer" ? "analyzers" : undefined} onChange=${(e) => set(member, e.target.value)} />`;
  return html`<tr>
    <td data-label=${t("columns.shown")}><input type="checkbox" aria-label=${t("columns.show", { name })} checked=${on} disabled=${!admin}
      onChange=${(e) => change({ ...of, on: e.target.checked })} /></td>
    <td data-label=${t("columns.column")}><code>${name}</code>${!server && mine.value === undefined && html` <span class="bad">■ ${t("columns.gone")}</span>`}</td>
    <td data-label=${t("columns.server_type")} class="soft">${server?.column_type ?? (mine.value !== undefined ? t("columns.constant") : "–")}</td>
    <td data-label=${t("columns.field")}>${input("as", t("columns.field"))}</td>
    <td data-label=${t("columns.type")}>
      <select aria-label=${`${name}: ${t("columns.type")}`} disabled=${!on || !admin} value=${mine.type ?? ""} onChange=${(e) => set("type", e.target.value)}>
        ${[...new Set([...TYPES, mine.type ?? ""])].map((x) => html`<option value=${x} selected=${x === (mine.type ?? "")}>${x || `${server?.type ?? ""} (${t("columns.default")})`}</option>`)}
      </select></td>
    <td data-label=${t("columns.analyzer")}>${(mine.type ?? server?.type) === "text" ? input("analyzer", t("columns.analyzer")) : "–"}</td>
    <td data-label="keyword">${(mine.type ?? server?.type) === "text"
      ? html`<input type="checkbox" aria-label=${`${name}: keyword`} checked=${mine.keyword === true} disabled=${!on || !admin} onChange=${(e) => set("keyword", e.target.checked)} />`
      : "–"}</td>
    <td data-label=${t("columns.note")} class="soft">${server?.note ?? ""}</td>
  </tr>`;
}

function Editor({ server, definition, set }) {
  const list = lines(server, definition);
  const admin = may("admin");
  const write = (next) => set({ ...definition, columns: toColumns(next) });
  const generate = () => write(list.map((x) => ({ ...x, on: !x.mine.skip })));
  return html`<p class="row">
      <button type="button" disabled=${!admin} onClick=${generate}>${t("columns.generate")}</button>
      <span class="soft">${t("columns.shown_of", { n: list.filter((x) => x.on).length, all: list.length })}</span></p>
    <datalist id="analyzers">${analyzersOf(definition).map((name) => html`<option value=${name} />`)}</datalist>
    <div class="scroll" tabindex="0" role="region" aria-label=${t("table.columns")}><table>
      <caption class="hidden">${t("table.columns")}</caption>
      <thead><tr>${["shown", "column", "server_type", "field", "type", "analyzer"].map((x) => html`<th scope="col">${t(`columns.${x}`)}</th>`)}
        <th scope="col">keyword</th><th scope="col">${t("columns.note")}</th></tr></thead>
      <tbody>${list.map((x, i) => html`<${Line} of=${x} admin=${admin} key=${x.mine.name ?? i} change=${(line) => write(list.map((y, j) => (j === i ? line : y)))} />`)}</tbody>
    </table></div>`;
}

/* Without the rights to read the server's columns, the definition alone. */
const OwnOnly = ({ definition }) =>
  html`<ul>${(definition.columns ?? []).map(columnOf).map((c) => html`<li><code>${c.name ?? c.as}</code> ${c.as ? `→ ${c.as}` : ""} ${c.type ?? ""}</li>`)}</ul>
    ${definition.columns === undefined && html`<p>${t("columns.all")}</p>`}`;

export function Columns({ draft, set }) {
  const table = draft.table;
  const server = useData(table && hasRole("operator") ? path(["tables", table, "columns"]) : null, { live: false });
  if (!table) return html`<p>${t("columns.pattern")}</p><${OwnOnly} definition=${draft} />`;
  if (!hasRole("operator")) return html`<${OwnOnly} definition=${draft} />`;
  if (server.data === null && server.problem)
    return html`<${Problem} of=${server.problem} again=${server.again} /><${OwnOnly} definition=${draft} />`;
  return html`<${Loaded} of=${server} show=${(data) => html`<${Editor} server=${data.items} definition=${draft} set=${set} />`} />`;
}
