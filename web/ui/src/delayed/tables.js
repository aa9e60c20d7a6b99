/* Delayed tables: what waits of each, when its last run was good, and its top relations. */
import { html } from "../html.js";
import { t } from "../text.js";
import { link, route } from "../route.js";
import { status } from "../stream.js";
import { number } from "../format.js";
import { Ago, CommandLine, Copy, Empty, State } from "../parts.js";
import { Action } from "../action.js";
import { Filters, finds, Table } from "../table.js";
import { deferAction, deferrable, undeferAction } from "../definition/defer.js";
import { runDelayedAction } from "../actions/index.js";

/* Delayed by definition, or with snapshots that still wait. */
export function delayedTables(definitions, waiting) {
  const all = new Map();
  for (const d of definitions.filter((x) => x.delayed)) {
    const name = d.table ?? d.pattern;
    all.set(name, { table: name, definition: d, top: d.top_relations ?? [], snapshots: 0, oldest: null, waits_for: "", isGone: false });
  }
  for (const w of waiting) all.set(w.table, { ...(all.get(w.table) ?? { table: w.table, top: [] }), ...w, isGone: w.table_is_gone });
  return [...all.values()];
}

/* A run is good also when nothing waits, so one that is late can be begun. */
const whyNot = (waits, isLate) => (waits || isLate ? undefined : t("delayed.why.nothing"));

/* Tables whose documents show a delayed table have the time of the last run, too. */
const runOf = (name) => status.value?.tables.find((x) => x.table === name)?.runs?.delayed;

function LastRun({ of }) {
  if (!of) return html`<span>–</span>`;
  return html`${of.last_success ? html`<${Ago} at=${of.last_success} />` : t("delayed.never")} ${of.overdue && html`<${State} of="overdue" />`}`;
}

const COLUMNS = (runs, again) => [
  { id: "table", name: t("delayed.table"), value: (x) => x.table, cell: (x) => html`${x.isGone ? x.table : html`<a href=${link(["tables", x.table])}>${x.table}</a>`} ${x.isGone && html`<span class="warn">▲ ${t("delayed.gone")}</span>`}` },
  { id: "waiting", name: t("delayed.waiting"), value: (x) => x.snapshots, cell: (x) => html`<a href=${link(["delayed"], { tab: "snapshots", table: x.table, status: "init" })}>${number(x.snapshots)}</a>`, number: true },
  { id: "oldest", name: t("delayed.oldest"), value: (x) => x.oldest, cell: (x) => html`<${Ago} at=${x.oldest} />` },
  {
    id: "runs",
    name: t("delayed.runs_now"),
    value: (x) => runs.filter((r) => r.table === x.table || r.table === "").length,
    cell: (x) => runs.filter((r) => r.table === x.table || (r.table === "" && (!x.topic || r.topic === x.topic))).map((r) => html`<a href=${link(["jobs", `delayed-${r.run}`])}>${t("delayed.run_n", { run: String(r.run) })}</a> `),
  },
  { id: "last", name: t("delayed.last_success"), value: (x) => runOf(x.table)?.last_success, cell: (x) => html`<${LastRun} of=${runOf(x.table)} />` },
  { id: "waits", name: t("table.waits"), value: (x) => x.waits_for, cell: (x) => x.waits_for || "–" },
  { id: "do", name: t("version.operations"), cell: (x) => html`<div class="row"><${Action} small name=${t("delayed.run")} why=${whyNot(x.snapshots, runOf(x.table)?.overdue)} of=${() => runDelayedAction({ table: x.table })} />
    ${x.definition && html`<${Action} small role="admin" name=${t("undefer")} of=${() => undeferAction(x.definition, again)} />`}</div>` },
];

/* How a run finds the documents that show the table's rows. */
function Top({ of }) {
  if (of.top.length === 0) return html`<p class="soft">${t("delayed.top.none")}</p>`;
  return of.top.map(
    (r) => html`<p><code>${of.table}.${r.business_id}</code> → <code>${r.table}.${r.column}</code> <span class="soft">${t("delayed.top.how", { business: r.business_id, target: r.target_key, table: r.table, column: r.column })}</span></p>
      <pre class="json" tabindex="0">${r.level_sql}</pre><p><${Copy} text=${r.level_sql} /></p>`,
  );
}

function TopRelations({ of }) {
  return html`<h2>${t("delayed.top")}</h2>
    ${of.filter((x) => !x.isGone).map((x) => html`<details open=${of.length < 4}><summary><strong>${x.table}</strong> <span class="soft">${t("delayed.top.n", { n: x.top.length })}</span></summary>
      <${Top} of=${x} />
      <p><a href=${link(["tables", x.table], { tab: "settings" })}>${t("delayed.top.edit")}</a></p></details>`)}`;
}

function DeferOne({ definitions, again, primary }) {
  const free = deferrable(definitions);
  return html`<${Action} name=${t("defer")} role="admin" primary=${primary} why=${free.length === 0 ? t("defer.why.none") : undefined} of=${() => deferAction(free, again)} />`;
}

export function DelayedTables({ definitions, runs, again }) {
  const all = delayedTables(definitions, runs.waiting ?? []);
  const total = all.reduce((n, x) => n + x.snapshots, 0);
  if (all.length === 0) return html`<${Empty} text=${t("delayed.empty")} line="millrace table set DATABASE.TABLE delayed=true"><p><${DeferOne} definitions=${definitions} again=${again} primary /></p></${Empty}>`;
  const shown = all.filter((x) => finds(route.value.query.find, x.table));
  return html`<p class="row"><${Action} name=${t("delayed.run_all")} primary why=${whyNot(total, all.some((x) => runOf(x.table)?.overdue))} of=${() => runDelayedAction({ all: true })} />
      <${DeferOne} definitions=${definitions} again=${again} />
      <span class="soft">${t("delayed.total", { n: total })}</span></p>
    <${Filters} of=${[{ id: "find", name: t("filter.find") }]} />
    <${Table} caption=${t("nav.delayed")} columns=${COLUMNS(runs.items, again)} rows=${shown} id=${(x) => x.table} />
    <p class="soft">${t("delayed.cron")}</p><${CommandLine} line="0 3 * * * millrace delayed run --all --wait" />
    <${TopRelations} of=${shown} />`;
}
