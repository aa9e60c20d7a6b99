/* Databases: the names that tables use, each on the server of a topic or on its own. */
import { html } from "../html.js";
import { t } from "../text.js";
import { link, route } from "../route.js";
import { status } from "../stream.js";
import { useData } from "../data.js";
import { number } from "../format.js";
import { Empty, Heading, Loaded } from "../parts.js";
import { Action } from "../action.js";
import { distinct, Filters, finds, Table } from "../table.js";
import { ServerTest } from "./server_test.js";
import { deleteSource, sourceAction } from "../definition/source.js";

const tablesOf = (x) => (status.value?.tables ?? []).filter((y) => y.table.startsWith(`${x.name}.`));

const COLUMNS = (of) => [
  { id: "database", name: t("table.database"), value: (x) => x.name },
  { id: "topic", name: t("topic.topic"), value: (x) => x.topic, cell: (x) => html`<a href=${link(["topics", x.topic])}>${x.topic}</a>` },
  { id: "schema", name: t("source.schema"), value: (x) => x.schema ?? x.name },
  { id: "address", name: t("database.server"), value: (x) => x.address ?? t("database.of_topic") },
  { id: "tables", name: t("nav.tables"), value: (x) => tablesOf(x).length, cell: (x) => html`<a href=${link(["tables"], { database: x.name })}>${number(tablesOf(x).length)}</a>`, number: true },
  {
    id: "do",
    name: t("database.operations"),
    cell: (x) => html`<span class="row">
      <${Action} name=${t("source.edit")} role="admin" small of=${() => sourceAction("database", { before: x, etag: of.etag, after: of.again })} />
      <${Action} name=${t("source.delete_database")} role="admin" small danger of=${() => ({ ...deleteSource("database", x.name, of.etag), after: of.again })} /></span>`,
  },
];

export function Databases() {
  const of = useData("databases");
  const q = route.value.query;
  return html`<${Heading} title=${t("nav.databases")}>
      <${Action} name=${t("source.add_database")} role="admin" primary of=${() => sourceAction("database", { given: { topic: q.topic }, after: of.again })} /></${Heading}>
    <${Loaded} of=${of} show=${(data) => {
      const rows = data.items.filter((x) => (!q.topic || x.topic === q.topic) && finds(q.find, x.name, x.schema));
      return html`<${Filters} of=${[
          { id: "find", name: t("filter.find") },
          { id: "topic", name: t("topic.topic"), options: distinct(data.items.map((x) => x.topic)) },
        ]} />
        <${Table} caption=${t("nav.databases")} columns=${COLUMNS(of)} rows=${rows} id=${(x) => x.name}
          empty=${data.items.length === 0 && html`<${Empty} text=${t("database.empty")} line="millrace database add NAME topic=TOPIC" />`} />
        ${rows.filter((x) => x.address).map((x) => html`<${ServerTest} group=${`database ${x.name}`} />`)}
        ${q.topic && html`<${ServerTest} group=${`topic ${q.topic}`} />`}`;
    }} />`;
}
