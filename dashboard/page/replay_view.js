// One replay: the question, how far it is, and the verdict.
// @ts-check
import { factList, fill, h, table } from "./dom.js";
import { read, repeating, report } from "./feed.js";
import { gantt } from "./gantt.js";
import { clockText, numberText, secondsText } from "./format.js";

const pause = 1000;
// Between two looks at a replay that goes on, where nothing else tells of a change.
const lookAgain = 5000;
const unitsDrawn = 2000;
const failuresShown = 5;

/**
 * Puts the units that were sent before in front of the new ones of each worker (docs/dashboard.md). Pure.
 * @param {any} before null: nothing was sent yet
 * @param {any} replay as /data/runs/ID/replays/ID gives it
 */
export function completed(before, replay) {
  const sent = new Map(before?.work.workers.map((/** @type {any} */ one) => [one.worker, one.units]));
  const workers = replay.work.workers.map((/** @type {any} */ one) =>
    (one.from ? { ...one, units: [...sent.get(one.worker).slice(0, one.from), ...one.units] } : one));
  return { ...replay, work: { ...replay.work, workers } };
}

/** @param {any} replay whole */
function question(replay) {
  const plan = replay.plan;
  const executes = plan.execute.all ? "every block" : plan.execute.blocks.join(", ") || "no block";
  const { bound, makespan, serial, workers } = plan.estimate;
  return factList([
    ["State", h("span.badge", { class: replay.state }, replay.state)],
    ["Units", `${replay.committed} of ${replay.selected} done`],
    ["Executes", executes],
    ["Command", h("code", null, (plan.command ?? []).join(" "))],
    ["Estimate", `${secondsText(makespan)} with ${workers} workers, ${secondsText(bound)} at best, ${secondsText(serial)} with one`],
    ["Took", replay.verdict ? secondsText(replay.verdict.seconds) : ""],
    ...spent(replay.work.totals, plan.estimate),
  ]);
}

/**
 * What the work has cost so far, and how long it will go on.
 * @param {any} totals
 * @param {any} estimate
 * @returns {[string, string][]}
 */
function spent(totals, estimate) {
  if (totals.held <= 0) return [];
  const share = (/** @type {number} */ part) => `${Math.round((100 * part) / totals.held)} %`;
  const lost = [["restores", totals.restored], ["idle", totals.idle], ["executed again", totals.redone]]
    .filter(([, seconds]) => Number(seconds) >= totals.held / 200).map(([name, seconds]) => `${name} ${share(Number(seconds))}`).join(", ");
  const [fast, slow] = totals.left ?? [0, 0];
  const range = secondsText(fast) === secondsText(slow) ? secondsText(slow) : `${secondsText(fast)} to ${secondsText(slow)}`;
  return [
    ["Time left", totals.left ? `about ${range}` : ""],
    ["Speed-up", totals.elapsed > 0 ? `${(totals.worked / totals.elapsed).toFixed(1)}; at most ${(estimate.serial / estimate.bound).toFixed(1)} by the plan` : ""],
    ["Worker time", secondsText(totals.held) + (totals.held >= 360 ? ` (${(totals.held / 3600).toFixed(2)} GPU-hours with a GPU each)` : "") + (lost ? `; of it ${lost}` : "")],
  ];
}

/** @param {any} work */
function workers(work) {
  if (work.workers.length === 0) return null;
  return table("Workers", ["Worker", "Node", "GPU", ">Units", ">Worked", ">Restores", "Now"],
    work.workers.map((/** @type {any} */ one) => {
      const done = one.units.filter((/** @type {any} */ unit) => unit[2] !== null);
      const last = one.units.at(-1);
      const sum = (/** @type {number} */ at) => done.reduce((/** @type {number} */ all, /** @type {any} */ unit) => all + unit[at], 0);
      return [one.worker, one.node, one.gpu, done.length, secondsText(sum(2)), secondsText(sum(3)),
        last && last[2] === null && last[4] === null && work.now !== null ? `unit ${last[0]}` : ""];
    }));
}

/**
 * What failed so far, the newest first. A verdict says itself what became of it.
 * @param {any} replay
 */
function failures(replay) {
  const texts = replay.messages.filter((/** @type {any} */ one) => one.failure).map((/** @type {any} */ one) => one.text);
  const shown = replay.verdict ? [] : [replay.failure, ...texts.slice(-failuresShown).reverse()].filter(Boolean);
  return shown.length > 0 && h("div.warnings.bad", null, shown.map((text) => h("p.lines", null, text)));
}

/** @param {any[]} said */
function messages(said) {
  if (said.length === 0) return null;
  return [h("h2", null, "What flor replay said"), h("ol.messages", null, said.map((one) =>
    h("li", null, h("time", { datetime: new Date(one.time * 1000).toISOString() }, clockText(one.time)),
      h("p.lines", { class: one.failure ? "failed" : "" }, one.text))))];
}

/** @param {any} plan */
function probes(plan) {
  if (!plan.probes?.length) return null;
  return [h("h2", null, "Probes"), table("Probes", ["Name", "Where", "Block"],
    plan.probes.map((/** @type {any} */ probe) => [probe.name || "(not known)", `${probe.file}:${probe.line}`,
      probe.block || "outside all blocks"]))];
}

/** @param {any} verdict */
function units(verdict) {
  const all = verdict.units ?? [];
  if (all.length === 0) return null;
  const shown = all.slice(0, unitsDrawn);
  const differing = all.filter((/** @type {any} */ unit) => unit.equal < unit.values + unit.digests).map((/** @type {any} */ unit) => unit.id);
  const wrong = differing.length;
  return [h("h2", null, "Units"),
    h("p.quiet", null, `${all.length} units, ${wrong} differ` + (wrong > 0 ? `: ${differing.slice(0, 50).join(", ")}` : "") + (shown.length < all.length ? `; the first ${shown.length} are drawn` : "")),
    h("div.units", { role: "img", "aria-label": `${all.length} units, ${wrong} differ` },
      shown.map((/** @type {any} */ unit) => {
        const compared = unit.values + unit.digests;
        return h("span", { class: compared === 0 ? "none" : unit.equal === compared ? "equal" : "unequal",
          title: `unit ${unit.id}: ${unit.equal} of ${compared} equal` });
      }))];
}

/** @param {any} verdict */
function findings(verdict) {
  const lines = [...(verdict.reasons ?? []),
    ...(verdict.silent_probes ?? []).map((/** @type {string} */ name) => `the probe '${name}' yielded no row: was it reached?`)];
  const differences = verdict.differences ?? [];
  return [
    lines.length > 0 ? h("div.warnings", { class: verdict.verdict === "differs" ? "bad" : "some" }, lines.map((line) => h("p", null, String(line)))) : null,
    ...(differences.length > 0 ? [h("h2", null, "What differs"), table("What differs", ["Where", "Name", "Recorded", "Replayed"],
      differences.map((/** @type {any} */ one) => [one.at, one.name, value(one.recorded), value(one.replayed)]))] : []),
  ];
}

/** @param {unknown} one */
const value = (one) => (typeof one === "number" ? numberText(one) : one === null || one === undefined ? "–" : typeof one === "object" ? JSON.stringify(one) : String(one));

/**
 * @param {string} run
 * @param {string} id
 */
export function replayView(run, id) {
  const content = h("div", null, h("p.quiet", null, "Loading…"));
  const bars = gantt();
  const picture = h("section", { hidden: true }, h("h2", null, "Workers"), bars.element);
  const details = h("div", null);
  const element = h("div", null,
    h("p", null, h("a", { href: `/run/${encodeURIComponent(run)}` }, "← the run")),
    h("h1", null, `Replay ${id}`), content, picture, details);
  document.title = `Replay ${id} · Flor`;
  let timer = 0;
  let due = 0;
  let isLeft = false;
  /** @type {any} the last answer, whole */
  let last = null;

  const load = repeating(async () => {
    if (isLeft) return;
    try {
      const have = last ? `?have=${encodeURIComponent(last.version)}` : "";
      const replay = completed(last, await read(`/data/runs/${encodeURIComponent(run)}/replays/${encodeURIComponent(id)}${have}`));
      if (isLeft) return;
      last = replay;
      const verdict = replay.verdict;
      const reasons = replay.plan.reasons ?? [];
      fill(content, failures(replay), question(replay),
        verdict && findings(verdict));
      picture.hidden = replay.work.workers.length === 0;
      bars.show(replay.work, replay.plan);
      fill(details, workers(replay.work), probes(replay.plan),
        reasons.length > 0 && [h("h2", null, "Why"), h("ul", null, reasons.map((/** @type {string} */ line) => h("li", null, line)))],
        verdict && units(verdict), messages(replay.messages));
      if (replay.work.now !== null && !report) soon(lookAgain);
    } catch (problem) {
      content.replaceChildren(h("div.warnings.bad", null, h("p", null, problem instanceof Error ? problem.message : String(problem))));
    }
  });

  /** Loads it after so many milliseconds, unless that happens sooner anyhow. */
  function soon(/** @type {number} */ wait) {
    const at = performance.now() + wait;
    if (timer && due <= at) return;
    clearTimeout(timer);
    due = at;
    timer = window.setTimeout(() => {
      timer = 0;
      load();
    }, wait);
  }

  return {
    element,
    update(/** @type {import("./feed.js").State} */ _, /** @type {Set<string>} */ changed) {
      if (changed.has(run)) soon(last ? pause : 0);
    },
    end() {
      isLeft = true;
      document.title = "Flor";
      bars.end();
      clearTimeout(timer);
    },
  };
}
