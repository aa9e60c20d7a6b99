/* Draining: everything that is queued goes to the engine. */
import { t } from "../text.js";
import { path, post } from "../api.js";
import { link } from "../route.js";

export const drain = () => ({
  title: t("drain.title"),
  does: t("drain.does"),
  doesNot: t("drain.does_not"),
  line: "millrace drain",
  preview: () => post(path(["drain"], { dry_run: true })),
  run: () => post("drain"),
  done: () => t("drain.begun"),
  href: (answer) => link(["jobs", answer.job]),
});

export const cancelDrain = () => ({
  title: t("drain.cancel"),
  does: t("drain.cancel.does"),
  line: "millrace drain --cancel",
  preview: () => post(path(["drain", "cancel"], { dry_run: true })),
  run: () => post("drain/cancel"),
  done: () => t("drain.cancelled"),
});
