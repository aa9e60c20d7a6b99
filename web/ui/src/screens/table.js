/* One table: its state, and its definition with columns, relations, the document and settings. */
import { useEffect, useState } from "preact/hooks";
import { html } from "../html.js";
import { t } from "../text.js";
import { go, link, route, setQuery } from "../route.js";
import { status } from "../stream.js";
import { useData } from "../data.js";
import { path, post, remove } from "../api.js";
import { number, rate, span } from "../format.js";
import { Ago, Heading, Loaded, State, TableState, Tabs, Terms } from "../parts.js";
import { Action } from "../action.js";
import { buildAction, verifyAction } from "../actions/index.js";
import { Columns } from "../definition/columns.js";
import { deferAction, undeferAction } from "../definition/defer.js";
import { Document } from "../definition/document.js";
import { Relations } from "../definition/relations.js";
import { TableSettings } from "../definition/settings.js";
import { TextEditor } from "../definition/text.js";
import { Unsaved } from "../definition/unsaved.js";
import { useDraft } from "../definition/draft.js";

const TABS = ["state", "columns", "relations", "document", "settings", "text"];

function stateTerms(x) {
  return [
    [t("table.index"), html`<a href=${link(["versions", x.index])}>${x.index}</a>${x.version ? ` v${x.version}` : ""}`],
    [t("topic.topic"), html`<a href=${link(["topics", x.topic])}>${x.topic}</a>`],
    [t("column.state"), html`<${TableState} of=${x} />`],
    [t("column.lag"), `${x.lag_at_most ? "≤ " : ""}${span(x.lag_seconds)}`],
    [t("table.documents"), html`${number(x.documents)} <span class="soft"><${Ago} at=${x.documents_as_of} /> ${x.documents_reason}</span>`],
    [t("column.rate"), rate(x.rate)],
    [t("table.delivered"), html`<${Ago} at=${x.delivered} />`],
    [t("nav.letters"), x.dead_letters ? html`<a href=${link(["letters"], { table: x.table })}>${number(x.dead_letters)}</a>` : "0"],
    [t("table.verified"), x.verify ? x.verify : t("table.verified.never")],
    [t("table.compared"), html`<${Ago} at=${x.compared?.at} />`],
    x.wait && [t("table.waits"), x.wait.reason ?? String(x.wait)],
    x.build && [t("nav.jobs"), html`<a href="#/jobs">${t("table.builds_now")}</a>`],
  ];
}

function Defer({ of }) {
  const definition = of.data;
  if (!definition) return null;
  if (definition.delayed) return html`<${Action} name=${t("undefer")} role="admin" of=${() => undeferAction(definition, of.again)} />`;
  return html`<${Action} name=${t("defer")} role="admin" why=${definition.table ? undefined : t("defer.why.pattern")} of=${() => deferAction([definition], of.again)} />`;
}

function StateTab({ name, of }) {
  const x = status.value?.tables.find((y) => y.table === name);
  const checks = (status.value?.checks ?? []).filter((c) => c.group === `table ${name}` && c.status !== "ok");
  if (!x) return html`<p>${t("table.no_state")}</p>`;
  return html`${x.reason && html`<div class="problem"><p><strong>${x.reason}</strong></p>${x.fix && html`<p><span class="soft">${t("fix")}</span> ${x.fix}</p>`}</div>`}
    ${checks.map((c) => html`<p><${State} of=${c.status} /> ${c.message}${c.why ? ` – ${c.why}` : ""} ${c.fix && html`<code>${c.fix}</code>`}</p>`)}
    <${Terms} of=${stateTerms(x)} />
    <p class="row">
      ${!x.pending && html`<${Action} name=${t("build.create")} role="operator" primary of=${() => buildAction(x)} />`}
      <${Action} name=${t("verify.start")} role="operator" of=${() => verifyAction(x.table)} />
      <${Defer} of=${of} />
      <a href=${link(["trace"], { table: x.table })}>${t("nav.trace")}</a>
      <a href=${link(["versions", x.index])}>${t("nav.versions")}</a>
      <${Action} name=${t("table.delete")} role="admin" danger of=${() => deleteAction(x)} />
    </p>`;
}

function deleteAction(x) {
  const drop = (v, query) => (v.indexes ? post(path(["tables", x.table, "delete"], query), { confirm: x.table }) : remove(path(["tables", x.table], query)));
  return {
    title: t("table.delete"),
    does: t("table.delete.does", { table: x.table, index: x.index }),
    doesNot: t("table.delete.does_not"),
    typed: x.table,
    danger: true,
    role: "admin",
    fields: [{ id: "indexes", name: t("table.delete.indexes"), type: "checkbox", help: t("table.delete.indexes.help") }],
    line: (v) => `millrace table delete ${x.table}${v.indexes ? ` --with-indexes --confirm ${x.table}` : ""}`,
    preview: (v) => drop(v, { dry_run: true }),
    run: (v) => drop(v),
    done: () => t("table.deleted"),
    after: () => go(["tables"]),
  };
}

function Definition({ of, name, all, again, tab }) {
  const draft = useDraft(name, of.data, of.etag);
  const { key } = route.value.query;
  const [example, setExample] = useState(key ?? "");
  useEffect(() => {
    if (key) setExample(key);
  }, [key]);
  return html`<${Unsaved} draft=${draft} name=${name} again=${again} />
    ${tab === "columns" && html`<${Columns} draft=${draft.now} set=${draft.set} />`}
    ${tab === "relations" && html`<${Relations} draft=${draft.now} set=${draft.set} all=${all} />`}
    ${tab === "document" && html`<${Document} draft=${draft} example=${example} setExample=${(v) => (setExample(v), setQuery({ key: v }))} />`}
    ${tab === "settings" && html`<${TableSettings} draft=${draft} />`}
    ${tab === "text" && html`<${TextEditor} draft=${draft} />`}`;
}

/* The definition of one table: the answer has a list with one entry. */
function useDefinition(name) {
  const of = useData(path(["tables", name]), { live: false });
  return { ...of, data: of.data ? (of.data.items?.[0] ?? of.data) : null };
}

export function TableScreen({ parts }) {
  const name = parts[1];
  const tab = TABS.includes(route.value.query.tab) ? route.value.query.tab : "state";
  const of = useDefinition(name);
  const all = useData("tables", { live: false });
  const x = status.value?.tables.find((y) => y.table === name);
  return html`<${Heading} title=${name}>${x && html`<${TableState} of=${x} />`}<a href="#/tables">${t("nav.tables")}</a></${Heading}>
    <${Tabs} of=${TABS.map((id) => [id, t(`table.tab.${id}`)])} now=${tab} to=${(id) => link(["tables", name], { ...route.value.query, tab: id })} />
    ${x?.pending && html`<div class="empty"><p class="row"><strong>▲ ${t("table.pending")}</strong>
      <${Action} name=${t("build.create")} role="operator" primary of=${() => buildAction(x)} /></p></div>`}
    ${tab === "state" && html`<${StateTab} name=${name} of=${of} />`}
    <${Loaded} of=${of} show=${() => html`<${Definition} of=${of} name=${name} all=${all.data?.items ?? []} again=${of.again} tab=${tab} />`} />`;
}
