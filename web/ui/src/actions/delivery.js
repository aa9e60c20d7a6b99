/* Draining: everything that is queued goes to the engine. */
import { t } from "../text.js";
import { post } from "../api.js";
import { link } from "../route.js";

export const drain = () => ({
  title: t("drain.title"),
  does: t("drain.does"),
  doesNot: t("drain.does_not"),
  line: "millrace drain",
  run: () => post("drain"),
  done: () => t("drain.begun"),
  href: (answer) => link(["jobs", answer.job]),
});

export const cancelDrain = () => ({
  title: t("drain.cancel"),
  does: t("drain.cancel.does"),
  line: "millrace drain --cancel",
  run: () => post("drain/cancel"),
  done: () => t("drain.cancelled"),
});
