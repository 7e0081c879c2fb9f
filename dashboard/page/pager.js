// Shows a long list by pages.
// @ts-check
import { h } from "./dom.js";

/**
 * Buttons to turn pages. `element` is hidden where there is one page.
 * @param {number} size what a page has
 * @param {URLSearchParams} query of the address: the page that is shown first
 * @param {() => void} turned
 */
export function pager(size, query, turned) {
  let page = Math.max(0, Number(query.get("page") ?? 1) - 1) || 0;
  const turn = (/** @type {number} */ by) => { page += by; turned(); };
  const earlier = /** @type {HTMLButtonElement} */ (h("button", { type: "button", click: () => turn(-1) }, "← Previous"));
  const later = /** @type {HTMLButtonElement} */ (h("button", { type: "button", click: () => turn(1) }, "Next →"));
  const element = h("div.tools", null, earlier, later);
  return {
    element,
    /** For the address: the page as people count. */
    number: () => String(page + 1),
    first() { page = 0; },
    /**
     * Returns what of `all` the page has, and which these are, as "51–100 of 230".
     * @template T
     * @param {T[]} all
     */
    of(all) {
      page = Math.max(0, Math.min(page, Math.ceil(all.length / size) - 1));
      earlier.disabled = page === 0;
      later.disabled = (page + 1) * size >= all.length;
      element.hidden = all.length <= size;
      const shown = all.slice(page * size, (page + 1) * size);
      return { shown, text: `${page * size + 1}–${page * size + shown.length} of ${all.length}` };
    },
  };
}
