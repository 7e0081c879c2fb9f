// One run: its charts, with those of other runs that were chosen beside it; checkpoints, replays, environment.
// @ts-check
import { chart } from "./chart.js";
import { decisionChart } from "./decisions.js";
import { factList, fill, h, table } from "./dom.js";
import { read, repeating, report } from "./feed.js";
import { bytesText, coloursOf, percentText, secondsText, timeText } from "./format.js";
import { progressOf, secondsLeft } from "./runs_view.js";
import { images, lastValue, spread } from "./tensors.js";

const chartsAtOnce = 40;
// Milliseconds between two looks at a run that is being recorded.
const pause = 1000;

/** @param {unknown[] | undefined} lines */
function warningsOf(lines, kind = "") {
  return lines && lines.length > 0 ? h("div.warnings", { class: kind || "some" }, lines.map((line) => h("p", null, String(line)))) : null;
}

/** @param {import("./feed.js").Run} line */
function overheadText(line) {
  if (typeof line.overhead !== "number") return "";
  const limit = line.every > 0 ? "a checkpoint at fixed intervals, whatever it costs" : `limit: ε = ${percentText(line.epsilon)}`;
  return `${percentText(line.overhead)} of the time computed (${limit})`;
}

/** @param {any} run as /data/runs/ID gives it */
function facts(run) {
  const loop = run.line;
  const left = secondsLeft(loop);
  const pairs = (/** @type {Record<string, string>} */ map) =>
    Object.entries(map ?? {}).map(([key, value]) => `${key}=${value}`).join(", ");
  return factList([
    ["Status", h("span.badge", { class: run.status }, run.status)],
    ["Progress", h("span", null, progressOf(loop), left === null ? "" : ` about ${secondsText(left)} left`)],
    ["Command", h("code", null, (run.command ?? []).join(" "))],
    ["Arguments", pairs(run.args)],
    ["Recorded", `${timeText(run.started)} on ${run.host} by ${run.user}` + (run.line.job ? `, job ${run.line.job}` : "")],
    ["Checkpoints", `${run.checkpoints.count} (${bytesText(run.checkpoints.bytes)})`],
    ["Overhead", overheadText(loop)],
    ["Environment", pairs(run.environment)],
    ["Run", h("span.mono", null, run.id)],
  ]);
}

/** @param {any} run */
function blocks(run) {
  if (run.blocks.length === 0) return null;
  return [h("h2", null, "Blocks"), table("Blocks",
    ["Block", ">Executions", ">Checkpoints", ">Time each", ">Cost of a checkpoint", ">State size", ">Skipped", ">Failed"],
    run.blocks.map((/** @type {any} */ block) => [block.block, block.executions, block.checkpoints, secondsText(block.seconds),
      secondsText(block.cost), bytesText(block.bytes), block.skipped, block.failed]))];
}

/** @param {any} run */
function replays(run) {
  if (run.replays.length === 0) return null;
  return [h("h2", null, "Replays"), table("Replays", ["Replay", "State", ">Units", ">Values", ">Digests", ">Time"],
    run.replays.map((/** @type {any} */ replay) => [
      h("a", { href: `/run/${encodeURIComponent(run.id)}/replay/${encodeURIComponent(replay.id)}` }, replay.id),
      h("span.badge", { class: replay.state }, replay.state), `${replay.committed}/${replay.selected}`,
      replay.values ?? "", replay.digests ?? "", replay.seconds === undefined ? "" : secondsText(replay.seconds)]))];
}

/**
 * @param {string} id
 * @param {URLSearchParams} query
 */
export function runView(id, query) {
  const others = (query.get("with") ?? "").split(",").filter(Boolean);
  const ids = [id, ...others];
  const look = { isLog: false, smoothing: 0, isByTime: query.get("axis") === "time" };
  /** @type {Map<string, ReturnType<typeof chart>>} */
  const charts = new Map();
  let most = chartsAtOnce;
  let words = "";
  /** @type {any} */
  let run;
  /** @type {import("./feed.js").State | undefined} */
  let state;
  let timer = 0;
  let isLeft = false;

  const title = h("h1", null, id);
  const head = h("div", null, h("p.quiet", null, "Loading…"));
  const legend = h("ul.legend");
  const grid = h("div.charts");
  const count = h("span.quiet", { role: "status" });
  const more = h("button", { type: "button", click: () => { most += chartsAtOnce; drawCharts(); } }, "Show more charts");
  const search = /** @type {HTMLInputElement} */ (h("input", { type: "search", "aria-label": "Search charts", placeholder: "name of a chart",
    input: () => { words = search.value.toLowerCase(); drawCharts(); } }));
  const logScale = /** @type {HTMLInputElement} */ (h("input", { type: "checkbox", change: () => { look.isLog = logScale.checked; redraw(); } }));
  const smoothing = /** @type {HTMLSelectElement} */ (h("select", { change: () => { look.smoothing = Number(smoothing.value); redraw(); } },
    [["0", "none"], ["0.6", "some"], ["0.9", "much"], ["0.99", "very much"]].map(([value, text]) => h("option", { value }, text))));
  const byTime = /** @type {HTMLInputElement} */ (h("input", { type: "checkbox", checked: look.isByTime, change: () => {
    look.isByTime = byTime.checked;
    const url = new URL(location.href);
    if (look.isByTime) url.searchParams.set("axis", "time"); else url.searchParams.delete("axis");
    if (!report) history.replaceState(null, "", url);
    charts.forEach((one) => one.restart());
  } }));
  const decisions = decisionChart();
  const rest = h("div");
  // Loaded only where somebody looks.
  const checkpoints = /** @type {HTMLDetailsElement} */ (h("details", { toggle: () => loadDecisions() },
    h("summary", null, "Checkpoints over time"), decisions.element));
  const element = h("div", null, title, head, h("h2", null, "Charts"), legend,
    h("div.tools", null, search, count, h("label", null, logScale, " log scale"), report ? null : h("label", null, byTime, " by time"), h("label", null, "smoothing ", smoothing)),
    grid, h("p"), more, checkpoints, rest);

  const redraw = () => charts.forEach((one) => one.redraw());
  const theme = matchMedia("(prefers-color-scheme: dark)");
  theme.addEventListener("change", redraw);
  const labelOf = (/** @type {string} */ one) => state?.runs.get(one)?.name || one;

  function drawCharts() {
    if (!run) return;
    const names = run.names.filter((/** @type {any} */ one) => one.name.toLowerCase().includes(words));
    const shown = names.slice(0, most);
    for (const [name, one] of charts) {
      if (shown.some((/** @type {any} */ other) => other.name === name)) continue;
      one.end();
      charts.delete(name);
    }
    for (const one of shown) {
      const { name, recorded, kind } = one;
      if (kind !== "other" && charts.has(name)) continue;
      const runs = ids.map((id) => ({ id, label: labelOf(id) }));
      const remark = recorded ? "" : "from replays";
      charts.get(name)?.end();
      charts.set(name, kind === "image" ? images(name, runs, remark) : kind === "spread" ? spread(name, runs, remark)
        : kind === "other" ? lastValue(one, remark) : chart(name, runs, look, remark));
    }
    grid.replaceChildren(...shown.map((/** @type {any} */ one) => /** @type {any} */ (charts.get(one.name)).element));
    count.textContent = run.names.length === 0 ? "nothing was logged" : names.length === 0 ? "no chart fits" : shown.length < names.length
      ? `${shown.length} of ${names.length} charts` : names.length === 1 ? "1 chart" : `${names.length} charts`;
    more.hidden = shown.length >= names.length;
  }

  function draw() {
    title.textContent = run.name || run.id;
    document.title = `${run.name || run.id} · Flor`;
    fill(head, warningsOf(run.warnings, run.status === "damaged" ? "bad" : ""), warningsOf(run.log_warnings), facts(run));
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    const colours = coloursOf(ids, dark);
    legend.classList.toggle("long", ids.length > 12);
    if (ids.length > 12) legend.tabIndex = 0;  // so that the keyboard scrolls it
    legend.replaceChildren(...(ids.length < 2 ? [] : ids.map((one, i) => h("li", null,
      h("span.dot", { style: { background: colours[i] } }), h("a", { href: `/run/${encodeURIComponent(one)}` }, labelOf(one))))));
    const unheld = (run.unheld ?? []).map((/** @type {any} */ one) => `${one.file}:${one.line}: block ${one.block} changes ${one.name} and does not hold it`);
    fill(rest, blocks(run), replays(run),
      unheld.length > 0 && [h("h2", null, "What blocks do not hold"), warningsOf(unheld)],
      run.suggestions.length > 0 && [h("h2", null, "Hints"), warningsOf(run.suggestions)],
      h("h2", null, "Sources"), h("ul", null, run.sources.map((/** @type {any} */ source) => h("li.mono", null, source.path))));
    drawCharts();
  }

  const load = repeating(async () => {
    if (isLeft) return;
    try {
      run = await read(`/data/runs/${encodeURIComponent(id)}`);
      if (!isLeft) draw();
    } catch (problem) {
      head.replaceChildren(h("div.warnings.bad", null, h("p", null, problem instanceof Error ? problem.message : String(problem))));
    }
  });

  const loadDecisions = repeating(async () => {
    if (isLeft || !checkpoints.open) return;
    try {
      const all = await read(`/data/runs/${encodeURIComponent(id)}/decisions`);
      if (!isLeft) decisions.show(all, { epsilon: run?.policy.epsilon ?? 0, every: run?.policy.every ?? 0 });
    } catch {
      // The head of the page says what is wrong with the run.
    }
  });

  return {
    element,
    update(/** @type {import("./feed.js").State} */ now, /** @type {Set<string>} */ changed) {
      state = now;
      if (!ids.some((one) => changed.has(one)) || timer) return;
      timer = window.setTimeout(async () => {
        timer = 0;
        await load();
        charts.forEach((one) => one.refresh());
        loadDecisions();
      }, run ? pause : 0);
    },
    end() {
      isLeft = true;
      theme.removeEventListener("change", redraw);
      clearTimeout(timer);
      document.title = "Flor";
      charts.forEach((one) => one.end());
      decisions.end();
    },
  };
}
