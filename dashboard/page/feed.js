// Reads the server: its data, and the list of runs, which its events keep up to date.
// @ts-check
import { timeText } from "./format.js";

/**
 * One line of the list of runs (docs/dashboard.md).
 * @typedef {{id: string, name: string, status: string, started: number, finished: number | null, user: string,
 *   host: string, job: string, array: string, task: number, command: string[], args: Record<string, string>, loop: string, done: number,
 *   of: number, seconds: number, overhead: number | null, epsilon: number, every: number, checkpoints: number, bytes: number, replays: number,
 *   warnings: number, values: Record<string, number | string>, problem?: string}} Run
 */

const key = "flor-token";
// Milliseconds before another try, doubled each time up to the longest.
const firstPause = 500;
const longestPause = 8000;

// The link's token is kept where this server's pages alone can read it, and leaves the address.
const given = new URLSearchParams(location.hash.slice(1)).get("token");
if (given) {
  localStorage.setItem(key, given);
  history.replaceState(null, "", location.pathname + location.search);
}

/**
 * What stands in a report instead of a server: the answers by address, and which view is shown first.
 * @type {{view: string, made: number, notes: string[], snapshot: {store: string, runs: Run[]}, answers: Record<string, any>} | null}
 */
export const report = JSON.parse(document.getElementById("report")?.textContent ?? "null");

class Refused extends Error {}

/**
 * What a report has at this address. Of a chart it has one series, of which a part may be asked for.
 * @param {string} address
 */
function kept(address) {
  const { pathname, searchParams } = new URL(address, "http://report");
  const name = searchParams.get("name");
  const row = searchParams.get("row");
  const answer = report?.answers[decodeURIComponent(pathname) + (name === null ? "" : `?${name}`) + (row === null ? "" : `&${row}`)];
  if (!answer) throw new Error("this report does not have it; flor serve shows it");
  if (name === null || !searchParams.has("from")) return answer;
  const [from, to] = [Number(searchParams.get("from")), Number(searchParams.get("to"))];
  const isIn = answer.x.map((/** @type {number} */ x) => from <= x && x <= to);
  const part = (/** @type {any[]} */ all) => all.filter((_, i) => isIn[i]);
  return { ...answer, x: part(answer.x), y: part(answer.y), of: part(answer.x).length };
}

/**
 * @param {string} path
 * @param {RequestInit & {headers?: Record<string, string>}} [options]
 */
async function ask(path, options = {}) {
  const headers = { ...options.headers, Authorization: `Bearer ${localStorage.getItem(key) ?? ""}` };
  const response = await fetch(path, { ...options, headers });
  if (!response.ok) {
    const text = (await response.text()).trim() || `the server answers ${response.status}`;
    throw response.status === 401 ? new Refused(text) : new Error(text);
  }
  return response;
}

/**
 * Reads data of the server.
 * @param {string} path
 */
export const read = async (path) => (report ? kept(path) : (await ask(path)).json());

/**
 * Returns a function that does the work, and does it once more where it is called meanwhile: what it has read by then
 * may be old. The work must not throw.
 * @param {() => Promise<void>} work
 */
export function repeating(work) {
  let isRunning = false;
  let isStale = false;
  return async () => {
    isStale = true;
    if (isRunning) return;
    isRunning = true;
    while (isStale) {
      isStale = false;
      await work();
    }
    isRunning = false;
  };
}

/**
 * Server-sent events, read by fetch(), which can send the token in a header.
 * @param {ReadableStream<Uint8Array>} body
 * @param {(kind: string, id: string, data: string) => void} take
 */
async function takeEvents(body, take) {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    text += decoder.decode(value, { stream: true });
    let end = text.indexOf("\n\n");
    for (; end >= 0; end = text.indexOf("\n\n")) {
      /** @type {Record<string, string>} */
      const fields = {};
      for (const line of text.slice(0, end).split("\n")) {
        const colon = line.indexOf(": ");
        if (colon > 0) fields[line.slice(0, colon)] = line.slice(colon + 2);
      }
      text = text.slice(end + 2);
      if (fields.event) take(fields.event, fields.id, fields.data);
    }
  }
}

/**
 * @typedef {{store: string, runs: Map<string, Run>, isLive: boolean, isLoaded: boolean, problem: string}} State
 * @param {(state: State, changed: Set<string>) => void} onChange `changed`: ids of runs
 */
export async function follow(onChange) {
  /** @type {State} */
  const state = { store: "", runs: new Map(), isLive: false, isLoaded: false, problem: "" };
  let lastId = "";
  let pause = firstPause;

  if (report) {
    Object.assign(state, { store: report.snapshot.store, isLoaded: true, problem: [`as of ${timeText(report.made)}`, ...report.notes].join("; ") });
    for (const run of report.snapshot.runs) state.runs.set(run.id, run);
    onChange(state, new Set(state.runs.keys()));
    return;
  }

  function take(/** @type {string} */ kind, /** @type {string} */ id, /** @type {string} */ text) {
    const data = JSON.parse(text);
    const changed = new Set(kind === "snapshot" ? state.runs.keys() : data.removed);
    if (kind === "snapshot") {
      state.store = data.store;
      state.runs.clear();
      state.isLoaded = true;
    }
    for (const gone of data.removed ?? []) state.runs.delete(gone);
    for (const run of data.runs ?? data.changed) {
      state.runs.set(run.id, run);
      changed.add(run.id);
    }
    lastId = id;
    onChange(state, changed);
  }

  for (;;) {
    // Browsers limit the connections to one server to six, so a hidden page closes its own.
    if (document.hidden) await new Promise((go) => document.addEventListener("visibilitychange", go, { once: true }));
    if (document.hidden) continue;
    const leave = new AbortController();
    const onHidden = () => document.hidden && leave.abort();
    document.addEventListener("visibilitychange", onHidden);
    try {
      const response = await ask("/events", { headers: { "Last-Event-ID": lastId }, signal: leave.signal });
      pause = firstPause;
      state.isLive = true;
      state.problem = "";
      onChange(state, new Set());
      if (response.body) await takeEvents(response.body, take);
    } catch (problem) {
      state.problem = problem instanceof Refused ? problem.message : "";
    }
    document.removeEventListener("visibilitychange", onHidden);
    if (document.hidden) continue;
    state.isLive = false;
    onChange(state, new Set());
    await new Promise((go) => setTimeout(go, pause));
    pause = Math.min(pause * 2, longestPause);
  }
}
