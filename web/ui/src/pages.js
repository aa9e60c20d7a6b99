/*
 * A list that comes in pages: the first one live, as useData() has it, and those that somebody asked for
 * after it.  An item that is on two pages, as the list has moved, is shown once.
 */
import { useState } from "preact/hooks";
import { get } from "./api.js";
import { useData } from "./data.js";
import { tell } from "./action.js";
import { problemText } from "./parts.js";

const afterOf = (page) => page.next ?? page.more_after;

/* {data, items, next, ...}: next() fetches one more page, and is null at the end. */
export function usePages(path, idOf, options) {
  const of = useData(path, options);
  const [more, setMore] = useState({ path, items: [], after: undefined });
  const mine = more.path === path ? more : { path, items: [], after: undefined };
  const first = of.data?.items ?? [];
  const after = mine.items.length ? mine.after : of.data && afterOf(of.data);
  const known = new Set(first.map(idOf));
  const next = async () => {
    try {
      const page = await get(`${path}&after=${encodeURIComponent(after)}`);
      setMore({ path, items: [...mine.items, ...page.items], after: afterOf(page) });
    } catch (p) {
      tell(problemText(p));
    }
  };
  return { ...of, items: [...first, ...mine.items.filter((x) => !known.has(idOf(x)))], next: after ? next : null };
}
