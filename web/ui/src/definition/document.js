/* The document of one row, live from the definition on the page, stored or not; its mapping beside it. */
import { useEffect, useState } from "preact/hooks";
import { html } from "../html.js";
import { t } from "../text.js";
import { post, get, path } from "../api.js";
import { may, maySeeRows } from "../session.js";
import { Forbidden, Json, Problem } from "../parts.js";
import { link } from "../route.js";
import { number } from "../format.js";
import { fileOf } from "./draft.js";

const PAUSE_MS = 400;

async function ask(draft, key) {
  const name = ["tables", draft.now.table];
  if (draft.isChanged) {
    const files = fileOf(draft.now);
    const [explain, mapping] = await Promise.all([
      key ? post(path([...name, "explain"]), { key, files }) : null,
      post(path([...name, "mapping"]), { files }),
    ]);
    return { explain, mapping };
  }
  const [explain, mapping] = await Promise.all([key ? get(path([...name, "explain"], { key })) : null, get(path([...name, "mapping"]))]);
  return { explain, mapping };
}

function Row({ of }) {
  return html`<p><span class="soft">${t(`row.${of.row}`)}</span> ${of.reason && html`<span class="bad">■ ${of.reason}</span>`}</p>
    ${of.found && html`<${Json} of=${of.document} />`}
    <details><summary>${t("document.sql", { n: of.sql.length })}</summary>
      ${of.sql.map((s) => html`<p><code>${s.statement}</code> <span class="soft">${number(s.rows)} · ${number(s.ms, 2)} ${t("unit.ms")}</span></p>`)}</details>`;
}

export function Document({ draft, example, setExample }) {
  const [answer, setAnswer] = useState(null);
  const [problem, setProblem] = useState(null);
  const allowed = draft.isChanged ? may("admin") : maySeeRows();
  const text = JSON.stringify(draft.now);

  useEffect(() => {
    if (!allowed || !draft.now.table) return undefined;
    let gone = false;
    const timer = setTimeout(async () => {
      try {
        const got = await ask(draft, example);
        if (!gone) setAnswer(got), setProblem(null);
      } catch (p) {
        if (!gone) setProblem(p);
      }
    }, PAUSE_MS);
    return () => {
      gone = true;
      clearTimeout(timer);
    };
  }, [text, example, draft.isChanged, allowed]);

  if (!allowed) return html`<${Forbidden} role=${draft.isChanged ? "admin" : "operator"} />`;
  return html`<form class="filters" onSubmit=${(e) => e.preventDefault()}>
      <label>${t("document.key")} <input value=${example} onInput=${(e) => setExample(e.target.value)} /></label>
      ${example && html`<a href=${link(["trace"], { table: draft.now.table, key: example })}>${t("document.trace")}</a>`}
    </form>
    ${draft.isChanged && html`<p class="work">◐ ${t("document.unsaved")}</p>`}
    ${problem && html`<${Problem} of=${problem} />`}
    <div class="columns">
      <section><h2>${t("document.title")}</h2>
        ${answer?.explain ? html`<${Row} of=${answer.explain} />` : html`<p class="soft">${t("document.which")}</p>`}</section>
      <section><h2>${t("document.mapping")}</h2>${answer && html`<${Json} of=${answer.mapping.body} />`}</section>
    </div>`;
}
