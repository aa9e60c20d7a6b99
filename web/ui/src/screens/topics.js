/* Topics: the servers whose changes Millrace follows; one of them with its state and its operations. */
import { useEffect } from "preact/hooks";
import { html } from "../html.js";
import { t } from "../text.js";
import { go, link, route, setQuery } from "../route.js";
import { may } from "../session.js";
import { status } from "../stream.js";
import { useData } from "../data.js";
import { path } from "../api.js";
import { bytes, number, rate, span, UNKNOWN } from "../format.js";
import { Ago, Empty, Heading, Loaded, State, TableState, Terms, TopicState } from "../parts.js";
import { Action, act } from "../action.js";
import { distinct, Filters, finds, Table } from "../table.js";
import { Plots } from "../plots.js";
import { Checks, ServerTest } from "./server_test.js";
import { deleteSource, sourceAction } from "../definition/source.js";
import { moveTopic, pauseTopic, resetTopic, resumeTopic } from "../actions/topic.js";

const COLUMNS = () => [
  { id: "topic", name: t("topic.topic"), value: (x) => x.name, cell: (x) => html`<a href=${link(["topics", x.name])}>${x.name}</a>` },
  { id: "state", name: t("column.state"), value: (x) => x.state, cell: (x) => html`<${TopicState} of=${x} />` },
  { id: "lag", name: t("column.lag"), value: (x) => x.lag_seconds, cell: (x) => `${x.lag_at_most ? "≤ " : ""}${span(x.lag_seconds)}`, number: true },
  { id: "rate", name: t("column.rate"), value: (x) => x.rate, cell: (x) => rate(x.rate), number: true },
  { id: "server", name: t("topic.server"), value: (x) => x.server },
  { id: "position", name: t("topic.position"), value: (x) => `${x.file}:${x.position}`, cell: (x) => html`<code>${x.file}:${x.position}</code>` },
  { id: "reason", name: t("topic.reason"), value: (x) => x.reason },
];

/* A topic that is defined and has no state yet is in the list, too. */
function rowsOf(states, definitions) {
  const known = new Set(states.map((x) => x.name));
  return [...states, ...definitions.filter((x) => !known.has(x.name)).map((x) => ({ name: x.name, state: "created", server: x.address }))];
}

/* What is wrong with the server is seen at once: the new topic's screen tests it. */
const addTopic = () => sourceAction("topic", { after: (answer) => go(["topics", answer.items[0]?.name ?? ""], { test: "1" }) });

function List() {
  const of = useData("topics");
  const q = route.value.query;
  useEffect(() => {
    if (q.add && may("admin")) {
      setQuery({ add: "" });
      act(addTopic());
    }
  }, [q.add]);
  return html`<${Heading} title=${t("nav.topics")}><${Action} name=${t("source.add_topic")} role="admin" primary of=${addTopic} /></${Heading}>
    <${Loaded} of=${of} show=${(data) => {
      const all = rowsOf(status.value?.topics ?? [], data.items);
      const rows = all.filter((x) => (!q.state || x.state === q.state) && finds(q.find, x.name, x.server));
      return html`<${Filters} of=${[
          { id: "find", name: t("filter.find") },
          { id: "state", name: t("column.state"), options: distinct(all.map((x) => x.state)).map((s) => [s, t(`state.${s}`)]) },
        ]} />
        <${Table} caption=${t("nav.topics")} columns=${COLUMNS()} rows=${rows} id=${(x) => x.name}
          empty=${all.length === 0 && html`<${Empty} text=${t("overview.empty")} line="millrace topic add NAME address=HOST user=USER password_file=FILE" />`} />`;
    }} />`;
}

const terms = (x) => [
  [t("column.state"), html`<${TopicState} of=${x} />`],
  [t("column.lag"), `${x.lag_at_most ? "≤ " : ""}${span(x.lag_seconds)}${x.lag_of ? ` (${x.lag_of})` : ""}`],
  [t("topic.oldest"), html`<${Ago} at=${x.oldest} />`],
  [t("column.rate"), rate(x.rate)],
  [t("topic.server"), x.server],
  [t("topic.position"), html`<code>${x.file}:${x.position}</code>`],
  ["GTID", x.gtid ? html`<code>${x.gtid}</code>` : UNKNOWN],
  [t("topic.lag_bytes"), bytes(x.lag_bytes)],
  [t("topic.retention"), x.retention_seconds ? span(x.retention_seconds) : UNKNOWN],
  [t("topic.reconnects"), number(x.reconnects)],
  [t("topic.epoch"), number(x.epoch)],
];

function Operations({ name, x, definition, etag, again }) {
  const nodes = (useData("nodes", { live: false }).data?.items ?? []).map((n) => n.name);
  const isPaused = x?.state === "stopped" || x?.state === "fail";
  return html`<p class="row">
    <${Action} name=${t("topic.pause")} of=${() => pauseTopic(name)} />
    <${Action} name=${t("topic.resume")} primary=${isPaused} of=${() => resumeTopic(name)} />
    ${nodes.length > 1 && html`<${Action} name=${t("topic.move")} of=${() => moveTopic(name, nodes)} />`}
    <${Action} name=${t("source.edit")} role="admin" of=${() => sourceAction("topic", { before: definition, etag, after: again })} />
    <${Action} name=${t("topic.reset")} role="admin" danger of=${() => resetTopic(name)} />
    <${Action} name=${t("source.delete_topic")} role="admin" danger of=${() => deleteSource("topic", name, etag)} />
  </p>`;
}

function One({ name }) {
  const of = useData(path(["topics", name]), { live: false });
  const x = status.value?.topics.find((y) => y.name === name);
  const tables = (status.value?.tables ?? []).filter((y) => y.topic === name);
  /* What status finds of it; a reason that concerns all topics has a check of another group. */
  const found = (status.value?.checks ?? []).filter((c) => c.group === `topic ${name}` && c.status !== "ok");
  return html`<${Heading} title=${name}>${x && html`<${State} of=${x.state} />`}<a href="#/topics">${t("nav.topics")}</a></${Heading}>
    <${Loaded} of=${of} show=${(data) => {
      const definition = data.items?.[0] ?? data;
      return html`${found.length > 0 && html`<${Checks} items=${found} />`}
        ${found.length === 0 && x?.reason && html`<div class="problem"><p><strong>${x.reason}</strong></p>${x.fix && html`<p><span class="soft">${t("fix")}</span> ${x.fix}</p>`}</div>`}
        <${Operations} name=${name} x=${x} definition=${definition} etag=${of.etag} again=${of.again} />
        ${x ? html`<${Terms} of=${terms(x)} />` : html`<p>${t("table.no_state")}</p>`}
        <${Plots} topic=${name} />
        <h2>${t("nav.tables")}</h2>
        ${tables.length === 0 ? html`<p>${t("topic.no_tables")}</p>` : html`<ul>${tables.map(
          (y) => html`<li><a href=${link(["tables", y.table])}>${y.table}</a> <${TableState} of=${y} /> ${span(y.lag_seconds)}</li>`,
        )}</ul>`}
        <${ServerTest} group=${`topic ${name}`} atOnce=${route.value.query.test === "1"} />
        <h2>${t("source.definition")}</h2>
        <${Terms} of=${Object.entries(definition).map(([k, v]) => [k, typeof v === "object" ? JSON.stringify(v) : String(v)])} />`;
    }} />`;
}

export const Topics = ({ parts }) => (parts.length > 1 ? html`<${One} name=${parts[1]} />` : html`<${List} />`);
