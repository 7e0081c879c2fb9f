// Numbers, sizes and times as people read them. Pure.
// @ts-check

/** @param {number} bytes */
export function bytesText(bytes) {
  let value = bytes;
  for (const unit of ["B", "kB", "MB", "GB", "TB"]) {
    if (value < 999.5 || unit === "TB") return `${unit === "B" ? value : value.toPrecision(3)} ${unit}`;
    value /= 1000;
  }
  return "";
}

/** @param {number} share */
export function percentText(share) {
  return `${(share * 100).toFixed(1)} %`;
}

/** @param {number} seconds */
export function secondsText(seconds) {
  if (!Number.isFinite(seconds)) return "";
  if (seconds < 60) return `${seconds.toPrecision(seconds < 10 ? 2 : 3)} s`;
  const whole = Math.round(seconds);
  const two = (/** @type {number} */ n) => String(n).padStart(2, "0");
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return `${minutes}:${two(whole % 60)} min`;
  return `${Math.floor(minutes / 60)}:${two(minutes % 60)} h`;
}

/** @param {number} time seconds since 1970 */
export function timeText(time) {
  return time > 0 ? new Date(time * 1000).toLocaleString(undefined, { month: "short", day: "numeric", hour: "2-digit", minute: "2-digit", hourCycle: "h23" }) : "";
}

/** @param {number} time seconds since 1970 */
export function clockText(time) {
  return new Date(time * 1000).toLocaleString(undefined, { month: "short", day: "numeric", hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });
}

/** @param {number | string} value "NaN" and infinities are strings */
export function numberText(value) {
  if (typeof value === "string") return value;
  if (Number.isInteger(value)) return String(value);
  return String(Number(value.toPrecision(5)));
}

/** @param {string} id */
function hueOf(id) {
  let hash = 2166136261;
  for (const letter of id) hash = Math.imul(hash ^ letter.charCodeAt(0), 16777619);
  return Math.floor(((hash >>> 0) / 2 ** 32) * 360);
}

/**
 * @param {number} hue
 * @param {boolean} dark
 */
const colourOfHue = (hue, dark) => (dark ? `hsl(${hue} 70% 68%)` : `hsl(${hue} 65% 36%)`);

/**
 * The colour of a run follows its id, on every reload.
 * @param {string} id
 * @param {boolean} dark
 */
export const colourOf = (id, dark) => colourOfHue(hueOf(id), dark);

/**
 * The colours of runs that are shown together: those of their ids, but turned where two would look the same.
 * @param {string[]} ids
 * @param {boolean} dark
 */
export function coloursOf(ids, dark) {
  const apart = Math.min(25, 240 / ids.length);
  /** @type {number[]} */
  const taken = [];
  return ids.map((id) => {
    let hue = hueOf(id);
    const isClose = (/** @type {number} */ other) => Math.abs(((hue - other + 540) % 360) - 180) < apart;
    for (let turns = 0; turns < 100 && taken.some(isClose); ++turns) hue = (hue + 137) % 360;
    taken.push(hue);
    return colourOfHue(hue, dark);
  });
}
