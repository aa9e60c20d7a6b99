/* What is changed but not stored, and what to do with it. */
import { useEffect, useState } from "preact/hooks";
import { html } from "../html.js";
import { t } from "../text.js";
import { link } from "../route.js";
import { Problem } from "../parts.js";
import { Action, tell } from "../action.js";
import { Changes } from "./changes.js";
import { isDrafted, store } from "./draft.js";
import { Theirs } from "./merge.js";

function reviewAction(draft, name, stored, refused) {
  const attempt = async (dryRun) => {
    try {
      return await store(draft, dryRun);
    } catch (problem) {
      if (problem.status === 412) refused();
      throw problem;
    }
  };
  return {
    title: t("draft.store"),
    role: "admin",
    does: t("draft.store.does"),
    line: `millrace apply ${name}.yaml`,
    preview: () => attempt(true),
    show: (answer) => html`<${Changes} of=${answer} />`,
    run: () => attempt(false),
    done: (answer) => (answer.items.some((i) => i.needs_build) ? t("draft.stored_needs_build") : t("draft.stored")),
    after: stored,
  };
}

/* Whoever leaves is told that the changes are kept, and where. */
const useLeaving = (name) =>
  useEffect(() => () => isDrafted(name) && tell(t("draft.kept", { table: name }), link(["tables", name], { tab: "columns" })), [name]);

export function Unsaved({ draft, name, again }) {
  const [problem, setProblem] = useState(null);
  useLeaving(name);
  if (!draft.isChanged) return null;
  const discard = () => {
    draft.discard();
    setProblem(null);
  };
  const stored = () => {
    discard();
    again();
  };
  const check = async () => {
    try {
      await store(draft, true);
      setProblem(null);
    } catch (p) {
      if (p.status === 412) again();
      setProblem(p);
    }
  };
  const why = draft.wrong || (draft.isBehind ? t("draft.behind.why") : undefined);
  return html`<div class="empty"><p class="row"><strong>▲ ${t("draft.unsaved")}</strong>
      <${Action} name=${t("draft.review")} role="admin" primary why=${why} of=${() => reviewAction(draft, name, stored, again)} />
      <button type="button" disabled=${why !== undefined} onClick=${check}>${t("draft.check")}</button>
      <button type="button" onClick=${discard}>${t("draft.discard")}</button></p>
    ${draft.isBehind && html`<${Theirs} draft=${draft} />`}
    ${problem && !draft.isBehind && html`<${Problem} of=${problem} />`}</div>`;
}
