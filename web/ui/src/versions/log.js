/* What has happened to an index: its sync log, with the parameters and the end of each build. */
import { html } from "../html.js";
import { has, t } from "../text.js";
import { path } from "../api.js";
import { route } from "../route.js";
import { useData } from "../data.js";
import { Ago, CommandLine, Loaded, State } from "../parts.js";
import { distinct, Filters, finds, Table } from "../table.js";
import { span } from "../format.js";

export const eventName = (event) => (has(`event.${event}`) ? t(`event.${event}`) : event);

/* Only what somebody has set: 0, false and "" are defaults. */
const given = (parameters) =>
  Object.entries(parameters ?? {})
    .filter(([, v]) => v)
    .map(([k, v]) => (v === true ? k : `${k}: ${v}`))
    .join(", ");

export const took = (build) => (build.ended ? span((new Date(build.ended) - new Date(build.began)) / 1000) : "–");

function Build({ of }) {
  return html`<div><${State} of=${of.end} /> <span class="soft">${t(`version.build.${of.kind}`)} · ${took(of)} · ${given(of.parameters)}
    ${of.nodes?.length ? ` · ${of.nodes.map((n) => n.name).join(", ")}` : ""}</span> ${of.error}</div>`;
}

const words = (e) => e.detail?.text ?? Object.values(e.detail ?? {}).join(" ");

const COLUMNS = () => [
  { id: "at", name: t("column.at"), value: (e) => e.at, cell: (e) => html`<${Ago} at=${e.at} />` },
  { id: "event", name: t("version.event"), value: (e) => eventName(e.event) },
  { id: "version", name: t("version.version"), value: (e) => e.version, cell: (e) => (e.version ? `v${e.version}` : "–") },
  { id: "detail", name: t("version.detail"), value: words, cell: (e) => html`${words(e)}${e.build && html`<${Build} of=${e.build} />`}` },
];

export function LogTab({ of }) {
  const q = route.value.query;
  const log = useData(of.x ? path(["log", of.x.table]) : "log");
  return html`<${Loaded} of=${log} show=${(data) => {
    const mine = data.items.filter((e) => e.index === of.index || of.x);
    const rows = mine.filter((e) => (!q.event || e.event === q.event) && finds(q.find, words(e), e.event, e.build?.error));
    return html`<${Filters} of=${[
        { id: "event", name: t("version.event"), options: distinct(mine.map((e) => e.event)).map((e) => [e, eventName(e)]) },
        { id: "find", name: t("filter.find") },
      ]} />
      <${Table} caption=${t("version.log")} columns=${COLUMNS()} rows=${rows} id=${(e) => e.id} order="-at" />
      <${CommandLine} line=${`millrace log list${of.x ? ` ${of.x.table}` : ""}`} />`;
  }} />`;
}
