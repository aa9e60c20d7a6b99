/* Draining: everything that is queued goes to the engine. */
import { t } from "../text.js";
import { post } from "../api.js";

const DRAIN_MS = 120000;

export const drain = () => ({
  title: t("drain.title"),
  does: t("drain.does"),
  doesNot: t("drain.does_not"),
  line: "millrace drain",
  run: () => post("drain", {}, { timeout: DRAIN_MS }),
  done: (answer) => t("drain.ended", { end: answer.end, queued: String(answer.queued) }),
});

export const cancelDrain = () => ({
  title: t("drain.cancel"),
  does: t("drain.cancel.does"),
  line: "millrace drain --cancel",
  run: () => post("drain/cancel"),
  done: () => t("drain.cancelled"),
});
