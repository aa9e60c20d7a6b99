/*
 * The texts of the page in the viewer's language, and its plurals.
 *
 * t("lag.of", {topic: "shop"}) fills {topic}.  A text with forms is an object by Intl.PluralRules,
 * chosen by the value `n`: {"one": "{n} row", "other": "{n} rows"}.
 */
import { signal } from "@preact/signals";
import { keep, kept } from "./kept.js";

/* global __TEXTS__ */
export const LANGUAGES = { en: "English", zh: "中文", ru: "Русский" };

export const language = signal("en");
const texts = signal({});

function wanted() {
  const all = [kept("language", ""), ...navigator.languages.map((l) => l.slice(0, 2))];
  return all.find((l) => l in LANGUAGES) ?? "en";
}

export async function loadTexts(name = wanted()) {
  const response = await fetch(__TEXTS__[name]);
  texts.value = await response.json();
  language.value = name;
  document.documentElement.lang = name === "zh" ? "zh-CN" : name;
}

export async function setLanguage(name) {
  await loadTexts(name);
  keep("language", name);
}

/* Made once for a language, as making them is dear. */
const perLanguage = (make) => {
  let made = null;
  let of = "";
  return () => {
    if (of !== language.value) made = make((of = language.value));
    return made;
  };
};
const plurals = perLanguage((name) => new Intl.PluralRules(name));
const numbers = perLanguage((name) => new Intl.NumberFormat(name));

export const has = (id) => id in texts.value;

export function t(id, values = {}) {
  let text = texts.value[id];
  if (text === undefined) return id;
  if (typeof text === "object") {
    const form = plurals().select(Number(values.n ?? 0));
    text = text[form] ?? text.other;
  }
  return text.replace(/\{(\w+)\}/g, (_, name) => {
    const v = values[name];
    return typeof v === "number" ? numbers().format(v) : (v ?? "");
  });
}
