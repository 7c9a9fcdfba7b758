/**
 * The list: what the model expects a person to like, why, and how sure it is. It moves as she
 * rates.
 */

import { attribute, clean, h, write } from '../dom.js';
import { PAGE } from '../home.js';
import { interval } from './parts.js';
import { stars } from '../stars.js';
import { number, texts } from '../text.js';
import { inOneLine } from './reasons.js';

/** @typedef {import("../home.js").Home} Home */
/** @typedef {import("../engine.js").Ranked} Ranked */

/** How long a film takes to its new place, in milliseconds. */
const MOVE = 260;
/** How long a film that was rated by touch stays, so that a second tap cannot hit the next one. */
const LINGER = 1200;
/** Most films that the list grows to. */
const MOST = 120;

const calm = matchMedia('(prefers-reduced-motion: reduce)');

/** @param {Home} home */
export function recommendations(home) {
  const heading = h('h2', { id: 'list-title' });
  const lead = h('p', { class: 'lead' });
  const list = h('ol', {
    class: home.likes ? 'ranked likes' : 'ranked',
    'aria-labelledby': 'list-title',
  });
  const none = h('p', { class: 'none', hidden: true }, texts.list.empty);
  const more = h('button', { class: 'quiet', type: 'button' }, texts.list.more);
  more.addEventListener('click', () => {
    home.shown = Math.min(MOST, home.shown + PAGE);
    void home.rank();
  });
  const element = h(
    'section',
    { class: 'list', 'aria-labelledby': 'list-title' },
    h('div', { class: 'head' }, h('div', null, heading, lead), wishes(home)),
    list,
    none,
    h('div', { class: 'after' }, more),
  );
  /** @type {Map<number, ReturnType<typeof line>>} */
  const lines = new Map();
  /**
   * A film that was just rated here, with its place: it stays until the person turns away.
   * @type {{row: number, place: number} | null}
   */
  let kept = null;

  const release = () => {
    if (!kept) return;
    kept = null;
    show();
  };

  const shownList = () => {
    const ranked = home.list.slice(0, home.shown);
    const stays =
      kept && !ranked.some(({ item }) => item === kept?.row) ? lines.get(kept.row) : null;
    if (kept && stays) ranked.splice(kept.place, 0, stays.ranked);
    return ranked;
  };

  const show = () => {
    const ranked = shownList();
    const wanted = new Set(ranked.map(({ item }) => item));
    for (const [row, old] of lines) {
      if (wanted.has(row)) continue;
      lines.delete(row);
      old.element.remove();
    }
    ranked.forEach((entry, place) => {
      let one = lines.get(entry.item);
      if (!one) lines.set(entry.item, (one = line(home, entry.item, keep, release)));
      one.set(entry, place);
      settle(list, one.element, place);
    });
    list.style.height = rows(ranked.length);
    none.hidden = ranked.length > 0;
    more.hidden = ranked.length < home.shown || home.shown >= MOST;
    const count = home.rated().length;
    write(heading, count ? texts.list.forYou : texts.list.forAnyone);
    write(lead, texts.list.lead(count, home.about.taste));
    performance.mark('tacit list'); // for whoever measures: the list is new from here on
    void explain(home, ranked, lines);
  };

  const keep = (/** @type {number} */ row) => {
    kept = { row, place: lines.get(row)?.place ?? 0 };
  };
  home.addEventListener('view', show);
  home.addEventListener('own', () => lines.forEach((one) => one.update()));
  return element;
}

/**
 * Puts an element at its place; what has the focus is not taken out of the document.
 * @param {HTMLElement} list
 * @param {HTMLElement} element
 * @param {number} place
 */
function settle(list, element, place) {
  const there = list.children[place];
  if (there === element) return;
  const mover = /** @type {any} */ (list);
  if (element.isConnected && mover.moveBefore) mover.moveBefore(element, there ?? null);
  else if (!element.contains(document.activeElement)) list.insertBefore(element, there ?? null);
}

/**
 * Reasons come after the list, so that it never waits for them.
 * @param {Home} home
 * @param {Ranked[]} ranked
 * @param {Map<number, any>} lines
 */
async function explain(home, ranked, lines) {
  const asked = home.changes;
  const items = ranked.map(({ item }) => item);
  const reasons = await home.engine.ask('reasons', items).catch(() => []);
  if (asked !== home.changes) return;
  reasons.forEach((/** @type {any} */ one, /** @type {number} */ place) =>
    lines.get(items[place] ?? -1)?.because(inOneLine(home, one)),
  );
}

/**
 * One film of the list.
 * @param {Home} home
 * @param {number} row
 * @param {(row: number) => void} keep
 * @param {() => void} release
 */
function line(home, row, keep, release) {
  const title = home.title(row);
  let timer = 0;
  const give = (/** @type {number | null} */ rating, /** @type {"pointer" | "keys"} */ how) => {
    keep(row);
    home.rate(row, rating);
    clearTimeout(timer);
    if (how === 'pointer' && matchMedia('(hover: none)').matches)
      timer = window.setTimeout(release, LINGER);
  };
  const widget = stars(home.values, give, (rating) => home.foresee(row, rating));
  widget.name(title);
  widget.set(home.own(row));
  const rank = h('span', { class: 'rank', 'aria-hidden': 'true' });
  const why = h('span', { class: 'reason' });
  const expected = h('span', { class: 'expected', 'aria-hidden': 'true' });
  const drawn = interval(home.about.scale);
  const year = home.item(row).year;
  const name = h(
    'button',
    { class: 'name', type: 'button', on: { click: () => home.open(row) } },
    h('bdi', null, title),
    year ? h('span', { class: 'year' }, String(year)) : null,
  );
  const element = h(
    'li',
    { class: 'rec' },
    rank,
    h('div', { class: 'words' }, name, why),
    h('div', { class: 'guess' }, expected, drawn.element),
    widget.element,
  );
  element.addEventListener('pointerleave', (event) => event.pointerType === 'mouse' && release());
  element.addEventListener('focusout', (event) => {
    if (!element.contains(/** @type {Node | null} */ (event.relatedTarget))) setTimeout(release);
  });

  const self = {
    element,
    place: -1,
    /** @type {Ranked} */
    ranked: { item: row, rating: 0, error: 0, low: 0, high: 0, score: 0 },
    /** @param {Ranked} ranked @param {number} place */
    set(ranked, place) {
      self.ranked = ranked;
      move(element, self.place, place);
      self.place = place;
      write(rank, String(place + 1));
      write(expected, number(ranked.rating, 1));
      drawn.set(ranked.rating, ranked.low, ranked.high);
    },
    update: () => {
      widget.set(home.own(row));
      element.classList.toggle('done', home.own(row) !== null);
    },
    because: (/** @type {string} */ text) => {
      write(why, text);
      attribute(why, 'title', text);
    },
  };
  return self;
}

/** The height of so many. @param {number} count */
function rows(count) {
  return `calc(${count} * var(--row))`;
}

/**
 * To its place at once for whoever reads, and by a short way for whoever looks.
 * @param {HTMLElement} element
 * @param {number} from
 * @param {number} to
 */
function move(element, from, to) {
  const at = (/** @type {number} */ place) => `translateY(${rows(place)})`;
  // Not by a variable: all that is inside would inherit it, and be styled anew.
  if (from !== to) element.style.transform = at(to);
  if (from === to || calm.matches) return;
  const frames =
    from < 0 ? [{ opacity: 0 }, { opacity: 1 }] : [{ transform: at(from) }, { transform: at(to) }];
  element.animate(frames, { duration: MOVE, easing: 'cubic-bezier(.2, .7, .2, 1)' });
}

/** The wishes for the list: how bold it is, which genre. @param {Home} home */
function wishes(home) {
  const slider = h('input', {
    type: 'range',
    class: 'line',
    min: 0,
    max: 100,
    step: 1,
    value: 50,
    'aria-label': texts.list.slider,
  });
  const say = () => attribute(slider, 'aria-valuetext', texts.list.safety(Number(slider.value)));
  slider.addEventListener('input', () => {
    home.explore = Number(slider.value) / 100;
    say();
    void home.rank();
  });
  slider.addEventListener('change', () => home.store.remember('explore', home.explore));
  slider.value = String(Math.round(100 * home.explore));
  say();
  const counts = new Map();
  for (const { genres } of home.items)
    for (const genre of genres) counts.set(genre, (counts.get(genre) ?? 0) + 1);
  const common = [...counts]
    .sort((one, other) => other[1] - one[1])
    .slice(0, 60)
    .map(([genre]) => genre)
    .sort();
  const select = h(
    'select',
    { 'aria-label': texts.list.genre },
    h('option', { value: '' }, texts.list.anyGenre),
  );
  common.forEach((genre, place) =>
    select.append(h('option', { value: String(place) }, clean(genre))),
  );
  select.addEventListener('change', () => {
    home.genre = select.value === '' ? null : (common[Number(select.value)] ?? null);
    home.shown = PAGE;
    void home.rank();
  });
  return h(
    'div',
    { class: 'wishes' },
    h(
      'label',
      { class: 'bold', hidden: home.likes },
      h('span', null, texts.list.safe),
      slider,
      h('span', null, texts.list.explore),
    ),
    common.length ? h('span', { class: 'select' }, select) : null,
  );
}
