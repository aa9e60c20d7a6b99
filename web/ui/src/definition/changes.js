/* What storing definitions changes: a millrace/apply/1 object, with its warnings. */
import { html } from "../html.js";
import { t } from "../text.js";
import { text } from "../exact.js";

const value = (v) => (v === undefined ? t("change.nothing") : text(v));

export function Changes({ of }) {
  if (of.items.length === 0) return html`<p>${t("change.none")}</p>`;
  return html`${of.items.map(
    (item) => html`<div>
      <p><strong>${t(`change.${item.action}`)}</strong> ${item.kind} <code>${item.name}</code>${" "}
        <span class=${item.needs_build ? "warn" : "ok"}>${item.needs_build ? t("change.needs_build") : t("change.at_once")}</span></p>
      ${(item.fields ?? []).length > 0 &&
      html`<ul>${item.fields.map(
        (f) => html`<li><code>${f.path}</code>: <code>${value(f.before)}</code> → <code>${value(f.after)}</code>${" "}
          ${f.needs_build && html`<span class="warn">${t("change.needs_build")}</span>`}</li>`,
      )}</ul>`}
    </div>`,
  )}
  ${(of.warnings ?? []).map((w) => html`<p class="warn">▲ ${w.message}${w.fix ? html` <span class="soft">${t("fix")} ${w.fix}</span>` : ""}</p>`)}`;
}
