// A job array of Slurm: all its runs, task by task, and one chart of them together.
// @ts-check
import { chart } from "./chart.js";
import { h } from "./dom.js";
import { colourOf, numberText, secondsText } from "./format.js";
import { pager } from "./pager.js";
import { progressOf, secondsLeft } from "./runs_view.js";

/** @typedef {import("./feed.js").Run} Run */

const pageSize = 100;
// Runs in the chart, and arguments in the table.
const mostLines = 200;
const mostArguments = 6;
// Milliseconds between two looks at what its runs log.
const pause = 1000;

/**
 * Returns the arguments that are not the same in all.
 * @param {Run[]} runs
 */
function differing(runs) {
  const names = new Set(runs.flatMap((run) => Object.keys(run.args ?? {})));
  return [...names].filter((name) => new Set(runs.map((run) => run.args?.[name])).size > 1);
}

/**
 * As "12 runs: 9 completed, 3 recording".
 * @param {Run[]} runs
 */
function counted(runs) {
  /** @type {Map<string, number>} */
  const of = new Map();
  for (const run of runs) of.set(run.status, (of.get(run.status) ?? 0) + 1);
  const parts = [...of].sort().map(([status, count]) => `${count} ${status}`);
  return `${runs.length} ${runs.length === 1 ? "run" : "runs"}: ${parts.join(", ")}`;
}

/**
 * @param {string} job Slurm's number of the array
 * @param {URLSearchParams} query
 */
export function arrayView(job, query) {
  let wanted = query.get("name") ?? "";
  const pages = pager(pageSize, query, () => { note(); draw(); });
  const look = { isLog: false, smoothing: 0, isByTime: false };
  /** @type {import("./feed.js").State | undefined} */
  let state;
  /** @type {{key: string, shown: ReturnType<typeof chart>} | undefined} */
  let drawn;
  let timer = 0;

  const count = h("p", { role: "status" });
  const names = /** @type {HTMLSelectElement} */ (h("select", { change: () => { wanted = names.value; note(); draw(); } }));
  const remark = h("span.quiet");
  const compare = h("a", { href: "/compare" }, "compare them");
  const place = h("div.charts");
  const shownTasks = h("p.quiet");
  const body = h("div.scroll", { tabindex: 0, role: "region", "aria-label": `Runs of job array ${job}` });
  const tools = h("div.tools", null, h("label", null, "chart: ", names), compare, remark);
  const element = h("div", null, h("h1", null, `Job array ${job}`), count, tools, place, h("h2", null, "Tasks"), shownTasks, body, h("p"), pages.element);
  const theme = matchMedia("(prefers-color-scheme: dark)");
  const redraw = () => { draw(); drawn?.shown.redraw(); };
  theme.addEventListener("change", redraw);

  function note() {
    const url = new URL(location.href);
    const set = (/** @type {string} */ key, /** @type {string} */ value, /** @type {string} */ usual) =>
      value === usual ? url.searchParams.delete(key) : url.searchParams.set(key, value);
    set("name", wanted, "");
    set("page", pages.number(), "1");
    history.replaceState(null, "", url);
  }

  /** @param {Run[]} runs */
  function drawChart(runs) {
    const all = [...new Set(runs.flatMap((run) => Object.keys(run.values ?? {})))].sort();
    const name = all.includes(wanted) ? wanted : all[0] ?? "";
    if (names.options.length !== all.length || [...names.options].some((option, i) => option.value !== all[i]))
      names.replaceChildren(...all.map((one) => h("option", { value: one }, one)));
    names.value = name;
    tools.hidden = all.length === 0;
    remark.textContent = runs.length > mostLines ? `the first ${mostLines} of ${runs.length} runs` : "";
    const lines = runs.slice(0, mostLines).map((run) => ({ id: run.id, label: `${job}_${run.task}` }));
    const key = JSON.stringify([name, lines]);
    if (drawn?.key === key) return name;
    drawn?.shown.end();
    drawn = name === "" ? undefined : { key, shown: chart(name, lines, look, "") };
    place.replaceChildren(...(drawn ? [drawn.shown.element] : []));
    return name;
  }

  function draw() {
    if (!state) return;
    const runs = [...state.runs.values()].filter((run) => run.array === job).sort((a, b) => a.task - b.task || (a.id < b.id ? -1 : 1));
    count.textContent = runs.length === 0 ? "This store has no run of it." : counted(runs);
    compare.setAttribute("href", `/compare?runs=${runs.slice(0, mostLines).map((run) => encodeURIComponent(run.id)).join(",")}`);
    const name = drawChart(runs);
    const args = differing(runs);
    const { shown, text } = pages.of(runs);
    const head = ["Task", "Run", "Status", "Progress", "Time left", ...args.slice(0, mostArguments), ...(name ? [`last ${name}`] : []), "Node"];
    const left = (/** @type {Run} */ run) => secondsLeft(run);
    const focused = body.contains(document.activeElement) ? document.activeElement?.getAttribute("href") : null;
    shownTasks.textContent = [runs.length > pageSize ? text : "", args.length > mostArguments ? `${args.length - mostArguments} more arguments differ: compare them` : ""]
      .filter(Boolean).join("; ");
    body.replaceChildren(h("table", null,
      h("thead", null, h("tr", null, head.map((label) => h(label === "Time left" || label === `last ${name}` ? "th.number" : "th", { scope: "col" }, label)))),
      h("tbody", null, shown.map((run) => h("tr", null,
        h("th", { scope: "row" }, String(run.task)),
        h("td", null, h("span.dot", { style: { background: colourOf(run.id, theme.matches) }, "aria-hidden": "true" }),
          h("a", { href: `/run/${encodeURIComponent(run.id)}` }, run.name || run.id)),
        h("td", null, h("span.badge", { class: run.status }, run.status)),
        h("td", null, progressOf(run)),
        h("td.number", null, left(run) === null ? "" : secondsText(Number(left(run)))),
        args.slice(0, mostArguments).map((arg) => h("td", null, run.args?.[arg] ?? "–")),
        name ? h("td.number", null, name in (run.values ?? {}) ? numberText(run.values[name]) : "–") : null,
        h("td", null, run.host ?? ""))))));
    if (focused) /** @type {HTMLElement | null} */ (body.querySelector(`a[href="${CSS.escape(focused)}"]`))?.focus();
  }

  return {
    element,
    update(/** @type {import("./feed.js").State} */ now, /** @type {Set<string>} */ changed) {
      state = now;
      if (timer || ![...changed].some((id) => now.runs.get(id)?.array === job)) return void (count.textContent || draw());
      timer = window.setTimeout(() => {
        timer = 0;
        draw();
        drawn?.shown.refresh();
      }, count.textContent ? pause : 0);
    },
    end() {
      clearTimeout(timer);
      theme.removeEventListener("change", redraw);
      drawn?.shown.end();
    },
  };
}
