/* Activity: what was built, changed or stopped, and who has changed what. */
import { html } from "../html.js";
import { has, t } from "../text.js";
import { link, route } from "../route.js";
import { path } from "../api.js";
import { usePages } from "../pages.js";
import { text } from "../exact.js";
import { Ago, Empty, Heading, Loaded, State, Tabs } from "../parts.js";
import { distinct, Filters, finds, Table } from "../table.js";

const eventText = (e) => (has(`event.${e}`) ? t(`event.${e}`) : e);
const detail = (d) => (d === null || d === undefined ? "" : Object.keys(d).length === 1 && d.text !== undefined ? d.text : text(d));

const LOG = () => [
  { id: "at", name: t("column.at"), value: (x) => x.at, cell: (x) => html`<${Ago} at=${x.at} />` },
  { id: "event", name: t("activity.event"), value: (x) => eventText(x.event) },
  { id: "table", name: t("table.table"), value: (x) => x.table, cell: (x) => html`<a href=${link(["tables", x.table])}>${x.table}</a>` },
  { id: "version", name: t("activity.version"), value: (x) => x.version, cell: (x) => (x.index ? html`<a href=${link(["versions", x.index])}>${x.index}${x.version ? ` v${x.version}` : ""}</a>` : "–") },
  { id: "detail", name: t("activity.detail"), value: (x) => detail(x.detail) },
  { id: "end", name: t("activity.end"), value: (x) => x.build?.end, cell: (x) => (x.build ? html`<${State} of=${x.build.end} /> ${x.build.error}` : "–") },
];

function Log() {
  const of = usePages(path(["log"], { limit: 200 }), (x) => x.id);
  const q = route.value.query;
  return html`<${Loaded} of=${of} show=${() => {
    const rows = of.items.filter((x) => (!q.event || x.event === q.event) && (!q.table || x.table === q.table) && finds(q.find, x.index, detail(x.detail), x.build?.error));
    return html`<${Filters} of=${[
        { id: "find", name: t("filter.find") },
        { id: "event", name: t("activity.event"), options: distinct(of.items.map((x) => x.event)).map((e) => [e, eventText(e)]) },
        { id: "table", name: t("table.table"), options: distinct(of.items.map((x) => x.table)) },
      ]} />
      <${Table} caption=${t("activity.log")} columns=${LOG()} rows=${rows} id=${(x) => x.id} empty=${of.items.length === 0 && html`<${Empty} text=${t("activity.empty")} line="millrace log list" />`} />
      ${of.next && html`<p><button type="button" onClick=${of.next}>${t("letters.more")}</button></p>`}`;
  }} />`;
}

const AUDIT = () => [
  { id: "at", name: t("column.at"), value: (x) => x.at, cell: (x) => html`<${Ago} at=${x.at} />` },
  { id: "who", name: t("activity.who"), value: (x) => x.who || t("activity.nobody") },
  { id: "what", name: t("activity.what"), value: (x) => (has(`audit.${x.method} ${x.what}`) ? t(`audit.${x.method} ${x.what}`) : x.what) },
  { id: "object", name: t("activity.object"), value: (x) => x.object },
  { id: "reason", name: t("activity.reason"), value: (x) => x.reason },
  { id: "node", name: t("activity.node"), value: (x) => x.node },
  {
    id: "more",
    name: t("activity.detail"),
    cell: (x) => html`<details><summary><code>${x.method} ${x.target}</code></summary><pre class="json" tabindex="0">${text({ asked: x.asked, answered: x.answered })}</pre></details>`,
  },
];

/* Save what is shown as a file: the browser's own work, nothing is sent. */
function save(items) {
  const a = document.createElement("a");
  a.href = URL.createObjectURL(new Blob([text({ schema: "millrace/audit/1", items })], { type: "application/json" }));
  a.download = "millrace-audit.json";
  a.click();
  URL.revokeObjectURL(a.href);
}

function Audit() {
  const q = route.value.query;
  const of = usePages(path(["audit"], { object: q.object, limit: 200 }), (x) => x.id, { role: "admin" });
  return html`<${Filters} of=${[{ id: "object", name: t("activity.object") }, { id: "find", name: t("filter.find") }]} />
    <${Loaded} of=${of} role="admin" show=${() => {
      const rows = of.items.filter((x) => finds(q.find, x.who, x.what, x.object, x.reason, x.target));
      return html`<p><button type="button" onClick=${() => save(rows)}>${t("activity.save")}</button></p>
        <${Table} caption=${t("activity.audit")} columns=${AUDIT()} rows=${rows} id=${(x) => x.id} />
        ${of.next && html`<p><button type="button" onClick=${of.next}>${t("letters.more")}</button></p>`}`;
    }} />`;
}

const SHOW = { log: Log, audit: Audit };

export function Activity() {
  const tab = SHOW[route.value.query.tab] ? route.value.query.tab : "log";
  return html`<${Heading} title=${t("nav.activity")} />
    <${Tabs} of=${Object.keys(SHOW).map((id) => [id, t(`activity.${id}`)])} now=${tab} to=${(id) => link(["activity"], { tab: id })} />
    <${SHOW[tab]} />`;
}
