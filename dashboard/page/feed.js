// The list of runs, kept up to date by the server's events.
// @ts-check

/**
 * One line of the list of runs (docs/dashboard.md).
 * @typedef {{id: string, name: string, status: string, started: number, finished: number | null, user: string,
 *   host: string, job: string, command: string[], args: Record<string, string>, loop: string, done: number,
 *   of: number, seconds: number, epsilon: number, checkpoints: number, bytes: number, replays: number,
 *   warnings: number, values: Record<string, number | string>, problem?: string}} Run
 */

/**
 * @typedef {{store: string, runs: Map<string, Run>, isLive: boolean, isLoaded: boolean}} State
 * @param {(state: State, changed: Set<string>) => void} onChange `changed`: ids of runs
 */
export function follow(onChange) {
  /** @type {State} */
  const state = { store: "", runs: new Map(), isLive: false, isLoaded: false };
  const source = new EventSource("/events");
  source.addEventListener("open", () => {
    state.isLive = true;
    onChange(state, new Set());
  });
  // The browser connects again by itself, and says which event it saw last.
  source.addEventListener("error", () => {
    state.isLive = false;
    onChange(state, new Set());
  });
  source.addEventListener("snapshot", (event) => {
    const data = JSON.parse(event.data);
    const before = new Set(state.runs.keys());
    state.store = data.store;
    state.runs = new Map(data.runs.map((/** @type {Run} */ run) => [run.id, run]));
    state.isLoaded = true;
    onChange(state, new Set([...before, ...state.runs.keys()]));
  });
  source.addEventListener("change", (event) => {
    const data = JSON.parse(event.data);
    for (const run of data.changed) state.runs.set(run.id, run);
    for (const id of data.removed) state.runs.delete(id);
    onChange(state, new Set([...data.removed, ...data.changed.map((/** @type {Run} */ run) => run.id)]));
  });
}

/**
 * Reads data of the server.
 * @param {string} path
 */
export async function read(path) {
  const response = await fetch(path);
  if (!response.ok) throw new Error((await response.text()).trim() || `the server answers ${response.status}`);
  return response.json();
}
