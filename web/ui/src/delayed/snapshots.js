/* Changes of delayed tables that wait for a run, or were part of one: a hundred at a time. */
import { useState } from "preact/hooks";
import { html } from "../html.js";
import { t } from "../text.js";
import { get, path } from "../api.js";
import { link, route } from "../route.js";
import { useData } from "../data.js";
import { Ago, CommandLine, Empty, Json, Loaded, Problem, State } from "../parts.js";
import { Action } from "../action.js";
import { Filters, Table } from "../table.js";
import { doneDelayedAction, runDelayedAction } from "../actions/index.js";
import { option } from "../actions/command.js";
import { maySeeRows } from "../session.js";

const PAGE = 100;
const OPERATIONS = ["insert", "update", "delete", "table"];
const STATES = ["init", "running", "done"];
const FILTERS = ["table", "op", "row", "day", "status"];

function Kept({ of }) {
  if (!of.kept) return html`<span>–</span>`;
  if (!maySeeRows()) return html`<span class="soft">${t("delayed.hidden")}</span>`;
  return html`<details><summary>${t(of.op === "table" ? "delayed.statement" : "delayed.row_as_it_was")}</summary><${Json} of=${of.kept} /></details>`;
}

const COLUMNS = (again) => [
  { id: "id", name: t("delayed.id"), value: (s) => s.id, cell: (s) => `${s.id}`, number: true },
  { id: "table", name: t("delayed.table"), value: (s) => s.table, cell: (s) => html`${s.table_is_gone ? s.table : html`<a href=${link(["tables", s.table])}>${s.table}</a>`} ${s.table_is_gone && html`<span class="warn">▲ ${t("delayed.gone")}</span>`}` },
  { id: "op", name: t("delayed.op"), value: (s) => s.op, cell: (s) => t(`delayed.op.${s.op}`) },
  { id: "row", name: t("delayed.row"), value: (s) => s.row, cell: (s) => (s.op === "table" ? t("delayed.whole_table") : html`<a href=${link(["trace"], { table: s.table, key: s.row })}><code>${s.row}</code></a>`) },
  { id: "day", name: t("delayed.day"), value: (s) => s.day },
  { id: "status", name: t("column.state"), value: (s) => s.status, cell: (s) => html`<${State} of=${s.status} word=${t(`delayed.status.${s.status}`)} />` },
  { id: "run", name: t("delayed.run_id"), value: (s) => s.run, cell: (s) => (s.run ? html`<a href=${link(["jobs", `delayed-${s.run}`])}>${s.run}</a>` : "–"), number: true },
  { id: "updated", name: t("delayed.updated"), value: (s) => s.updated, cell: (s) => html`<${Ago} at=${s.updated} />` },
  { id: "kept", name: t("delayed.kept"), cell: (s) => html`<${Kept} of=${s} />` },
  {
    id: "do",
    name: t("version.operations"),
    cell: (s) => html`<div class="row">
      <${Action} small name=${t("delayed.run_one")} why=${s.status === "running" ? t("delayed.why.running") : undefined} of=${() => runDelayedAction({ ids: [s.id] })} />
      <${Action} small role="admin" danger name=${t("delayed.mark_done")} why=${s.status === "init" ? undefined : t(`delayed.why.${s.status}`)} of=${() => doneDelayedAction([s], undefined, again)} /></div>`,
  },
];

const queryOf = (q) => Object.fromEntries(FILTERS.map((f) => [f, q[f]]));

/* The pages behind the first, kept while the filters stay. */
function Pages({ first, query, again }) {
  const [more, setMore] = useState({ items: [], after: undefined, problem: null });
  const items = [...first.items, ...more.items];
  const after = more.after === undefined ? first.more_after : more.after;
  const next = async () => {
    try {
      const page = await get(path(["delayed"], { ...query, after, limit: PAGE }));
      setMore({ items: [...more.items, ...page.items], after: page.more_after ?? null, problem: null });
    } catch (problem) {
      setMore({ ...more, problem });
    }
  };
  const reload = () => {
    setMore({ items: [], after: undefined, problem: null });
    again();
  };
  const waiting = items.filter((s) => s.status === "init").slice(0, 1000);
  const isFiltered = FILTERS.some((f) => query[f]);
  return html`<${Table} caption=${t("delayed.snapshots")} columns=${COLUMNS(reload)} rows=${items} id=${(s) => s.id}
      empty=${html`<${Empty} text=${t(isFiltered ? "delayed.none_found" : "delayed.no_snapshots")} />`} />
    ${more.problem && html`<${Problem} of=${more.problem} again=${next} />`}
    <p class="row">${after && html`<button type="button" onClick=${next}>${t("delayed.older")}</button>`}
      ${waiting.length > 1 &&
      html`<${Action} role="admin" danger name=${t("delayed.mark_all", { n: waiting.length })} why=${query.table ? undefined : t("delayed.why.one_table")}
        of=${() => doneDelayedAction(waiting, query.table, reload)} />`}</p>`;
}

export function Snapshots({ tables }) {
  const query = queryOf(route.value.query);
  const of = useData(maySeeRows() ? path(["delayed"], { ...query, limit: PAGE }) : null);
  const line = `millrace delayed list${FILTERS.map((f) => option(f, query[f])).join("")}`;
  return html`<${Filters} of=${[
      { id: "table", name: t("delayed.table"), options: tables },
      { id: "op", name: t("delayed.op"), options: OPERATIONS.map((o) => [o, t(`delayed.op.${o}`)]) },
      { id: "row", name: t("delayed.row") },
      { id: "day", name: t("delayed.day_utc") },
      { id: "status", name: t("column.state"), options: STATES.map((s) => [s, t(`delayed.status.${s}`)]) },
    ]} />
    <${Loaded} of=${of} role=${maySeeRows() ? "viewer" : "operator"} show=${(data) => html`<${Pages} key=${JSON.stringify(query)} first=${data} query=${query} again=${of.again} />`} />
    <${CommandLine} line=${line} />`;
}
