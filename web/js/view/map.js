/**
 * A map of tastes: two directions of the model, the films along them, and the person's own point.
 */

import { attribute, clean, h, put, write } from '../dom.js';
import { texts } from '../text.js';
import { Drawing } from './drawing.js';
import { filmRow } from './parts.js';

/** @typedef {import("../home.js").Home} Home */

/** Films listed beside the map. */
const NEAR = 8;
/** Of a movement by key, the share of what is seen. */
const KEY_STEP = 0.12;
const ZOOM = 1.35;

/** @param {Home} home */
export function mapView(home) {
  const canvas = h('canvas', { role: 'img', tabindex: 0 });
  const tip = h('div', { class: 'tip', hidden: true });
  const near = h('ul', { class: 'films' });
  const xName = h('span', { class: 'axis x' });
  const yName = h('span', { class: 'axis y' });
  const none = h('p', { class: 'none', hidden: true }, texts.map.none);
  const button = (
    /** @type {string} */ label,
    /** @type {string} */ sign,
    /** @type {() => void} */ act,
  ) => h('button', { type: 'button', 'aria-label': label, title: label, on: { click: act } }, sign);
  const drawing = new Drawing(canvas, home);
  const frame = h(
    'div',
    { class: 'frame' },
    canvas,
    xName,
    yName,
    tip,
    h(
      'div',
      { class: 'tools' },
      button(texts.map.zoomIn, '+', () => drawing.zoom(ZOOM)),
      button(texts.map.zoomOut, '−', () => drawing.zoom(1 / ZOOM)),
      button(texts.map.reset, '○', () => drawing.reset()),
    ),
  );
  const legend = h(
    'p',
    { class: 'legend', 'aria-hidden': 'true' },
    h('span', { class: 'you' }, texts.map.you),
    h('span', { class: 'rated' }, texts.map.legendRated),
    h('span', { class: 'listed' }, texts.map.legendList),
    h('span', { class: 'other' }, texts.map.legendOther),
    h('span', { class: 'keys' }, texts.map.keys),
  );
  const element = h(
    'section',
    { class: 'map', 'aria-labelledby': 'map-title' },
    h('h1', { id: 'map-title' }, texts.map.title),
    h('p', { class: 'lead' }, texts.map.lead),
    none,
    h(
      'div',
      { class: 'atlas' },
      h('div', null, frame, legend),
      h(
        'aside',
        { 'aria-labelledby': 'near-title' },
        h('h2', { id: 'near-title' }, texts.map.near),
        h('p', { class: 'lead' }, texts.map.nearUnrated),
        near,
      ),
    ),
  );
  let ready = false;
  let begun = false;
  let front = false;
  /** @type {ReturnType<typeof filmRow>[]} */
  let rows = [];

  const you = () => home.engine.ask('point', null).catch(() => ({ x: 0, y: 0 }));
  const update = async () => {
    if (!ready || !front) return;
    drawing.mark(await you());
    const found = drawing.nearest(NEAR);
    if (
      rows.some(
        (row) => row.element.contains(document.activeElement) || row.element.matches(':hover'),
      )
    )
      return rows.forEach((row) => row.update());
    rows = found.map((row) => filmRow(home, row));
    put(near, ...rows.map((row) => row.element));
  };
  const begin = async () => {
    const map = await home.engine.ask('map', null).catch(() => null);
    if (!map || !drawing.use(map, await you())) {
      none.hidden = false;
      frame.hidden = legend.hidden = true;
      return;
    }
    write(xName, axis(map.xName));
    write(yName, axis(map.yName));
    attribute(canvas, 'aria-label', texts.map.label(axis(map.xName), axis(map.yName)));
    ready = true;
    await update();
  };

  drive(canvas, tip, drawing, home);
  home.addEventListener('all', update);
  return {
    element,
    /** Called when the view comes to the front. */
    enter() {
      front = true;
      void (begun ? update() : begin());
      begun = true;
    },
    /** Nothing is drawn while nobody looks. */
    leave: () => void (front = false),
  };
}

/** @param {string} name */
function axis(name) {
  if (name === 'year') return texts.map.year;
  if (name === 'popularity') return texts.map.known;
  return /^taste \d$/.test(name) ? texts.map.unnamed : clean(name);
}

/**
 * Mouse, touch and keys on the map.
 * @param {HTMLCanvasElement} canvas
 * @param {HTMLElement} tip
 * @param {Drawing} drawing
 * @param {Home} home
 */
function drive(canvas, tip, drawing, home) {
  /** @type {Map<number, {x: number, y: number}>} */
  const fingers = new Map();
  let moved = 0;
  const spread = () => {
    const [one, other] = [...fingers.values()];
    return one && other ? Math.hypot(one.x - other.x, one.y - other.y) : 0;
  };
  const point = (/** @type {PointerEvent} */ event) => {
    const row = drawing.at(event.offsetX, event.offsetY);
    tip.hidden = row === null;
    canvas.classList.toggle('hit', row !== null);
    drawing.point(row);
    if (row === null) return;
    write(tip, `${home.title(row)} · ${home.facts(row)}`);
    tip.style.setProperty('--x', `${event.offsetX}px`);
    tip.style.setProperty('--y', `${event.offsetY}px`);
  };
  canvas.addEventListener('pointerdown', (event) => {
    canvas.setPointerCapture(event.pointerId);
    fingers.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
    moved = 0;
  });
  canvas.addEventListener('pointermove', (event) => {
    const before = fingers.get(event.pointerId);
    if (!before) return point(event);
    const width = spread();
    fingers.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
    moved += Math.hypot(event.offsetX - before.x, event.offsetY - before.y);
    if (fingers.size === 1) drawing.shift(event.offsetX - before.x, event.offsetY - before.y);
    else if (width > 0) drawing.zoom(spread() / width, event.offsetX, event.offsetY);
  });
  const lift = (/** @type {PointerEvent} */ event) => {
    const row =
      moved < 5 && event.type === 'pointerup' ? drawing.at(event.offsetX, event.offsetY) : null;
    fingers.delete(event.pointerId);
    if (row !== null) home.open(row);
  };
  canvas.addEventListener('pointerup', lift);
  canvas.addEventListener('pointercancel', lift);
  canvas.addEventListener('pointerleave', () => {
    tip.hidden = true;
    drawing.point(null);
  });
  canvas.addEventListener(
    'wheel',
    (event) => {
      event.preventDefault();
      drawing.zoom(
        Math.exp(-Math.max(-60, Math.min(60, event.deltaY)) / 200),
        event.offsetX,
        event.offsetY,
      );
    },
    { passive: false },
  );
  canvas.addEventListener('keydown', (event) => {
    const step = KEY_STEP * canvas.clientWidth;
    const acts = /** @type {Record<string, () => void>} */ ({
      ArrowLeft: () => drawing.shift(step, 0),
      ArrowRight: () => drawing.shift(-step, 0),
      ArrowUp: () => drawing.shift(0, step),
      ArrowDown: () => drawing.shift(0, -step),
      '+': () => drawing.zoom(ZOOM),
      '=': () => drawing.zoom(ZOOM),
      '-': () => drawing.zoom(1 / ZOOM),
      0: () => drawing.reset(),
    });
    const act = acts[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });
}
