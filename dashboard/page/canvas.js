// What the page's own drawings share.
// @ts-check

/**
 * Gives a canvas a size, and clears it. Returns what to draw on it with, in CSS pixels and in the page's font, and the
 * page's colours by name; null where the browser has no 2D canvas.
 * @param {HTMLCanvasElement} canvas
 * @param {number} width in CSS pixels
 * @param {number} height in CSS pixels
 */
export function prepare(canvas, width, height) {
  const ratio = devicePixelRatio || 1;
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const paint = canvas.getContext("2d");
  if (!paint) return null;
  paint.scale(ratio, ratio);
  paint.font = "12px system-ui, sans-serif";
  const style = getComputedStyle(document.documentElement);
  return { paint, colour: (/** @type {string} */ name) => style.getPropertyValue(`--${name}`).trim() };
}
