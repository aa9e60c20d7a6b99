/* The drawing of one plot, by uPlot.  Loaded on demand. */
import uPlot from "uplot";
import { language } from "./text.js";
import { zone } from "./format.js";

const STROKES = ["#2f7fd0", "#d9822b", "#3c9e5f", "#a05bc4", "#c9504a", "#4aa3a3", "#8a7a2f", "#707a85"];

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/* The colour that light-dark() stands for just now. */
function resolved(place, name) {
  const probe = document.createElement("span");
  probe.style.color = `var(${name})`;
  place.append(probe);
  const value = getComputedStyle(probe).color;
  probe.remove();
  return value || colour(name);
}

/* As wide as its longest label. */
const widthOf = (_, labels) => 20 + 7 * Math.max(3, ...(labels ?? []).map((x) => String(x ?? "").length));

/* Where nothing is before and after a value there is no line, so a point is drawn. */
export const alone = (values) => values.flatMap((v, i) => (v !== null && (values[i - 1] ?? null) === null && (values[i + 1] ?? null) === null ? [i] : []));

/* floor: what the scale goes up to at least, so that no two labels are alike. */
export function draw(place, { times, series, write, floor }) {
  const soft = resolved(place, "--soft");
  const grid = resolved(place, "--line");
  const clock = new Intl.DateTimeFormat(language.value, {
    hour: "2-digit",
    minute: "2-digit",
    hour12: false,
    timeZone: zone.value === "UTC" ? "UTC" : undefined,
  });
  const axis = { stroke: soft, grid: { stroke: grid, width: 1 }, ticks: { stroke: grid, width: 1 } };
  const options = {
    width: Math.max(280, place.clientWidth),
    height: 180,
    cursor: { drag: { x: false, y: false } },
    legend: { show: series.length > 1, live: false },
    scales: { y: { range: (_, low, high) => [0, Math.max(floor, high * 1.1)] } },
    axes: [
      { ...axis, values: (_, all) => all.map((s) => clock.format(new Date(s * 1000))) },
      { ...axis, size: widthOf, values: (_, all) => all.map((v) => write(v)) },
    ],
    series: [
      { label: "" },
      ...series.map((s, i) => ({ label: s.name, stroke: STROKES[i % STROKES.length], width: 2, spanGaps: false, points: { show: true, size: 5, fill: STROKES[i % STROKES.length], filter: () => alone(s.values) } })),
    ],
  };
  const plot = new uPlot(options, [times, ...series.map((s) => s.values)], place);
  const sizes = new ResizeObserver(() => plot.setSize({ width: Math.max(280, place.clientWidth), height: 180 }));
  sizes.observe(place);
  return {
    destroy() {
      sizes.disconnect();
      plot.destroy();
    },
  };
}
