// When checkpoints were taken, and why not: one line for each kind, one mark for each decision.
// @ts-check
import { prepare } from "./canvas.js";
import { h } from "./dom.js";
import { bytesText, numberText, secondsText } from "./format.js";

/**
 * A decision: seconds computed until then, number of the block, 0 skipped / 1 taken / 2 failed, seconds spent, bytes, scope
 * path, number of the reason.
 * @typedef {[number, number, number, number, number, string, number]} Point
 * @typedef {{computed: number, spent: number, blocks: string[], whys: string[], points: Point[], of: number}} Decisions
 */

const lineHeight = 24;
const labelWidth = 110;
const axisHeight = 20;
const words = ["not taken", "taken", "failed"];

/**
 * Returns the line that says what checkpoints have cost. Pure.
 * @param {Decisions} all
 * @param {{epsilon: number, every: number}} policy `every`: not 0 where the user chose the interval
 */
export function costText(all, { epsilon, every }) {
  if (all.of === 0) return "No checkpoint was considered yet.";
  const share = all.computed > 0 ? `${numberText((100 * all.spent) / all.computed)} %` : "";
  const left = all.points.length < all.of ? ` ${all.points.length} of ${all.of} decisions are drawn.` : "";
  return `Checkpoints cost ${secondsText(all.spent)} of ${secondsText(all.computed)} computed: ${share}, ` +
    (every > 0 ? `taken every ${every} as asked for.` : `where ε allows ${numberText(epsilon * 100)} %.`) + left;
}

export function decisionChart() {
  const canvas = document.createElement("canvas");
  const summary = h("p");
  const said = h("p.note");
  const frame = h("div.scroll.gantt", { tabindex: 0, role: "region", "aria-label": "When checkpoints were taken" }, canvas);
  const legend = h("ul.legend", null, [["work", "taken"], ["skipped", "not taken"], ["lost", "failed"]].map(([name, text]) =>
    h("li", null, h("span.key", { class: name }), text)));
  const element = h("div", null, summary, legend, frame, said);
  /** @type {Decisions} */
  let all = { computed: 0, spent: 0, blocks: [], whys: [], points: [], of: 0 };

  const perSecond = () => (canvas.clientWidth - labelWidth - 12) / (all.computed || 1);

  function draw() {
    const width = Math.max(frame.clientWidth - 2, labelWidth + 160);
    const height = axisHeight + all.blocks.length * lineHeight + 4;
    const prepared = prepare(canvas, width, height);
    if (!prepared) return;
    const { paint, colour } = prepared;
    const colours = [colour("line"), colour("accent"), colour("bad")];
    paint.textBaseline = "middle";
    paint.fillStyle = colour("quiet");
    paint.fillText("0", labelWidth, 9);
    paint.textAlign = "right";
    paint.fillText(`${secondsText(all.computed)} computed`, width - 8, 9);
    paint.textAlign = "left";
    all.blocks.forEach((block, i) => paint.fillText(block, 6, axisHeight + (i + 0.5) * lineHeight, labelWidth - 14));
    // What was taken is drawn last, over the others.
    for (const decision of [0, 2, 1]) {
      paint.fillStyle = colours[decision];
      for (const [x, block, made] of all.points) {
        if (made !== decision) continue;
        const high = decision === 0 ? 8 : 16;
        paint.fillRect(labelWidth + x * perSecond() - 1, axisHeight + (block + 0.5) * lineHeight - high / 2, 2, high);
      }
    }
  }

  canvas.addEventListener("mousemove", (event) => {
    const block = Math.floor((event.offsetY - axisHeight) / lineHeight);
    const at = (event.offsetX - labelWidth) / perSecond();
    const near = all.points.filter((point) => point[1] === block)
      .reduce((/** @type {Point | null} */ best, point) => (best === null || Math.abs(point[0] - at) < Math.abs(best[0] - at) ? point : best), null);
    said.textContent = near ? `${near[5]}: ${words[near[2]]}, ${all.whys[near[6]]}` +
      (near[2] === 1 ? `; cost ${secondsText(near[3])}, ${bytesText(near[4])}` : "") : "";
  });
  const size = new ResizeObserver(draw);
  size.observe(frame);
  const theme = matchMedia("(prefers-color-scheme: dark)");
  theme.addEventListener("change", draw);

  return {
    element,
    /**
     * @param {Decisions} now
     * @param {{epsilon: number, every: number}} policy
     */
    show(now, policy) {
      all = now;
      summary.textContent = costText(now, policy);
      draw();
    },
    end() {
      size.disconnect();
      theme.removeEventListener("change", draw);
    },
  };
}
