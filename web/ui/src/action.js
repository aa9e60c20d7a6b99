/*
 * Actions: one dialog says what will happen, what will not, and the command that does the same; where
 * it is dangerous, the name must be typed and a reason can be given.  One line at the bottom tells how it ended.
 *
 *   act({
 *     title: t("pause.title"), does: "...", doesNot: "...", line: "millrace topic pause shop",
 *     typed: "shop.orders",                          // the name that must be typed
 *     asksWhy: true or (values) => true,             // for the audit log; so does what has typed
 *     fields: [{id: "reason", name: "...", type: "text", value: "", required: true, options: [...], help: "...",
 *               when: (values) => true}],               // shown only then
 *     preview: async (values) => answer,             // a dry run, shown as it is, or by show(answer)
 *     canTry: (values) => true,                      // whether these values can be tried
 *     run: async (values) => answer,                 // throws a Problem
 *     done: (answer) => "text of the toast", href: "#/jobs" or (answer) => "#/jobs", role: "operator",
 *   })
 */
import { signal } from "@preact/signals";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { html } from "./html.js";
import { t } from "./text.js";
import { newKey, sending } from "./api.js";
import { option } from "./actions/command.js";
import { isKnown, may, me } from "./session.js";
import { CommandLine, Json, Problem } from "./parts.js";

const dialog = signal(null);
const toast = signal(null);

export function act(action) {
  dialog.value = action;
}

export function tell(text, href) {
  const mine = { text, href };
  toast.value = mine;
  setTimeout(() => {
    if (toast.value === mine) toast.value = null;
  }, 12000);
}

/* A button of an action: disabled, with the reason, for who may not or when it is not possible now. */
export function Action({ name, role = "operator", why, primary, danger, small, of }) {
  const allowed = may(role);
  const reason = why ?? (allowed ? undefined : me.value?.read_only ? t("read_only") : t("forbidden.role", { role: t(`role.${role}`) }));
  const open = () => act(typeof of === "function" ? of() : of);
  return html`<button type="button" class="${primary ? "primary" : ""} ${danger ? "danger" : ""} ${small ? "small" : ""}"
    aria-disabled=${reason ? "true" : undefined} title=${reason} onClick=${() => !reason && open()}>${name}</button>`;
}

/* The text of a file goes into the field `into`, where it can be read and changed. */
const FileField = ({ of, common, put }) => {
  const read = async (e) => {
    const file = e.target.files[0];
    if (file) put(of.into, (await file.text()).replace(/^\ufeff/, ""));
  };
  return html`<input type="file" ...${common} accept=${of.accept} onChange=${read} />`;
};

function Field({ of, value, set, put }) {
  const common = { id: `field-${of.id}`, required: of.required, "aria-describedby": of.help ? `help-${of.id}` : undefined };
  const control =
    of.type === "checkbox"
      ? html`<input type="checkbox" ...${common} checked=${value} onChange=${(e) => set(e.target.checked)} />`
      : of.type === "select"
        ? html`<select ...${common} value=${value} onChange=${(e) => set(e.target.value)}>
            ${of.options.map(([v, label]) => html`<option value=${v} selected=${v === value}>${label}</option>`)}</select>`
        : of.type === "textarea"
          ? html`<textarea ...${common} rows=${of.rows ?? 8} spellcheck="false" value=${value} onInput=${(e) => set(e.target.value)}></textarea>`
          : of.type === "file"
            ? html`<${FileField} of=${of} common=${common} put=${put} />`
            : html`<input ...${common} type=${of.type ?? "text"} value=${value} min=${of.min} max=${of.max} autocomplete=${of.autocomplete ?? "off"} onInput=${(e) => set(e.target.value)} />`;
  return html`<div class="field ${of.type === "checkbox" ? "check" : ""}">
    <label for="field-${of.id}">${of.name}</label>${control}
    ${of.help && html`<p class="soft" id="help-${of.id}">${of.help}</p>`}
  </div>`;
}

const commandLine = (of, values, why) => {
  const line = typeof of.line === "function" ? of.line(values) : of.line;
  return line && line + option("why", why);
};

const initial = (action) => Object.fromEntries((action.fields ?? []).map((f) => [f.id, f.value ?? (f.type === "checkbox" ? false : "")]));

function Dialog({ of }) {
  const box = useRef(null);
  const [values, setValues] = useState(() => initial(of));
  const [typed, setTyped] = useState("");
  const [why, setWhy] = useState("");
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState(null);
  const [preview, setPreview] = useState(null);

  // Before anything is painted, so that keys that follow at once go into the dialog.
  useLayoutEffect(() => {
    const before = document.activeElement;
    box.current.showModal();
    return () => before?.focus?.();
  }, []);

  const close = () => (dialog.value = null);
  const put = (id, v) => {
    setValues((before) => ({ ...before, [id]: v }));
    setPreview(null);
  };
  /* The same values again are the same request. */
  const sent = useRef({ values: "", key: "" });
  const keyOf = (v) => {
    const text = JSON.stringify(v);
    if (sent.current.values !== text) sent.current = { values: text, key: newKey() };
    return sent.current.key;
  };
  const attempt = async (what, then) => {
    setBusy(true);
    setProblem(null);
    try {
      then(await what(values));
    } catch (p) {
      if (p.status === undefined) throw p;
      setProblem(p);
    } finally {
      setBusy(false);
    }
  };
  const submit = (e) => {
    e.preventDefault();
    if (busy || (of.typed && typed !== of.typed)) return;
    attempt((v) => sending({ key: keyOf([v, reason]), why: reason }, () => of.run(v)), (answer) => {
      if (dialog.value === of) close();
      tell(of.done ? of.done(answer) : t("action.done"), typeof of.href === "function" ? of.href(answer) : of.href);
      of.after?.(answer);
    });
  };
  const asksWhy = of.typed || (typeof of.asksWhy === "function" ? of.asksWhy(values) : of.asksWhy);
  const reason = asksWhy ? why : "";
  const line = commandLine(of, values, reason);
  return html`<dialog ref=${box} aria-labelledby="dialog-title" onCancel=${(e) => (busy ? e.preventDefault() : close())} onClose=${() => dialog.value === of && close()}>
    <form method="dialog" onSubmit=${submit}>
      <h2 id="dialog-title">${of.title}</h2>
      ${of.does && html`<p>${of.does}</p>`}
      ${of.doesNot && html`<p class="soft">${of.doesNot}</p>`}
      ${(of.fields ?? []).filter((f) => !f.when || f.when(values)).map(
        (f) => html`<${Field} of=${f} value=${values[f.id]} set=${(v) => put(f.id, v)} put=${put} />`,
      )}
      ${asksWhy && html`<${Field} of=${{ id: "why", name: t("action.why") }} value=${why} set=${setWhy} />`}
      ${of.typed &&
      html`<div class="field"><label for="typed">${t("action.type_name", { name: of.typed })}</label>
        <input id="typed" autocomplete="off" value=${typed} onInput=${(e) => setTyped(e.target.value)} /></div>`}
      ${line && html`<${CommandLine} line=${line} />`}
      ${preview && html`<div class="preview"><h3>${t("action.preview")}</h3>${of.show ? of.show(preview) : html`<${Json} of=${preview} />`}</div>`}
      ${problem && html`<${Problem} of=${problem} />`}
      <p class="row end">
        <button type="button" disabled=${busy} onClick=${close}>${t("cancel")}</button>
        ${of.preview && (!of.canTry || of.canTry(values)) && html`<button type="button" disabled=${busy} onClick=${() => attempt(of.preview, setPreview)}>${t("action.try")}</button>`}
        <button type="submit" class=${of.danger ? "danger" : "primary"} disabled=${busy || (of.typed && typed !== of.typed)}>
          ${busy ? t("action.busy") : (of.button ?? of.title)}</button>
      </p>
    </form>
  </dialog>`;
}

export function Dialogs() {
  if (!isKnown()) return null;
  return html`${dialog.value && html`<${Dialog} of=${dialog.value} key=${dialog.value} />`}
    <div role="status" class="toast ${toast.value ? "shown" : ""}">
      ${toast.value && html`<span>${toast.value.text}</span>${toast.value.href && html` <a href=${toast.value.href}>${t("open")}</a>`}
        <button type="button" class="small" onClick=${() => (toast.value = null)} aria-label=${t("close")}>×</button>`}
    </div>`;
}
