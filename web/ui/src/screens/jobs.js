/* Builds and other long jobs: what runs, how far it is, what it waits for. */
import { html } from "../html.js";
import { t } from "../text.js";
import { useData } from "../data.js";
import { Heading, Loaded } from "../parts.js";
import { JobList } from "../jobs/list.js";
import { OneJob } from "../jobs/one.js";

function All() {
  const of = useData("jobs");
  return html`<${Heading} title=${t("job.heading")} /><${Loaded} of=${of} show=${(data) => html`<${JobList} of=${data.items} />`} />`;
}

export const Jobs = ({ parts }) => (parts[1] ? html`<${OneJob} key=${parts[1]} id=${parts[1]} />` : html`<${All} />`);
