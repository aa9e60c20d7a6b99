/* What is around every screen: navigation, whether the page is live, language, theme, and who looks. */
import { useErrorBoundary } from "preact/hooks";
import { html } from "./html.js";
import { SCREENS, screenOf } from "./sitemap.js";
import { route } from "./route.js";
import { language, LANGUAGES, setLanguage, t } from "./text.js";
import { theme } from "./theme.js";
import { askWho, isKnown, me, noAnswer, signedOut } from "./session.js";
import { line, paused, seen, status } from "./stream.js";
import { second } from "./clock.js";
import { span } from "./format.js";
import { post } from "./api.js";
import { Dialogs, tell } from "./action.js";
import { Palette, openPalette } from "./palette.js";
import { LogIn } from "./login.js";
import { FirstAdmin } from "./first.js";
import { Problem, problemText } from "./parts.js";

/* How old what is shown is.  A screen reader is not told each second. */
function Line() {
  second.value;
  const age = seen.value ? Math.floor((Date.now() - seen.value) / 1000) : null;
  const lost = line.value === "lost";
  const name = paused.value ? t("line.paused") : lost ? (age === null ? t("line.none") : t("line.lost", { span: span(age) })) : line.value === "connecting" ? t("line.none") : t("line.live");
  return html`<span class="line ${lost ? "warn" : ""}">
    <button type="button" class="small" aria-pressed=${paused.value} onClick=${() => (paused.value = !paused.value)} title=${t("line.pause")}>
      <span aria-hidden="true">${paused.value ? "‖" : lost ? "○" : "●"}</span> ${name}</button></span>`;
}

/* A banner for all screens: the daemon does not answer, or stops. */
function Banner() {
  second.value;
  const age = seen.value ? Math.floor((Date.now() - seen.value) / 1000) : 0;
  if (!isKnown()) return null;
  if (status.value?.running === false) return html`<p class="stale bad" role="alert">${t("banner.stopping")}</p>`;
  if (line.value === "lost" && seen.value && age > 10)
    return html`<p class="stale" role="alert">${t("banner.lost", { span: span(age) })}</p>`;
  if (me.value?.read_only) return html`<p class="stale" role="status">${t("banner.read_only")}</p>`;
  return null;
}

async function logOut() {
  try {
    await post("logout");
    signedOut();
    askWho();
  } catch (p) {
    tell(problemText(p));
  }
}

const THEMES = ["auto", "light", "dark"];

function Tools() {
  return html`<div class="tools">
    ${isKnown() && html`<button type="button" class="small" onClick=${openPalette}>⌕ <kbd>Ctrl K</kbd></button><${Line} />`}
    <label><span class="hidden">${t("theme")}</span>
      <select value=${theme.value} onChange=${(e) => (theme.value = e.target.value)}>
        ${THEMES.map((x) => html`<option value=${x} selected=${x === theme.value}>${t(`theme.${x}`)}</option>`)}</select></label>
    <label><span class="hidden">${t("language")}</span>
      <select value=${language.value} onChange=${(e) => setLanguage(e.target.value)}>
        ${Object.entries(LANGUAGES).map(([id, name]) => html`<option value=${id} lang=${id} selected=${id === language.value}>${name}</option>`)}</select></label>
    ${isKnown() && html`<span class="soft who" title=${t(`role.${me.value.role}`)}>${me.value.who}</span>`}
    ${isKnown() && me.value.log_in !== false && html`<button type="button" class="small" onClick=${logOut}>${t("log_out")}</button>`}
  </div>`;
}

function Navigation() {
  const here = route.value.parts[0] ?? "overview";
  return html`<nav class="site" aria-label=${t("navigation")}>
    ${SCREENS.map(({ id }) => html`<a href="#/${id}" aria-current=${id === here ? "page" : undefined}>${t(`nav.${id}`)}</a>`)}
  </nav>`;
}

/* A fault of one screen's code leaves the others, and what is around them. */
function Guarded({ children }) {
  const [fault, again] = useErrorBoundary((e) => console.error(e));
  if (!fault) return children;
  return html`<h1 tabindex="-1">${t("nav.fault")}</h1><${Problem} of=${{ code: "page-fault", detail: String(fault), fix: t("nav.fault.fix"), errors: [] }} again=${again} />`;
}

function Screen() {
  const { parts } = route.value;
  const screen = screenOf(parts);
  if (!screen) return html`<h1 tabindex="-1">${t("unknown_screen")}</h1><p><a href="#/overview">${t("nav.overview")}</a></p>`;
  return html`<${Guarded} key=${`${me.value.who} ${parts.join("/")}`}><${screen} parts=${parts} /></${Guarded}>`;
}

function Content() {
  if (noAnswer.value && !me.value) return html`<${Problem} of=${{ status: 0, code: "no-answer", detail: "", fix: "" }} again=${askWho} />`;
  if (me.value?.first_admin) return html`<${FirstAdmin} />`;
  if (!isKnown()) return html`<${LogIn} />`;
  return html`<${Screen} />`;
}

export function Frame() {
  return html`<a class="skip" href="#main" onClick=${(e) => (e.preventDefault(), document.getElementById("main").focus())}>${t("skip")}</a>
    <header class="top"><a class="brand" href="#/overview">Millrace</a>${isKnown() && html`<${Navigation} />`}<${Tools} /></header>
    <${Banner} />
    <main id="main" tabindex="-1"><${Content} /></main>
    <${Dialogs} />
    ${isKnown() && html`<${Palette} />`}`;
}
