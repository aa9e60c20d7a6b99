/* What can be done with a topic: pause, go on, move, and begin anew. */
import { t } from "../text.js";
import { path, post } from "../api.js";
import { option } from "./command.js";

export const pauseTopic = (name) => ({
  title: t("topic.pause"),
  does: t("topic.pause.does", { name }),
  doesNot: t("topic.pause.does_not"),
  fields: [{ id: "reason", name: t("topic.pause.reason"), required: true }],
  line: (v) => `millrace topic pause ${name}${option("reason", v.reason)}`,
  preview: (v) => post(path(["topics", name, "pause"], { dry_run: true }), { reason: v.reason }),
  run: (v) => post(path(["topics", name, "pause"]), { reason: v.reason }),
  done: () => t("topic.paused"),
});

export const resumeTopic = (name) => ({
  title: t("topic.resume"),
  does: t("topic.resume.does", { name }),
  line: `millrace topic resume ${name}`,
  preview: () => post(path(["topics", name, "resume"], { dry_run: true })),
  run: () => post(path(["topics", name, "resume"])),
  done: () => t("topic.resumed"),
});

export const moveTopic = (name, nodes) => ({
  title: t("topic.move"),
  does: t("topic.move.does", { name }),
  fields: [{ id: "to", name: t("topic.move.to"), type: "select", value: nodes[0], options: nodes.map((n) => [n, n]) }],
  line: (v) => `millrace topic move ${name} --to ${v.to}`,
  preview: (v) => post(path(["topics", name, "move"]), { to: v.to, dry_run: true }),
  run: (v) => post(path(["topics", name, "move"]), { to: v.to }),
  done: () => t("topic.moved"),
});

export const resetTopic = (name) => ({
  title: t("topic.reset"),
  does: t("topic.reset.does", { name }),
  doesNot: t("topic.reset.does_not"),
  typed: name,
  danger: true,
  role: "admin",
  line: `millrace topic reset ${name}`,
  preview: () => post(path(["topics", name, "reset"], { dry_run: true })),
  run: () => post(path(["topics", name, "reset"])),
  done: () => t("topic.was_reset"),
});
