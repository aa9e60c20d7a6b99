/* What can be done with an index; what cannot be done now says why, also to who cannot hover. */
import { html } from "../html.js";
import { t } from "../text.js";
import { Action } from "../action.js";
import {
  buildAction,
  cutoverAction,
  deleteVersionsAction,
  pauseAction,
  refreshAction,
  replayAction,
  resetAction,
  resumeAction,
  verifyAction,
} from "../actions/index.js";
import { coming, obstacles, present } from "./life.js";

function all(i) {
  const { x } = i;
  const why = obstacles(i);
  const next = coming(i);
  const old = i.list.filter((v) => v.state === "history" || v.state === "retired");
  const hasVersion = { ...x, version: present(i)?.version ?? x?.version };
  return [
    { id: "build", name: t("build.create"), why: why.build, primary: true, of: () => buildAction(x) },
    { id: "cutover", name: t("cutover"), why: why.cutover, primary: !why.cutover, of: () => cutoverAction(hasVersion, x.wait ?? next.wait ?? { version: next.version }) },
    { id: "verify", name: t("verify.start"), why: why.verify, of: () => verifyAction(x.table) },
    { id: "refresh", name: t("refresh"), why: why.refresh, of: () => refreshAction(x) },
    { id: "replay", name: t("replay"), why: why.verify, of: () => replayAction(x.table) },
    { id: "pause", name: t("index.pause"), why: why.pause, of: () => pauseAction(x) },
    { id: "resume", name: t("index.resume"), why: why.resume, of: () => resumeAction(x) },
    { id: "reset", name: t("index.reset"), why: why.reset, role: "admin", danger: true, of: () => resetAction(hasVersion, next?.version) },
    { id: "remove", name: t("version.delete_all"), why: why.removeAll, role: "admin", danger: true, of: () => deleteVersionsAction(x?.table ?? i.index, i.index, old) },
  ];
}

export function Operations({ of }) {
  const list = all(of);
  const not = list.filter((o) => o.why);
  return html`<p class="row">${list.map((o) => html`<${Action} key=${o.id} ...${o} />`)}</p>
    ${not.length > 0 &&
    html`<details><summary>${t("version.not_now", { n: not.length })}</summary>
      <ul>${not.map((o) => html`<li><strong>${o.name}</strong>: ${o.why}</li>`)}</ul></details>`}`;
}
