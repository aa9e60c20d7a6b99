/* Tables: those that have documents, by topic, database, state, name and index; and adding one. */
import { html } from "../html.js";
import { t } from "../text.js";
import { link, route } from "../route.js";
import { status } from "../stream.js";
import { useData } from "../data.js";
import { number, rate, span } from "../format.js";
import { Ago, Empty, Heading, Loaded, TableState } from "../parts.js";
import { Action } from "../action.js";
import { distinct, Filters, finds, Table } from "../table.js";
import { addTable } from "../definition/add_table.js";
import { isDrafted } from "../definition/draft.js";
import { databasesOf } from "../definition/pattern.js";

const COLUMNS = () => [
  { id: "table", name: t("table.table"), value: (x) => x.table, cell: (x) => html`<a href=${link(["tables", x.table])}>${x.table}</a>${isDrafted(x.table) && html` <span class="warn">▲ ${t("draft.mark")}</span>`}` },
  {
    id: "index",
    name: t("table.index"),
    value: (x) => x.index,
    cell: (x) => html`<a href=${link(["versions", x.index])}>${x.index}${x.version ? ` → v${x.version}` : ""}</a>`,
  },
  { id: "topic", name: t("topic.topic"), value: (x) => x.topic, cell: (x) => html`<a href=${link(["topics", x.topic])}>${x.topic}</a>` },
  { id: "state", name: t("column.state"), value: (x) => x.state, cell: (x) => html`<${TableState} of=${x} />` },
  { id: "lag", name: t("column.lag"), value: (x) => x.lag_seconds, cell: (x) => span(x.lag_seconds), number: true },
  { id: "documents", name: t("table.documents"), value: (x) => x.documents, cell: (x) => number(x.documents), number: true },
  { id: "rate", name: t("column.rate"), value: (x) => x.rate, cell: (x) => rate(x.rate), number: true },
  {
    id: "letters",
    name: t("nav.letters"),
    value: (x) => x.dead_letters,
    cell: (x) => (x.dead_letters ? html`<a href=${link(["letters"], { table: x.table })}>${number(x.dead_letters)}</a>` : "0"),
    number: true,
  },
  { id: "delivered", name: t("table.delivered"), value: (x) => x.delivered, cell: (x) => html`<${Ago} at=${x.delivered} />` },
];

function Shown({ of }) {
  const databases = useData("databases", { live: false });
  const known = (databases.data?.items ?? []).map((d) => d.name);
  const inDatabases = (x) => databasesOf(x.table, known);
  const q = route.value.query;
  const rows = of.tables.filter(
    (x) =>
      (!q.topic || x.topic === q.topic) &&
      (!q.database || inDatabases(x).includes(q.database)) &&
      (!q.state || x.state === q.state) &&
      finds(q.find, x.table, x.index),
  );
  return html`<${Filters} of=${[
      { id: "find", name: t("filter.table_or_index") },
      { id: "topic", name: t("topic.topic"), options: distinct(of.tables.map((x) => x.topic)) },
      { id: "database", name: t("table.database"), options: distinct(of.tables.flatMap(inDatabases)) },
      { id: "state", name: t("column.state"), options: distinct(of.tables.map((x) => x.state)).map((s) => [s, t(`state.${s}`)]) },
    ]} />
    <${Table} caption=${t("nav.tables")} columns=${COLUMNS()} rows=${rows} id=${(x) => x.table}
      empty=${of.tables.length === 0 && html`<${Empty} text=${t("table.empty")} line="millrace table add DATABASE.TABLE" />`} />`;
}

export function Tables() {
  return html`<${Heading} title=${t("nav.tables")}><${Action} name=${t("table.add")} role="admin" primary of=${addTable} /></${Heading}>
    <${Loaded} of=${{ data: status.value, problem: null }} show=${(data) => html`<${Shown} of=${data} />`} />`;
}
