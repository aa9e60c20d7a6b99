/* What can be done with words.  New words cut only text that is written from then on. */
import { t } from "../text.js";
import { patch, path, post, remove } from "../api.js";
import { quoted } from "./command.js";

const words = (text) => text.split("\n").map((w) => w.trim()).filter(Boolean);
const changed = (answer) => t("word.done", { added: String(answer.added), published: String(answer.published), deleted: String(answer.deleted) });
const publish = { id: "publish", type: "checkbox" };

export const addWords = (list, after) => ({
  title: t("word.add"),
  does: t("word.add.does"),
  doesNot: t("word.old_text"),
  fields: [
    { id: "words", name: t("word.lines"), type: "textarea", rows: 4, required: true },
    { ...publish, name: t("word.publish_now") },
  ],
  line: (v) => `millrace word add ${words(v.words).map(quoted).join(" ") || "WORD"} --list ${list}${v.publish ? " --publish" : ""}`,
  preview: (v) => post(path(["words"], { dry_run: true }), { list, words: words(v.words), publish: v.publish }),
  run: (v) => post("words", { list, words: words(v.words), publish: v.publish }),
  done: changed,
  after,
});

export const importWords = (list, after) => ({
  title: t("word.import"),
  does: t("word.import.does"),
  doesNot: t("word.old_text"),
  fields: [
    { id: "file", name: t("word.file"), type: "file", into: "text", accept: ".txt,.dic,.csv,text/plain", help: t("word.file.help") },
    { id: "text", name: t("word.lines"), type: "textarea", rows: 12, required: true },
    { ...publish, name: t("word.publish_now") },
  ],
  line: (v) => `millrace word import FILE --list ${list}${v.publish ? " --publish" : ""}`,
  preview: (v) => post(path(["words", "import"], { dry_run: true }), { list, text: v.text, publish: v.publish }),
  run: (v) => post("words/import", { list, text: v.text, publish: v.publish }),
  done: changed,
  after,
});

export const publishWord = (list, word, after) => ({
  title: t("word.publish"),
  does: t("word.publish.does"),
  doesNot: t("word.publish.does_not"),
  line: `millrace word publish ${quoted(word)} --list ${list}`,
  preview: () => post(path(["words", "publish"], { dry_run: true }), { list, words: [word] }),
  run: () => post("words/publish", { list, words: [word] }),
  done: changed,
  after,
});

export const publishAll = (list, after) => ({
  title: t("word.publish_all"),
  does: t("word.publish.does"),
  doesNot: t("word.publish.does_not"),
  line: `millrace word publish --all --list ${list}`,
  preview: () => post(path(["words", "publish"], { dry_run: true }), { list, all: true }),
  run: () => post("words/publish", { list, all: true }),
  done: changed,
  after,
});

export const setWord = (list, word, after) => ({
  title: t("word.set"),
  fields: [{ id: "word", name: t("word.word"), value: word, required: true }],
  line: (v) => `millrace word set ${quoted(word)} ${quoted(v.word)} --list ${list}`,
  preview: (v) => patch(path(["words", list, word], { dry_run: true }), { word: v.word }),
  run: (v) => patch(path(["words", list, word]), { word: v.word }),
  done: () => t("setting.changed"),
  after,
});

export const deleteWord = (list, word, after) => ({
  title: t("word.delete", { word }),
  does: t("word.delete.does"),
  doesNot: t("word.old_text"),
  danger: true,
  typed: word,
  line: `millrace word delete ${quoted(word)} --list ${list}`,
  preview: () => remove(path(["words", list, word], { dry_run: true })),
  run: () => remove(path(["words", list, word])),
  done: changed,
  after,
});
