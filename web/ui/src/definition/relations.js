/*
 * The relations of a table as a tree, with all their members; and the tables whose documents show this
 * one.  One relation is edited at a time, by the members that the definition has.
 */
import { html } from "../html.js";
import { t } from "../text.js";
import { link } from "../route.js";
import { may } from "../session.js";
import { act } from "../action.js";
import { columnOf } from "./entries.js";
import { status } from "../stream.js";

const list = (v) => (Array.isArray(v) ? v.join(", ") : (v ?? ""));
const words = (v) => v.split(",").map((x) => x.trim()).filter(Boolean);
const oneOrMore = (v) => (words(v).length > 1 ? words(v) : (words(v)[0] ?? ""));

const kindOf = (r) => (r.flattened ? "flattened" : r.nested ? "nested" : "object");

/* The members that the tree names beside the table. */
function facts(r) {
  return [
    r.through && t("relation.through", { table: r.through.table }),
    `${list(r.from)} = ${list(r.to)}`,
    r.many ? "1:n" : "n:1",
    r.many && kindOf(r),
    r.values && t("relation.values", { column: r.values }),
    r.where && `where ${r.where}`,
    r.order_by && `order by ${r.order_by}`,
    r.limit && `limit ${r.limit}`,
    r.distinct && "distinct",
    r.max_depth && t("relation.depth", { n: r.max_depth }),
    r.refresh && `refresh: ${r.refresh}`,
  ].filter(Boolean);
}

const FIELDS = (r) => [
  { id: "table", name: t("relation.table"), value: r.table ?? "", required: true },
  { id: "from", name: t("relation.from"), value: list(r.from), required: true, help: t("relation.from.help") },
  { id: "to", name: t("relation.to"), value: list(r.to), required: true },
  { id: "as", name: t("relation.as"), value: r.as ?? "", help: t("relation.as.help") },
  { id: "many", name: t("relation.many"), type: "checkbox", value: r.many === true },
  { id: "nested", name: t("relation.nested"), type: "checkbox", value: r.nested === true, help: t("relation.nested.help") },
  { id: "columns", name: t("relation.columns"), value: (r.columns ?? []).map((c) => columnOf(c).name ?? columnOf(c).as).join(", "), help: t("relation.columns.help") },
  { id: "where", name: t("relation.where"), value: r.where ?? "" },
  { id: "order_by", name: t("relation.order_by"), value: r.order_by ?? "" },
  { id: "limit", name: t("relation.limit"), type: "number", min: 1, value: r.limit ?? "" },
];

/* The relation that the fields describe; members that the dialog does not show stay. */
export function relationOf(before, v) {
  const next = { ...before, table: v.table, from: oneOrMore(v.from), to: oneOrMore(v.to) };
  const put = (name, value) => {
    if (value === "" || value === false || value === undefined) delete next[name];
    else next[name] = value;
  };
  put("as", v.as);
  put("many", v.many);
  put("nested", v.nested);
  put("where", v.where);
  put("order_by", v.order_by);
  put("limit", v.limit === "" ? "" : Number(v.limit));
  const wanted = words(v.columns);
  const kept = (before.columns ?? []).map(columnOf);
  put("columns", wanted.length ? wanted.map((name) => (before.columns ?? [])[kept.findIndex((c) => (c.name ?? c.as) === name)] ?? name) : "");
  return next;
}

function edit(before, title, then) {
  act({
    title,
    role: "admin",
    does: t("relation.edit.does"),
    button: t("relation.take"),
    fields: FIELDS(before),
    run: async (v) => then(relationOf(before, v)),
    done: () => t("relation.taken"),
  });
}

/* The list with entry i replaced; or removed without one. */
const replaced = (all, i, next) => (next ? all.map((x, j) => (j === i ? next : x)) : all.filter((_, j) => j !== i));

function Branch({ of, set, admin }) {
  const inner = of.relations ?? [];
  const setInner = (relations) => {
    const next = { ...of, relations };
    if (relations.length === 0) delete next.relations;
    set(next);
  };
  return html`<li>
    <strong>${of.as ?? of.table.split(".").pop()}</strong> <a href=${link(["tables"], { find: of.table })}><code>${of.table}</code></a>${" "}
    <span class="soft">${facts(of).join(" · ")}</span>
    ${admin &&
    html` <button type="button" class="small" onClick=${() => edit(of, t("relation.edit"), set)}>${t("relation.edit")}</button>
      <button type="button" class="small" onClick=${() => edit({}, t("relation.add_to", { name: of.as ?? of.table }), (r) => setInner([...inner, r]))}>${t("relation.add")}</button>
      <button type="button" class="small danger" onClick=${() => set(null)}>${t("relation.remove")}</button>`}
    <p class="soft">${of.columns ? t("relation.shows", { columns: of.columns.map((c) => columnOf(c).as ?? columnOf(c).name).join(", ") }) : t("relation.shows_all")}</p>
    ${inner.length > 0 && html`<ul>${inner.map((r, i) => html`<${Branch} of=${r} key=${i} admin=${admin} set=${(next) => setInner(replaced(inner, i, next))} />`)}</ul>`}
  </li>`;
}

const shows = (relations, table) => (relations ?? []).some((r) => r.table === table || r.through?.table === table || shows(r.relations, table));

export function Relations({ draft, set, all }) {
  const relations = draft.relations ?? [];
  const admin = may("admin");
  const setAll = (next) => {
    const changed = { ...draft, relations: next };
    if (next.length === 0) delete changed.relations;
    set(changed);
  };
  const parents = all.filter((x) => x.table !== draft.table && shows(x.relations, draft.table));
  const join = draft.join;
  return html`<p class="row">
      <button type="button" disabled=${!admin} onClick=${() => edit({}, t("relation.add"), (r) => setAll([...relations, r]))}>${t("relation.add")}</button></p>
    ${relations.length === 0 ? html`<p>${t("relation.none")}</p>` : html`<ul class="tree">${relations.map(
      (r, i) => html`<${Branch} of=${r} key=${i} admin=${admin} set=${(next) => setAll(replaced(relations, i, next))} />`,
    )}</ul>`}
    ${join && html`<h2>${t("relation.join")}</h2><p><code>${JSON.stringify(join)}</code></p>`}
    <h2>${t("relation.shown_in")}</h2>
    ${parents.length === 0 ? html`<p class="soft">${t("relation.shown_nowhere")}</p>` : html`<ul>${parents.map(
      (x) => html`<li><a href=${link(["tables", x.table])}>${x.table}</a>${" "}
        <span class="soft">${status.value?.tables.find((y) => y.table === x.table)?.state ?? ""}</span></li>`,
    )}</ul>`}`;
}
