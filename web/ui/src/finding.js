/* What a check has found and why it matters, the daemon's own sentence, and what helps. */
import { html } from "./html.js";
import { t } from "./text.js";
import { findingOf } from "./checks.js";
import { Copy } from "./parts.js";

export function Finding({ of }) {
  const f = findingOf(of);
  return html`<p>${f.text}${f.why && html` <span class="soft">${f.why}</span>`}</p>
    ${f.said && of.status !== "ok" && html`<p class="soft">${t("finding.said")} ${f.said}${f.saidFix && html` – <code>${f.saidFix}</code>`}</p>`}
    ${f.fix && html`<p><span class="soft">${t("fix")}</span> ${f.isCommand ? html`<code>${f.fix}</code> <${Copy} text=${f.fix} />` : f.fix}</p>`}`;
}
