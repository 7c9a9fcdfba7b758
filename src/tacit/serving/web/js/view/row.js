/** One film in a list: its name, its facts, stars. Used wherever films are listed. */

import { h, write } from '../dom.js';
import { stars } from '../stars.js';

/** @typedef {import("../home.js").Home} Home */

/**
 * @param {Home} home
 * @param {number} row
 * @param {(rating: number | null, how: "pointer" | "keys") => void} [rated] called after the rating
 *   is given
 */
export function filmRow(home, row, rated) {
  const title = home.title(row);
  const widget = stars(home.values, (rating, how) => {
    home.rate(row, rating);
    rated?.(rating, how);
  });
  widget.name(title);
  widget.set(home.own(row));
  const name = h(
    'button',
    { class: 'name', type: 'button', on: { click: () => home.open(row) } },
    h('bdi', null, title),
  );
  const facts = h('span', { class: 'facts' }, home.facts(row));
  return {
    element: h('li', { class: 'film' }, h('div', { class: 'words' }, name, facts), widget.element),
    update: () => widget.set(home.own(row)),
    facts: (/** @type {string} */ text) => write(facts, text),
  };
}
