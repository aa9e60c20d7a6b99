/* Dead letters: write them again from their rows of today, or forget them. */
import { t } from "../text.js";
import { path, post } from "../api.js";
import { go } from "../route.js";
import { option } from "./command.js";

const options = (filter) => {
  if (filter.all) return " --all";
  if (filter.id !== undefined) return ` ${filter.id}`;
  return Object.entries(filter)
    .map(([name, value]) => option(name, value))
    .join("");
};

export const replayLetters = (filter, after) => ({
  title: t("letters.replay"),
  does: filter.all ? t("letters.replay.all") : t("letters.replay.does"),
  doesNot: t("letters.replay.does_not"),
  line: `millrace dead-letter replay${options(filter)}`,
  preview: () => post(path(["dead-letters", "replay"], { dry_run: true }), filter),
  run: () => post("dead-letters/replay", filter),
  done: (answer) => t("letters.replayed", { n: answer.count }),
  after: () => (after ? after() : go(["letters"])),
});

export const discardLetters = (filter, after) => ({
  title: t("letters.discard"),
  does: filter.all ? t("letters.discard.all") : t("letters.discard.does"),
  doesNot: t("letters.discard.does_not"),
  typed: filter.id === undefined ? (filter.table ?? filter.index ?? filter.topic ?? filter.reason ?? t("letters.discard.word")) : String(filter.id),
  danger: true,
  role: "admin",
  line: `millrace dead-letter discard${options(filter)}`,
  preview: () => post(path(["dead-letters", "discard"], { dry_run: true }), filter),
  run: () => post("dead-letters/discard", filter),
  done: (answer) => t("letters.discarded", { n: answer.count }),
  after: () => (after ? after() : go(["letters"])),
});
