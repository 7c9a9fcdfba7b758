/**
 * Building the document: elements and text nodes only, so that no name of a film is ever markup.
 */

/** @typedef {Node | string | number | null | undefined | false} Child */
/**
 * @typedef {object} Extra
 * @property {Record<string, (event: any) => void>} [on] handlers by event name
 * @property {Record<string, string>} [vars] custom properties of the style
 */
/** @typedef {Extra & {[attribute: string]: any}} Props */

const SVG = 'http://www.w3.org/2000/svg';
/**
 * The longest text of a catalogue that is shown; chosen by eye, no film of the sample is near it.
 */
const LONGEST = 160;
/** Control characters, and those that turn the direction of what follows. */
// eslint-disable-next-line no-control-regex
const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]+/gu;
/** Attributes that could run or load something: they are never set from here. */
const REFUSED = /^(on|style$|src|srcdoc$|formaction$|action$)/i;

/**
 * An element with attributes, handlers and children.
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Props | null} [props]
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[T]}
 */
export function h(tag, props, ...children) {
  return fill(document.createElement(tag), props ?? {}, children);
}

/**
 * An element of a drawing.
 * @template {keyof SVGElementTagNameMap} T
 * @param {T} tag
 * @param {Props | null} [props]
 * @param {...Child} children
 * @returns {SVGElementTagNameMap[T]}
 */
export function s(tag, props, ...children) {
  const made = /** @type {SVGElementTagNameMap[T]} */ (document.createElementNS(SVG, tag));
  return fill(made, props ?? {}, children);
}

/**
 * @template {HTMLElement | SVGElement} E
 * @param {E} element
 * @param {Props} props
 * @param {Child[]} children
 * @returns {E}
 */
function fill(element, { on = {}, vars = {}, ...attributes }, children) {
  for (const [name, value] of Object.entries(attributes)) attribute(element, name, value);
  for (const [name, handler] of Object.entries(on)) element.addEventListener(name, handler);
  for (const [name, value] of Object.entries(vars)) element.style.setProperty(name, value);
  append(element, children);
  return element;
}

/**
 * Sets one attribute; true is the empty one, false and null take it away.
 * @param {Element} element @param {string} name @param {any} value
 */
export function attribute(element, name, value) {
  if (REFUSED.test(name)) throw new Error(`the attribute ${name} is never set by the page`);
  if (value === false || value === null || value === undefined) element.removeAttribute(name);
  else element.setAttribute(name, value === true ? '' : String(value));
}

/** @param {Element} element @param {Child[]} children */
export function append(element, children) {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    element.append(typeof child === 'number' ? String(child) : child);
  }
}

/** Replaces what an element holds. @param {Element} element @param {...Child} children */
export function put(element, ...children) {
  element.replaceChildren();
  append(element, children);
}

/**
 * Writes only what changed: an equal text costs no layout.
 * @param {Element} element
 * @param {string} text
 */
export function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/**
 * A text of a stranger made fit to show: no control characters, not longer than a line or two.
 * @param {unknown} text
 */
export function clean(text) {
  const flat = String(text ?? '')
    .slice(0, 4 * LONGEST)
    .replace(UNSEEN, ' ')
    .trim();
  return flat.length > LONGEST ? `${flat.slice(0, LONGEST - 1)}…` : flat;
}

/** Says something to a screen reader, politely. @param {string} text */
export function announce(text) {
  const place = document.getElementById('announcer');
  if (place) write(place, text);
}

/** Milliseconds of work before the page may draw again: half a frame. */
const TURN = 8;

/**
 * For long work: what it gives back is called between its steps, and waits where the turn was long
 * enough.
 * @returns {() => Promise<void> | null}
 */
export function turns() {
  let begun = performance.now();
  return () => {
    if (performance.now() - begun < TURN) return null;
    return breathe().then(() => void (begun = performance.now()));
  };
}

/**
 * Lets the browser draw and take input before more work.
 * @returns {Promise<void>}
 */
export function breathe() {
  const scheduler = /** @type {any} */ (globalThis).scheduler;
  if (scheduler?.yield) return scheduler.yield();
  return new Promise((resolve) => setTimeout(resolve, 0));
}
