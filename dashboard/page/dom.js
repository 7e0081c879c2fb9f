// Makes elements. Text goes in as text, never as HTML: names in a log may hold anything.
// @ts-check

/**
 * @typedef {string | number | Node | null | undefined | false} Child
 * @param {string} tag "td.number" makes <td class="number">
 * @param {Record<string, unknown> | null} [attributes] functions become listeners; `style` is an object
 * @param {...(Child | Child[])} children
 * @returns {HTMLElement}
 */
export function h(tag, attributes, ...children) {
  const [name, ...classes] = tag.split(".");
  const element = document.createElement(name);
  element.classList.add(...classes);
  for (const [key, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") {
      element.addEventListener(key, /** @type {EventListener} */ (value));
    } else if (key === "style") {
      Object.assign(element.style, value);
    } else if (key === "class") {
      element.classList.add(...String(value).split(" ").filter((one) => /^[\w-]+$/.test(one)));
    } else {
      element.setAttribute(key, value === true ? "" : String(value));
    }
  }
  return fill(element, ...children);
}

/**
 * Replaces what is in an element. A child that is null, undefined or false is none.
 * @param {HTMLElement} element
 * @param {...(Child | Child[])} children
 */
export function fill(element, ...children) {
  const present = children.flat().filter((child) => child !== null && child !== undefined && child !== false);
  element.replaceChildren(...present.map((child) => (child instanceof Node ? child : String(child))));
  return element;
}

/**
 * A table that can be scrolled sideways.
 * @param {string} label
 * @param {(string | Node)[]} head a head that begins with ">" is of numbers
 * @param {(Child)[][]} rows
 */
export function table(label, head, rows) {
  const right = head.map((text) => typeof text === "string" && text.startsWith(">"));
  return h("div.scroll", { tabindex: 0, role: "region", "aria-label": label },
    h("table", null,
      h("thead", null, h("tr", null, head.map((text, i) =>
        h(right[i] ? "th.number" : "th", { scope: "col" }, right[i] ? String(text).slice(1) : text)))),
      h("tbody", null, rows.map((row) =>
        h("tr", null, row.map((cell, i) => h(right[i] ? "td.number" : "td", null, cell)))))));
}

/** @param {[string, Child][]} facts those without a value are left out */
export function factList(facts) {
  return h("dl.facts", null, facts.flatMap(([label, value]) =>
    value === "" || value === null || value === undefined ? [] : [h("dt", null, label), h("dd", null, value)]));
}
