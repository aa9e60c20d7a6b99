/* The whole definition as JSON, for what the other tabs do not show. */
import { useState } from "preact/hooks";
import { html } from "../html.js";
import { t } from "../text.js";
import { may } from "../session.js";
import { parseExact, text } from "../exact.js";

export function TextEditor({ draft }) {
  /* What is typed while it is no JSON; else the text is the draft's own. */
  const [typed, setTyped] = useState(null);
  const admin = may("admin");
  const change = (value) => {
    setTyped(value);
    try {
      const next = parseExact(value);
      if (next === null || typeof next !== "object" || Array.isArray(next)) throw new Error("{ }");
      draft.set(next);
      draft.setWrong("");
    } catch (e) {
      draft.setWrong(e.message);
    }
  };
  const shown = draft.wrong || (typed !== null && draft.isChanged) ? (typed ?? text(draft.now)) : text(draft.now);
  return html`<p class="soft">${t("definition.text")}</p>
    <textarea rows="28" aria-label=${t("table.tab.text")} spellcheck="false" readOnly=${!admin} value=${shown} onInput=${(e) => change(e.target.value)}></textarea>
    ${draft.wrong && html`<p class="bad" role="alert">■ ${t("definition.not_json", { why: draft.wrong })}</p>`}`;
}
