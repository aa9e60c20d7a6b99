/* One job while it runs, and how it ended: the daemon forgets a job when it is over. */
import { html } from "../html.js";
import { t } from "../text.js";
import { link } from "../route.js";
import { path } from "../api.js";
import { number, rate, span } from "../format.js";
import { useData } from "../data.js";
import { Ago, CommandLine, Heading, Loaded, Progress, State, Terms } from "../parts.js";
import { Action } from "../action.js";
import { maySeeRows } from "../session.js";
import { status } from "../stream.js";
import { cancelRefreshAction, changeBuildAction, cutoverAction, resetAction } from "../actions/index.js";
import { amount, doneOf, isBeyond, Left, share, totalOf } from "./pace.js";
import { Buckets, nodeName } from "./buckets.js";
import { kindName, phaseName } from "./list.js";
import { eventName, took } from "../versions/log.js";

/* Of these the daemon remembers how they ended. */
const TASKS = ["drain", "doctor"];
const REPORTS = ["verify", "compare", "refresh", "replay", "exchange", ...TASKS];

const terms = (j) => [
  [t("table.table"), j.table ? html`<a href=${link(["tables", j.table])}>${j.table}</a>` : j.topic],
  j.index && [t("table.index"), html`<a href=${link(["versions", j.index])}>${j.index}${j.version ? ` v${j.version}` : ""}</a>`],
  [t("column.state"), html`<${State} of=${j.state} />`],
  [t("job.phase"), phaseName(j.phase)],
  [t("job.done"), amount(j)],
  [t("job.rate"), rate(j.rate)],
  [t("job.remaining"), html`<${Left} of=${j} />`],
  j.growth > 0 && [t("job.growth"), rate(j.growth)],
  j.buckets && [t("build.buckets"), j.buckets_done === undefined ? number(j.buckets) : t("job.of", { done: number(j.buckets_done), total: number(j.buckets) })],
  j.nodes && [t("job.nodes"), html`${j.nodes.map(nodeName).join(", ") || "–"} <span class="soft">${j.nodes_limit ? t("job.at_most", { n: j.nodes_limit }) : ""}</span>`],
  j.rows && [t("job.rows_together"), number(j.rows)],
  [t("job.begun"), html`<${Ago} at=${j.created} />`],
];

/* A part of a build is no business of its own: its build is changed. */
function Operations({ of }) {
  const x = status.value?.tables.find((y) => y.table === of.table) ?? { table: of.table, index: of.index };
  if (of.kind === "index")
    return html`<p class="row">
      <${Action} name=${t("build.change")} why=${of.state === "waiting" ? t("job.why.is_filled") : undefined} of=${() => changeBuildAction(of)} />
      <${Action} name=${t("cutover")} why=${x.wait ? undefined : t("job.why.not_filled")} of=${() => cutoverAction(x, x.wait)} />
      <${Action} name=${t("job.cancel_build")} role="admin" danger of=${() => resetAction(x, of.version)} /></p>`;
  if (of.kind === "refresh") return html`<p class="row"><${Action} name=${t("refresh.cancel")} danger of=${() => cancelRefreshAction(x)} /></p>`;
  return html`<p class="soft">${t("job.goes_on")}</p>`;
}

function Running({ of, parts }) {
  return html`<p><${Progress} done=${doneOf(of)} total=${totalOf(of)} name=${`${kindName(of.kind)} ${of.id}`} /> <strong>${share(of)}</strong> <span class="soft">${amount(of)}</span></p>
    ${isBeyond(of) && html`<p class="soft">${t("job.low_estimate")}</p>`}
    ${of.waits_for && html`<p class="warn">▲ ${t("job.waits_for")} ${of.waits_for}</p>`}
    ${of.error && html`<p class="bad">■ ${of.error}</p>`}
    ${of.fix && html`<p><span class="soft">${t("fix")}</span> ${of.fix}</p>`}
    <${Operations} of=${of} />
    <${Terms} of=${terms(of)} />
    <${Buckets} of=${parts} />
    <${CommandLine} line=${`millrace job get ${of.id}`} />`;
}

/* A build's end is in the log; other jobs leave a report. */
function Ended({ id, last }) {
  const log = useData(last?.table ? path(["log", last.table]) : "log", { live: false });
  const report = useData(maySeeRows() && (!last || REPORTS.includes(last.kind)) ? path(["reports", id]) : null, { live: false });
  const events = last?.version ? (log.data?.items ?? []).filter((e) => e.version === last.version && e.at >= last.created).slice(0, 5) : [];
  const build = (log.data?.items ?? []).find((e) => e.build && last?.kind === "index" && e.version === last.version)?.build;
  return html`<div class="empty"><p><strong>${t("job.ended")}</strong></p>
      ${build && html`<p><${State} of=${build.end} /> ${t("job.took")}: ${took(build)} ${build.error}</p>`}
      ${last && !TASKS.includes(last.kind) && html`<p>${t("job.last_seen", { done: amount(last) })}</p>`}
      ${events.map((e) => html`<p>${eventName(e.event)} <span class="soft"><${Ago} at=${e.at} /></span> ${e.detail?.text}</p>`)}
      ${report.data?.end && html`<p>${t("drain.ended", { end: report.data.end, queued: number(report.data.queued) })}</p>`}
      ${last?.error && html`<p class="bad">■ ${last.error}</p>`}
      ${report.data?.verdict && html`<p><a href=${link(["verify", id])}>${t("job.report")}</a> <span class="soft">${span(report.data.seconds)}</span></p>`}
      ${!last && !report.data && html`<p>${t("job.ended.where")}</p>`}
      <p class="row"><a href="#/jobs">${t("job.all")}</a>${last?.index && html`<a href=${link(["versions", last.index], { tab: "log" })}>${t("version.log")}</a>`}</p></div>`;
}

export function OneJob({ id }) {
  const of = useData(path(["jobs", id]));
  const items = of.data?.items ?? [];
  const job = items.find((j) => j.id === id) ?? items[0];
  const isOver = of.problem?.status === 404 || (of.data && !job) || (TASKS.includes(job?.kind) && job.state !== "running");
  const parts = items.filter((j) => j !== job && (j.kind === "bucket" || j.kind === "part"));
  return html`<${Heading} title=${job ? `${kindName(job.kind)} ${job.id}` : t("job.title", { id })}>
      ${job && !isOver && html`<${State} of=${job.state} />`}<a href="#/jobs">${t("job.all")}</a></${Heading}>
    ${isOver ? html`<${Ended} id=${id} last=${job} />` : html`<${Loaded} of=${of} show=${() => html`<${Running} of=${job} parts=${parts} />`} />`}`;
}
