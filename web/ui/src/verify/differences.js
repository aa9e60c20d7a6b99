/* The documents that differ from their rows, and those that could not be judged. */
import { html } from "../html.js";
import { t } from "../text.js";
import { link, route } from "../route.js";
import { maySeeRows } from "../session.js";
import { text } from "../exact.js";
import { State } from "../parts.js";
import { Action } from "../action.js";
import { distinct, Filters, finds, Table } from "../table.js";
import { repairKeysAction } from "../actions/index.js";
import { canRepair, repairText } from "./kinds.js";

const shown = (v) => (v === undefined ? "–" : text(v));

const Paths = ({ of }) =>
  html`${(of.paths ?? []).map(
    (p) => html`<div><code>${p.path}</code> ${p.kind && p.kind !== "different" && html`<span class="soft">${t(`difference.${p.kind}`)}</span>`}
      ${maySeeRows() && (p.wanted !== undefined || p.found !== undefined) && html` ${t("compare.row_has")} <code>${shown(p.wanted)}</code> ${t("compare.document_has")} <code>${shown(p.found)}</code>`}</div>`,
  )}${of.n_paths > (of.paths?.length ?? 0) && html`<div class="soft">${t("compare.more_paths", { n: of.n_paths - (of.paths?.length ?? 0) })}</div>`}`;

const COLUMNS = (report, after) => [
  { id: "id", name: "_id", value: (d) => d.id, cell: (d) => html`<code>${d.id}</code>${d.routing && html` <span class="soft">${t("compare.routing", { routing: d.routing })}</span>`}` },
  { id: "kind", name: t("compare.kind"), value: (d) => d.kind, cell: (d) => html`<${State} of=${d.repaired ? "repaired" : "different"} word=${t(`difference.${d.kind}`)} title=${t(`difference.${d.kind}.what`)} />` },
  { id: "paths", name: t("compare.paths"), value: (d) => d.n_paths, cell: (d) => html`<${Paths} of=${d} />` },
  { id: "repair", name: t("compare.repair_does"), value: (d) => repairText(d.kind), cell: (d) => (d.repaired ? html`<${State} of="repaired" />` : repairText(d.kind)) },
  {
    id: "do",
    name: t("version.operations"),
    cell: (d) => html`<div class="row"><a href=${link(["trace"], { table: report.table, key: d.id })}>${t("nav.trace")}</a>
      <${Action} small name=${t("compare.repair_keys")} why=${d.repaired ? t("compare.why.repaired") : canRepair(d.kind) ? undefined : repairText(d.kind)}
        of=${() => repairKeysAction(report.table, [d.id], after)} /></div>`,
  },
];

export function Differences({ of, after }) {
  const q = route.value.query;
  const rows = of.differences.filter((d) => (!q.kind || d.kind === q.kind) && finds(q.find, d.id, d.routing, ...(d.paths ?? []).map((p) => p.path)));
  if (of.differences.length === 0) return null;
  return html`<${Filters} of=${[
      { id: "find", name: t("filter.find") },
      { id: "kind", name: t("compare.kind"), options: distinct(of.differences.map((d) => d.kind)).map((k) => [k, t(`difference.${k}`)]) },
    ]} />
    <${Table} caption=${t("compare.differences")} columns=${COLUMNS(of, after)} rows=${rows} id=${(d) => `${d.id} ${d.routing} ${d.kind}`} />`;
}

const APART = (report) => [
  { id: "aid", name: "_id", value: (a) => a.id, cell: (a) => html`<a href=${link(["trace"], { table: report.table, key: a.id })}><code>${a.id}</code></a>` },
  { id: "reason", name: t("compare.why"), value: (a) => a.reason, cell: (a) => html`${t(`apart.${a.reason}`)} <code class="soft">${a.reason}</code>` },
];

export const Apart = ({ of }) =>
  of.apart?.length
    ? html`<details><summary>${t("compare.apart", { n: of.apart.length })}</summary>
        <${Table} caption=${t("compare.apart", { n: of.apart.length })} columns=${APART(of)} rows=${of.apart} id=${(a) => a.id} address=${false} /></details>`
    : null;
