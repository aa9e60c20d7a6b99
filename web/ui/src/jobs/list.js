/* What runs: builds and other long jobs; below, how the last builds ended. */
import { html } from "../html.js";
import { has, t } from "../text.js";
import { link, route } from "../route.js";
import { rate } from "../format.js";
import { useData } from "../data.js";
import { Ago, CommandLine, Empty, Loaded, Progress, State } from "../parts.js";
import { distinct, Filters, finds, Table } from "../table.js";
import { took } from "../versions/log.js";
import { amount, doneOf, Left, share, totalOf } from "./pace.js";

export const kindName = (kind) => (has(`job.kind.${kind}`) ? t(`job.kind.${kind}`) : kind);
export const phaseName = (phase) => (!phase ? "–" : has(`job.phase.${phase}`) ? t(`job.phase.${phase}`) : phase);

const COLUMNS = () => [
  { id: "id", name: t("job.job"), value: (j) => j.id, cell: (j) => html`<a href=${link(["jobs", j.id])}>${kindName(j.kind)} ${j.id}</a>` },
  { id: "table", name: t("table.table"), value: (j) => j.table || j.topic, cell: (j) => (j.table ? html`<a href=${link(["tables", j.table])}>${j.table}</a>` : j.topic) },
  { id: "index", name: t("table.index"), value: (j) => j.index, cell: (j) => (j.index ? html`<a href=${link(["versions", j.index])}>${j.index}${j.version ? ` v${j.version}` : ""}</a>` : "–") },
  { id: "state", name: t("column.state"), value: (j) => j.state, cell: (j) => html`<${State} of=${j.state} />` },
  { id: "phase", name: t("job.phase"), value: (j) => phaseName(j.phase) },
  {
    id: "share",
    name: t("job.progress"),
    value: (j) => (totalOf(j) > 0 ? doneOf(j) / totalOf(j) : null),
    cell: (j) => html`<${Progress} done=${doneOf(j)} total=${totalOf(j)} name=${`${kindName(j.kind)} ${j.id}`} /> ${share(j)} <span class="soft">${amount(j)}</span>`,
  },
  { id: "rate", name: t("job.rate"), value: (j) => j.rate, cell: (j) => rate(j.rate), number: true },
  { id: "left", name: t("job.remaining"), value: (j) => j.remaining_seconds, cell: (j) => html`<${Left} of=${j} />` },
  { id: "waits", name: t("table.waits"), value: (j) => j.waits_for || j.error, cell: (j) => html`${j.waits_for || "–"} ${j.error && html`<span class="bad">■ ${j.error}</span>`}` },
  { id: "created", name: t("job.begun"), value: (j) => j.created, cell: (j) => html`<${Ago} at=${j.created} />` },
];

const ENDED = () => [
  { id: "at", name: t("job.begun"), value: (e) => e.build.began, cell: (e) => html`<${Ago} at=${e.build.began} />` },
  { id: "index", name: t("table.index"), value: (e) => e.index, cell: (e) => html`<a href=${link(["versions", e.index], { tab: "log" })}>${e.index} v${e.version}</a>` },
  { id: "kind", name: t("job.asked_by"), value: (e) => t(`version.build.${e.build.kind}`) },
  { id: "end", name: t("job.end"), value: (e) => e.build.end, cell: (e) => html`<${State} of=${e.build.end} /> ${e.build.error}` },
  { id: "took", name: t("job.took"), value: (e) => (e.build.ended ? new Date(e.build.ended) - new Date(e.build.began) : null), cell: (e) => took(e.build), number: true },
];

function Ended() {
  const log = useData("log");
  return html`<${Loaded} of=${log} show=${(data) =>
    html`<${Table} caption=${t("job.last_builds")} columns=${ENDED()} rows=${data.items.filter((e) => e.build?.ended)} id=${(e) => e.id} address=${false} order="-at" />`} />`;
}

export function JobList({ of }) {
  const q = route.value.query;
  const shown = of.filter((j) => (!q.kind || j.kind === q.kind) && (!q.state || j.state === q.state) && finds(q.find, j.id, j.table, j.index, j.topic, j.waits_for));
  return html`<${Filters} of=${[
      { id: "find", name: t("filter.table_or_index") },
      { id: "kind", name: t("job.kind"), options: distinct(of.map((j) => j.kind)).map((k) => [k, kindName(k)]) },
      { id: "state", name: t("column.state"), options: distinct(of.map((j) => j.state)).map((s) => [s, t(`state.${s}`)]) },
    ]} />
    <${Table} caption=${t("job.running")} columns=${COLUMNS()} rows=${shown} id=${(j) => j.id}
      empty=${of.length === 0 && html`<${Empty} text=${t("job.empty")} line="millrace job list"><p><a href="#/versions">${t("nav.versions")}</a></p></${Empty}>`} />
    ${of.length > 0 && html`<${CommandLine} line="millrace job list" />`}
    <${Ended} />`;
}
