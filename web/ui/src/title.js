/* The tab's title and icon show the worst state: "▲ 15 min – Millrace". */
import { effect } from "@preact/signals";
import { status, line } from "./stream.js";
import { overall, SIGNS } from "./state.js";
import { span } from "./format.js";

const COLOURS = { ok: "#17803d", work: "#1d6fb8", warn: "#b45f06", bad: "#c62828", off: "#777", unknown: "#777" };
const SHAPES = {
  ok: '<circle cx="8" cy="8" r="6"/>',
  work: '<path d="M8 2a6 6 0 000 12z"/><circle cx="8" cy="8" r="5.5" fill="none" stroke="C"/>',
  warn: '<path d="M8 2l7 12H1z"/>',
  bad: '<path d="M3 3h10v10H3z"/>',
};

function icon(look) {
  const shape = (SHAPES[look] ?? '<circle cx="8" cy="8" r="5.5" fill="none" stroke="C"/>').replaceAll("C", COLOURS[look]);
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16" fill="${COLOURS[look]}">${shape}</svg>`;
  return `data:image/svg+xml,${encodeURIComponent(svg)}`;
}

export function begin() {
  effect(() => {
    const look = line.value === "lost" || line.value === "connecting" ? "unknown" : overall(status.value);
    const lag = Math.max(0, ...(status.value?.topics ?? []).map((x) => x.lag_seconds ?? 0));
    const late = look !== "ok" && look !== "unknown" && lag >= 1 ? ` ${span(lag)}` : "";
    document.title = look === "ok" ? "Millrace" : `${SIGNS[look]}${late} – Millrace`;
    document.querySelector('link[rel="icon"]').href = icon(look);
  });
}
