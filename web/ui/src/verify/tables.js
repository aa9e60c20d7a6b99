/* Each table with its last comparison; who has not been compared as long as one may be is marked. */
import { html } from "../html.js";
import { t } from "../text.js";
import { link, route } from "../route.js";
import { number, time } from "../format.js";
import { now } from "../clock.js";
import { Ago, Empty, State } from "../parts.js";
import { Action } from "../action.js";
import { distinct, Filters, finds, Table } from "../table.js";
import { replayAction, verifyAction } from "../actions/index.js";
import { Verdict } from "./kinds.js";

/* "never", "overdue", "stale" (the daemon says that documents may be), "ok"; undefined without an index. */
export function freshness(x) {
  if (!x.version) return undefined;
  if (x.verify) return "stale";
  if (!x.compared) return "never";
  if (x.runs?.check?.overdue || (x.verify_due && new Date(x.verify_due) < now())) return "overdue";
  return "ok";
}

const ORDER = ["stale", "overdue", "never", "ok"];

const counted = (counts) =>
  Object.entries(counts ?? {})
    .filter(([, n]) => n > 0)
    .map(([kind, n]) => `${t(`difference.${kind}`)} ${number(n)}`)
    .join(", ");

function Fresh({ of: x }) {
  return html`<${State} of=${freshness(x)} word=${t(`compare.fresh.${freshness(x)}`)} />
    ${x.verify && html`<div>${x.verify}</div>`}
    ${x.verify_due && html`<div class="soft">${t("compare.due", { time: time(x.verify_due) })}</div>`}`;
}

function Last({ of }) {
  if (!of) return html`<span>–</span>`;
  return html`<${Verdict} of=${of} /> <${Ago} at=${of.at} /><div class="soft">${t("compare.equal_of", { equal: number(of.equal), n: of.documents })}</div>`;
}

function Trees({ of }) {
  if (!of) return html`<span>–</span>`;
  return html`${t(`compare.trees.${of.state}`)} <div class="soft">${of.exchanged && html`<${Ago} at=${of.exchanged} />`} ${of.missing_reason ?? of.put_off_reason ?? ""}</div>`;
}

const COLUMNS = () => [
  { id: "table", name: t("table.table"), value: (x) => x.table, cell: (x) => html`<a href=${link(["tables", x.table])}>${x.table}</a> <span class="soft">${x.index} v${x.version}</span>` },
  { id: "fresh", name: t("compare.fresh"), value: (x) => ORDER.indexOf(freshness(x)), cell: (x) => html`<${Fresh} of=${x} />` },
  { id: "at", name: t("compare.at"), value: (x) => x.compared?.at, cell: (x) => html`<${Last} of=${x.compared} />` },
  {
    id: "differing",
    name: t("compare.differing"),
    value: (x) => x.compared?.differing,
    cell: (x) => html`${number(x.compared?.differing)} <span class="soft">${counted(x.compared?.counts)}</span>
      ${x.compared?.repaired > 0 && html`<div class="soft">${t("compare.repaired", { n: x.compared.repaired })}</div>`}`,
  },
  { id: "check", name: t("compare.check"), value: (x) => x.runs?.check?.last_success, cell: (x) => (x.runs?.check ? html`<${Ago} at=${x.runs.check.last_success} /> ${x.runs.check.overdue && html`<${State} of="overdue" />`}` : "–") },
  { id: "trees", name: t("compare.trees"), value: (x) => x.trees?.state, cell: (x) => html`<${Trees} of=${x.trees} />` },
  { id: "do", name: t("version.operations"), cell: (x) => html`<div class="row">
      <${Action} small name=${t("verify.start")} of=${() => verifyAction(x.table)} />
      <${Action} small name=${t("replay")} of=${() => replayAction(x.table)} /></div>` },
];

export function VerifyTables({ of }) {
  const q = route.value.query;
  const able = of.tables.filter((x) => x.version);
  const rows = able.filter((x) => finds(q.find, x.table, x.index) && (!q.fresh || freshness(x) === q.fresh) && (!q.verdict || x.compared?.verdict === q.verdict));
  const different = able.filter((x) => x.compared?.verdict === "different").length;
  const stale = able.filter((x) => freshness(x) !== "ok").length;
  return html`<p>${stale ? html`<span class="warn">▲ ${t("compare.stale_n", { n: stale })}</span>` : t("compare.all_fresh")}
      ${different > 0 && html` <span class="bad">■ ${t("compare.different_n", { n: different })}</span>`}</p>
    <${Filters} of=${[
      { id: "find", name: t("filter.table_or_index") },
      { id: "fresh", name: t("compare.fresh"), options: ORDER.map((f) => [f, t(`compare.fresh.${f}`)]) },
      { id: "verdict", name: t("compare.verdict"), options: distinct(able.map((x) => x.compared?.verdict)).map((v) => [v, t(`state.${v}`)]) },
    ]} />
    <${Table} caption=${t("compare.tables")} columns=${COLUMNS()} rows=${rows} id=${(x) => x.table} order="fresh"
      empty=${able.length === 0 && html`<${Empty} text=${t("compare.no_index")} line="millrace index create DATABASE.TABLE"><p><a href="#/tables">${t("nav.tables")}</a></p></${Empty}>`} />`;
}
