// What a run logged of tensors: its images, one at a time, and how elements are spread, over all iterations. Both load
// when they come into sight, and again when the run has changed.
// @ts-check
import { prepare } from "./canvas.js";
import { h } from "./dom.js";
import { read } from "./feed.js";
import { numberText } from "./format.js";

/**
 * @typedef {{id: string, label: string}} ShownRun
 * @typedef {{row: number, at: string, width?: number, height?: number, min?: number, max?: number, mean?: number,
 *   histogram?: number[]}} Entry
 * @typedef {{rows: Entry[], of: number}} Tensors
 */

const height = 180;
const labelWidth = 62;

/** @param {ShownRun} run @param {string} name */
const address = (run, name) => `/data/runs/${encodeURIComponent(run.id)}/tensors?name=${encodeURIComponent(name)}`;

/**
 * The element, and when its content is loaded.
 * @param {string} name
 * @param {string} remark
 * @param {HTMLElement} content
 * @param {() => Promise<string>} load returns what is to be said beside it
 */
function frame(name, remark, content, load) {
  const note = h("p.note", null, remark);
  const element = h("section.chart", { "aria-label": `chart of ${name}` }, h("h3", null, name), note, content);
  let isSeen = false;
  let isStale = true;
  let isLoading = false;
  let isEnded = false;
  async function look() {
    if (!isSeen || !isStale || isLoading || isEnded) return;
    isLoading = true;
    isStale = false;
    try {
      const said = await load();
      note.textContent = [remark, said].filter(Boolean).join(" · ");
    } catch (problem) {
      note.textContent = problem instanceof Error ? problem.message : String(problem);
    }
    isLoading = false;
    look();
  }
  const sight = new IntersectionObserver((entries) => {
    isSeen = entries.some((entry) => entry.isIntersecting);
    look();
  }, { rootMargin: "200px" });
  sight.observe(element);
  return {
    element,
    refresh() {
      isStale = true;
      look();
    },
    end() {
      isEnded = true;
      sight.disconnect();
    },
  };
}

/** @param {Tensors} all @param {string} what */
const countText = ({ rows, of }, what) => (rows.length < of ? `${rows.length} of ${of} ${what}` : "");

/**
 * The row of another run for this one: at the same place, and there as many rows behind the first one.
 * @param {Tensors | undefined} other @param {Entry} wanted @param {Tensors} own
 */
function atSamePlace(other, wanted, own) {
  const before = own.rows.filter(({ at, row }) => at === wanted.at && row < wanted.row).length;
  return other?.rows.filter(({ at }) => at === wanted.at)[before];
}

/**
 * The images of one name: a slider chooses the iteration, for all runs at once.
 * @param {string} name
 * @param {ShownRun[]} runs
 * @param {string} remark
 */
export function images(name, runs, remark) {
  /** @type {Tensors[]} */
  let all = [];
  // The row of the first run that is shown; null: the last one.
  /** @type {number?} */
  let chosen = null;
  const slider = /** @type {HTMLInputElement} */ (h("input", { type: "range", min: 0, max: 0, value: 0, "aria-label": `iteration of ${name}`,
    input: () => { chosen = Number(slider.value) >= longest() - 1 ? null : all[0].rows[Number(slider.value)].row; show(); } }));
  const at = h("output.note");
  const places = runs.map((run) => ({ run, image: /** @type {HTMLImageElement} */ (h("img", { alt: "" })), shown: -1 }));
  const content = h("div", null,
    h("div.pictures", null, places.map(({ run, image }) => h("figure", null, image, runs.length > 1 && h("figcaption", null, run.label)))),
    h("div.tools", null, slider, at));
  const longest = () => all[0]?.rows.length ?? 0;

  async function show() {
    const place = chosen === null ? longest() - 1 : all[0].rows.findIndex((row) => row.row === chosen);
    const wanted = all[0]?.rows[place];
    if (!wanted) return;
    slider.max = String(longest() - 1);
    slider.hidden = longest() < 2;
    slider.value = String(place);
    at.textContent = wanted.at || "outside of all loops";
    await Promise.all(places.map(async (one, i) => {
      const row = (i === 0 ? wanted : atSamePlace(all[i], wanted, all[0]))?.row ?? -1;
      if (row === one.shown) return;
      one.shown = row;
      one.image.removeAttribute("src");
      one.image.alt = `no image at ${wanted.at}`;
      if (row < 0) return;
      const { png } = await read(`${address(one.run, name).replace("/tensors?", "/image?")}&row=${row}`).catch(() => ({ png: "" }));
      if (one.shown !== row || !png) return;
      one.image.src = png;
      one.image.alt = `${name} at ${wanted.at}`;
    }));
  }

  const kept = frame(name, remark, content, async () => {
    all = await Promise.all(runs.map((run) => read(address(run, name)).catch(() => ({ rows: [], of: 0 }))));
    await show();
    return countText(all[0], "images can be chosen");
  });
  return { ...kept, redraw() {}, restart() {} };
}

/**
 * What is no number: the last value, and how many there are.
 * @param {{name: string, rows: number, last: string}} one
 * @param {string} remark
 */
export function lastValue({ name, rows, last }, remark) {
  return {
    element: h("section.chart.small", { "aria-label": `last value of ${name}` }, h("h3", null, name),
      h("p.note", null, [remark, rows === 1 ? "1 row" : `${rows} rows; the last one:`].filter(Boolean).join(" · ")), h("p.mono.lines", null, last)),
    refresh() {}, redraw() {}, restart() {}, end() {},
  };
}

/**
 * How the elements of a tensor are spread: a column for each row, from the least to the greatest element. Where counts
 * were logged, darker cells hold more elements; else a mark shows the mean.
 * @param {string} name
 * @param {ShownRun[]} runs of several, each has a picture of its own
 * @param {string} remark
 */
export function spread(name, runs, remark) {
  const pictures = runs.map((run) => ({ run, canvas: document.createElement("canvas"), all: /** @type {Tensors} */ ({ rows: [], of: 0 }) }));
  const said = h("p.note");
  const content = h("div", null, pictures.map(({ run, canvas }) => [runs.length > 1 && h("p.note", null, run.label), canvas]).flat(), said);

  function draw() {
    const known = pictures.flatMap(({ all }) => all.rows).filter((row) => typeof row.min === "number" && typeof row.max === "number");
    const low = Math.min(...known.map((row) => Number(row.min)));
    const high = Math.max(...known.map((row) => Number(row.max)));
    /** @type {[number, number]} */
    const range = high > low ? [low, high] : [low - 0.5, high + 0.5];
    for (const one of pictures) paintSpread(one.canvas, one.all.rows, range, Math.max(200, content.clientWidth));
  }

  const kept = frame(name, remark, content, async () => {
    const all = await Promise.all(runs.map((run) => read(address(run, name)).catch(() => ({ rows: [], of: 0 }))));
    all.forEach((one, i) => { pictures[i].all = one; });
    draw();
    return countText(all[0], "rows drawn");
  });
  for (const { canvas, all: _, run } of pictures) {
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", `spread of ${name} in ${run.label}`);
  }
  for (const one of pictures) {
    one.canvas.addEventListener("mousemove", (event) => {
      const place = Math.floor(((event.offsetX - labelWidth) / (one.canvas.clientWidth - labelWidth)) * one.all.rows.length);
      const row = one.all.rows[place];
      said.textContent = row ? `${row.at || "outside of all loops"}: ${["min", "mean", "max"].map((part) =>
        `${part} ${numberText(/** @type {any} */ (row)[part] ?? "–")}`).join(", ")}` : "";
    });
  }
  const size = new ResizeObserver(draw);
  size.observe(content);
  return { ...kept, redraw: draw, restart() {}, end() { size.disconnect(); kept.end(); } };
}

/**
 * @param {HTMLCanvasElement} canvas
 * @param {Entry[]} rows
 * @param {[number, number]} range of the y axis
 * @param {number} width in CSS pixels
 */
function paintSpread(canvas, rows, [low, high], width) {
  const prepared = prepare(canvas, width, height);
  if (!prepared) return;
  const { paint, colour } = prepared;
  paint.fillStyle = colour("quiet");
  paint.textAlign = "right";
  if (Number.isFinite(low)) {
    paint.fillText(String(Number(high.toPrecision(3))), labelWidth - 8, 12);
    paint.fillText(String(Number(low.toPrecision(3))), labelWidth - 8, height - 4);
  }
  const column = (width - labelWidth) / Math.max(rows.length, 1);
  const y = (/** @type {number} */ value) => height - 2 - ((value - low) / (high - low)) * (height - 4);
  paint.fillStyle = colour("accent");
  rows.forEach((row, i) => {
    const { min, max } = row;
    if (typeof min !== "number" || typeof max !== "number") return;
    const x = labelWidth + i * column;
    const wide = Math.max(column - (column > 6 ? 1 : 0), 0.5);
    const counts = row.histogram ?? [];
    const most = Math.max(...counts, 1);
    const bin = (max - min) / Math.max(counts.length, 1);
    counts.forEach((count, k) => {
      if (count === 0) return;
      paint.globalAlpha = 0.1 + (0.9 * count) / most;
      const top = y(min + (k + 1) * bin);
      paint.fillRect(x, top, wide, Math.max(y(min + k * bin) - top, 1));
    });
    if (counts.length > 0) return;
    paint.globalAlpha = 0.35;
    paint.fillRect(x, y(max), wide, Math.max(y(min) - y(max), 1));
    paint.globalAlpha = 1;
    if (typeof row.mean === "number") paint.fillRect(x, y(row.mean) - 1, wide, 2);
  });
  paint.globalAlpha = 1;
}
