/** The search: a field in the head of the page, and a panel of films below it to rate at once. */

import { announce, h, put, write } from '../dom.js';
import { texts } from '../text.js';
import { filmRow } from './parts.js';

/** @typedef {import("../home.js").Home} Home */

/** Films in the panel. */
const MOST = 30;

export function searchField() {
  const input = h('input', {
    type: 'search',
    id: 'search',
    autocomplete: 'off',
    autocapitalize: 'off',
    spellcheck: 'false',
    enterkeyhint: 'search',
    placeholder: texts.search.placeholder(false),
    'aria-label': texts.search.label(false),
    'aria-controls': 'found',
    'aria-keyshortcuts': '/',
  });
  const count = h('p', { class: 'count' });
  const list = h('ul', { class: 'films', 'aria-label': texts.search.results });
  const panel = h('div', { class: 'found', id: 'found', hidden: true }, count, list);
  const element = h(
    'search',
    { class: 'search' },
    input,
    h('kbd', { 'aria-hidden': 'true' }, texts.search.hint),
    panel,
  );
  /** @type {Home | null} */
  let home = null;
  /** Whether any item has a year. */
  let dated = false;
  /** @type {ReturnType<typeof filmRow>[]} */
  let rows = [];

  const open = (/** @type {boolean} */ wanted) => {
    panel.hidden = !wanted;
    element.classList.toggle('open', wanted);
  };
  const find = async () => {
    const query = input.value.trim();
    const finder = home;
    if (!finder || !query) return open(false);
    const found = await finder.finder.find(query, MOST + 1, finder.expected.rating);
    if (!found) return;
    const shown = found.slice(0, MOST);
    rows = shown.map((row) => filmRow(finder, row));
    put(list, ...rows.map((row) => row.element));
    const words = texts.search.found(shown.length, found.length > MOST);
    write(count, found.length ? words : texts.search.nothing(dated));
    list.scrollTop = 0;
    announce(words);
    open(true);
  };

  input.addEventListener('input', find);
  input.addEventListener('focus', () => input.value.trim() && find());
  element.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') {
      event.preventDefault();
      input.value = '';
      open(false);
      input.focus();
    }
    if (event.target === input && event.key === 'ArrowDown') {
      event.preventDefault();
      list.querySelector('button')?.focus();
    }
  });
  document.addEventListener('pointerdown', (event) => {
    if (!element.contains(/** @type {Node} */ (event.target))) open(false);
  });
  element.addEventListener('focusout', (event) => {
    const to = /** @type {Node | null} */ (event.relatedTarget);
    if (to && !element.contains(to) && !(to instanceof Element && to.closest('dialog')))
      open(false);
  });
  document.addEventListener('keydown', (event) => {
    const typing =
      event.target instanceof HTMLElement &&
      event.target.matches('input:not([type=range]), textarea, select');
    if (
      event.key !== '/' ||
      typing ||
      event.ctrlKey ||
      event.metaKey ||
      event.altKey ||
      document.querySelector('dialog[open]')
    )
      return;
    event.preventDefault();
    input.focus();
    input.select();
  });

  return {
    element,
    /** @param {Home} ready */
    use(ready) {
      home = ready;
      dated = ready.engine.items.some((item) => item.year !== null);
      input.placeholder = texts.search.placeholder(dated);
      input.setAttribute('aria-label', texts.search.label(dated));
      home.addEventListener('own', () => rows.forEach((row) => row.update()));
      if (input.value.trim() && document.activeElement === input) find();
    },
  };
}
