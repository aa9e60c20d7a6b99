/* The log-in. */
import { useState } from "preact/hooks";
import { html } from "./html.js";
import { t } from "./text.js";
import { post } from "./api.js";
import { askWho } from "./session.js";
import { Problem } from "./parts.js";

export function LogIn() {
  const [name, setName] = useState("");
  const [password, setPassword] = useState("");
  const [problem, setProblem] = useState(null);
  const [busy, setBusy] = useState(false);
  const submit = async (e) => {
    e.preventDefault();
    setBusy(true);
    setProblem(null);
    try {
      await post("login", { name, password });
      await askWho();
    } catch (p) {
      setProblem(p);
    }
    setBusy(false);
  };
  return html`<form class="narrow" onSubmit=${submit}>
    <h1 tabindex="-1">${t("login.title")}</h1>
    <div class="field"><label for="name">${t("login.name")}</label>
      <input id="name" autocomplete="username" required value=${name} onInput=${(e) => setName(e.target.value)} /></div>
    <div class="field"><label for="password">${t("login.password")}</label>
      <input id="password" type="password" autocomplete="current-password" required value=${password} onInput=${(e) => setPassword(e.target.value)} /></div>
    ${problem && html`<${Problem} of=${problem} />`}
    <p><button type="submit" class="primary" disabled=${busy}>${t("login.title")}</button></p>
    <p class="soft">${t("login.none")} <code>millrace user add NAME --role admin</code></p>
  </form>`;
}
