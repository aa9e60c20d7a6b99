/* Words of the IK analyzer: the lists, what is published, who has pulled it, and what an analyzer makes of a text. */
import { useState } from "preact/hooks";
import { html } from "../html.js";
import { t } from "../text.js";
import { link, route, setQuery } from "../route.js";
import { path, post } from "../api.js";
import { useData } from "../data.js";
import { usePages } from "../pages.js";
import { number } from "../format.js";
import { Ago, Empty, Heading, Loaded, Problem, State, Tabs } from "../parts.js";
import { Action } from "../action.js";
import { buildAction } from "../actions/index.js";
import { addWords, deleteWord, importWords, publishAll, publishWord, setWord } from "../actions/words.js";
import { Filters, Table } from "../table.js";

const LISTS = ["ext", "stop"];

const COLUMNS = (list, again) => [
  { id: "word", name: t("word.word"), value: (x) => x.word, cell: (x) => html`<span class="name">${x.word}</span>` },
  { id: "state", name: t("column.state"), value: (x) => x.state, cell: (x) => html`<${State} of=${x.state} word=${t(`word.state.${x.state}`)} />` },
  { id: "added", name: t("word.added"), value: (x) => x.added, cell: (x) => html`<${Ago} at=${x.added} />` },
  { id: "published", name: t("word.published"), value: (x) => x.published, cell: (x) => html`<${Ago} at=${x.published} />` },
  {
    id: "do",
    name: t("database.operations"),
    cell: (x) => html`<span class="row">
      ${x.state === "init" && html`<${Action} name=${t("word.publish")} small of=${() => publishWord(list, x.word, again)} /><${Action} name=${t("source.edit")} small of=${() => setWord(list, x.word, again)} />`}
      <${Action} name=${t("account.delete")} small danger of=${() => deleteWord(list, x.word, again)} /></span>`,
  },
];

function WordList({ list }) {
  const q = route.value.query;
  const of = usePages(path(["words"], { list, state: q.state, part: q.find, limit: 500 }), (x) => x.word);
  return html`<${Filters} of=${[
      { id: "find", name: t("filter.find") },
      { id: "state", name: t("column.state"), options: ["init", "published"].map((s) => [s, t(`word.state.${s}`)]) },
    ]} />
    <p class="row"><${Action} name=${t("word.add")} primary of=${() => addWords(list, of.again)} /><${Action} name=${t("word.publish_all")} of=${() => publishAll(list, of.again)} />
      <${Action} name=${t("word.import")} of=${() => importWords(list, of.again)} /><a href=${`api/v1/${path(["words", "export"], { list })}`} download=${`millrace-${list}.txt`}>${t("word.export")}</a></p>
    <${Loaded} of=${of} show=${() => html`
      <${Table} caption=${t(`word.list.${list}`)} columns=${COLUMNS(list, of.again)} rows=${of.items} id=${(x) => x.word}
        empty=${html`<${Empty} text=${q.find || q.state ? t("nothing_found") : t("word.empty")} line=${`millrace word add WORD --list ${list} --publish`} />`} />
      ${of.next && html`<p><button type="button" onClick=${of.next}>${t("letters.more")}</button></p>`}`} />`;
}

function Pulls() {
  const of = useData("words/status");
  return html`<${Loaded} of=${of} show=${(data) => html`
    <${Table} caption=${t("word.lists")} address=${false} rows=${data.lists} id=${(x) => x.list} columns=${[
      { id: "list", name: t("word.list"), value: (x) => t(`word.list.${x.list}`) },
      { id: "published", name: t("word.state.published"), value: (x) => x.published, cell: (x) => number(x.published), number: true },
      { id: "init", name: t("word.state.init"), value: (x) => x.init, cell: (x) => number(x.init), number: true },
      { id: "changed", name: t("word.changed"), value: (x) => x.changed, cell: (x) => html`<${Ago} at=${x.changed} />` },
    ]} />
    <${Table} caption=${t("word.pulled_by")} address=${false} rows=${data.pulls} id=${(x) => x.list + x.address} empty=${html`<p>${t("word.nobody")}</p>`} columns=${[
      { id: "address", name: t("delivery.address"), value: (x) => x.address },
      { id: "list", name: t("word.list"), value: (x) => t(`word.list.${x.list}`) },
      { id: "state", name: t("column.state"), value: (x) => x.current, cell: (x) => html`<${State} of=${x.current ? "ok" : "warn"} word=${x.current ? t("word.current") : t("word.older")} />` },
      { id: "asked", name: t("word.asked"), value: (x) => x.asked, cell: (x) => html`<${Ago} at=${x.asked} />` },
      { id: "pulled", name: t("word.pulled"), value: (x) => x.pulled, cell: (x) => html`<${Ago} at=${x.pulled} />` },
    ]} />
    <h2>${t("word.tables")}</h2>
    ${data.tables.length === 0 ? html`<p>${t("word.no_tables")}</p>` : html`<ul class="checks">${data.tables.map(
      (x) => html`<li><a href=${link(["tables", x.table])}>${x.table}</a> ${x.older_than_words ? html`<${State} of="warn" word=${t("word.older_text")} /> <${Action} name=${t("build.create")} small of=${() => buildAction(x)} />` : html`<${State} of="ok" />`}</li>`,
    )}</ul>`}`} />`;
}

function Try() {
  const q = route.value.query;
  const [text, setText] = useState(q.text ?? "");
  const [answers, setAnswers] = useState(null);
  const [problem, setProblem] = useState(null);
  const submit = async (e) => {
    e.preventDefault();
    setQuery({ text });
    setProblem(null);
    try {
      setAnswers(await Promise.all(["ik_smart", "ik_max_word"].map((analyzer) => post("words/try", { text, analyzer }))));
    } catch (p) {
      setAnswers(null);
      setProblem(p);
    }
  };
  return html`<form class="filters" onSubmit=${submit}><label>${t("word.text")} <input required size="40" value=${text} onInput=${(e) => setText(e.target.value)} /></label>
      <button type="submit" class="primary">${t("word.try")}</button></form>
    ${problem && html`<${Problem} of=${problem} />`}
    ${(answers ?? []).map((a) => html`<p><strong>${a.analyzer}</strong>: ${a.tokens.map((x, i) => html`${i ? " | " : ""}<code>${x.token}</code>`)}</p>`)}`;
}

const SHOW = { ext: () => html`<${WordList} list="ext" key="ext" />`, stop: () => html`<${WordList} list="stop" key="stop" />`, pulls: Pulls, try: Try };

export function Words() {
  const tab = SHOW[route.value.query.tab] ? route.value.query.tab : LISTS[0];
  return html`<${Heading} title=${t("nav.words")} />
    <${Tabs} of=${Object.keys(SHOW).map((id) => [id, t(`word.tab.${id}`)])} now=${tab} to=${(id) => link(["words"], { tab: id })} />
    <${SHOW[tab]} />`;
}
