/* Delayed tables with their top relations, their snapshots, and the runs. */
import { html } from "../html.js";
import { t } from "../text.js";
import { link, route } from "../route.js";
import { useData } from "../data.js";
import { Heading, Loaded, Tabs } from "../parts.js";
import { DelayedTables, delayedTables } from "../delayed/tables.js";
import { DelayedRuns } from "../delayed/runs.js";
import { Snapshots } from "../delayed/snapshots.js";

const TABS = ["tables", "snapshots", "runs"];

export function Delayed() {
  const definitions = useData("tables", { live: false });
  const runs = useData("delayed/runs");
  const tab = TABS.includes(route.value.query.tab) ? route.value.query.tab : "tables";
  const both = runs.data && definitions.data ? runs : { ...runs, data: null, problem: runs.problem ?? definitions.problem };
  const names = delayedTables(definitions.data?.items ?? [], runs.data?.waiting ?? []).map((x) => x.table);
  return html`<${Heading} title=${t("nav.delayed")} />
    <${Tabs} of=${TABS.map((id) => [id, t(`delayed.tab.${id}`)])} now=${tab} to=${(id) => link(["delayed"], { tab: id })} />
    ${tab === "snapshots"
      ? html`<${Snapshots} tables=${[...new Set([...names, ...(route.value.query.table ? [route.value.query.table] : [])])]} />`
      : html`<${Loaded} of=${both} show=${(data) =>
          tab === "runs" ? html`<${DelayedRuns} of=${data} />` : html`<${DelayedTables} definitions=${definitions.data.items} runs=${data} again=${definitions.again} />`} />`}`;
}
