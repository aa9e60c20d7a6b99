/* Overview: is everything fine?  What needs somebody comes first, with its fix and the way to it. */
import { html } from "../html.js";
import { t } from "../text.js";
import { link } from "../route.js";
import { status, line } from "../stream.js";
import { overall, worst } from "../state.js";
import { number, rate, span, UNKNOWN } from "../format.js";
import { Ago, Card, Empty, Heading, Loaded, Since, State, TopicState } from "../parts.js";
import { checkLink, groupName } from "../checks.js";
import { Finding } from "../finding.js";
import { Table } from "../table.js";
import { Plots } from "../plots.js";
import { isBegun, Start } from "./start.js";
import { hasRole } from "../session.js";

const sum = (list, of) => list.reduce((n, x) => n + (of(x) ?? 0), 0);
const most = (list) => list.reduce((a, b) => ((b.lag_seconds ?? -1) > (a?.lag_seconds ?? -1) ? b : a), undefined);

/* Which nodes live is known only while ZooKeeper answers. */
const NODE_LOOKS = { lives: "up", "shut down": "created", gone: "lost" };

function NodesCard({ cluster, nodes }) {
  const live = nodes.filter((n) => n.state === "lives").length;
  const states = nodes.map((n) => NODE_LOOKS[n.state] ?? n.state);
  return html`<${Card} name=${t("overview.nodes")} value=${cluster.connected ? `${number(live)} / ${number(nodes.length)}` : UNKNOWN} href="#/cluster"
    look=${cluster.connected ? worst(["ok", ...states]) : "bad"} note=${cluster.connected ? cluster.waits_for : html`ZooKeeper <${State} of="down" /> <${Ago} at=${cluster.since} />`} />`;
}

function Cards({ of }) {
  const late = most(of.topics);
  const builds = of.tables.filter((x) => x.build);
  const letters = sum(of.tables, (x) => x.dead_letters);
  const look = overall(of);
  return html`<div class="cards">
    <${Card} name=${t("overview.state")} value=${t(`overview.look.${look}`)} look=${look} href="#/doctor" note=${t("overview.checks", { n: of.checks.length })} />
    <${Card} name=${t("overview.lag")} value=${late ? span(late.lag_seconds) : UNKNOWN} href=${late ? link(["topics", late.name]) : "#/topics"}
      note=${late?.name ?? t(of.topics.length > 0 ? "state.unknown" : "overview.no_topics")} />
    <${Card} name=${t("overview.rate")} value=${rate(sum(of.topics, (x) => x.rate))} href="#/delivery" note=${t("overview.queued", { n: of.delivery.queued })} />
    <${Card} name=${t("overview.builds")} value=${number(builds.length)} href="#/jobs" look=${builds.length ? "work" : undefined}
      note=${builds.map((x) => x.index).join(", ")} />
    <${Card} name=${t("overview.letters")} value=${number(letters)} look=${letters ? "warn" : undefined} href="#/letters"
      note=${t("overview.in_tables", { n: of.tables.filter((x) => x.dead_letters > 0).length })} />
    ${of.cluster && html`<${NodesCard} cluster=${of.cluster} nodes=${of.nodes ?? []} />`}
    <${Card} name=${t("overview.engine")} value=${t(`state.${of.search?.health ?? "unknown"}`)} look=${worst([of.search?.health ?? "unknown"])} href="#/doctor"
      note=${html`${of.search?.flavor ?? ""} ${of.search?.version ?? ""} · <${Ago} at=${of.search?.as_of} />`} />
  </div>`;
}

/* What is not well, worst first. */
export function Attention({ checks }) {
  const bad = checks.filter((c) => c.status !== "ok" && c.status !== "skip");
  bad.sort((a, b) => (a.status === b.status ? 0 : a.status === "fail" ? -1 : 1));
  if (bad.length === 0) return html`<p>${t("overview.all_well")}</p>`;
  return html`<ul class="checks">${bad.map(
    (c) => html`<li>
      <${State} of=${c.status} /><${Since} at=${c.since} /> <strong>${groupName(c.group)}</strong>
      <${Finding} of=${c} />
      <p><a href=${checkLink(c)}>${t("overview.go")}</a></p></li>`,
  )}</ul>`;
}

const COLUMNS = () => [
  { id: "topic", name: t("topic.topic"), value: (x) => x.name, cell: (x) => html`<a href=${link(["topics", x.name])}>${x.name}</a>` },
  { id: "state", name: t("column.state"), value: (x) => x.state, cell: (x) => html`<${TopicState} of=${x} />` },
  { id: "lag", name: t("column.lag"), value: (x) => x.lag_seconds, cell: (x) => span(x.lag_seconds), number: true },
  { id: "rate", name: t("column.rate"), value: (x) => x.rate, cell: (x) => rate(x.rate), number: true },
  { id: "server", name: t("topic.server"), value: (x) => x.server },
  { id: "position", name: t("topic.position"), value: (x) => `${x.file}:${x.position}`, cell: (x) => html`<code>${x.file}:${x.position}</code>` },
];

function Shown({ of }) {
  if (!isBegun(of) && hasRole("admin")) return html`<${Heading} title=${t("nav.overview")} /><${Start} of=${of} />${of.topics.length > 0 && html`<${Attention} checks=${of.checks} />`}`;
  if (of.topics.length === 0)
    return html`<${Heading} title=${t("nav.overview")} />
      <${Empty} text=${t("overview.empty")} line="millrace apply FILE"><p><a href="#/topics?add=1">${t("overview.first")}</a></p></${Empty}>`;
  return html`<${Heading} title=${t("nav.overview")} />
    <${Cards} of=${of} />
    <h2>${t("overview.attention")}</h2>
    <${Attention} checks=${of.checks} />
    <${Plots} />
    <${Table} caption=${t("nav.topics")} columns=${COLUMNS()} rows=${of.topics} id=${(x) => x.name} />`;
}

export function Overview() {
  const of = { data: status.value, problem: status.value || line.value !== "lost" ? null : { status: 0, code: "no-answer", errors: [] }, at: 0 };
  return html`<${Loaded} of=${of} show=${(data) => html`<${Shown} of=${data} />`} />`;
}
