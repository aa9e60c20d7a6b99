/* The reports that are kept, and the comparisons that run. */
import { html } from "../html.js";
import { t } from "../text.js";
import { link, route } from "../route.js";
import { number, span } from "../format.js";
import { useData } from "../data.js";
import { Ago, CommandLine, Empty, Loaded, Progress } from "../parts.js";
import { Verdict } from "./kinds.js";
import { distinct, Filters, finds, Table } from "../table.js";
import { kindName, phaseName } from "../jobs/list.js";
import { doneOf, Left, share, totalOf } from "../jobs/pace.js";

const KINDS = ["verify", "compare", "refresh", "replay", "exchange"];

const COLUMNS = () => [
  { id: "job", name: t("compare.report"), value: (r) => r.job, cell: (r) => html`<a href=${link(["verify", r.job])}>${t("compare.report_n", { job: r.job })}</a>` },
  { id: "table", name: t("table.table"), value: (r) => r.table, cell: (r) => html`<a href=${link(["tables", r.table])}>${r.table}</a> <span class="soft">${r.index} v${r.version}</span>` },
  { id: "verdict", name: t("compare.verdict"), value: (r) => r.verdict, cell: (r) => html`<${Verdict} of=${r} title=${r.why} />` },
  { id: "documents", name: t("table.documents"), value: (r) => r.documents, cell: (r) => number(r.documents), number: true },
  { id: "differing", name: t("compare.differing"), value: (r) => r.differing, cell: (r) => number(r.differing), number: true },
  { id: "repaired", name: t("compare.repaired_n"), value: (r) => r.repaired, cell: (r) => number(r.repaired), number: true },
  { id: "why", name: t("compare.why"), value: (r) => r.why, cell: (r) => r.why || "–" },
  { id: "began", name: t("job.begun"), value: (r) => r.began, cell: (r) => html`<${Ago} at=${r.began} />` },
  { id: "took", name: t("job.took"), value: (r) => Number(r.seconds?.number ?? r.seconds), cell: (r) => span(r.seconds), number: true },
];

function Running() {
  const jobs = useData("jobs");
  const mine = (jobs.data?.items ?? []).filter((j) => KINDS.includes(j.kind));
  if (mine.length === 0) return null;
  return html`<h2>${t("compare.running")}</h2><ul class="checks">${mine.map(
    (j) => html`<li><a href=${link(["verify", j.id])}>${kindName(j.kind)} ${j.id}</a> ${j.table} <span class="soft">${phaseName(j.phase)}</span>
      <${Progress} done=${doneOf(j)} total=${totalOf(j)} name=${`${kindName(j.kind)} ${j.id}`} /> ${share(j)} <${Left} of=${j} /></li>`,
  )}</ul>`;
}

export function Reports() {
  const of = useData("reports");
  const q = route.value.query;
  return html`<${Running} />
    <${Loaded} of=${of} show=${(data) => {
      const rows = data.items.filter((r) => finds(q.find, r.table, r.index, r.job, r.why) && (!q.verdict || r.verdict === q.verdict));
      return html`<${Filters} of=${[
          { id: "find", name: t("filter.table_or_index") },
          { id: "verdict", name: t("compare.verdict"), options: distinct(data.items.map((r) => r.verdict)).map((v) => [v, t(`state.${v}`)]) },
        ]} />
        <${Table} caption=${t("compare.reports")} columns=${COLUMNS()} rows=${rows} id=${(r) => r.job} order="-began"
          empty=${data.items.length === 0 && html`<${Empty} text=${t("compare.no_reports")} line="millrace verify DATABASE.TABLE" />`} />
        <p class="soft">${t("compare.newest_20")}</p><${CommandLine} line="millrace report list" />`;
    }} />`;
}
