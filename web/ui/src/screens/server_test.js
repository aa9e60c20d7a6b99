/* Test a server: what `doctor` says of one topic or database, each failed line with its fix. */
import { useEffect, useState } from "preact/hooks";
import { html } from "../html.js";
import { t } from "../text.js";
import { get } from "../api.js";
import { hasRole } from "../session.js";
import { Problem, Since, State } from "../parts.js";
import { checkTitle } from "../checks.js";
import { Finding } from "../finding.js";

const DOCTOR_MS = 60000;

export function Checks({ items }) {
  return html`<ul class="checks">${items.map(
    (c) => html`<li><${State} of=${c.status} /><${Since} at=${c.since} /> <strong>${checkTitle(c)}</strong> <${Finding} of=${c} /></li>`,
  )}</ul>`;
}

/* With `atOnce` the servers are asked as soon as this is shown. */
export function ServerTest({ group, atOnce }) {
  const [answer, setAnswer] = useState(null);
  const [problem, setProblem] = useState(null);
  const [busy, setBusy] = useState(false);
  const test = async () => {
    setBusy(true);
    setProblem(null);
    try {
      const doctor = await get("doctor", { timeout: DOCTOR_MS });
      setAnswer(doctor.items.filter((c) => c.group === group));
    } catch (p) {
      setProblem(p);
    }
    setBusy(false);
  };
  useEffect(() => {
    if (atOnce && hasRole("operator")) test();
  }, [group]);
  if (!hasRole("operator")) return null;
  return html`<h2>${t("test.title")}</h2>
    <p class="row"><button type="button" disabled=${busy} onClick=${test}>${busy ? t("action.busy") : t("test.run")}</button>
      <span class="soft">${t("test.what")}</span></p>
    ${problem && html`<${Problem} of=${problem} again=${test} />`}
    ${answer && (answer.length === 0 ? html`<p>${t("test.nothing")}</p>` : html`<${Checks} items=${answer} />`)}`;
}
