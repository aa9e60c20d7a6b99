/* Numbers, sizes, spans and times as the viewer's language writes them.  "–" stands for unknown. */
import { signal } from "@preact/signals";
import { keep, kept } from "./kept.js";
import { language, t } from "./text.js";
import { Exact } from "./exact.js";
import { now } from "./clock.js";

export const UNKNOWN = "–";
/* "local" or "UTC". */
export const zone = signal(kept("zone", "local"));
export function setZone(name) {
  zone.value = name;
  keep("zone", name);
}

/* Making a formatter of Intl is dear, using one is cheap. */
const formatters = new Map();
function formatter(kind, options) {
  const id = `${kind} ${language.value} ${zone.value} ${JSON.stringify(options)}`;
  if (!formatters.has(id)) formatters.set(id, new Intl[kind](language.value === "zh" ? "zh-CN" : language.value, options));
  return formatters.get(id);
}

const plain = (v) => (v instanceof Exact ? Number(v.number) : v);
const isNumber = (v) => typeof v === "number" && Number.isFinite(v);

export function number(v, digits = 0) {
  if (v instanceof Exact && /^-?\d+$/.test(v.number)) return formatter("NumberFormat", {}).format(BigInt(v.number));
  const n = plain(v);
  return isNumber(n) ? formatter("NumberFormat", { maximumFractionDigits: digits }).format(n) : UNKNOWN;
}

export function rate(v) {
  const n = plain(v);
  return isNumber(n) ? t("unit.per_second", { n: number(n, n < 10 ? 1 : 0) }) : UNKNOWN;
}

export function bytes(v) {
  let n = plain(v);
  if (!isNumber(n)) return UNKNOWN;
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let i = 0;
  for (; n >= 1024 && i < units.length - 1; i++) n /= 1024;
  return `${number(n, n < 10 && i > 0 ? 1 : 0)} ${units[i]}`;
}

/* Seconds as "0.4 s", "3 min 20 s", "2 h 5 min", "3 d 4 h". */
export function span(v) {
  const s = plain(v);
  if (!isNumber(s)) return UNKNOWN;
  if (s < 60) return `${number(s, s < 10 ? 1 : 0)} ${t("unit.s")}`;
  const steps = [
    [86400, "unit.d", 3600, "unit.h"],
    [3600, "unit.h", 60, "unit.min"],
    [60, "unit.min", 1, "unit.s"],
  ];
  const [big, name, small, part] = steps.find(([b]) => s >= b);
  const rest = Math.floor((s % big) / small);
  return `${number(Math.floor(s / big))} ${t(name)}${rest ? ` ${number(rest)} ${t(part)}` : ""}`;
}

export function milliseconds(seconds) {
  const s = plain(seconds);
  if (!isNumber(s)) return UNKNOWN;
  return s < 1 ? `${number(s * 1000, s < 0.01 ? 1 : 0)} ${t("unit.ms")}` : span(s);
}

export function percent(v) {
  return isNumber(v) ? formatter("NumberFormat", { style: "percent", maximumFractionDigits: 1 }).format(v / 100) : UNKNOWN;
}

export function time(v) {
  if (!v) return UNKNOWN;
  const date = new Date(v);
  if (Number.isNaN(date.getTime())) return String(v);
  const options = { dateStyle: "medium", timeStyle: "medium", hour12: false, timeZone: zone.value === "UTC" ? "UTC" : undefined };
  return formatter("DateTimeFormat", options).format(date);
}

export const secondsSince = (v) => Math.max(0, (now() - new Date(v).getTime()) / 1000);

export function ago(v) {
  if (!v || Number.isNaN(new Date(v).getTime())) return UNKNOWN;
  return t("time.ago", { span: span(Math.floor(secondsSince(v))) });
}
