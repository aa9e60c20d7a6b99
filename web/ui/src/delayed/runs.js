/* Delayed runs that go on, what waits for them, and when runs were last good. */
import { html } from "../html.js";
import { t } from "../text.js";
import { link } from "../route.js";
import { status } from "../stream.js";
import { number } from "../format.js";
import { Ago, CommandLine, Empty, Progress, State } from "../parts.js";
import { Table } from "../table.js";

const COLUMNS = () => [
  { id: "run", name: t("delayed.run_id"), value: (r) => r.run, cell: (r) => html`<a href=${link(["jobs", `delayed-${r.run}`])}>${t("delayed.run_n", { run: String(r.run) })}</a>` },
  { id: "what", name: t("delayed.takes"), value: (r) => r.table, cell: (r) => (r.one ? t("delayed.takes.one", { id: String(r.one), table: r.table }) : r.table || t("delayed.takes.all", { topic: r.topic })) },
  { id: "topic", name: t("topic.topic"), value: (r) => r.topic, cell: (r) => html`<a href=${link(["topics", r.topic])}>${r.topic}</a>` },
  {
    id: "done",
    name: t("job.progress"),
    value: (r) => (r.snapshots ? r.put / r.snapshots : null),
    cell: (r) => html`<${Progress} done=${r.put} total=${r.snapshots} name=${t("delayed.run_n", { run: String(r.run) })} /> <span class="soft">${t("delayed.put", { put: number(r.put), n: r.snapshots })}</span>`,
  },
  { id: "waits", name: t("table.waits"), value: (r) => r.waits_for, cell: (r) => r.waits_for || "–" },
  { id: "begun", name: t("job.begun"), value: (r) => r.begun, cell: (r) => html`<${Ago} at=${r.begun} />` },
];

function Due({ of }) {
  if (of.overdue) return html`<${State} of="overdue" />`;
  return of.last_success ? html`<${State} of="ok" word=${t("delayed.on_time")} />` : html`<span class="soft">–</span>`;
}

const LAST = () => [
  { id: "table", name: t("table.table"), value: (x) => x.table, cell: (x) => html`<a href=${link(["tables", x.table])}>${x.table}</a>` },
  { id: "last", name: t("delayed.last_success"), value: (x) => x.runs.delayed.last_success, cell: (x) => (x.runs.delayed.last_success ? html`<${Ago} at=${x.runs.delayed.last_success} />` : t("delayed.never")) },
  { id: "due", name: t("column.state"), value: (x) => x.runs.delayed.overdue, cell: (x) => html`<${Due} of=${x.runs.delayed} />` },
];

export function DelayedRuns({ of }) {
  const known = (status.value?.tables ?? []).filter((x) => x.runs?.delayed);
  return html`<${Table} caption=${t("delayed.runs")} columns=${COLUMNS()} rows=${of.items} id=${(r) => r.run}
      empty=${html`<${Empty} text=${t("delayed.no_runs")} line="millrace delayed runs" />`} />
    ${known.length > 0 && html`<${Table} caption=${t("delayed.last_runs")} columns=${LAST()} rows=${known} id=${(x) => x.table} address=${false} />`}
    <p class="soft">${t("delayed.expect")} <code>delayed.expect_every</code></p>`;
}
