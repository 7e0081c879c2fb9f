// One chart: the rows of a name, of one or several runs. It loads when it comes into sight, and again when a run has
// changed. Dragging zooms, and then the part in sight is loaded in full.
// @ts-check
import uPlot from "./vendor/uplot/uPlot.esm.js";
import { h } from "./dom.js";
import { read } from "./feed.js";
import { coloursOf, numberText } from "./format.js";

/** @typedef {{id: string, label: string}} ShownRun */
/** @typedef {{isLog: boolean, smoothing: number, isByTime: boolean}} Look `isByTime`: the x axis is the time computed */

/**
 * A running mean that forgets; gaps stay.
 * @param {(number | null)[]} values
 * @param {number} weight of what came before: 0 to below 1
 */
export function smoothed(values, weight) {
  if (weight <= 0) return values;
  let mean = 0;
  let scale = 0;
  return values.map((value) => {
    if (value === null) return null;
    mean = weight * mean + (1 - weight) * value;
    scale = weight * scale + (1 - weight);
    return mean / scale;
  });
}

/**
 * @param {string} name
 * @param {ShownRun[]} runs
 * @param {Look} look
 * @param {string} remark
 */
export function chart(name, runs, look, remark) {
  const note = h("p.note", null, remark);
  const canvas = h("div");
  const element = h("section.chart", { "aria-label": `chart of ${name}` }, h("h3", null, name), note, canvas);
  /** @type {uPlot | undefined} */
  let plot;
  /** @type {{x: number[], y: (number | null)[], of: number, loop: string}[]} */
  let series = [];
  /** @type {[number, number] | null} */
  let zoom = null;
  let isSeen = false;
  let isStale = true;
  let isLoading = false;
  let isEnded = false;

  async function load() {
    if (!isSeen || !isStale || isLoading || isEnded) return;
    isLoading = true;
    isStale = false;
    const part = (zoom ? `&from=${zoom[0]}&to=${zoom[1]}` : "") + (look.isByTime ? "&axis=time" : "");
    try {
      // A run that is gone leaves its place empty.
      const answers = await Promise.allSettled(runs.map((run) =>
        read(`/data/runs/${encodeURIComponent(run.id)}/series?name=${encodeURIComponent(name)}&points=2000${part}`)));
      series = answers.map((answer) => (answer.status === "fulfilled" ? answer.value : { x: [], y: [], of: 0, loop: "" }));
      if (!isEnded) draw();
    } catch (problem) {
      note.textContent = problem instanceof Error ? problem.message : String(problem);
    }
    isLoading = false;
    load();
  }

  function draw() {
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    const colours = coloursOf(runs.map((run) => run.id), dark);
    const style = getComputedStyle(document.documentElement);
    const quiet = style.getPropertyValue("--quiet").trim();
    const line = style.getPropertyValue("--line").trim();
    const data = uPlot.join(series.map((one) => [one.x, smoothed(one.y, look.smoothing)]),
      series.map((one) => one.y.map(() => 2)));
    const shown = series.reduce((sum, one) => sum + one.x.length, 0);
    const all = series.reduce((sum, one) => sum + one.of, 0);
    note.textContent = [remark, zoom ? "double click shows all" : "",
      shown < all ? `${shown} of ${all} points drawn, extremes kept` : ""].filter(Boolean).join(" · ");
    const across = look.isByTime ? "seconds computed" : series.find((one) => one.loop)?.loop || "row";
    const axis = { stroke: quiet, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 } };
    plot?.destroy();
    plot = new uPlot({
      width: Math.max(200, canvas.clientWidth), height: 220,
      scales: { x: { time: false }, y: look.isLog ? { distr: 3 } : {} },
      axes: [{ ...axis, label: across, labelSize: 20, size: 40 },
        { ...axis, size: 62, values: (/** @type {unknown} */ _, /** @type {number[]} */ ticks) =>
          ticks.map((tick) => (tick === null ? "" : numberText(tick))) }],
      series: [{ label: across }, ...runs.map((run, i) => ({
        label: run.label, stroke: colours[i], width: 1.5, spanGaps: false,
        value: (/** @type {unknown} */ _, /** @type {number | null} */ value) => (value === null ? "–" : numberText(value)),
      }))],
      hooks: { setSelect: [(/** @type {uPlot} */ self) => {
        if (self.select.width < 5) return;
        zoom = [self.posToVal(self.select.left, "x"), self.posToVal(self.select.left + self.select.width, "x")];
        refresh();
      }] },
      cursor: { drag: { x: true, y: false, setScale: false } },
      legend: { show: runs.length <= 8 },
    }, data, canvas);
  }

  function refresh() {
    isStale = true;
    load();
  }

  canvas.addEventListener("dblclick", () => {
    zoom = null;
    refresh();
  });
  const sight = new IntersectionObserver((entries) => {
    isSeen = entries.some((entry) => entry.isIntersecting);
    load();
  }, { rootMargin: "200px" });
  sight.observe(element);
  const size = new ResizeObserver(() => plot?.setSize({ width: Math.max(200, canvas.clientWidth), height: 220 }));
  size.observe(canvas);
  return {
    element, refresh,
    // Loads all of it, for another x axis.
    restart() {
      zoom = null;
      refresh();
    },
    redraw: () => { if (plot) draw(); },
    end() {
      isEnded = true;
      sight.disconnect();
      size.disconnect();
      plot?.destroy();
    },
  };
}
