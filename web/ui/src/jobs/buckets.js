/* The parts of a job: each bucket with its node, and all of them as one strip. */
import { html } from "../html.js";
import { t } from "../text.js";
import { number, rate } from "../format.js";
import { lookOf, SIGNS } from "../state.js";
import { status } from "../stream.js";
import { Progress, State } from "../parts.js";
import { route } from "../route.js";
import { Filters, finds, Table } from "../table.js";
import { amount, doneOf, Left, share, totalOf } from "./pace.js";

const STATES = ["done", "running", "init", "error"];
const MOST_SIGNS = 200;

/* "running" is no good end yet: buckets look other than tables do. */
const LOOK = { done: "done", running: "building", init: "created", error: "error" };

/* A node's name by its id; its id's first digits if nobody knows it. */
export function nodeName(id) {
  const known = status.value?.nodes?.find((n) => n.node === id)?.name;
  if (known) return `${known} (${id.slice(0, 8)})`;
  return id && id === status.value?.node ? t("job.this_node") : (id ?? "").slice(0, 8);
}

function Strip({ of }) {
  const counts = STATES.map((s) => [s, of.filter((b) => b.state === s).length]).filter(([, n]) => n > 0);
  return html`<p>${counts.map(([s, n]) => html`<${State} of=${LOOK[s]} word=${`${t(`job.bucket.${s}`)} ${number(n)}`} />${" "}`)}</p>
    ${of.length <= MOST_SIGNS &&
    html`<p class="buckets" aria-hidden="true">${of.map(
      (b) => html`<span class=${lookOf(LOOK[b.state])} title=${`${t("job.bucket.n", { n: b.bucket })} · ${t(`job.bucket.${b.state}`)} · ${nodeName(b.node)} ${b.waits_for || b.error}`}>${SIGNS[lookOf(LOOK[b.state])]} </span>`,
    )}</p>`}`;
}

function byNode(list) {
  const all = new Map();
  for (const b of list.filter((x) => x.node)) {
    const n = all.get(b.node) ?? { node: b.node, buckets: 0, running: 0, rate: 0 };
    n.buckets++;
    if (b.state === "running") n.running++;
    n.rate += Number(b.rate?.number ?? b.rate ?? 0);
    all.set(b.node, n);
  }
  return [...all.values()];
}

const NODES = () => [
  { id: "node", name: t("job.node"), value: (n) => nodeName(n.node) },
  { id: "buckets", name: t("build.buckets"), value: (n) => n.buckets, number: true },
  { id: "running", name: t("job.bucket.running"), value: (n) => n.running, number: true },
  { id: "rate", name: t("job.rate"), value: (n) => n.rate, cell: (n) => rate(n.rate), number: true },
];

const COLUMNS = () => [
  { id: "bucket", name: t("job.bucket"), value: (b) => b.bucket, cell: (b) => `${b.bucket}`, number: true },
  { id: "bstate", name: t("column.state"), value: (b) => b.state, cell: (b) => html`<${State} of=${LOOK[b.state]} word=${t(`job.bucket.${b.state}`)} />` },
  { id: "node", name: t("job.node"), value: (b) => nodeName(b.node) },
  {
    id: "share",
    name: t("job.progress"),
    value: (b) => (totalOf(b) > 0 ? doneOf(b) / totalOf(b) : null),
    cell: (b) => html`<${Progress} done=${doneOf(b)} total=${totalOf(b)} name=${t("job.bucket.n", { n: b.bucket })} /> ${share(b)} <span class="soft">${amount(b)}</span>`,
  },
  { id: "rate", name: t("job.rate"), value: (b) => b.rate, cell: (b) => rate(b.rate), number: true },
  { id: "left", name: t("job.remaining"), value: (b) => b.remaining_seconds, cell: (b) => html`<${Left} of=${b} />` },
  { id: "cursor", name: t("job.cursor"), value: (b) => b.cursor, cell: (b) => html`<code>${b.cursor}</code>${b.until && html` → <code>${b.until}</code>`} ${b.by && html`<span class="soft">${b.by}</span>`}` },
  { id: "waits", name: t("table.waits"), value: (b) => b.error || b.waits_for, cell: (b) => html`${b.waits_for || "–"} ${b.error && html`<span class="bad">■ ${b.error}</span>`}` },
];

export function Buckets({ of }) {
  const q = route.value.query;
  if (of.length === 0) return null;
  const shown = of.filter((b) => (!q.bucket || b.state === q.bucket) && (!q.node || b.node === q.node) && finds(q.find, b.bucket, b.cursor, b.error, b.waits_for));
  const nodes = byNode(of);
  return html`<h2>${t("build.buckets")}</h2>
    <${Strip} of=${of} />
    ${nodes.length > 0 && html`<${Table} caption=${t("job.nodes")} columns=${NODES()} rows=${nodes} id=${(n) => n.node} address=${false} />`}
    <${Filters} of=${[
      { id: "find", name: t("filter.find") },
      { id: "bucket", name: t("column.state"), options: STATES.map((s) => [s, t(`job.bucket.${s}`)]) },
      ...(nodes.length > 1 ? [{ id: "node", name: t("job.node"), options: nodes.map((n) => [n.node, nodeName(n.node)]) }] : []),
    ]} />
    <${Table} caption=${t("build.buckets")} columns=${COLUMNS()} rows=${shown} id=${(b) => b.id} order="bucket" />`;
}
