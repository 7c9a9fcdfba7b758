/** One film in full: what to expect, why, why it is not in the list, what is like it. */

import { h, put, write } from '../dom.js';
import { interval, modal } from './parts.js';
import { stars } from '../stars.js';
import { number, signed, texts } from '../text.js';
import { capital, parts } from './reasons.js';

/** @typedef {import("../home.js").Home} Home */
/** @typedef {import("./reasons.js").Reasons} Reasons */

/** Films named as alike. */
const ALIKE = 8;
/** @type {{close: () => void} | null} */
let current = null;

/** @param {Home} home @param {number} row */
export function openFilm(home, row) {
  current?.close();
  const widget = stars(home.values, (rating) => home.rate(row, rating));
  widget.name(home.title(row));
  const drawn = interval(home.about.scale);
  const expected = h('strong', { class: 'figure' });
  const words = h('span', { class: 'range' });
  const label = h('span', { class: 'label' });
  const why = h('div', { class: 'why' });
  const standing = h('p', { class: 'standing' });
  const alike = h('ul', { class: 'films alike' });
  const hide = h('button', { class: 'quiet', type: 'button' });
  const box = modal(
    home.title(row),
    'sheet',
    h('p', { class: 'facts' }, home.facts(row)),
    h('div', { class: 'rating' }, h('span', { class: 'label' }, texts.film.yours), widget.element),
    h('div', { class: 'expectation', hidden: home.likes }, label, expected, drawn.element, words),
    h('h3', null, texts.film.why),
    why,
    standing,
    h('div', { class: 'actions' }, hide),
    h('h3', null, texts.film.like),
    alike,
  );
  current = box;

  const show = async () => {
    const { rating, low, high } = home.expected;
    const given = home.rated().length > 0;
    widget.set(home.own(row));
    drawn.set(rating[row] ?? 0, low[row] ?? 0, high[row] ?? 0);
    write(label, given ? texts.film.expected : texts.film.expectedAny);
    write(expected, number(rating[row] ?? 0, 1));
    write(words, texts.film.interval(number(low[row] ?? 0, 1), number(high[row] ?? 0, 1)));
    write(hide, home.isHidden(row) ? texts.film.unhide : texts.film.hide);
    hide.hidden = home.own(row) !== null;
    const [reasons] = await home.engine.ask('reasons', [row]).catch(() => []);
    if (reasons) put(why, waterfall(home, reasons));
    write(standing, await placeOf(home, row));
  };
  hide.addEventListener('click', () => home.store.hide(home.item(row).id, !home.isHidden(row)));
  home.addEventListener('all', show);
  box.dialog.addEventListener('close', () => {
    home.removeEventListener('all', show);
    if (current === box) current = null;
  });
  void show();
  void fillAlike(home, row, alike);
}

/** @param {Home} home @param {number} row @param {HTMLElement} list */
async function fillAlike(home, row, list) {
  const found = await home.engine.ask('similar', { item: row, n: ALIKE }).catch(() => []);
  if (!found.length) return put(list, h('li', { class: 'none' }, texts.film.noLike));
  put(
    list,
    ...found.map((/** @type {{item: number}} */ { item }) =>
      h(
        'li',
        { class: 'film' },
        h(
          'div',
          { class: 'words' },
          h(
            'button',
            { class: 'name', type: 'button', on: { click: () => openFilm(home, item) } },
            h('bdi', null, home.title(item)),
          ),
          h('span', { class: 'facts' }, home.facts(item)),
        ),
      ),
    ),
  );
}

/**
 * Parts that add up to what is expected, each with its bar.
 * @param {Home} home
 * @param {Reasons} reasons
 */
function waterfall(home, reasons) {
  const all = parts(home, reasons);
  const loud = all.filter(({ amount }) => Math.abs(amount) >= (home.likes ? 1e-6 : 0.05));
  const most = Math.max(0.5, ...loud.map(({ amount }) => Math.abs(amount)));
  const bar = (/** @type {number} */ amount) =>
    h('span', {
      class: amount < 0 ? 'bar against' : 'bar',
      'aria-hidden': 'true',
      vars: { '--length': (Math.abs(amount) / most).toFixed(3) },
    });
  const line = (
    /** @type {string} */ words,
    /** @type {Node} */ drawn,
    /** @type {string} */ figure,
  ) =>
    h(
      'li',
      null,
      h('span', { class: 'said' }, capital(words)),
      drawn,
      h('span', { class: 'points' }, figure),
    );
  const rest = all
    .filter((part) => !loud.includes(part))
    .reduce((sum, { amount }) => sum + amount, 0);
  const digits = home.likes ? 2 : 1;
  return h(
    'ul',
    { class: 'waterfall' },
    home.likes
      ? null
      : line(texts.reasons.baseline, h('span'), number(reasons.baseline, 1)),
    ...loud.map(({ words, amount }) =>
      line(words, bar(amount), home.likes ? number(amount, digits) : signed(amount)),
    ),
    !home.likes && Math.abs(rest) >= 0.05
      ? line(texts.reasons.small, bar(rest), signed(rest))
      : null,
    h(
      'li',
      { class: 'total' },
      h('span', { class: 'said' }, capital(texts.reasons.total)),
      h('span'),
      h('span', { class: 'points' }, number(reasons.total, digits)),
    ),
  );
}

/**
 * Where it stands in the list, or why it does not.
 * @param {Home} home
 * @param {number} row
 * @returns {Promise<string>}
 */
async function placeOf(home, row) {
  if (home.own(row) !== null) return texts.film.rated;
  if (home.isHidden(row)) return texts.film.isHidden;
  if (home.genre !== null && !home.item(row).genres.includes(home.genre))
    return texts.film.filtered(home.genre);
  const list = home.list;
  const answer = await home.engine.ask('whyNot', { item: row, list }).catch(() => null);
  if (!answer) return '';
  if (answer.code === 'listed') return texts.film.rank(answer.place);
  const last = list.at(-1);
  const place = texts.film.place(
    number(answer.place ?? 0),
    number(home.items.length - home.rated().length),
  );
  const gap = Math.max(0, (last?.rating ?? 0) - (answer.rating ?? 0));
  const behind =
    last && !home.likes && gap >= 0.05
      ? ` ${texts.film.below(number(gap, 1), home.title(last.item))}`
      : '';
  const equal = answer.code === 'equal' ? texts.film.equal : '';
  return `${texts.film.notThere}: ${equal}${place}${behind}`;
}
