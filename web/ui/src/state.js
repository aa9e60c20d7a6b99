/*
 * States in words, signs and colours; never by colour alone.  The words are the core's; those of the
 * index life cycle stand beside them in the texts.
 */
export const LOOKS = {
  running: "ok",
  available: "ok",
  ok: "ok",
  normal: "ok",
  green: "ok",
  equal: "ok",
  up: "ok",
  done: "ok",
  succeeded: "ok",
  published: "ok",
  complete: "ok",
  repaired: "ok",
  replayed: "ok",
  by_column: "ok",
  current: "ok",
  connecting: "work",
  changing: "work",
  moving: "work",
  building: "work",
  catching_up: "work",
  init: "work",
  returning: "work",
  comparing: "work",
  waiting: "warn",
  warn: "warn",
  lost: "warn",
  unavailable: "warn",
  yellow: "warn",
  stale: "warn",
  paused: "warn",
  evacuated: "warn",
  interrupted: "warn",
  overdue: "warn",
  slow: "warn",
  partly: "warn",
  reset: "warn",
  fail: "bad",
  failed: "bad",
  stopped: "bad",
  held: "bad",
  astray: "bad",
  down: "bad",
  red: "bad",
  unreachable: "bad",
  different: "bad",
  error: "bad",
  not_replayed: "bad",
  created: "off",
  history: "off",
  retired: "off",
  kept: "off",
  dropped: "off",
  never: "off",
  skip: "off",
  cancelled: "off",
};

export const SIGNS = { ok: "●", work: "◐", warn: "▲", bad: "■", off: "○", unknown: "?" };
const ORDER = ["bad", "warn", "work", "unknown", "off", "ok"];

export const lookOf = (state) => LOOKS[state] ?? "unknown";

/* The worst look of a list of states. */
export const worst = (states) => ORDER.find((look) => states.some((s) => lookOf(s) === look)) ?? "ok";

/* How the whole is: by the daemon's own checks, which judge better than this page could. */
export function overall(status) {
  if (!status) return "unknown";
  if (status.running === false) return "bad";
  return worst(["ok", ...(status.checks ?? []).map((c) => c.status)]);
}
