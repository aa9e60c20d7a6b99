/* One report: its verdict, what differs and what a repair would do; or how far it is. */
import { html } from "../html.js";
import { has, t } from "../text.js";
import { link } from "../route.js";
import { path } from "../api.js";
import { number, span } from "../format.js";
import { useData } from "../data.js";
import { maySeeRows } from "../session.js";
import { Ago, CommandLine, Heading, Loaded, Progress, State, Terms } from "../parts.js";
import { Action } from "../action.js";
import { Table } from "../table.js";
import { verifyAction } from "../actions/index.js";
import { phaseName } from "../jobs/list.js";
import { amount, doneOf, Left, share, totalOf } from "../jobs/pace.js";
import { Apart, Differences } from "./differences.js";
import { notJudged, repairable, repairText, Verdict } from "./kinds.js";
import { Export } from "./export.js";

const KINDS = ["missing", "extra", "different", "wrong_routing", "unexplained", "wrong_lineage", "orphan"];

const key = (r) => (r.verdict === "equal" && notJudged(r) > 0 ? "equal_but" : r.verdict);
const sentence = (r) => t(`compare.verdict.${key(r)}`, { n: r.verdict === "equal" ? notJudged(r) : r.differing, documents: number(r.documents), equal: number(r.equal), repaired: number(r.repaired) });

const scope = (r) =>
  r.sample ? t("compare.scope.sample", { n: r.sample }) : r.where ? t("compare.scope.where", { where: r.where }) : r.checked?.length ? t("compare.scope.checked") : t("compare.scope.all");

const terms = (r) => [
  [t("table.table"), html`<a href=${link(["tables", r.table])}>${r.table}</a>`],
  [t("table.index"), html`<a href=${link(["versions", r.index])}>${r.index} v${r.version}</a>`],
  [t("compare.scope"), scope(r)],
  [t("table.documents"), number(r.documents)],
  [t("compare.equal"), number(r.equal)],
  [t("compare.differing"), number(r.differing)],
  [t("compare.repaired_n"), number(r.repaired)],
  r.rewritten > 0 && [t("compare.rewritten"), number(r.rewritten)],
  [t("job.begun"), html`<${Ago} at=${r.began} />`],
  [t("job.took"), span(r.seconds)],
  r.looks > 0 && [t("compare.looks"), number(r.looks)],
  [t("compare.values_compared"), r.values_compared ? t("yes") : t("no")],
  [t("compare.definition"), html`<code>${r.definition}</code> <span class="soft">${r.program}</span>`],
  [t("compare.from_to"), html`<code>${r.from} … ${r.to}</code>`],
  ...(r.checked ?? []).map((c) => [t("compare.checked", { table: c.table, column: c.column }), `${c.since || "–"} … ${c.seen || "–"}`]),
];

const COUNTS = (r) => [
  { id: "kind", name: t("compare.kind"), value: (k) => t(`difference.${k}`), cell: (k) => html`${t(`difference.${k}`)} <span class="soft">${t(`difference.${k}.what`)}</span>` },
  { id: "n", name: t("compare.differing"), value: (k) => r.counts[k], cell: (k) => number(r.counts[k]), number: true },
  { id: "repaired", name: t("compare.repaired_n"), value: (k) => r.repaired_counts[k], cell: (k) => number(r.repaired_counts[k]), number: true },
  { id: "does", name: t("compare.repair_does"), value: repairText },
];

const apartText = (counts) =>
  Object.entries(counts ?? {})
    .filter(([, n]) => n > 0)
    .map(([reason, n]) => `${has(`apart.${reason}`) ? t(`apart.${reason}`) : reason}: ${number(n)}`)
    .join("; ");

/* A whole report of documents and rows; `after` looks again. */
export function Report({ of: r, after }) {
  const kinds = KINDS.filter((k) => r.counts[k] > 0 || r.repaired_counts[k] > 0);
  return html`<p><${Verdict} of=${r} /> ${sentence(r)}</p>
    ${r.why && html`<p class="warn">▲ ${r.why}</p>`}
    <p class="row"><${Export} of=${r} />
      ${repairable(r) > 0 && r.job && html`<${Action} name=${t("compare.repair_n", { n: repairable(r) })} of=${() => verifyAction(r.table, { repair: true })} />`}
      ${r.job && html`<${Action} name=${t("compare.again")} of=${() => verifyAction(r.table)} />`}</p>
    ${kinds.length > 0 && html`<${Table} caption=${t("compare.by_kind")} columns=${COUNTS(r)} rows=${kinds} id=${(k) => k} address=${false} />`}
    ${apartText(r.apart_counts) && html`<p class="soft">${t("compare.apart_why")} ${apartText(r.apart_counts)}</p>`}
    ${r.cut && html`<p class="warn">▲ ${t("compare.cut")}</p>`}
    <${Differences} of=${r} after=${after} />
    <${Apart} of=${r} />
    <details open=${r.differing === 0}><summary>${t("compare.details")}</summary><${Terms} of=${terms(r)} /></details>`;
}

function Replayed({ of: r }) {
  return html`<p><${State} of=${r.verdict} word=${t(`replay.verdict.${r.verdict}`)} /></p>${r.why && html`<p class="warn">▲ ${r.why}</p>`}
    <${Terms} of=${[
      [t("table.table"), r.table],
      [t("table.index"), html`<a href=${link(["versions", r.index])}>${r.index} v${r.version}</a>`],
      [t("replay.day"), r.day],
      [t("table.documents"), number(r.documents)],
      [t("replay.written"), number(r.written)],
      [t("job.begun"), html`<${Ago} at=${r.began} />`],
      [t("job.took"), span(r.seconds)],
    ]} /><p class="row"><${Export} of=${r} /></p>`;
}

function Underway({ of: p }) {
  return html`<p><${Progress} done=${doneOf(p)} total=${totalOf(p)} name=${t("compare.report_n", { job: p.job })} /> <strong>${share(p)}</strong> <span class="soft">${amount(p)}</span>
      ${phaseName(p.phase)} · <${Left} of=${p} /></p>
    ${p.waits_for && html`<p class="warn">▲ ${t("job.waits_for")} ${p.waits_for}</p>`}
    ${p.fix && html`<p><span class="soft">${t("fix")}</span> ${p.fix}</p>`}
    <p><a href=${link(["jobs", p.job])}>${t("compare.open_job")}</a></p>`;
}

const FORMS = { "millrace/verify-progress/1": Underway, "millrace/replay/1": Replayed };

export function OneReport({ job }) {
  const of = useData(maySeeRows() ? path(["reports", job]) : null);
  return html`<${Heading} title=${t("compare.report_n", { job })}>${of.data?.table && html`<span>${of.data.table}</span>`}<a href="#/verify?tab=reports">${t("compare.all_reports")}</a></${Heading}>
    <${Loaded} of=${of} role=${maySeeRows() ? "viewer" : "operator"} show=${(data) => {
      const Form = FORMS[data.schema] ?? Report;
      return html`<${Form} of=${data} after=${of.again} />`;
    }} />
    <${CommandLine} line=${`millrace report get ${job}`} />`;
}
