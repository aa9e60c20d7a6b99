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
import { columnOf, entriesOf, hasRest, isKey, linesOf, withAll, withFields, withKey, withLater, withMember, withShown } from "./entries.js";
import { fieldOf } from "./members.js";
import { act } from "../action.js";

const TYPES = ["", "keyword", "text", "long", "integer", "short", "double", "scaled_float", "boolean", "date", "ip", "binary", "object", "flattened", "geo_point"];

/* Analyzers that every engine has, those of the IK plugin, and the definition's own come as proposals. */
const ANALYZERS = ["standard", "simple", "whitespace", "stop", "keyword", "cjk", "english", "russian", "ik_smart", "ik_max_word"];
const analyzersOf = (definition) => [...new Set([...Object.keys(definition.settings?.analysis?.analyzer ?? {}), ...ANALYZERS])];

/* Members that a line has no field for: whoever changes the others should know that they are there. */
const FIELDS = ["name", "as", "type", "analyzer", "keyword", "skip"];
const furtherOf = (column) => Object.entries(column).filter(([name]) => !FIELDS.includes(name)).map(([name, v]) => `${name}: ${text(v)}`);

const MORE = [
  { id: "search_analyzer", kind: "text", when: (type) => type === "text" },
  { id: "format", kind: "text", when: (type) => type === "date" },
  { id: "copy_to", kind: "texts", help: true },
  { id: "default", kind: "json", help: true },
  { id: "value", kind: "json", help: true },
  { id: "transform", kind: "json", help: true },
];

/* A value that is no JSON: said beside the field, as nothing is sent. */
const notJson = (e) => Object.assign(new Error(e.message), { status: 422, code: "no-json-value", detail: e.message, fix: "", errors: [] });

/* The members of a column that its line has no field for. */
function editMore(of, definition, change) {
  const { server, mine, name } = of;
  const fields = MORE.filter((m) => mine[m.id] !== undefined || !m.when || m.when(mine.type ?? server?.type));
  act({
    title: t("columns.more_of", { name }),
    role: "admin",
    does: t("columns.more.does"),
    button: t("relation.take"),
    fields: fields.map(({ when: _, ...m }) => fieldOf({ ...m, rows: 2, name: t(`columns.more.${m.id}`), help: m.help && t(`columns.more.${m.id}.help`) }, mine)),
    run: async (typed) => {
      try {
        change(withFields(definition, of, fields, typed));
      } catch (e) {
        throw notJson(e);
      }
    },
    done: () => t("relation.taken"),
  });
}

/* What needs no column of the table. */
const isMade = (column) => "value" in column || column.transform !== undefined;

function Line({ of, keys, definition, change, admin }) {
  const { server, mine, name, on } = of;
  const isPart = isKey(keys, definition, name);
  /* A table without a key has no documents. */
  const isOnlyOne = isPart && [definition.key ?? keys].flat().length === 1;
  const set = (member, value) => change(withMember(definition, of, member, value));
  const input = (member, label) =>
    html`<input aria-label=${`${name}: ${label}`} disabled=${!on || !admin} value=${mine[member] ?? ""} size="9" list=${member === "analyzer" ? "analyzers" : undefined} onChange=${(e) => set(member, e.target.value)} />`;
  return html`<tr>
    <td data-label=${t("columns.shown")}><input type="checkbox" aria-label=${t("columns.show", { name })} checked=${on} disabled=${!admin}
      onChange=${(e) => change(withShown(definition, of, e.target.checked))} /></td>
    <td data-label=${t("columns.column")}><code>${name}</code>${!server && !isMade(mine) && html` <span class="bad">■ ${t("columns.gone")}</span>`}</td>
    <td data-label=${t("columns.server_type")} class="soft">${server?.column_type ?? (mine.value !== undefined ? t("columns.constant") : isMade(mine) ? t("columns.made") : "–")}</td>
    <td data-label=${t("columns.key")}>${server
      ? html`<input type="checkbox" aria-label=${`${name}: ${t("columns.key")}`} checked=${isPart} disabled=${!admin || isOnlyOne} onChange=${(e) => change(withKey(keys, definition, server.name, e.target.checked))} />`
      : "–"}</td>
    <td data-label=${t("columns.field")}>${input("as", t("columns.field"))}</td>
    <td data-label=${t("columns.type")}>
      <select aria-label=${`${name}: ${t("columns.type")}`} disabled=${!on || !admin} value=${mine.type ?? ""} onChange=${(e) => set("type", e.target.value)}>
        ${[...new Set([...TYPES, mine.type ?? ""])].map((x) => html`<option value=${x} selected=${x === (mine.type ?? "")}>${x || `${server?.type ?? ""} (${t("columns.default")})`}</option>`)}
      </select></td>
    <td data-label=${t("columns.analyzer")}>${(mine.type ?? server?.type) === "text" ? input("analyzer", t("columns.analyzer")) : "–"}</td>
    <td data-label="keyword">${(mine.type ?? server?.type) === "text"
      ? html`<input type="checkbox" aria-label=${`${name}: keyword`} checked=${mine.keyword === true} disabled=${!on || !admin} onChange=${(e) => set("keyword", e.target.checked)} />`
      : "–"}</td>
    <td data-label=${t("columns.note")} class="soft note">${server?.note ?? ""}${furtherOf(mine).map((x) => html` <code>${x}</code>`)}${admin && on &&
      html` <button type="button" class="small" aria-label=${t("columns.more_of", { name })} onClick=${() => editMore(of, definition, change)}>${t("columns.more")}</button>`}</td>
  </tr>`;
}

function Editor({ server, keys, definition, set }) {
  const list = linesOf(server, definition);
  const admin = may("admin");
  const rest = hasRest(definition);
  return html`<p class="row">
      <button type="button" disabled=${!admin || rest} title=${rest ? t("columns.all_others") : undefined} onClick=${() => set(withAll(server, definition))}>${t("columns.generate")}</button>
      <label class="row"><input type="checkbox" disabled=${!admin} checked=${rest} onChange=${(e) => set(withLater(server, definition, e.target.checked))} /> ${t("columns.later")}</label>
      <span class="soft">${t("columns.shown_of", { n: list.filter((x) => x.on).length, all: list.length })}</span></p>
    <datalist id="analyzers">${analyzersOf(definition).map((name) => html`<option value=${name} />`)}</datalist>
    <div class="scroll" tabindex="0" role="region" aria-label=${t("table.columns")}><table class="fields">
      <caption class="hidden">${t("table.columns")}</caption>
      <thead><tr>${["shown", "column", "server_type", "key", "field", "type", "analyzer"].map((x) => html`<th scope="col">${t(`columns.${x}`)}</th>`)}
        <th scope="col">keyword</th><th scope="col">${t("columns.note")}</th></tr></thead>
      <tbody>${list.map((x, i) => html`<${Line} of=${x} keys=${keys} definition=${definition} admin=${admin} key=${`${x.name} ${i}`} change=${set} />`)}</tbody>
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
  return html`<${Loaded} of=${server} show=${(data) => html`<${Editor} server=${data.items} keys=${data.key} definition=${draft} set=${set} />`} />`;
}
