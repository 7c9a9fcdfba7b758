/** An expected rating with what is not known about it: a point on a line, from low to high. */

import { attribute, h } from './dom.js';
import { number, texts } from './text.js';

/** @typedef {import("./scale.js").Scale} Scale */

/**
 * A drawn interval; `set` moves it.
 * @param {Scale} scale
 */
export function interval(scale) {
  const element = h('span', {
    class: 'interval',
    role: 'img',
    vars: { '--steps': String(Math.min(10, Math.round(scale.high - scale.low))) },
  });
  element.append(h('span', { class: 'span' }), h('span', { class: 'point' }));
  const share = (/** @type {number} */ value) =>
    Math.min(1, Math.max(0, (value - scale.low) / (scale.high - scale.low)));
  return {
    element,
    /** @param {number} rating @param {number} low @param {number} high */
    set(rating, low, high) {
      element.style.setProperty('--low', share(low).toFixed(4));
      element.style.setProperty('--high', share(high).toFixed(4));
      element.style.setProperty('--at', share(rating).toFixed(4));
      attribute(
        element,
        'aria-label',
        texts.list.expected(number(rating, 1), number(low, 1), number(high, 1)),
      );
    },
  };
}
