// The list of runs: search, sort, pages. What is chosen stands in the address, so that it can be shared.
// @ts-check
import { h } from "./dom.js";
import { bytesText, colourOf, numberText, percentText, secondsText, timeText } from "./format.js";
import { pager } from "./pager.js";

/** @typedef {import("./feed.js").Run} Run */

const pageSize = 50;

/** @type {{key: string, label: string, number?: boolean, of: (run: Run) => string | number}[]} */
const columns = [
  { key: "run", label: "Run", of: (run) => run.name || run.id },
  { key: "status", label: "Status", of: (run) => run.status },
  { key: "progress", label: "Progress", of: (run) => (run.of > 0 ? run.done / run.of : run.done) || 0 },
  { key: "left", label: "Time left", number: true, of: (run) => secondsLeft(run) ?? -1 },
  { key: "values", label: "Last values", of: (run) => Object.values(run.values ?? {})[0] ?? "" },
  { key: "checkpoints", label: "Checkpoints", number: true, of: (run) => run.bytes ?? 0 },
  { key: "overhead", label: "Overhead", number: true, of: (run) => run.overhead ?? -1 },
  { key: "replays", label: "Replays", number: true, of: (run) => run.replays ?? 0 },
  { key: "host", label: "Node", of: (run) => run.host ?? "" },
  { key: "job", label: "Job", number: true, of: (run) => Number(run.array || run.job) || run.job || "" },
  { key: "started", label: "Started", of: (run) => run.started ?? 0 },
];

/** @param {Run} run */
export function secondsLeft(run) {
  if (run.status !== "recording" || !(run.done > 0) || !(run.of > run.done)) return null;
  return ((run.of - run.done) * run.seconds) / run.done;
}

/** @param {Run} run */
export function progressOf(run) {
  if (!run.loop) return h("span.quiet", null, "–");
  const text = `${run.done}/${run.of >= 0 ? run.of : "?"}`;
  if (!(run.of > 0)) return h("span", null, text);
  const share = Math.min(1, run.done / run.of);
  return h("span", null,
    h("span.progress", { role: "progressbar", "aria-label": `iterations of ${run.loop}`, "aria-valuemin": 0,
      "aria-valuemax": run.of, "aria-valuenow": run.done },
      h("span", { style: { width: `${share * 100}%` } })), text);
}

/**
 * What checkpoints cost, and its limit.
 * @param {Run} run
 */
function overheadOf(run) {
  if (typeof run.overhead !== "number") return "";
  return h("span", { title: run.every > 0 ? "no limit: a checkpoint at fixed intervals" : `limit: ${percentText(run.epsilon)}` },
    percentText(run.overhead));
}

/** @param {Run} run */
function matches(run, /** @type {string} */ words) {
  const text = [run.id, run.name, run.status, run.user, run.host, run.job, run.array ? `${run.array}_${run.task}` : "", (run.command ?? []).join(" "),
    Object.entries(run.args ?? {}).map(([key, value]) => `${key}=${value}`).join(" ")].join(" ").toLowerCase();
  return words.toLowerCase().split(/\s+/).every((word) => text.includes(word));
}

/** @param {Run} run */
function cells(run) {
  const left = secondsLeft(run);
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const values = Object.entries(run.values ?? {}).slice(0, 2).map(([name, value]) => `${name} ${numberText(value)}`);
  return [
    h("span", null, h("span.dot", { style: { background: colourOf(run.id, dark) }, "aria-hidden": "true" }),
      h("a", { href: `/run/${encodeURIComponent(run.id)}` }, run.name || run.id)),
    h("span.badge", { class: run.status }, run.status + (run.warnings > 0 ? ` (${run.warnings} ${run.warnings === 1 ? "warning" : "warnings"})` : "")),
    progressOf(run),
    left === null ? "" : secondsText(left),
    run.problem ? run.problem : values.join(", "),
    run.checkpoints === undefined ? "" : `${run.checkpoints}, ${bytesText(run.bytes)}`,
    overheadOf(run),
    run.replays ?? "",
    run.host ?? "",
    run.array ? h("a", { href: `/array/${encodeURIComponent(run.array)}` }, `${run.array}_${run.task}`) : run.job ?? "",
    timeText(run.started ?? 0),
  ];
}

/** @param {URLSearchParams} query */
export function runsView(query) {
  let words = query.get("find") ?? "";
  let sortKey = query.get("sort") ?? "started";
  let isDown = query.get("order") !== "up";
  const pages = pager(pageSize, query, () => { note(); draw(); });
  /** @type {Set<string>} */
  const chosen = new Set();
  /** @type {import("./feed.js").State | undefined} */
  let state;
  let isWaiting = false;
  // Rows that were drawn, by run, with the state that they show. Only what has changed is drawn anew.
  /** @type {Map<string, {run: Run, row: HTMLElement}>} */
  const drawn = new Map();

  const count = h("span.quiet", { role: "status" });
  const together = /** @type {HTMLButtonElement} */ (h("button", { type: "button", click: showTogether }, "Show together"));
  const compared = /** @type {HTMLButtonElement} */ (h("button", { type: "button", click: compare }, "Compare"));
  const search = /** @type {HTMLInputElement} */ (h("input", { type: "search", value: words, "aria-label": "Search runs",
    placeholder: "name, id, status, lr=0.1…", input: () => {
      words = search.value;
      pages.first();
      note();
      draw();
    } }));
  const heads = columns.map((column) =>
    h(column.number ? "th.number" : "th", { scope: "col" },
      h("button", { type: "button", click: () => sortBy(column.key) }, column.label)));
  const body = h("tbody", null);
  const element = h("div", null, h("h1", null, "Runs"),
    h("div.tools", null, search, count, together, compared),
    h("div.scroll", { tabindex: 0, role: "region", "aria-label": "Runs" },
      h("table", null, h("thead", null, h("tr", null, h("th", { scope: "col" }, h("span.quiet", { "aria-label": "choose" }, "✓")), heads)), body)),
    h("p"), pages.element);

  /** The address says what is shown. */
  function note() {
    const url = new URL(location.href);
    const set = (/** @type {string} */ key, /** @type {string} */ value, /** @type {string} */ usual) =>
      value === usual ? url.searchParams.delete(key) : url.searchParams.set(key, value);
    set("find", words, "");
    set("sort", sortKey, "started");
    set("order", isDown ? "down" : "up", "down");
    set("page", pages.number(), "1");
    history.replaceState(null, "", url);
  }

  function sortBy(/** @type {string} */ key) {
    isDown = key === sortKey ? !isDown : key === "started";
    sortKey = key;
    note();
    draw();
  }

  function goTo(/** @type {string} */ address) {
    history.pushState(null, "", address);
    dispatchEvent(new PopStateEvent("popstate"));
  }

  function showTogether() {
    const [first, ...others] = chosen;
    goTo(`/run/${encodeURIComponent(first)}?with=${others.map(encodeURIComponent).join(",")}`);
  }

  function compare() {
    goTo(`/compare?runs=${[...chosen].map(encodeURIComponent).join(",")}`);
  }

  /** What takes several runs waits until several are chosen. */
  function allow() {
    for (const button of [together, compared]) button.disabled = chosen.size < 2;
  }

  function rowOf(/** @type {Run} */ run) {
    const before = drawn.get(run.id);
    if (before?.run === run) return before.row;
    const row = newRow(run);
    drawn.set(run.id, { run, row });
    return row;
  }

  function newRow(/** @type {Run} */ run) {
    const box = /** @type {HTMLInputElement} */ (h("input", { type: "checkbox", "aria-label": `choose ${run.name || run.id}`,
      checked: chosen.has(run.id), change: () => {
        box.checked ? chosen.add(run.id) : chosen.delete(run.id);
        allow();
      } }));
    return h("tr", null, h("td", null, box),
      cells(run).map((cell, i) => h(columns[i].number ? "td.number" : "td", null, cell)));
  }

  function draw() {
    if (!state) return;
    const column = columns.find((one) => one.key === sortKey) ?? columns[columns.length - 1];
    const sign = isDown ? -1 : 1;
    const found = [...state.runs.values()].filter((run) => matches(run, words)).sort((a, b) => {
      const [x, y] = [column.of(a), column.of(b)];
      if (x === y) return a.id < b.id ? sign : -sign;
      return (typeof x === "number" && typeof y === "number" ? x < y : String(x) < String(y)) ? -sign : sign;
    });
    const { shown, text } = pages.of(found);
    heads.forEach((head, i) =>
      columns[i].key === sortKey ? head.setAttribute("aria-sort", isDown ? "descending" : "ascending") : head.removeAttribute("aria-sort"));
    const rows = shown.map(rowOf);
    if (rows.length !== body.children.length || rows.some((row, i) => body.children[i] !== row)) body.replaceChildren(...rows);
    const recording = found.filter((run) => run.status === "recording").length;
    count.textContent = found.length === 0
      ? (state.runs.size === 0 ? "No runs yet: flor record -- ./train records one." : "No run fits.")
      : text +
        (found.length < state.runs.size ? ` that fit, ${state.runs.size} in all` : "") + `, ${recording} recording`;
    allow();
  }

  return {
    element,
    update(/** @type {import("./feed.js").State} */ now) {
      state = now;
      if (isWaiting) return;
      isWaiting = true;
      requestAnimationFrame(() => {
        isWaiting = false;
        const focused = body.contains(document.activeElement) ? document.activeElement?.getAttribute("aria-label") : null;
        draw();
        if (focused) /** @type {HTMLElement | null} */ (body.querySelector(`[aria-label="${CSS.escape(focused)}"]`))?.focus();
      });
    },
  };
}
