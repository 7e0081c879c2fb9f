// Begins the page: which view is shown, and what is live.
// @ts-check
import { arrayView } from "./array_view.js";
import { compareView } from "./compare_view.js";
import { follow, report } from "./feed.js";
import { replayView } from "./replay_view.js";
import { runView } from "./run_view.js";
import { runsView } from "./runs_view.js";

/**
 * @typedef {import("./feed.js").State} State
 * A view draws itself into `element`, and again when `update` is called. `end` is called when it is left.
 * @typedef {{element: HTMLElement, update: (state: State, changed: Set<string>) => void, end?: () => void}} View
 */

const place = /** @type {HTMLElement} */ (document.getElementById("view"));
/** @type {State | undefined} */
let last;
let view = show();

/** In a report the address after the # leads to a view. */
function here() {
  if (!report) return new URL(location.href);
  return new URL(location.hash.startsWith("#/") ? location.hash.slice(1) : report.view, "http://report");
}

/** @returns {View} */
function viewOf(/** @type {URL} */ url) {
  const parts = url.pathname.split("/").filter(Boolean).map(decodeURIComponent);
  if (parts[0] === "run" && parts[2] === "replay" && parts[3]) return replayView(parts[1], parts[3]);
  if (parts[0] === "run" && parts[1]) return runView(parts[1], url.searchParams);
  if (parts[0] === "array" && parts[1]) return arrayView(parts[1], url.searchParams);
  if (parts[0] === "compare") return compareView(url.searchParams);
  return runsView(url.searchParams);
}

function show() {
  const shown = viewOf(here());
  place.replaceChildren(shown.element);
  if (last?.isLoaded) shown.update(last, new Set(last.runs.keys()));
  return shown;
}

function leave() {
  shownAt = here().href;
  view.end?.();
  view = show();
}

// Links inside the page change the view, and nothing is loaded anew.
document.addEventListener("click", (event) => {
  const target = event.target instanceof Element ? event.target.closest("a") : null;
  if (!target || target.origin !== location.origin || target.hash || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  const address = target.getAttribute("href") ?? "";
  history.pushState(null, "", report ? `#${address === "/" ? report.view : address}` : address);
  leave();
  window.scrollTo(0, 0);
  place.focus();
});
let shownAt = here().href;
window.addEventListener("popstate", () => {
  if (here().href !== shownAt) leave();
});

follow((state, changed) => {
  last = state;
  const connection = /** @type {HTMLElement} */ (document.getElementById("connection"));
  const text = state.isLive ? "live" : state.problem || "no connection, trying again…";
  if (connection.textContent !== text) connection.textContent = text;
  connection.classList.toggle("live", state.isLive);
  const store = document.getElementById("store");
  if (store && store.textContent !== state.store) store.textContent = state.store;
  if (state.isLoaded) view.update(state, changed);
});
