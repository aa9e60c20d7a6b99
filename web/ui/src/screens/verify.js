/* Are documents as their rows are?  Tables with their last comparison, reports, single documents. */
import { html } from "../html.js";
import { t } from "../text.js";
import { link, route } from "../route.js";
import { status } from "../stream.js";
import { Heading, Loaded, Tabs } from "../parts.js";
import { VerifyTables } from "../verify/tables.js";
import { Reports } from "../verify/reports.js";
import { OneReport } from "../verify/report.js";
import { Documents } from "../verify/documents.js";

const TABS = ["tables", "reports", "documents"];

export function Verify({ parts }) {
  if (parts[1]) return html`<${OneReport} key=${parts[1]} job=${parts[1]} />`;
  const tab = TABS.includes(route.value.query.tab) ? route.value.query.tab : "tables";
  return html`<${Heading} title=${t("nav.verify")} />
    <${Tabs} of=${TABS.map((id) => [id, t(`compare.tab.${id}`)])} now=${tab} to=${(id) => link(["verify"], { tab: id })} />
    ${tab === "reports"
      ? html`<${Reports} />`
      : html`<${Loaded} of=${{ data: status.value, problem: null }} show=${(data) =>
          tab === "documents" ? html`<${Documents} tables=${data.tables.filter((x) => x.version).map((x) => x.table)} />` : html`<${VerifyTables} of=${data} />`} />`}`;
}
