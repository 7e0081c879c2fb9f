// Runs side by side: what differs in their arguments and sources, and what they logged. The address says which and how.
// @ts-check
import { h } from "./dom.js";
import { read } from "./feed.js";
import { colourOf, numberText } from "./format.js";
import { pager } from "./pager.js";

/**
 * @typedef {import("./feed.js").Run} Run
 * What /data/runs/ID/summary gives.
 * @typedef {{names: {name: string, last: number | string | null, min: number | null, max: number | null}[],
 *   sources: {path: string, digest: string}[], args: Record<string, string>}} Summary
 * @typedef {{key: string, label: string, number: boolean, differs: boolean, of: (run: Run) => string | number | null}} Column
 */

// Columns that are drawn at a time, and arguments that are listed as the same in all.
const pageSize = 50;
const mostSame = 100;

const kinds = /** @type {const} */ (["last", "min", "max"]);
const labels = { last: "last value", min: "lowest value", max: "highest value" };

/**
 * Numbers by value, and in front of texts; what is missing comes last.
 * @param {string | number | null} a
 * @param {string | number | null} b
 * @param {boolean} isDown
 */
function order(a, b, isDown) {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  const [x, y] = [Number(a), Number(b)];
  const isLess = Number.isNaN(x) || Number.isNaN(y) ? String(a) < String(b) : x < y;
  const isSame = Number.isNaN(x) || Number.isNaN(y) ? String(a) === String(b) : x === y;
  return isSame ? 0 : isLess === isDown ? 1 : -1;
}

/** @param {(string | number | null)[]} values */
const differ = (values) => new Set(values).size > 1;

/** @param {Summary} summary */
const sourcesKey = (summary) => summary.sources.map((one) => `${one.path.split("/").pop()} ${one.digest}`).sort().join("\n");

/** @param {URLSearchParams} query */
export function compareView(query) {
  const ids = (query.get("runs") ?? "").split(",").filter(Boolean);
  let sortKey = query.get("sort") ?? "";
  let isDown = query.get("order") === "down";
  let kind = kinds.find((one) => one === query.get("value")) ?? "last";
  let words = query.get("find") ?? "";
  const pages = pager(pageSize, query, () => { note(); draw(); });
  /** @type {Map<string, Summary>} */
  const summaries = new Map();
  /** @type {Set<string>} */
  const stale = new Set(ids);
  /** @type {Map<string, string>} */
  const problems = new Map();
  /** @type {import("./feed.js").State | undefined} */
  let state;
  let isLoading = false;
  let isLeft = false;

  const status = h("span.quiet", { role: "status" });
  const choice = /** @type {HTMLSelectElement} */ (h("select", { change: () => { kind = kinds.find((one) => one === choice.value) ?? "last"; note(); draw(); } },
    kinds.map((one) => h("option", { value: one, selected: one === kind }, labels[one]))));
  const charts = h("a", { href: `/run/${encodeURIComponent(ids[0] ?? "")}?with=${ids.slice(1).map(encodeURIComponent).join(",")}` }, "their charts");
  const search = /** @type {HTMLInputElement} */ (h("input", { type: "search", value: words, "aria-label": "Search columns",
    placeholder: "argument or name", input: () => { words = search.value; pages.first(); note(); draw(); } }));
  const count = h("span.quiet", { role: "status" });
  const find = h("div.tools", null, search, count, pages.element);
  const place = h("div.scroll", { tabindex: 0, role: "region", "aria-label": "Runs compared" });
  const same = h("p.quiet");
  const element = h("div", null, h("h1", null, "Runs compared"),
    h("div.tools", null, h("label", null, "of what was logged: ", choice), ids.length > 1 ? charts : null, status), find, place, same);

  function note() {
    const url = new URL(location.href);
    const set = (/** @type {string} */ key, /** @type {string} */ value, /** @type {string} */ usual) =>
      value === usual ? url.searchParams.delete(key) : url.searchParams.set(key, value);
    set("sort", sortKey, "");
    set("order", isDown ? "down" : "up", "up");
    set("value", kind, "last");
    set("find", words, "");
    set("page", pages.number(), "1");
    history.replaceState(null, "", url);
  }

  /** The list of runs has no more arguments than fit into a line. */
  const argsOf = (/** @type {Run} */ run) => summaries.get(run.id)?.args ?? run.args ?? {};

  /** @param {Run[]} runs @returns {Column[]} */
  function columnsOf(runs) {
    const names = (/** @type {string[][]} */ lists) => [...new Set(lists.flat())];
    const args = names(runs.map((run) => Object.keys(argsOf(run)))).map((name) => {
      const of = (/** @type {Run} */ run) => argsOf(run)[name] ?? null;
      return { key: `arg ${name}`, label: name, number: runs.every((run) => !Number.isNaN(Number(of(run) ?? 0))), differs: differ(runs.map(of)), of };
    });
    // Sources that are the same have the same letter.
    const versions = names([runs.flatMap((run) => (summaries.has(run.id) ? [sourcesKey(/** @type {Summary} */ (summaries.get(run.id)))] : []))]);
    const version = (/** @type {Run} */ run) => {
      const summary = summaries.get(run.id);
      return summary ? `version ${versions.indexOf(sourcesKey(summary)) + 1}` : null;
    };
    const sources = { key: "sources", label: "Sources", number: false, differs: versions.length > 1, of: version };
    const logged = names(runs.map((run) => (summaries.get(run.id)?.names ?? []).map((one) => one.name))).map((name) => ({
      key: `name ${name}`, label: name, number: true, differs: false,
      of: (/** @type {Run} */ run) => summaries.get(run.id)?.names.find((one) => one.name === name)?.[kind] ?? null,
    }));
    const status = { key: "status", label: "Status", number: false, differs: false, of: (/** @type {Run} */ run) => run.status };
    return [status, ...(sources.differs ? [sources] : []), ...args.filter((one) => one.differs), ...logged];
  }

  /**
   * The columns of this page, of those that are searched for.
   * @param {Column[]} columns
   */
  function shownOf(columns) {
    const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
    const found = columns.filter((column) => wanted.every((word) => column.label.toLowerCase().includes(word)));
    const { shown, text } = pages.of(found);
    find.hidden = columns.length <= pageSize && words === "";
    count.textContent = found.length === 0 ? "No column fits." : `columns ${text}` +
      (found.length < columns.length ? ` that fit, ${columns.length} in all` : "");
    return shown;
  }

  /** @param {Column} column */
  function head(column) {
    const sorted = column.key === sortKey ? (isDown ? "descending" : "ascending") : null;
    return h(column.number ? "th.number" : "th", { scope: "col", "aria-sort": sorted, class: column.differs ? "differs" : "" },
      h("button", { type: "button", click: () => {
        isDown = column.key === sortKey ? !isDown : false;
        sortKey = column.key;
        note();
        draw();
      } }, column.label));
  }

  function draw() {
    if (!state) return;
    const all = state.runs;
    const runs = ids.flatMap((id) => all.get(id) ?? []);
    const columns = columnsOf(runs);
    const by = columns.find((column) => column.key === sortKey);
    if (by) runs.sort((a, b) => order(by.of(a), by.of(b), isDown));
    const shown = shownOf(columns);
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    const focused = place.contains(document.activeElement) ? document.activeElement?.textContent : null;
    place.replaceChildren(h("table", null,
      h("thead", null, h("tr", null, h("th", { scope: "col" }, "Run"), shown.map(head))),
      h("tbody", null, runs.map((run) => h("tr", null,
        h("th", { scope: "row" }, h("span.dot", { style: { background: colourOf(run.id, dark) }, "aria-hidden": "true" }),
          h("a", { href: `/run/${encodeURIComponent(run.id)}` }, run.name || run.id)),
        shown.map((column) => {
          const value = column.of(run);
          return h(column.number ? "td.number" : "td", { class: column.differs ? "differs" : "" },
            value === null ? "–" : typeof value === "number" ? numberText(value) : value);
        }))))));
    if (focused) [...place.querySelectorAll("button")].find((button) => button.textContent === focused)?.focus();
    const equal = runs.length === 0 ? [] : Object.entries(argsOf(runs[0])).filter(([name, value]) => runs.every((run) => argsOf(run)[name] === value));
    same.textContent = equal.length === 0 ? "" :
      `The same in all: ${equal.slice(0, mostSame).map(([name, value]) => `${name}=${value}`).join(", ")}` +
      (equal.length > mostSame ? `, and ${equal.length - mostSame} more` : "");
    const gone = ids.length - runs.length;
    status.textContent = [stale.size > 0 ? `loaded ${ids.length - stale.size} of ${ids.length}` : "",
      gone > 0 ? `${gone} of ${ids.length} are not in this store` : "", ...problems.values()].filter(Boolean).join("; ");
  }

  async function load() {
    if (isLoading) return;
    isLoading = true;
    for (let id = [...stale][0]; id !== undefined && !isLeft; id = [...stale][0]) {
      stale.delete(id);
      problems.delete(id);
      if (!state?.runs.has(id)) continue;
      try {
        summaries.set(id, await read(`/data/runs/${encodeURIComponent(id)}/summary`));
      } catch (problem) {
        problems.set(id, `${id}: ${problem instanceof Error ? problem.message : problem}`);
      }
      if (!isLeft) draw();
    }
    isLoading = false;
  }

  return {
    element,
    update(/** @type {import("./feed.js").State} */ now, /** @type {Set<string>} */ changed) {
      state = now;
      for (const id of ids) if (changed.has(id)) stale.add(id);
      draw();
      load();
    },
    end() { isLeft = true; },
  };
}
