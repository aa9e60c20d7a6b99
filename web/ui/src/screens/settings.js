/* Settings: this page, one's own account, users, tokens, the configuration, and what this program is. */
import { html } from "../html.js";
import { LANGUAGES, language, setLanguage, t } from "../text.js";
import { link, route } from "../route.js";
import { theme } from "../theme.js";
import { setZone, zone } from "../format.js";
import { hasRole, me } from "../session.js";
import { useData } from "../data.js";
import { Heading, Loaded, Tabs, Terms } from "../parts.js";
import { Action } from "../action.js";
import { Filters, finds, Table } from "../table.js";
import { Tokens, Users } from "./accounts.js";
import { ownPassword } from "../actions/account.js";
import { keyTerms } from "../keys.js";
import { setSingleKeys, singleKeys } from "../palette.js";

function Choice({ id, name, value, options, choose }) {
  return html`<div class="field"><label for=${id}>${name}</label>
    <select id=${id} value=${value} onChange=${(e) => choose(e.target.value)}>
      ${options.map(([v, label]) => html`<option value=${v} selected=${v === value}>${label}</option>`)}</select></div>`;
}

function Page() {
  return html`<div class="columns"><section>
      <h2>${t("settings.tab.page")}</h2>
      <${Choice} id="language" name=${t("language")} value=${language.value} options=${Object.entries(LANGUAGES)} choose=${setLanguage} />
      <${Choice} id="theme" name=${t("theme")} value=${theme.value} options=${["auto", "light", "dark"].map((x) => [x, t(`theme.${x}`)])} choose=${(v) => (theme.value = v)} />
      <${Choice} id="zone" name=${t("settings.zone")} value=${zone.value}
        options=${[["local", Intl.DateTimeFormat().resolvedOptions().timeZone], ["UTC", "UTC"]]} choose=${setZone} />
      <p class="soft">${t("settings.page.what")}</p></section>
    <section><h2>${t("settings.me")}</h2>
      <${Terms} of=${[[t("login.name"), me.value.who], [t("account.role"), t(`role.${me.value.role}`)]]} />
      ${me.value.who?.startsWith("user ") && html`<${Action} name=${t("account.own_password")} role="viewer" why=${me.value.read_only ? t("read_only") : undefined} of=${ownPassword} />`}
    </section></div>
    <h2>${t("settings.keys")}</h2>
    <${Terms} of=${keyTerms()} />
    <p><label><input type="checkbox" checked=${singleKeys.value} onChange=${(e) => setSingleKeys(e.target.checked)} /> ${t("settings.single_keys")}</label></p>`;
}

function Configuration() {
  const of = useData("config", { live: false, role: "admin" });
  return html`<${Loaded} of=${of} role="admin" show=${(data) => {
    const rows = data.items.filter((x) => finds(route.value.query.find, x.name, x.value, x.origin));
    return html`<p class="soft">${t("settings.config.what")}</p>
      <${Filters} of=${[{ id: "find", name: t("filter.find") }]} />
      <${Table} caption=${t("settings.tab.config")} rows=${rows} id=${(x) => x.name} columns=${[
        { id: "name", name: t("setting.name"), value: (x) => x.name, cell: (x) => html`<code>${x.name}</code>` },
        { id: "value", name: t("setting.value"), value: (x) => (x.value === null ? null : JSON.stringify(x.value)), cell: (x) => (x.value === null ? "–" : html`<code>${Array.isArray(x.value) ? x.value.join(", ") : String(x.value)}</code>`) },
        { id: "origin", name: t("setting.origin"), value: (x) => x.origin },
      ]} />`;
  }} />`;
}

function About() {
  const of = useData("version", { live: false });
  return html`<${Loaded} of=${of} show=${(data) => html`<${Terms} of=${[["Millrace", data.version]]} />
    <p><a href="ui/licences.txt">${t("settings.licences")}</a></p>
    <p><a href="api/v1/openapi.json">${t("settings.openapi")}</a></p>`} />`;
}

const SHOW = { page: Page, users: Users, tokens: Tokens, config: Configuration, about: About };
const FOR_ADMINS = ["users", "tokens", "config"];

export function Settings() {
  const tabs = Object.keys(SHOW).filter((id) => hasRole("admin") || !FOR_ADMINS.includes(id));
  const tab = SHOW[route.value.query.tab] ? route.value.query.tab : "page";
  return html`<${Heading} title=${t("nav.settings")} />
    <${Tabs} of=${tabs.map((id) => [id, t(`settings.tab.${id}`)])} now=${tab} to=${(id) => link(["settings"], { tab: id })} />
    <${SHOW[tab]} />`;
}
