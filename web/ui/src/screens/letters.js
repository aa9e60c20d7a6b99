/* Dead letters: documents that the engine refused, by reason; look at one, write them again, or forget them. */
import { useState } from "preact/hooks";
import { html } from "../html.js";
import { t } from "../text.js";
import { link, route } from "../route.js";
import { maySeeRows } from "../session.js";
import { status } from "../stream.js";
import { path } from "../api.js";
import { useData } from "../data.js";
import { usePages } from "../pages.js";
import { number } from "../format.js";
import { Ago, Empty, Forbidden, Heading, Json, Loaded, Problem, Terms, Time } from "../parts.js";
import { Action } from "../action.js";
import { distinct, Filters, Table } from "../table.js";
import { discardLetters, replayLetters } from "../actions/letters.js";

const PAGE = 500;
const GROUPS = 50; /* drawn at once, the largest first */
const FILTERS = ["topic", "table", "index", "reason"];

/* The engine says of a value that does not fit its field in which document it is, and repeats it. */
const DOCUMENT = / in document with id '.*?'(?:\. Preview of field's value: '.*?')?(?=: |'|$)'?:?/s;
const VALUES = /(?:field|type) \[[^\]]*\]|(["'`])(?:(?!\1).)*\1|\[[^\]]*\]|\d+/g;

/* What is alike in the reasons of many letters: values are left out, and the field stays. */
export const kindOfReason = (reason) =>
  reason.replace(DOCUMENT, " …").replace(VALUES, (found) => (/^(field|type) /.test(found) ? found : "…")).match(/^.{0,160}/su)[0];

/* A part that all reasons of a kind have: the longest without a value. */
export const partOfKind = (kind) => kind.split("…").map((part) => part.trim()).reduce((a, b) => (b.length > a.length ? b : a), "");

function byReason(items) {
  const groups = new Map();
  for (const x of items) {
    const kind = kindOfReason(x.reason);
    const id = `${x.table} ${kind}`;
    const group = groups.get(id) ?? { kind, table: x.table, part: partOfKind(kind), items: [] };
    group.items.push(x);
    groups.set(id, group);
  }
  return [...groups.values()].sort((a, b) => b.items.length - a.items.length);
}

/* What a replay or discard of the shown filter names: the filter itself, or all. */
const filterOf = (query) => {
  const given = Object.fromEntries(FILTERS.filter((id) => query[id]).map((id) => [id, query[id]]));
  return Object.keys(given).length ? given : { all: true };
};

const COLUMNS = () => [
  { id: "id", name: t("letters.id"), value: (x) => x.id, cell: (x) => html`<a href=${link(["letters", String(x.id)])}>${x.id}</a>` },
  { id: "table", name: t("table.table"), value: (x) => x.table, cell: (x) => html`<a href=${link(["tables", x.table])}>${x.table}</a>` },
  { id: "document", name: t("letters.document"), value: (x) => x.doc_id, cell: (x) => html`<a href=${link(["trace"], { table: x.table, key: x.doc_id })}>${x.doc_id}</a>` },
  { id: "reason", name: t("topic.reason"), value: (x) => x.reason },
  { id: "first", name: t("letters.first"), value: (x) => x.first, cell: (x) => html`<${Ago} at=${x.first} />` },
  { id: "last", name: t("letters.last"), value: (x) => x.last, cell: (x) => html`<${Ago} at=${x.last} />` },
  { id: "attempts", name: t("letters.attempts"), value: (x) => x.attempts, number: true },
];

/* The letters of a group are drawn once somebody opens it: there may be hundreds of groups. */
function Group({ of, again }) {
  const [isOpen, open] = useState(false);
  return html`<li><strong>${number(of.items.length)}</strong> × ${of.kind}
    <p class="row"><a href=${link(["tables", of.table])}>${of.table}</a><a href=${link(["tables", of.table], { tab: "columns" })}>${t("letters.columns")}</a>
      ${of.part && html`<${Action} small name=${t("letters.replay_these")} of=${() => replayLetters({ table: of.table, reason: of.part }, again)} />`}</p>
    <details onToggle=${(e) => open(e.target.open)}><summary>${t("letters.show")}</summary>
      ${isOpen && html`<${Table} caption=${t("nav.letters")} address=${false} columns=${COLUMNS()} rows=${of.items} id=${(x) => x.id} />`}</details></li>`;
}

function Groups({ of, again }) {
  const [all, showAll] = useState(false);
  const groups = byReason(of);
  const shown = all ? groups : groups.slice(0, GROUPS);
  return html`<ul class="checks">${shown.map((g) => html`<${Group} of=${g} again=${again} key=${`${g.table} ${g.kind}`} />`)}</ul>
    ${shown.length < groups.length && html`<p><button type="button" onClick=${() => showAll(true)}>${t("letters.all_groups", { n: groups.length })}</button></p>`}`;
}

/* The letters of the filter. */
const useLetters = (query) => usePages(path(["dead-letters"], { ...Object.fromEntries(FILTERS.map((id) => [id, query[id]])), limit: PAGE }), (x) => x.id);

function List() {
  const query = route.value.query;
  const of = useLetters(query);
  const filter = filterOf(query);
  const tables = status.value?.tables ?? [];
  return html`<${Heading} title=${t("nav.letters")}>
      <${Action} name=${t("letters.replay")} primary why=${of.items.length === 0 ? t("letters.none") : undefined} of=${() => replayLetters(filter, of.again)} />
      <${Action} name=${t("letters.discard")} role="admin" danger why=${of.items.length === 0 ? t("letters.none") : undefined} of=${() => discardLetters(filter, of.again)} /></${Heading}>
    <${Filters} of=${[
      { id: "reason", name: t("topic.reason") },
      { id: "table", name: t("table.table"), options: distinct(tables.map((x) => x.table)) },
      { id: "topic", name: t("topic.topic"), options: distinct(tables.map((x) => x.topic)) },
      { id: "view", name: t("letters.view"), options: [["list", t("letters.as_list")]] },
    ]} />
    <${Loaded} of=${of} show=${() =>
      of.items.length === 0
        ? html`<${Empty} text=${FILTERS.some((id) => query[id]) ? t("nothing_found") : t("letters.empty")} line="millrace dead-letter list" />`
        : html`${query.view === "list" ? html`<${Table} caption=${t("nav.letters")} columns=${COLUMNS()} rows=${of.items} id=${(x) => x.id} />` : html`<${Groups} of=${of.items} again=${of.again} />`}
          ${of.next && html`<p><button type="button" onClick=${of.next}>${t("letters.more")}</button></p>`}`} />`;
}

function One({ id }) {
  const of = useData(path(["dead-letters", id]), { live: false });
  return html`<${Heading} title=${t("letters.one", { id })}><a href="#/letters">${t("nav.letters")}</a></${Heading}>
    <${Loaded} of=${of} show=${(data) => {
      const x = data.items?.[0] ?? data;
      return html`<${Problem} of=${{ status: 200, code: "letter", detail: x.reason, errors: [] }} />
        <p class="row"><${Action} name=${t("letters.replay_one")} primary of=${() => replayLetters({ id: x.id })} />
          <${Action} name=${t("letters.discard")} role="admin" danger of=${() => discardLetters({ id: x.id })} />
          <a href=${link(["trace"], { table: x.table, key: x.doc_id })}>${t("nav.trace")}</a>
          <a href=${link(["tables", x.table], { tab: "document", key: x.doc_id })}>${t("letters.row_and_mapping")}</a></p>
        <${Terms} of=${[
          [t("table.table"), x.table],
          [t("table.index"), x.index],
          [t("letters.document"), x.doc_id],
          ["routing", x.routing],
          [t("letters.op"), x.op],
          [t("letters.status"), String(x.status)],
          [t("topic.position"), html`<code>${x.position}</code>`],
          ["GTID", x.gtid],
          [t("letters.attempts"), number(x.attempts)],
          [t("letters.first"), html`<${Time} at=${x.first} />`],
          [t("letters.last"), html`<${Time} at=${x.last} />`],
        ]} />
        ${x.body !== undefined && html`<h2>${t("document.title")}</h2><${Json} of=${x.body} />`}`;
    }} />`;
}

export function Letters({ parts }) {
  if (!maySeeRows()) return html`<${Heading} title=${t("nav.letters")} /><${Forbidden} role="operator" />`;
  return parts.length > 1 ? html`<${One} id=${parts[1]} />` : html`<${List} />`;
}
