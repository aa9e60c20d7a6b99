/* Small parts of screens: states, times, problems, and the five states that a screen can be in. */
import { useEffect, useRef, useState } from "preact/hooks";
import { html } from "./html.js";
import { lookOf, SIGNS, worst } from "./state.js";
import { status } from "./stream.js";
import { ago, time, span } from "./format.js";
import { second } from "./clock.js";
import { has, t } from "./text.js";
import { hasRole, me } from "./session.js";
import { text as exactText } from "./exact.js";

/* A state: sign, colour, word.  `word` is shown instead of the state's own. */
export function State({ of, word, title }) {
  const look = lookOf(of);
  const name = word ?? (has(`state.${of}`) ? t(`state.${of}`) : (of ?? t("state.unknown")));
  return html`<span class="state ${look}" title=${title}><span aria-hidden="true">${SIGNS[look]}</span> ${name}</span>`;
}

/* Since when something is so; nothing if nobody knows. */
export const Since = ({ at }) => at && html` <span class="soft">${t("since", { time: time(at) })} (<${Ago} at=${at} />)</span>`;

/* A topic's state, and since when it does not go on. */
export const TopicState = ({ of }) => html`<${State} of=${of.state} title=${of.reason} /><${Since} at=${of.since} />`;

/* A table's state.  What its topic's is stands beside it, unless that goes on: nothing of the table does, either. */
export function TableState({ of }) {
  const topic = (status.value?.topics ?? []).find((x) => x.name === of.topic);
  const stands = topic && topic.state !== "running" && of.state !== topic.state;
  if (!stands) return html`<${TopicState} of=${of} />`;
  const [own, its] = [of, topic].map((x) => (has(`state.${x.state}`) ? t(`state.${x.state}`) : x.state));
  const look = worst([of.state, topic.state]);
  return html`<${State} of=${lookOf(of.state) === look ? of.state : topic.state} word=${t("state.of_topic", { own, its })} title=${of.reason || topic.reason} /><${Since} at=${topic.since} />`;
}

export function Ago({ at }) {
  second.value;
  return at ? html`<time dateTime=${at} title=${time(at)}>${ago(at)}</time>` : html`<span>–</span>`;
}

export const Time = ({ at }) => (at ? html`<time dateTime=${at} title=${at}>${time(at)}</time>` : html`<span>–</span>`);

export const Code = ({ children }) => html`<code>${children}</code>`;

/* Browsers give the clipboard to pages of TLS and of this machine only. */
async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

export function Copy({ text }) {
  const [done, setDone] = useState(null);
  const copy = async () => {
    setDone(await copyText(text));
    setTimeout(() => setDone(null), 4000);
  };
  return html`<button class="small" type="button" onClick=${copy}>${done === null ? t("copy") : done ? t("copied") : t("copy.failed")}</button>`;
}

/* A command line that does the same. */
export const CommandLine = ({ line }) =>
  html`<p class="command"><span class="soft">${t("command_line")}</span> <code>${line}</code> <${Copy} text=${line} /></p>`;

export const Json = ({ of }) => html`<pre class="json" tabindex="0">${exactText(of)}</pre>`;

/* What a problem says in the viewer's language, by its code; the daemon's own words beside it. */
export function problemText(p) {
  if (p.status === 0) return t(p.detail === "timeout" ? "problem.timeout" : "problem.no-answer");
  return has(`problem.${p.code}`) ? t(`problem.${p.code}`) : t("problem.other", { code: p.code, status: String(p.status ?? "") });
}

export function Problem({ of, again }) {
  const details = [of.code, of.detail, of.fix].filter(Boolean).join("\n");
  return html`<div class="problem" role="alert">
    <p><strong>${problemText(of)}</strong></p>
    ${of.detail && of.status !== 0 && html`<p>${of.status >= 400 && html`<span class="soft">${t("finding.said")}</span> `}${of.detail}</p>`}
    ${of.fix && html`<p><span class="soft">${t("fix")}</span> ${of.fix}</p>`}
    ${(of.errors ?? []).map(
      (e) => html`<p>${e.pointer ? html`<code>${e.pointer}</code> ` : ""}${e.message ?? e.detail ?? ""}</p>
        ${e.fix && e.fix !== of.fix && html`<p><span class="soft">${t("fix")}</span> <code>${e.fix}</code> <${Copy} text=${e.fix} /></p>`}`,
    )}
    <p class="row">
      ${again && html`<button type="button" onClick=${again}>${t("try_again")}</button>`}
      <${Copy} text=${details} />
    </p>
  </div>`;
}

/* After 0.3 s bars, after 5 s what is waited for. */
function Loading() {
  const [after, setAfter] = useState(0);
  useEffect(() => {
    const timers = [300, 5000].map((ms) => setTimeout(() => setAfter(ms), ms));
    return () => timers.forEach(clearTimeout);
  }, []);
  if (after === 0) return html`<div class="loading" aria-busy="true"></div>`;
  return html`<div class="loading" aria-busy="true">
    <div class="bar"></div><div class="bar"></div><div class="bar"></div>
    ${after > 300 && html`<p class="soft">${t("loading.long")}</p>`}
  </div>`;
}

/* Nothing is there: what this is, and what to do. */
export const Empty = ({ text, children, line }) =>
  html`<div class="empty"><p>${text}</p>${children}${line && html`<${CommandLine} line=${line} />`}</div>`;

export const Forbidden = ({ role }) =>
  html`<div class="empty"><p><strong>${t("forbidden")}</strong></p>
    <p>${t("forbidden.needs", { role: t(`role.${role}`), have: me.value?.role ? t(`role.${me.value.role}`) : t("role.none") })}</p></div>`;

/*
 * Show what useData() has, by its state.  `show` gets the data; `role` is the least that may see it.
 */
export function Loaded({ of, role, show }) {
  if (role && !hasRole(role)) return html`<${Forbidden} role=${role} />`;
  if (of.data === null && of.problem?.status === 403) return html`<${Problem} of=${of.problem} />`;
  if (of.data === null && of.problem) return html`<${Problem} of=${of.problem} again=${of.again} />`;
  if (of.data === null) return html`<${Loading} />`;
  return html`${of.problem && html`<${Stale} at=${of.at} problem=${of.problem} again=${of.again} />`}${show(of.data)}`;
}

export function Stale({ at, problem, again }) {
  second.value;
  return html`<p class="stale" role="status">
    ${t("stale", { span: span(Math.floor((performance.now() - at) / 1000)) })} ${problemText(problem)}
    ${" "}<button class="small" type="button" onClick=${again}>${t("try_again")}</button>
  </p>`;
}

/* Terms and their values. */
export const Terms = ({ of }) =>
  html`<dl class="terms">${of.filter(Boolean).map(([name, value]) => html`<div><dt>${name}</dt><dd>${value ?? "–"}</dd></div>`)}</dl>`;

export const Card = ({ name, value, look, note, href }) =>
  html`<a class="card ${look ?? ""}" href=${href}><span class="soft">${name}</span><b>${look && html`<span aria-hidden="true">${SIGNS[look]} </span>`}${value}</b>
    <span class="soft">${note}</span></a>`;

/* A bar of progress, never above 100 %. */
export function Progress({ done, total, name }) {
  const share = total > 0 ? Math.min(100, (100 * done) / total) : 0;
  return html`<progress max="100" value=${share} aria-label=${name}></progress>`;
}

/* The heading of a screen.  It takes the focus, so that a screen reader says where one is. */
export function Heading({ title, children }) {
  const heading = useRef(null);
  useEffect(() => heading.current.focus({ preventScroll: true }), []);
  return html`<header class="heading"><h1 tabindex="-1" ref=${heading}>${title}</h1><div class="row">${children}</div></header>`;
}

/* Tabs of a screen: links, so that each has an address. */
export const Tabs = ({ of, now, to }) =>
  html`<nav class="tabs" aria-label=${t("tabs")}>${of.map(
    ([id, name]) => html`<a href=${to(id)} aria-current=${id === now ? "page" : undefined}>${name}</a>`,
  )}</nav>`;
