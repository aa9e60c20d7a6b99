/*
 * The state of the daemon, live.  One tab holds the stream of events (Web Locks) and tells the others
 * (BroadcastChannel), as browsers open only six connections to a host; a hidden tab holds none.
 * Where there is no stream, the state is asked every five seconds.
 */
import { signal, effect } from "@preact/signals";
import { askWho, isKnown, me } from "./session.js";
import { get } from "./api.js";

/* The millrace/status/1 object, or null until it is known. */
export const status = signal(null);
/* When the daemon said so, by this machine's clock; the frame shows its age. */
export const seen = signal(0);
/* "connecting", "live", "asking" (no stream: every few seconds), "lost". */
export const line = signal("connecting");
/* Somebody reads and wants nothing to move. */
export const paused = signal(false);
/* Changes with each state, at most once in two seconds: lists ask again. */
export const tick = signal(0);

const POLL_MS = 5000;
const POLLS = 12;
const TICK_MS = 2000;
const SILENCE_MS = 14000; /* the daemon sends a ping each 5 s */
const others = new BroadcastChannel("millrace");
let last = null;
let ticked = 0;
let tickLater = 0;

function showTick() {
  tickLater = 0;
  ticked = performance.now();
  tick.value++;
}

function take(object, from, at = Date.now()) {
  last = { object, at };
  line.value = from;
  if (paused.value) return;
  seen.value = at;
  status.value = object;
  if (!tickLater) tickLater = setTimeout(showTick, Math.max(0, ticked + TICK_MS - performance.now()));
}

effect(() => {
  if (!paused.value && last && last.object !== status.peek()) take(last.object, line.peek(), last.at);
});

/* Nothing of what one user saw stays for the next one. */
effect(() => {
  if (me.value?.who) return;
  last = null;
  status.value = null;
  seen.value = 0;
});

function lose() {
  line.value = "lost";
  others.postMessage({ from: "lost" });
}

/* Ask so often instead; then the stream is tried again. */
async function poll(until, times) {
  for (let i = 0; i < times && !until.aborted; i++) {
    try {
      const object = await get("status", { signal: until });
      take(object, "asking");
      others.postMessage({ status: object, from: "asking", at: Date.now() });
    } catch (e) {
      if (until.aborted) return;
      if (e.status === 401 || e.status === 403) return;
      lose();
    }
    await new Promise((done) => {
      const timer = setTimeout(done, POLL_MS);
      until.addEventListener("abort", () => (clearTimeout(timer), done()), { once: true });
    });
  }
}

/*
 * Read the stream until it ends.  A daemon that is frozen, or a network that swallows everything, closes
 * nothing: whoever hears no message and no ping for long takes the stream for lost.
 */
function listen(until) {
  return new Promise((done) => {
    const source = new EventSource("api/v1/events");
    let heard = performance.now();
    const end = (why) => {
      clearInterval(watch);
      source.close();
      done(why);
    };
    const watch = setInterval(() => {
      if (performance.now() - heard < SILENCE_MS) return;
      lose();
      end("silent");
    }, 1000);
    const alive = () => {
      heard = performance.now();
      if (!last) return;
      line.value = "live";
      if (!paused.value) seen.value = Date.now();
      others.postMessage({ from: "live" });
    };
    source.onopen = alive;
    source.addEventListener("ping", alive);
    source.addEventListener("status", (e) => {
      heard = performance.now();
      const object = JSON.parse(e.data);
      take(object, "live");
      others.postMessage({ status: object, from: "live", at: Date.now() });
    });
    source.onerror = () => {
      lose();
      if (source.readyState === EventSource.CLOSED) end("refused"); /* else it connects again by itself */
    };
    until.addEventListener("abort", () => end("aborted"), { once: true });
  });
}

/* Hold the stream until it must be given up. */
async function hold(until) {
  while (!until.aborted) {
    if ((await listen(until)) !== "refused") continue;
    await askWho();
    if (!isKnown()) return;
    await poll(until, until.aborted ? 0 : POLLS);
  }
}

others.onmessage = ({ data }) => {
  if (data.ask) {
    if (last && holds) others.postMessage({ status: last.object, from: line.value, at: last.at });
  } else if (data.who !== undefined) {
    if (data.who !== (me.value?.who ?? "")) askWho();
  } else if (data.status) take(data.status, data.from, data.at);
  else line.value = data.from;
};

let holds = false;
let ends = null;

function start() {
  if (ends || document.hidden || !isKnown()) return;
  ends = new AbortController();
  const until = ends.signal;
  others.postMessage({ ask: true });
  if (!navigator.locks) {
    /* Plain HTTP from another machine has no locks: each tab holds its own stream. */
    hold(until);
    return;
  }
  navigator.locks
    .request("millrace-stream", { signal: until }, async () => {
      holds = true;
      await hold(until);
      holds = false;
    })
    .catch(() => {});
}

function stop() {
  ends?.abort();
  ends = null;
}

export function begin() {
  document.addEventListener("visibilitychange", () => (document.hidden ? stop() : start()));
  effect(() => {
    others.postMessage({ who: me.value?.who ?? "" });
    if (me.value && isKnown()) start();
    else stop();
  });
}
