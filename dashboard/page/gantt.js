// Which worker did what, and when: one line for each worker, one bar for each unit.
// @ts-check
import { prepare } from "./canvas.js";
import { h } from "./dom.js";
import { secondsText } from "./format.js";

/**
 * A unit: its id, when it began, how long it took (null: it runs, or was interrupted), its restore, and when it was known
 * to be interrupted.
 * @typedef {[number, number, number | null, number, number | null]} Unit
 * @typedef {{worker: string, node: string, gpu: string, units: Unit[]}} Worker
 * @typedef {{workers: Worker[], now: number | null}} Work
 * @typedef {{from: number, to: number, unit: number, restore: number, kind: "work" | "proof" | "running" | "lost"}} Bar
 */

const lineHeight = 18;
const barHeight = 13;
const axisHeight = 22;
const longestLabel = 150;

/**
 * Returns the bars of a worker. Pure.
 * @param {Unit[]} units
 * @param {number | null} now null: the replay is over
 * @param {number} planned units of the plan; the ids of proof units come behind them
 * @returns {Bar[]}
 */
export function barsOf(units, now, planned) {
  return units.map(([unit, began, seconds, restore, givenUp]) => {
    if (seconds !== null) return { from: began, to: began + seconds, unit, restore, kind: unit >= planned ? "proof" : "work" };
    const isRunning = givenUp === null && now !== null;
    return { from: began, to: givenUp ?? now ?? began, unit, restore: 0, kind: isRunning ? "running" : "lost" };
  });
}

/** @param {number} span seconds */
function tickOf(span) {
  const steps = [0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400];
  return steps.find((step) => span / step <= 8) ?? 86400 * Math.ceil(span / 8 / 86400);
}

/** @param {Bar} bar */
function describe(bar) {
  const took = secondsText(bar.to - bar.from);
  if (bar.kind === "running") return `unit ${bar.unit} runs, for ${took} so far`;
  if (bar.kind === "lost") return `unit ${bar.unit} was interrupted`;
  const what = bar.kind === "proof" ? "proof unit" : "unit";
  return `${what} ${bar.unit}: ${took}` + (bar.restore > 0 ? `, of these ${secondsText(bar.restore)} for the restore` : "");
}

export function gantt() {
  const canvas = document.createElement("canvas");
  const said = h("p.note", { "aria-live": "off" });
  const scroll = h("div.scroll.gantt", { tabindex: 0, role: "region", "aria-label": "What each worker does, over time" }, canvas);
  const legend = h("ul.legend", null, [["work", "unit"], ["restore", "restore"], ["proof", "proof"], ["running", "runs now"],
    ["lost", "interrupted"], ["bound", "the least time that the plan expects"]].map(([name, text]) => h("li", null, h("span.key", { class: name }), text)));
  const element = h("div", null, legend, scroll, said);
  /** @type {{worker: Worker, bars: Bar[]}[]} */
  let lines = [];
  let begin = 0;
  let span = 1;
  let bound = 0;
  let labelWidth = longestLabel;

  const scale = () => (canvas.clientWidth - labelWidth - 12) / span;

  function draw() {
    const width = Math.max(scroll.clientWidth - 2, longestLabel + 160);
    const height = axisHeight + lines.length * lineHeight + 4;
    const prepared = prepare(canvas, width, height);
    if (!prepared) return;
    const { paint, colour } = prepared;
    const colours = { work: colour("accent"), proof: colour("focus"), running: colour("bar"), lost: colour("bad") };
    paint.textBaseline = "middle";
    labelWidth = Math.min(longestLabel, 14 + lines.reduce((most, { worker }) => Math.max(most, paint.measureText(worker.worker).width), 20));
    const perSecond = (width - labelWidth - 12) / span;
    const x = (/** @type {number} */ time) => labelWidth + (time - begin) * perSecond;

    const tick = tickOf(span);
    for (let at = 0; at <= span; at += tick) {
      paint.fillStyle = colour("line");
      paint.fillRect(x(begin + at), axisHeight - 4, 1, height);
      paint.fillStyle = colour("quiet");
      if (x(begin + at) < width - 45) paint.fillText(at === 0 ? "0" : secondsText(at), x(begin + at) + 3, 9);
    }
    lines.forEach(({ worker, bars }, i) => {
      const top = axisHeight + i * lineHeight;
      paint.fillStyle = colour("quiet");
      paint.fillText(worker.worker, 6, top + lineHeight / 2, labelWidth - 14);
      for (const bar of bars) {
        const left = x(bar.from);
        const wide = Math.max(1, (bar.to - bar.from) * perSecond - 0.5);
        paint.fillStyle = colours[bar.kind];
        paint.fillRect(left, top + 2, wide, barHeight);
        if (bar.restore > 0) {
          paint.fillStyle = colour("warn");
          paint.fillRect(left, top + 2, Math.min(wide, bar.restore * perSecond), barHeight);
        }
      }
    });
    if (bound > 0) {
      paint.fillStyle = colour("text");
      for (let y = axisHeight - 4; y < height; y += 6) paint.fillRect(x(begin + bound), y, 2, 4);
    }
  }

  canvas.addEventListener("mousemove", (event) => {
    const line = lines[Math.floor((event.offsetY - axisHeight) / lineHeight)];
    const time = begin + (event.offsetX - labelWidth) / scale();
    const slack = 1 / scale();
    const bar = line?.bars.find((one) => one.from - slack <= time && time <= one.to + slack);
    said.textContent = bar ? `${line.worker.worker}, ${describe(bar)}` : "";
  });
  const size = new ResizeObserver(draw);
  size.observe(scroll);
  const theme = matchMedia("(prefers-color-scheme: dark)");
  theme.addEventListener("change", draw);

  return {
    element,
    /**
     * @param {Work} work
     * @param {any} plan
     */
    show(work, plan) {
      const { planned } = plan;
      lines = work.workers.filter((worker) => worker.units.length > 0)
        .map((worker) => ({ worker, bars: barsOf(worker.units, work.now, planned) }));
      const all = lines.flatMap((line) => line.bars);
      begin = all.reduce((least, bar) => Math.min(least, bar.from), Infinity);
      const end = all.reduce((most, bar) => Math.max(most, bar.to), begin);
      bound = plan.estimate.bound;
      span = Math.max(end - begin, bound * 1.05, 0.001);
      draw();
    },
    end() {
      size.disconnect();
      theme.removeEventListener("change", draw);
    },
  };
}
