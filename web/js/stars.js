/**
 * Stars: a native slider under drawn stars, so that mouse, touch, keyboard and screen reader all
 * work as the device is used to. Its first step, left of the stars, is "not rated".
 */

import { attribute, h } from './dom.js';
import { perStar } from './scale.js';
import { number, texts } from './text.js';

/**
 * @typedef {object} Stars
 * @property {HTMLElement} element
 * @property {(rating: number | null) => void} set
 * @property {(title: string) => void} name
 */

/**
 * @param {number[]} values that can be given
 * @param {(rating: number | null, how: "pointer" | "keys") => void} give
 * @param {(rating: number | null) => void} [intend] told while the finger is down
 * @returns {Stars}
 */
export function stars(values, give, intend) {
  const count = values.length;
  const width = perStar(count);
  const input = h('input', { type: 'range', min: 0, max: count, step: 1, value: 0 });
  const element = h(
    'span',
    {
      class: count === 1 ? 'stars like' : 'stars',
      vars: { '--slots': String(count), '--per': String(width) },
    },
    h('span', { class: 'clear', 'aria-hidden': 'true' }, '×'),
    h('span', { class: 'empty', 'aria-hidden': 'true' }),
    h('span', { class: 'full', 'aria-hidden': 'true' }),
    input,
  );
  let given = 0;
  let painted = -1;
  let pressed = false;

  const paint = (/** @type {number} */ place) => {
    if (place === painted) return;
    painted = place;
    element.style.setProperty('--given', String(place));
    element.classList.toggle('rated', place > 0);
    attribute(input, 'aria-valuetext', wording(values, place));
  };
  const commit = (/** @type {number} */ place, /** @type {"pointer" | "keys"} */ how) => {
    input.value = String(place);
    paint(place);
    if (place === given) return;
    given = place;
    give(ratingAt(place), how);
  };
  const ratingAt = (/** @type {number} */ place) => values[place - 1] ?? null;

  input.addEventListener('pointerdown', () => (pressed = true));
  input.addEventListener('pointermove', (event) => {
    if (event.pointerType !== 'mouse' || pressed) return;
    const share = event.offsetX / input.clientWidth;
    element.style.setProperty('--hover', String(Math.min(count, Math.floor(share * (count + 1)))));
    element.classList.add('hovered');
  });
  input.addEventListener('pointerleave', () => element.classList.remove('hovered'));
  input.addEventListener('input', () => {
    element.classList.remove('hovered');
    const place = Number(input.value);
    paint(place);
    if (pressed) intend?.(ratingAt(place));
    else commit(place, 'keys');
  });
  input.addEventListener('change', () => {
    commit(Number(input.value), pressed ? 'pointer' : 'keys');
    pressed = false;
  });
  // A press on the step that is set already makes no change: it still ends.
  input.addEventListener('pointerup', () => setTimeout(() => (pressed = false)));
  input.addEventListener('pointercancel', () => (pressed = false));
  input.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const digit = Number(event.key) * width;
    if (event.key === 'Delete' || event.key === 'Backspace') commit(0, 'keys');
    else if (/^\d$/.test(event.key) && digit <= count) commit(digit, 'keys');
    else return;
    event.preventDefault();
  });
  paint(0);

  return {
    element,
    set: (rating) => {
      given =
        rating === null
          ? 0
          : 1 +
            values.reduce(
              (best, value, place) =>
                near(value, rating) < near(values[best] ?? 0, rating) ? place : best,
              0,
            );
      input.value = String(given);
      paint(given);
    },
    name: (title) => attribute(input, 'aria-label', texts.stars.label(title)),
  };
}

/** @param {number} value @param {number} rating */
function near(value, rating) {
  return Math.abs(value - rating);
}

/** @param {number[]} values @param {number} place */
export function wording(values, place) {
  if (place === 0) return texts.stars.none;
  if (values.length === 1) return texts.stars.liked;
  const value = values[place - 1] ?? 0;
  return texts.stars.value(number(value, value % 1 ? 1 : 0), number(values.at(-1) ?? 0));
}
