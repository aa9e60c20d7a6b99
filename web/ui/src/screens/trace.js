/* Trace: why is a document, or is not, as its row?  The answer is one sentence on top. */
import { useEffect, useState } from "preact/hooks";
import { html } from "../html.js";
import { has, t } from "../text.js";
import { go, link, route, setQuery } from "../route.js";
import { maySeeRows } from "../session.js";
import { status } from "../stream.js";
import { path, post } from "../api.js";
import { useData } from "../data.js";
import { text } from "../exact.js";
import { Ago, Copy, Empty, Forbidden, Heading, Json, Loaded, State } from "../parts.js";
import { Action } from "../action.js";
import { Table } from "../table.js";
import { option, quoted } from "../actions/command.js";

/* The sentence in the viewer's language, from the code and its values. */
export const sentenceOf = (x) => (has(`trace.code.${x.code}`) ? t(`trace.code.${x.code}`, x.values) : x.sentence);

const refreshAction = (x) => ({
  title: t("trace.refresh"),
  does: t("trace.refresh.does"),
  doesNot: t("trace.refresh.does_not"),
  line: `millrace index refresh ${quoted(x.table)}${option("key", x.id)}`,
  preview: () => post(path(["tables", x.table, "index", "refresh"], { dry_run: true }), { keys: [x.id] }),
  run: () => post(path(["tables", x.table, "index", "refresh"]), { keys: [x.id] }),
  done: () => t("trace.refreshed"),
});

function Step({ number: n, name, look, children }) {
  return html`<li><strong>${n} ${name}</strong> <${State} of=${look} word=${t(`trace.step.${look}`)} /> ${children}</li>`;
}

const versionsLook = (versions) => (versions.length === 0 ? "unknown" : versions.every((v) => v.found === "open" || v.found === "kept open") ? "ok" : "bad");

function Steps({ of }) {
  const stage = of.delivery?.stage ?? "none";
  return html`<ol class="checks">
    <${Step} number="1" name=${t("trace.row")} look=${of.row?.state === "shown" ? "ok" : of.row?.state === "unknown" ? "unknown" : "off"}>
      ${of.row ? t(has(`row.${of.row.state}`) ? `row.${of.row.state}` : "trace.row.unknown") : ""} ${of.row?.reason}</${Step}>
    <${Step} number="2" name=${t("trace.definition")} look=${of.definition?.pending ? "warn" : of.definition?.version === undefined ? "unknown" : "ok"}>
      ${of.definition?.pending ? t("trace.definition.pending") : of.definition?.version === undefined ? t("trace.code.no_index", { table: of.table }) : t("trace.definition.current", { version: String(of.definition?.version ?? "") })}
      ${(of.definition?.changes ?? []).length > 0 && html`<ul>${of.definition.changes.map((c) => html`<li><code>${typeof c === "string" ? c : text(c)}</code></li>`)}</ul>`}</${Step}>
    <${Step} number="3" name=${t("trace.delivery")} look=${stage === "none" ? "ok" : "work"}>
      ${stage === "none" ? t("trace.delivery.none") : t("trace.delivery.on", { stage: has(`trace.stage.${stage}`) ? t(`trace.stage.${stage}`) : stage })}
      ${of.delivery?.attempts ? t("trace.attempts", { n: of.delivery.attempts }) : ""} ${of.delivery?.changed && html`<${Ago} at=${of.delivery.changed} />`}</${Step}>
    <${Step} number="4" name=${t("nav.letters")} look=${(of.dead_letters ?? []).length ? "bad" : "ok"}>
      ${(of.dead_letters ?? []).length === 0 ? t("trace.letters.none") : html`<ul>${of.dead_letters.map((l) => html`<li><a href=${link(["letters", String(l.id)])}>${l.id}</a> ${l.reason}</li>`)}</ul>`}</${Step}>
    <${Step} number="5" name=${t("nav.versions")} look=${versionsLook(of.versions ?? [])}>
      <ul>${(of.versions ?? []).map(
        (v) => html`<li><a href=${link(["versions", v.index.replace(/_v\d+$/, "")])}>${v.index}</a> <${State} of=${v.state} /> ${v.found} ${v.why}
          ${v.copies?.map((c) => html` <code>version ${c.version}</code>`)} ${v.tombstones?.length ? t("trace.tombstone") : ""}</li>`,
      )}</ul></${Step}>
  </ol>`;
}

function Differences({ of }) {
  const paths = (of ?? []).flatMap((d) => (d.paths ?? []).map((p) => ({ ...p, id: d.id, of: d.kind })));
  if (paths.length === 0) return null;
  return html`<${Table} caption=${t("trace.differences")} address=${false} rows=${paths} columns=${[
    { id: "path", name: t("trace.path"), value: (x) => x.path, cell: (x) => html`<code>${x.path}</code>` },
    { id: "wanted", name: t("trace.wanted"), value: (x) => text(x.wanted ?? null), cell: (x) => html`<code>${x.wanted === undefined ? "–" : text(x.wanted)}</code>` },
    { id: "found", name: t("trace.found"), value: (x) => text(x.found ?? null), cell: (x) => html`<code>${x.found === undefined ? "–" : text(x.found)}</code>` },
  ]} />`;
}

function Answer({ of, again }) {
  return html`<div class="empty"><p><strong><${State} of=${of.verdict} word=${t(`trace.verdict.${of.verdict}`)} /> ${sentenceOf(of)}</strong></p>
      ${of.next && html`<p><span class="soft">${t("fix")}</span> ${of.next}</p>`}
      <p class="row"><button type="button" onClick=${again}>${t("trace.again")}</button>
        <${Action} name=${t("trace.refresh")} of=${() => refreshAction(of)} /> <${Copy} text=${text(of)} /></p></div>
    <${Differences} of=${of.differences} />
    <${Steps} of=${of} />
    ${(of.shown_in ?? []).length > 0 && html`<h2>${t("trace.shown_in")}</h2><ul>${of.shown_in.map(
      (s) => html`<li><a href=${link(["trace"], { table: s.table, key: s.id })}>${s.table} ${s.id}</a> ${s.verdict && html`<${State} of=${s.verdict} word=${t(`trace.verdict.${s.verdict}`)} />`}</li>`,
    )}</ul>${of.more && html`<p>${t("trace.more")}</p>`}`}
    ${of.row?.document && html`<h2>${t("document.title")}</h2><${Json} of=${of.row.document} />`}
    ${of.log && html`<h2>${t("trace.log")}</h2><${Json} of=${of.log} />`}`;
}

export function Trace() {
  const q = route.value.query;
  const [table, setTable] = useState(q.table ?? "");
  const [key, setKey] = useState(q.key ?? "");
  useEffect(() => {
    setTable(q.table ?? "");
    setKey(q.key ?? "");
  }, [q.table, q.key]);
  const ready = q.table && q.key && maySeeRows();
  const of = useData(ready ? path(["tables", q.table, "trace"], { key: q.key, log: q.log }) : null, { live: false });
  const submit = (e) => {
    e.preventDefault();
    if (table === q.table && key === q.key) of.again();
    else go(["trace"], { table, key, log: q.log });
  };
  const names = (status.value?.tables ?? []).map((x) => x.table);
  return html`<${Heading} title=${t("nav.trace")} />
    ${!maySeeRows() ? html`<${Forbidden} role="operator" />` : html`<form class="filters" onSubmit=${submit}>
        <label>${t("table.table")} <input list="tables" required value=${table} onInput=${(e) => setTable(e.target.value)} /></label>
        <datalist id="tables">${names.map((n) => html`<option value=${n}></option>`)}</datalist>
        <label>${t("trace.key")} <input required value=${key} onInput=${(e) => setKey(e.target.value)} /></label>
        <label><input type="checkbox" checked=${q.log === "true"} onChange=${(e) => setQuery({ log: e.target.checked ? "true" : "" })} /> ${t("trace.with_log")}</label>
        <button type="submit" class="primary">${t("nav.trace")}</button></form>
      ${ready ? html`<${Loaded} of=${of} show=${(data) => html`<${Answer} of=${data} again=${of.again} />`} />` : html`<${Empty} text=${t("trace.empty")} line="millrace trace TABLE ID" />`}`}`;
}
