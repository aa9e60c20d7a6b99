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
import { fieldOf, shownOf, valueOf, withField } from "./members.js";
import { JoinTree } from "./join.js";
import { status } from "../stream.js";

const list = (v) => shownOf("texts", v);

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

const MEMBERS = [
  { id: "table", kind: "text", required: true },
  { id: "from", kind: "texts", required: true, help: true },
  { id: "to", kind: "texts", required: true },
  { id: "as", kind: "text", help: true },
  { id: "many", kind: "flag" },
  { id: "nested", kind: "flag", help: true },
];
const FURTHER = [
  { id: "where", kind: "text" },
  { id: "order_by", kind: "text" },
  { id: "limit", kind: "count" },
];
const SELDOM = [
  { id: "refresh", kind: "choice", help: true },
  { id: "distinct", kind: "flag" },
  { id: "values", kind: "text", help: true },
  { id: "flattened", kind: "flag" },
  { id: "max_depth", kind: "count", max: 10 },
  { id: "through.table", kind: "text", help: true },
  { id: "through.from", kind: "texts" },
  { id: "through.to", kind: "texts" },
];
const ALL = [...MEMBERS, ...FURTHER, ...SELDOM];

/* The texts of these names say what the tree shows. */
const NAMES = { values: "values.name" };
const field = (m, r, more) => fieldOf({ ...m, name: t(`relation.${NAMES[m.id] ?? m.id}`), help: m.help && t(`relation.${m.id}.help`), ...more }, r);

const columnsShown = (r) => (r.columns ?? []).map(columnOf).filter((c) => c.skip !== true);
const columnsText = (r) => columnsShown(r).map((c) => c.name).join(", ");

const refreshes = (r) => [...new Set(["", "area", "none", r.refresh ?? ""])].map((v) => [v, t(`relation.refresh.${v || "parent"}`)]);

const FIELDS = (r) => [
  ...MEMBERS.map((m) => field(m, r)),
  { id: "columns", name: t("relation.columns"), value: columnsText(r), help: t("relation.columns.help") },
  ...FURTHER.map((m) => field(m, r)),
  { id: "more", name: t("relation.more"), type: "checkbox", value: SELDOM.some((m) => field(m, r).value) },
  ...SELDOM.map((m) => field(m, r, { when: (v) => v.more, options: m.kind === "choice" ? refreshes(r) : undefined })),
];

/* The named columns, each as it was; what is left out on purpose stays so. */
function columnsOf(before, typed) {
  const wanted = [valueOf("texts", typed) ?? []].flat();
  const left = [...(before.columns ?? [])];
  const take = (name) => {
    const at = left.findIndex((c) => columnOf(c).name === name);
    const { skip, ...column } = at < 0 ? { name } : columnOf(left[at]);
    const [same] = at < 0 ? [name] : left.splice(at, 1);
    return skip === true ? column : same;
  };
  const taken = wanted.map(take);
  const skipped = left.filter((c) => columnOf(c).skip === true);
  if (taken.length > 0) return [...taken, ...skipped];
  return skipped.length > 0 ? ["*", ...skipped] : undefined;
}

/* The relation that the fields describe; members that nobody has changed stay as they are. */
export function relationOf(before, v) {
  const next = ALL.reduce((r, m) => withField(r, m, v[m.id]), before);
  if (v.columns === columnsText(before)) return next;
  const { columns: _, ...others } = next;
  const columns = columnsOf(before, v.columns);
  return columns ? { ...next, columns } : others;
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
  return html`<p class="row">
      <button type="button" disabled=${!admin} onClick=${() => edit({}, t("relation.add"), (r) => setAll([...relations, r]))}>${t("relation.add")}</button></p>
    ${relations.length === 0 ? html`<p>${t("relation.none")}</p>` : html`<ul class="tree">${relations.map(
      (r, i) => html`<${Branch} of=${r} key=${i} admin=${admin} set=${(next) => setAll(replaced(relations, i, next))} />`,
    )}</ul>`}
    ${draft.join && html`<${JoinTree} of=${draft} all=${all} />`}
    <h2>${t("relation.shown_in")}</h2>
    ${parents.length === 0 ? html`<p class="soft">${t("relation.shown_nowhere")}</p>` : html`<ul>${parents.map(
      (x) => html`<li><a href=${link(["tables", x.table])}>${x.table}</a>${" "}
        <span class="soft">${status.value?.tables.find((y) => y.table === x.table)?.state ?? ""}</span></li>`,
    )}</ul>`}`;
}
