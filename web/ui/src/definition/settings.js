/*
 * The members of a table that the other tabs do not show: fields that write into the same draft.  Maps
 * are typed as JSON; what is none yet is kept as it was typed, and nothing can be stored until then.
 */
import { html } from "../html.js";
import { t } from "../text.js";
import { may } from "../session.js";
import { shownOf, valueAt, withField } from "./members.js";

const TREES = ["default", "keep", "none"];

const GROUPS = [
  ["index", [
    { id: "index", kind: "text" },
    { id: "source_field", kind: "text", when: (d) => d.pattern !== undefined },
    { id: "pipeline", kind: "text" },
    { id: "copy_to", kind: "texts" },
    { id: "schema_changes", kind: "choice", options: ["follow", "stop"] },
    { id: "settings", kind: "json" },
    { id: "mapping", kind: "json" },
  ]],
  ["rows", [
    { id: "key", kind: "texts" },
    { id: "unique_keys", kind: "json" },
    { id: "filter", kind: "text" },
    { id: "soft_delete.column", kind: "text" },
    { id: "soft_delete.deleted", kind: "json" },
    { id: "bucket_column", kind: "text" },
    { id: "daily_check_column", kind: "text" },
    { id: "sync_every", kind: "text" },
  ]],
  ["delayed", [
    { id: "delayed", kind: "flag", when: (d) => d.pattern === undefined },
    { id: "top_relations", kind: "json" },
  ]],
  ["compare", [
    { id: "compare.trees", kind: "choice", options: TREES },
    { id: "compare.exchange_every", kind: "text" },
    { id: "compare.every", kind: "text" },
    { id: "compare.rate", kind: "count" },
  ]],
  ["join", [
    { id: "join.name", kind: "text" },
    { id: "join.field", kind: "text" },
    { id: "join.parent", kind: "text" },
    { id: "join.parent_column", kind: "texts" },
    { id: "root_column", kind: "texts" },
  ]],
];

/* The first choice is what counts without the member. */
const choices = (m, v) =>
  [["", t("setting.default", { value: m.options[0] })], ...[...new Set([...m.options.slice(1), v])].filter(Boolean).map((x) => [x, x])];

function Control({ of, draft, admin, ...common }) {
  const now = shownOf(of.kind, valueAt(draft.now, of.id));
  const typed = draft.typed(of.id)?.text;
  const take = (value) => {
    try {
      draft.set(withField(draft.now, of, value));
      draft.setTyped(of.id, value, "");
    } catch (e) {
      draft.setTyped(of.id, value, `${of.id}: ${e.message}`);
    }
  };
  if (of.kind === "flag") return html`<input type="checkbox" ...${common} disabled=${!admin} checked=${now} onChange=${(e) => take(e.target.checked)} />`;
  if (of.kind === "choice")
    return html`<select ...${common} disabled=${!admin} value=${now} onChange=${(e) => take(e.target.value)}>
      ${choices(of, now).map(([v, name]) => html`<option value=${v} selected=${v === now}>${name}</option>`)}</select>`;
  if (of.kind === "json")
    return html`<textarea rows=${Math.min(12, (typed ?? now).split("\n").length + 1)} spellcheck="false" ...${common} readOnly=${!admin} value=${typed ?? now} onChange=${(e) => take(e.target.value)}></textarea>`;
  return html`<input type=${of.kind === "count" ? "number" : "text"} min=${of.kind === "count" ? 1 : undefined} ...${common} readOnly=${!admin} value=${now} onChange=${(e) => take(e.target.value)} />`;
}

function Setting({ of, draft, admin }) {
  const id = `setting-${of.id}`;
  const wrong = draft.typed(of.id)?.why;
  return html`<div class="field ${of.kind === "flag" ? "check" : ""}">
    <label for=${id}>${t(`setting.${of.id}`)}</label>
    <${Control} of=${of} draft=${draft} admin=${admin} id=${id} aria-describedby="${id}-name" aria-invalid=${wrong ? "true" : undefined} />
    <p id="${id}-name"><code>${of.id}</code>${(of.kind === "json" || of.kind === "texts") && html` <span class="soft">${t(`setting.${of.kind}`)}</span>`}</p>
    ${wrong && html`<p class="bad" role="alert">■ ${t("definition.not_json", { why: wrong })}</p>`}</div>`;
}

export function TableSettings({ draft }) {
  const admin = may("admin");
  return html`<p class="soft">${t("setting.about")}</p>
    ${GROUPS.map(([group, members]) => html`<fieldset>
      <legend>${t(`setting.group.${group}`)}</legend>
      ${members.filter((m) => !m.when || m.when(draft.now) || valueAt(draft.now, m.id) !== undefined).map(
        (m) => html`<${Setting} of=${m} draft=${draft} admin=${admin} key=${m.id} />`,
      )}</fieldset>`)}`;
}
