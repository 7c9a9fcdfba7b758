/** The page while it has nothing to show yet, and when it cannot. */

import { h } from '../dom.js';
import { texts } from '../text.js';

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
