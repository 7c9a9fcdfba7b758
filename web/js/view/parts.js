/** Parts of several views: a film in a list, an interval, a dialog, and what stands for nothing yet. */

import { attribute, h } from '../dom.js';
import { stars } from '../stars.js';
import { number, texts } from '../text.js';

/** @typedef {import("../home.js").Home} Home */

/**
 * One film: its name, its facts, stars.
 * @param {Home} home
 * @param {number} row
 */
export function filmRow(home, row) {
  const title = home.title(row);
  const widget = stars(
    home.values,
    (rating) => home.rate(row, rating),
    (rating) => home.foresee(row, rating),
  );
  widget.name(title);
  widget.set(home.own(row));
  const name = h(
    'button',
    { class: 'name', type: 'button', on: { click: () => home.open(row) } },
    h('bdi', null, title),
  );
  const facts = h('span', { class: 'facts' }, home.facts(row));
  const words = h('div', { class: 'words' }, name, facts);
  return {
    element: h('li', { class: 'film' }, words, widget.element),
    update: () => widget.set(home.own(row)),
  };
}

/** @typedef {import("../scale.js").Scale} Scale */

/**
 * An expected rating with what is not known about it, drawn; `set` moves it.
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

/**
 * Opens a dialog; it is taken out of the document when it closes.
 * @param {string} title @param {string} kind @param {...import("../dom.js").Child} content
 */
export function modal(title, kind, ...content) {
  const close = h(
    'button',
    { class: 'close', type: 'button', 'aria-label': texts.film.close },
    '×',
  );
  const id = `dialog-${kind}`;
  const inside = h(
    'div',
    { class: 'inside' },
    close,
    h('h2', { id }, h('bdi', null, title)),
    ...content,
  );
  const dialog = h('dialog', { class: kind, 'aria-labelledby': id }, inside);
  close.addEventListener('click', () => dialog.close());
  dialog.addEventListener('pointerdown', (event) => event.target === dialog && dialog.close());
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  inside.scrollTop = 0;
  return { close: () => dialog.close(), dialog, inside };
}

/** Shapes of what is to come, in the places where it will be. */
export function skeleton() {
  const rows = (/** @type {number} */ count) => Array.from({ length: count }, () => h('li'));
  return h(
    'div',
    {
      class: 'columns waiting',
      'aria-busy': 'true',
      'aria-label': texts.state.loading,
      role: 'img',
    },
    h(
      'div',
      { class: 'side' },
      h('ul', { class: 'shapes films', 'aria-hidden': 'true' }, ...rows(6)),
    ),
    h(
      'div',
      { class: 'list' },
      h('ul', { class: 'shapes ranked', 'aria-hidden': 'true' }, ...rows(8)),
    ),
  );
}

const WORDS = {
  offline: () => [texts.state.failed, texts.state.failedOffline],
  cut: () => [texts.state.failed, texts.state.failedCut],
  server: () => [texts.state.failed, texts.state.failedServer],
  broken: () => [texts.state.broken, texts.state.brokenWords],
  tooLong: () => [texts.state.tooLong, texts.state.tooLongWords],
};

/** @param {keyof typeof WORDS} kind @param {() => void} again */
export function trouble(kind, again) {
  const [title, words] = WORDS[kind]();
  return h(
    'div',
    { class: 'trouble', role: 'alert' },
    h('h2', null, title),
    h('p', null, words),
    h('button', { class: 'main', type: 'button', on: { click: again } }, texts.state.again),
  );
}
