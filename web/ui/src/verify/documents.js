/* Single documents, compared with their rows at once. */
import { useState } from "preact/hooks";
import { html } from "../html.js";
import { t } from "../text.js";
import { path, post } from "../api.js";
import { route, setQuery } from "../route.js";
import { maySeeRows } from "../session.js";
import { CommandLine, Forbidden, Problem } from "../parts.js";
import { keyOptions, keysOf } from "../actions/command.js";
import { Report } from "./report.js";

const MOST = 100;

export function Documents({ tables }) {
  const q = route.value.query;
  const table = q.table ?? tables[0];
  const [state, setState] = useState({ report: null, problem: null, busy: false });
  const keys = keysOf(q.keys ?? "");
  const why = keys.length === 0 ? t("compare.documents.none") : keys.length > MOST ? t("compare.documents.many", { n: MOST }) : undefined;
  const compare = async (e) => {
    e?.preventDefault();
    if (why) return;
    setState({ ...state, busy: true, problem: null });
    try {
      setState({ report: await post(path(["tables", table, "verify"]), { keys, values: true }), problem: null, busy: false });
    } catch (problem) {
      setState({ report: null, problem, busy: false });
    }
  };
  if (!maySeeRows()) return html`<${Forbidden} role="operator" />`;
  return html`<p class="soft">${t("compare.documents.what")}</p>
    <form onSubmit=${compare}>
      <div class="field"><label for="vt">${t("table.table")}</label>
        <select id="vt" value=${table} onChange=${(e) => setQuery({ table: e.target.value })}>${tables.map((x) => html`<option value=${x} selected=${x === table}>${x}</option>`)}</select></div>
      <div class="field"><label for="vk">${t("refresh.ids")}</label>
        <textarea id="vk" rows="3" value=${q.keys ?? ""} spellcheck="false" aria-describedby="vh" onInput=${(e) => setQuery({ keys: e.target.value })}></textarea><p class="soft" id="vh">${why ?? t("refresh.ids.help")}</p></div>
      <p><button type="submit" class="primary" disabled=${state.busy || Boolean(why)}>${state.busy ? t("action.busy") : t("compare.documents.go")}</button></p>
    </form>
    <${CommandLine} line=${`millrace verify ${table}${keyOptions(keys)} --values`} />
    ${state.problem && html`<${Problem} of=${state.problem} again=${compare} />`}
    ${state.report && html`<${Report} of=${state.report} after=${() => compare()} />`}`;
}
