/* The cluster: its nodes with their state and topics; a plan first, then the move. */
import { html } from "../html.js";
import { t } from "../text.js";
import { link } from "../route.js";
import { useData } from "../data.js";
import { path, post, remove } from "../api.js";
import { number } from "../format.js";
import { Ago, Code, Heading, Loaded, State, Terms } from "../parts.js";
import { Action } from "../action.js";
import { Table } from "../table.js";

/* The state of a node is a word or two: "left out", "shut down". */
const LOOK = { normal: "ok", rebalancing: "connecting", waiting: "connecting", starting: "connecting", "left out": "warn", evacuating: "connecting", evacuated: "warn", "shut down": "created", gone: "warn" };
const nodeState = (s) => html`<${State} of=${LOOK[s] ?? s} word=${t(`node.state.${s}`)} />`;

const Moves = ({ of }) =>
  html`${of.note && html`<p>${of.note}</p>`}${of.moves.length === 0 ? html`<p>${t("node.moves_nothing")}</p>` : html`<ul>${of.moves.map((m) => html`<li><code>${m}</code></li>`)}</ul>`}`;

const change = (verb, name, after) => {
  const parts = name ? ["nodes", name, verb] : ["nodes", verb];
  return {
    title: t(`node.${verb}`),
    does: t(`node.${verb}.does`, { name: name ?? "" }),
    doesNot: t("node.moves.does_not"),
    asksWhy: true,
    line: `millrace node ${verb}${name ? ` ${name}` : ""}`,
    preview: () => post(path(parts), { dry_run: true }),
    show: (answer) => html`<${Moves} of=${answer} />`,
    run: () => post(path(parts), {}),
    done: (answer) => answer.note || t("node.asked"),
    after,
  };
};

const forget = (x, after) => ({
  title: t("node.forget"),
  does: t("node.forget.does", { name: x.name }),
  typed: x.name,
  danger: true,
  line: `millrace node forget ${x.name}`,
  preview: () => remove(path(["nodes", x.id], { dry_run: true })),
  run: () => remove(path(["nodes", x.id])),
  done: () => t("node.forgotten"),
  after,
});

const lives = (x) => x.state !== "gone" && x.state !== "shut down";

/* "clean" and the like are the specification's steps of a rebalance. */
const session = (x) => html`${number(x.session)}${x.node_status && html` <span class="soft">${x.cloud_status} / ${x.node_status}</span>`}`;

/* The buckets that it fills: a link to their job, which begins with the build of the same index. */
const jobOf = (j) => html`<div><a href=${link(["jobs", j.id])}>${t(`node.job.${j.kind}`)} ${j.table}</a> ${j.buckets > 1 ? `${number(j.bucket)}/${number(j.buckets)}` : ""}</div>`;

const COLUMNS = (of, alone) => [
  { id: "name", name: t("node.name"), value: (x) => x.name },
  { id: "state", name: t("column.state"), value: (x) => x.state, cell: (x) => html`${nodeState(x.state)}${x.state === "evacuated" && x.topics.length === 0 && html`<div class="soft">${t("node.can_stop")}</div>`}` },
  { id: "topics", name: t("nav.topics"), value: (x) => x.topics.length, cell: (x) => x.topics.map((n) => html`<a href=${link(["topics", n])}>${n}</a> `), number: false },
  { id: "session", name: t("node.of_session"), value: (x) => x.session, cell: session },
  { id: "jobs", name: t("node.jobs"), value: (x) => x.jobs.length, cell: (x) => (x.jobs.length ? x.jobs.map(jobOf) : "–") },
  { id: "moved", name: t("node.moved_here"), value: (x) => x.moved_here.join(", ") },
  { id: "version", name: t("node.version"), value: (x) => x.version },
  { id: "since", name: t("node.since"), value: (x) => x.since, cell: (x) => html`<${Ago} at=${x.since} />` },
  { id: "told", name: t("node.told"), value: (x) => x.told, cell: (x) => html`<${Ago} at=${x.told} />` },
  { id: "id", name: "id", value: (x) => x.id, cell: (x) => html`<${Code}>${x.id}</${Code}>` },
  {
    id: "do",
    name: t("database.operations"),
    cell: (x) => html`<span class="row">
      ${lives(x) && !x.evacuated && html`<${Action} name=${t("node.evacuate")} small why=${alone ? t("node.alone.no") : undefined} of=${() => change("evacuate", x.name, of.again)} />`}
      ${x.evacuated && html`<${Action} name=${t("node.admit")} small of=${() => change("admit", x.name, of.again)} />`}
      ${!lives(x) && html`<${Action} name=${t("node.forget")} small danger of=${() => forget(x, of.again)} />`}</span>`,
  },
];

function Whole({ of }) {
  if (of === null) return html`<p>${t("node.alone")}</p>`;
  return html`<${Terms} of=${[
    [t("node.whole"), html`<${State} of=${of.normal ? "ok" : "connecting"} word=${of.normal ? t("node.normal") : t("node.moving")} />`],
    [t("node.waits_for"), of.waits_for || "–"],
    [t("node.session"), number(of.session)],
    ["ZooKeeper", html`<${State} of=${of.connected ? "up" : "down"} /> <${Ago} at=${of.since} /> ${of.reason}`],
    of.open_to_all && [t("node.open"), html`<${State} of="warn" word=${t("node.open.why")} />`],
  ]} />`;
}

export function Cluster() {
  const of = useData("nodes");
  const jobs = useData("jobs");
  const alone = of.data?.cluster === null;
  return html`<${Heading} title=${t("nav.cluster")}><${Action} name=${t("node.rebalance")} why=${alone ? t("node.alone.no") : undefined} of=${() => change("rebalance", "", of.again)} /></${Heading}>
    <${Loaded} of=${of} show=${(data) => html`<${Whole} of=${data.cluster} />
      <${Table} caption=${t("overview.nodes")} columns=${COLUMNS(of, alone)} rows=${data.items} id=${(x) => x.id} />`} />
    <h2>${t("node.jobs")}</h2>
    <${Loaded} of=${jobs} show=${(data) =>
      data.items.length === 0 ? html`<p>${t("node.no_jobs")}</p>` : html`<ul>${data.items.map((j) => html`<li><a href=${link(["jobs", j.id])}>${j.kind} ${j.id}</a> ${j.table} <${State} of=${j.state} /> ${j.waits_for}</li>`)}</ul>`} />`;
}
