/* Index versions: all indexes, or one with its versions, mapping, settings and log. */
import { html } from "../html.js";
import { t } from "../text.js";
import { link, route } from "../route.js";
import { status } from "../stream.js";
import { useData } from "../data.js";
import { Empty, Heading, Loaded, State, Tabs } from "../parts.js";
import { indexesOf, wholeLife } from "../versions/life.js";
import { VersionList } from "../versions/list.js";
import { OneIndex } from "../versions/one.js";
import { SentTab } from "../versions/sent.js";
import { LogTab } from "../versions/log.js";

const TABS = ["life", "mapping", "settings", "log"];

function One({ of, tab }) {
  const to = (id) => link(["versions", of.index], { tab: id });
  return html`<${Heading} title=${of.index}><${State} of=${wholeLife(of)} /><a href="#/versions">${t("nav.versions")}</a></${Heading}>
    <${Tabs} of=${TABS.map((id) => [id, t(`version.tab.${id}`)])} now=${tab} to=${to} />
    ${tab === "life" && html`<${OneIndex} of=${of} />`}
    ${(tab === "mapping" || tab === "settings") && html`<${SentTab} key=${tab} of=${of} what=${tab} />`}
    ${tab === "log" && html`<${LogTab} of=${of} />`}`;
}

export function Versions({ parts }) {
  const versions = useData("versions");
  const indexes = useData("indexes");
  const name = parts[1];
  const tab = TABS.includes(route.value.query.tab) ? route.value.query.tab : "life";
  return html`${!name && html`<${Heading} title=${t("nav.versions")} />`}
    <${Loaded} of=${status.value ? versions : { ...versions, data: null }} show=${(data) => {
      const all = indexesOf(status.value, data.items, indexes.data?.items);
      if (!name) return html`<${VersionList} of=${all} />`;
      const one = all.find((i) => i.index === name || i.tables.includes(name) || i.list.some((v) => v.name === name));
      return one ? html`<${One} of=${one} tab=${tab} />` : html`<${Heading} title=${name} /><${Empty} text=${t("version.unknown", { name })} line="millrace version list" />`;
    }} />`;
}
