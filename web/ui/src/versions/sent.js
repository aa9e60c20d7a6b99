/* The mapping, or the settings, of an index: of each version as the engine was sent it, and of the next build. */
import { html } from "../html.js";
import { t } from "../text.js";
import { path } from "../api.js";
import { route, setQuery } from "../route.js";
import { useData } from "../data.js";
import { CommandLine, Copy, Json, Loaded } from "../parts.js";
import { text } from "../exact.js";

/* What the engine was sent for a version is kept with the event that began its build. */
function useSent(table, version) {
  const log = useData(table ? path(["log", table]) : null, { live: false });
  const event = log.data?.items.find((e) => e.build && e.version === version);
  const one = useData(event ? path(["log", String(event.id)]) : null, { live: false });
  const build = one.data?.items?.[0]?.build;
  return { ...(event ? one : log), data: log.data && !event ? {} : build ? build : null };
}

function Sent({ table, version, what }) {
  const of = useSent(table, version);
  return html`<${Loaded} of=${of} show=${(build) => {
    const part = what === "mapping" ? build.mappings : build.settings;
    if (!part) return html`<p class="soft">${t("version.sent.unknown", { version: String(version) })}</p>`;
    return html`<p><${Copy} text=${text(part)} /></p>
      ${what === "settings" && html`<p class="soft">${t("version.sent.settings")}</p>`}
      <${Json} of=${part} />`;
  }} />`;
}

function Next({ table, what }) {
  const of = useData(path(["tables", table, "mapping"]), { live: false });
  return html`<${Loaded} of=${of} show=${(data) => {
    const part = what === "mapping" ? data.body.mappings : data.body.settings;
    return html`<p><${Copy} text=${text(part)} /></p><${Json} of=${part} />`;
  }} />
  <${CommandLine} line=${`millrace mapping ${table}`} />`;
}

export function SentTab({ of, what }) {
  const table = of.x?.table;
  const choices = [...of.list.map((v) => [String(v.version), t("version.sent.of", { version: String(v.version), state: t(`state.${v.state}`) })]), ...(table ? [["next", t("version.sent.next")]] : [])];
  const chosen = choices.some(([id]) => id === route.value.query.of) ? route.value.query.of : choices[0]?.[0];
  if (!chosen) return html`<p>${t("version.none_of", { index: of.index })}</p>`;
  return html`<form class="filters" onSubmit=${(e) => e.preventDefault()}><label>${t("version.sent.which")}
      <select value=${chosen} onChange=${(e) => setQuery({ of: e.target.value })}>
        ${choices.map(([id, name]) => html`<option value=${id} selected=${id === chosen}>${name}</option>`)}</select></label></form>
    ${chosen === "next"
      ? html`<${Next} table=${table} what=${what} />`
      : table
        ? html`<${Sent} key=${chosen} table=${table} version=${Number(chosen)} what=${what} />`
        : html`<p class="soft">${t("version.why.no_definition")}</p>`}`;
}
