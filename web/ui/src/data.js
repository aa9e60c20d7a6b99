/*
 * What a screen has asked the daemon for: {data, problem, at, again}.  The data stays when asking
 * again fails, with its age; the first failure shows the problem instead.
 */
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { ask } from "./api.js";
import { hasRole } from "./session.js";
import { tick } from "./stream.js";

const NOTHING = { data: null, problem: null, at: 0, etag: null, busy: true };

/*
 * `path` null asks nothing, nor does one that needs a higher `role` than the caller has.  With `live`, it
 * is asked again when the state of the daemon changes.
 */
export function useData(wanted, { live = true, role = "viewer" } = {}) {
  const path = hasRole(role) ? wanted : null;
  const [state, setState] = useState(NOTHING);
  const running = useRef(null);

  const load = useCallback(
    async (fresh) => {
      running.current?.abort();
      const mine = new AbortController();
      running.current = mine;
      if (fresh) setState(NOTHING);
      try {
        const { data, etag } = await ask("GET", path, undefined, { signal: mine.signal });
        setState({ data, etag, problem: null, at: performance.now(), busy: false });
      } catch (problem) {
        if (!mine.signal.aborted) setState((before) => ({ ...before, problem, busy: false }));
      } finally {
        if (running.current === mine) running.current = null;
      }
    },
    [path],
  );

  useEffect(() => {
    if (path === null) return undefined;
    load(true);
    const stop = live ? tick.subscribe(skipFirst(() => !document.hidden && !running.current && load(false))) : () => {};
    return () => {
      stop();
      running.current?.abort();
    };
  }, [path, live, load]);
  return { ...state, again: () => load(false) };
}

/* A subscription tells at once what is; only what comes later is news. */
function skipFirst(then) {
  let first = true;
  return () => {
    if (first) first = false;
    else then();
  };
}
