/* The first admin: while nobody exists, the daemon's one-time token makes one. */
import { useState } from "preact/hooks";
import { html } from "./html.js";
import { t } from "./text.js";
import { post } from "./api.js";
import { askWho } from "./session.js";
import { go } from "./route.js";
import { Problem, CommandLine } from "./parts.js";

export function FirstAdmin() {
  const [values, setValues] = useState({ token: "", name: "", password: "" });
  const [problem, setProblem] = useState(null);
  const [busy, setBusy] = useState(false);
  const field = (id, type, autocomplete, help) =>
    html`<div class="field"><label for=${id}>${t(`first.${id}`)}</label>
      <input id=${id} type=${type} autocomplete=${autocomplete} required value=${values[id]} aria-describedby=${help && `help-${id}`}
        onInput=${(e) => setValues({ ...values, [id]: e.target.value })} />
      ${help && html`<p class="soft" id="help-${id}">${help}</p>`}</div>`;
  const submit = async (e) => {
    e.preventDefault();
    setBusy(true);
    setProblem(null);
    try {
      await post("first-admin", values);
      await askWho();
      go(["overview"]);
    } catch (p) {
      setProblem(p);
    }
    setBusy(false);
  };
  return html`<form class="narrow" onSubmit=${submit}>
    <h1 tabindex="-1">${t("first.title")}</h1>
    <p>${t("first.what")}</p>
    ${field("token", "text", "one-time-code", t("first.token.help"))}
    ${field("name", "text", "username")}
    ${field("password", "password", "new-password", t("first.password.help"))}
    ${problem && html`<${Problem} of=${problem} />`}
    <p><button type="submit" class="primary" disabled=${busy}>${t("first.make")}</button></p>
    <${CommandLine} line="millrace user add NAME --role admin" />
  </form>`;
}
