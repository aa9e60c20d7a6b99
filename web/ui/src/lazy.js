/*
 * A screen whose code is loaded when somebody first goes there.  If that fails, the daemon is away, or it
 * is newer than the page: loading the page again helps.
 */
import { useEffect, useState } from "preact/hooks";
import { html } from "./html.js";
import { Loaded } from "./parts.js";

export const lazy = (load, name) => {
  let screen = null;
  return function Lazy(props) {
    const [, setReady] = useState(false);
    const [problem, setProblem] = useState(null);
    const fetchIt = () =>
      load().then(
        (module) => {
          screen = module[name];
          setReady(true);
        },
        () => setProblem({ status: 0, code: "no-answer", detail: "", fix: "", errors: [] }),
      );
    useEffect(() => {
      if (!screen) fetchIt();
    }, []);
    if (screen) return html`<${screen} ...${props} />`;
    return html`<${Loaded} of=${{ data: null, problem, again: () => location.reload() }} />`;
  };
};
