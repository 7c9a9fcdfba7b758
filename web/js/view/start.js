/** Films to begin with: well known, of many kinds. A film that was rated makes room for another. */

import { h } from '../dom.js';
import { texts } from '../text.js';
import { filmRow } from './parts.js';

/** @typedef {import("../home.js").Home} Home */

/** Films shown at once. */
const SLOTS = 6;

/** @param {Home} home */
export function start(home) {
  const list = h('ul', { class: 'films slots' });
  const others = h('button', { class: 'quiet', type: 'button' }, texts.start.others);
  const element = h(
    'section',
    { class: 'start', 'aria-labelledby': 'start-title' },
    h(
      'div',
      { class: 'head' },
      h(
        'div',
        null,
        h('h2', { id: 'start-title' }, texts.start.title),
        h('p', { class: 'lead' }, texts.start.lead),
      ),
      others,
    ),
    list,
  );
  /** @type {number[]} */
  let queue = [];
  /** Who is in which slot. @type {{row: number, update: () => void, element: HTMLElement}[]} */
  let slots = [];

  const next = () => {
    const there = new Set(slots.map(({ row }) => row));
    const place = queue.findIndex((row) => home.own(row) === null && !there.has(row));
    return place < 0 ? null : (queue.splice(place, 1)[0] ?? null);
  };
  const add = (/** @type {number} */ row) => {
    const film = filmRow(home, row);
    const slot = { row, ...film };
    // A film stays under the pointer or the focus until the person turns away.
    film.element.addEventListener(
      'pointerleave',
      (event) => event.pointerType === 'mouse' && replace(slot),
    );
    film.element.addEventListener('focusout', (event) => {
      if (!film.element.contains(/** @type {Node | null} */ (event.relatedTarget)))
        setTimeout(() => replace(slot));
    });
    return slot;
  };
  const replace = (/** @type {{row: number, update: () => void, element: HTMLElement}} */ slot) => {
    const place = slots.indexOf(slot);
    if (place < 0 || home.own(slot.row) === null) return;
    const row = next();
    if (row === null) return;
    const fresh = add(row);
    slots[place] = fresh;
    slot.element.replaceWith(fresh.element);
  };
  const deal = () => {
    slots = [];
    while (slots.length < SLOTS) {
      const row = next();
      if (row === null) break;
      slots.push(add(row));
    }
    list.replaceChildren(...slots.map((slot) => slot.element));
  };
  others.addEventListener('click', () => {
    queue.push(...slots.map(({ row }) => row));
    deal();
  });
  home.addEventListener('own', () => slots.forEach((slot) => slot.update()));
  void home.engine.ask('known', null).then(
    (rows) => {
      queue = varied(home, rows);
      deal();
    },
    () => undefined,
  );
  return element;
}

/** The same films with kinds taking turns. @param {Home} home @param {number[]} rows */
function varied(home, rows) {
  /** @type {Map<string, number>} */
  const used = new Map();
  const left = [...rows];
  const chosen = [];
  while (left.length) {
    let best = 0;
    let least = Infinity;
    left.slice(0, 40).forEach((row, place) => {
      const genres = home.item(row).genres;
      const cost =
        genres.reduce((sum, genre) => sum + (used.get(genre) ?? 0), 0) /
          Math.max(1, genres.length) +
        place / 20;
      if (cost < least) [best, least] = [place, cost];
    });
    const row = left.splice(best, 1)[0] ?? 0;
    chosen.push(row);
    for (const genre of home.item(row).genres) used.set(genre, (used.get(genre) ?? 0) + 1);
  }
  return chosen;
}
