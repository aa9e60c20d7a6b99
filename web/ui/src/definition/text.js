/* The whole definition as JSON, for what the other tabs do not show. */
import { useState } from "preact/hooks";
import { html } from "../html.js";
import { t } from "../text.js";
import { may } from "../session.js";
import { parseExact, text } from "../exact.js";

export function TextEditor({ draft }) {
  /* The text as it was typed, while it says what the draft has. */
  const [last, setLast] = useState({ text: "", of: null });
  const admin = may("admin");
  const typed = draft.typed("text");
  const change = (value) => {
    try {
      const next = parseExact(value);
      if (next === null || typeof next !== "object" || Array.isArray(next)) throw new Error("{ }");
      draft.set(next);
      draft.setTyped("text", value, "");
      setLast({ text: value, of: text(next) });
    } catch (e) {
      draft.setTyped("text", value, e.message);
    }
  };
  const own = text(draft.now);
  const shown = typed?.text ?? (last.of === own ? last.text : own);
  return html`<p class="soft">${t("definition.text")}</p>
    <textarea rows="28" aria-label=${t("table.tab.text")} spellcheck="false" readOnly=${!admin} value=${shown} onInput=${(e) => change(e.target.value)}></textarea>
    ${typed && html`<p class="bad" role="alert">■ ${t("definition.not_json", { why: typed.why })}</p>`}`;
}
