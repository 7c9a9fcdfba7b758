/** What is the person's own: her ratings, files in and out, and the button that wipes. */

import { attribute, h, write } from '../dom.js';
import { texts } from '../text.js';
import { filmRow } from './parts.js';

/** @typedef {import("../home.js").Home} Home */

/** Dialogs that the first view does not need. */
const files = () => import('../rest.js');
/** Ratings shown before "all". */
const FIRST = 8;

/** @param {Home} home */
export function yours(home) {
  const count = h('span', { class: 'number' });
  const list = h('ul', { class: 'films', 'aria-labelledby': 'yours-title' });
  const none = h('p', { class: 'none' }, texts.yours.none);
  const all = h('button', { class: 'quiet', type: 'button' });
  const unknown = h('p', { class: 'note' });
  const hidden = h('p', { class: 'note' });
  const again = h('button', { class: 'quiet', type: 'button' }, texts.yours.showHidden);
  const forgetful = h(
    'p',
    { class: 'note warn', hidden: home.store.durable },
    texts.yours.forgetful,
  );
  const exporting = h(
    'button',
    { class: 'quiet', type: 'button', on: { click: async () => (await files()).exportRatings(home) } },
    texts.yours.export,
  );
  const wiping = h(
    'button',
    { class: 'quiet', type: 'button', on: { click: async () => (await files()).askWipe(home) } },
    texts.yours.wipe,
  );
  const importing = h(
    'button',
    { class: 'quiet', type: 'button', on: { click: async () => (await files()).importDialog(home) } },
    texts.yours.import,
  );
  let whole = false;
  /** @type {Map<number, ReturnType<typeof filmRow>>} */
  const rows = new Map();

  const show = () => {
    const rated = home.rated();
    const shown = whole ? rated : rated.slice(0, FIRST);
    const wanted = new Set(shown.map(({ row }) => row));
    for (const [row, old] of rows) {
      // A rating that was just taken back stays while it has the focus, to be given again.
      if (wanted.has(row) || old.element.contains(document.activeElement)) continue;
      old.element.remove();
      rows.delete(row);
    }
    shown.forEach(({ row }, place) => {
      let one = rows.get(row);
      if (!one) rows.set(row, (one = filmRow(home, row)));
      else if (one.element.contains(document.activeElement)) return one.update();
      one.update();
      if (list.children[place] !== one.element)
        list.insertBefore(one.element, list.children[place] ?? null);
    });
    for (const one of rows.values()) one.update();
    write(count, rated.length ? texts.yours.count(rated.length) : '');
    none.hidden = rows.size > 0;
    all.hidden = whole || rated.length <= FIRST;
    write(all, texts.yours.all(rated.length));
    const strange = home.store.ratings.size - rated.length;
    write(unknown, strange ? texts.yours.unknown(strange) : '');
    write(hidden, home.store.hidden.size ? texts.yours.hidden(home.store.hidden.size) : '');
    again.hidden = home.store.hidden.size === 0;
    attribute(exporting, 'disabled', home.store.ratings.size === 0);
  };
  all.addEventListener('click', () => {
    whole = true;
    show();
  });
  again.addEventListener('click', () =>
    [...home.store.hidden].forEach((id) => home.store.hide(id, false)),
  );
  list.addEventListener('focusout', () => setTimeout(show));
  home.addEventListener('own', show);
  home.store.addEventListener('forgetful', () => (forgetful.hidden = false));
  show();
  return h(
    'section',
    { class: 'yours', 'aria-labelledby': 'yours-title' },
    h('div', { class: 'head' }, h('h2', { id: 'yours-title' }, texts.yours.title, ' ', count)),
    forgetful,
    none,
    list,
    all,
    unknown,
    h('div', { class: 'line' }, hidden, again),
    h('div', { class: 'actions' }, importing, exporting, wiping),
  );
}
